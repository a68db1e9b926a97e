"""Importing kgmi loads nothing heavy and says nothing; public names are found when they are asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import FunctionType

import pytest

import kgmi

_HEAVY = ["numba", "llvmlite", "torch", "matplotlib", "sklearn", "dask", "scipy", "networkx", "pyarrow", "typer"]
_HEAVY += ["fastapi", "uvicorn", "pydantic"]
_HEAVY += ["rich", "pandas", "polars", "narwhals", "PIL", "threadpoolctl", "joblib"]


def _run(code: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_importing_the_package_is_light_and_silent():
    code = f"import sys, kgmi; print(*(m for m in {_HEAVY!r} if m in sys.modules))"
    assert _run(code) == (0, "\n", "")


def test_importing_the_package_loads_none_of_its_modules():
    code = "import sys, kgmi; print(*sorted(m for m in sys.modules if m.startswith('kgmi') or m == 'numpy'))"
    assert _run(code) == (0, "kgmi kgmi.version\n", "")


@pytest.mark.parametrize("use", ["kgmi.learn", "kgmi.Kernel.paper()", "kgmi.Dag.paper(10)", "kgmi.read_table"])
def test_using_a_name_loads_numpy_and_nothing_heavier(use):
    code = f"import sys, kgmi; {use}; print(*(m for m in {_HEAVY!r} if m in sys.modules))"
    assert _run(code) == (0, "\n", "")


def test_every_public_name_is_found_and_listed():
    code = (
        "import kgmi\n"
        "for name in reversed(kgmi.__all__):\n"
        "    assert name in dir(kgmi)\n"
        "    assert getattr(kgmi, name) is getattr(kgmi, name), name\n"
        "from kgmi import *\n"
        "print(KGMI.__name__)"
    )
    assert _run(code) == (0, "KGMI\n", "")


def test_no_public_name_is_left_out_of_the_list():
    assert sorted([*kgmi._HOME_OF, "metrics", "theory", "__version__"]) == sorted(kgmi.__all__)


def test_rooms_need_no_import_of_their_own():
    code = "import kgmi; print(kgmi.table.as_table.__name__, kgmi.metrics.compare.__name__, hasattr(kgmi, '_x'))"
    assert _run(code) == (0, "as_table compare False\n", "")


@pytest.mark.parametrize("before", ["", "import kgmi.certify.run\n", "kgmi.learn\n"])
def test_functions_that_are_named_like_a_module_stay_functions(before):
    code = f"import kgmi\n{before}print(type(kgmi.certify).__name__)"
    assert _run(code) == (0, f"{FunctionType.__name__}\n", "")


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Kgmi'"):
        kgmi.Kgmi  # noqa: B018


def test_commands_are_listed_in_their_own_words():
    from kgmi.cli import app

    for name, (home, says) in app._COMMANDS.items():
        module = importlib.import_module(f"kgmi.cli.{home}")
        own = module.bench.info.help if name == "bench" else getattr(module, name).__doc__
        assert own.splitlines()[0] == says


@pytest.mark.parametrize("words", ["'--help'", "'--version'", "'learn', '--stream'"])
def test_the_command_line_loads_no_more_than_it_needs(words):
    """Typer may load pydantic to read the words of a command; that is not ours to choose."""
    code = (
        "import contextlib, io, sys\n"
        f"sys.argv = ['kgmi', {words}]\n"
        "from kgmi.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()), "
        "contextlib.redirect_stderr(io.StringIO()):\n"
        "    main()\n"
        f"print(*(m for m in {_HEAVY!r} if m in sys.modules and m not in ('typer', 'pydantic')))\n"
        "print('numpy' in sys.modules)"
    )
    assert _run(code) == (0, f"\n{'learn' in words}\n", "")
