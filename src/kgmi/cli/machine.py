"""What ``kgmi doctor`` looks at: packages, engines, devices and the machine, with what to do where one fails."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Literal

from kgmi.memory import free_bytes, shown_bytes
from kgmi.threads import n_workers
from kgmi.version import __version__

__all__ = [
    "EXTRAS",
    "REQUIRED",
    "Finding",
    "look_at_engines",
    "look_at_machine",
    "look_at_packages",
    "try_learning",
]

State = Literal["well", "note", "broken"]

REQUIRED = {
    "numpy": ("2.0", "everything"),
    "numba": ("0.61", "compiled counting and training"),
    "scipy": ("1.14", "tests, bounds, large kernels"),
    "networkx": ("3.2", "exact laws, graphs of other tools"),
    "pyarrow": ("17", "reading tables"),
    "narwhals": ("2.0", "data frames"),
    "scikit-learn": ("1.6", "the estimator kgmi.KGMI"),
    "matplotlib": ("3.9", "pictures"),
    "pillow": ("10", "pictures in reports"),
    "threadpoolctl": ("3.5", "threads"),
    "typer": ("0.20", "the command line"),
    "rich": ("13.7", "tables and progress on a terminal"),
    "fastapi": ("0.115", "kgmi serve"),
    "uvicorn": ("0.30", "kgmi serve"),
    "pydantic": ("2.7", "kgmi serve"),
}
"""Packages that kgmi needs: the oldest version that will do, and what for."""

EXTRAS = {
    "gpu": {"torch": "2.8"},
    "cluster": {"dask": "2025.1", "distributed": "2025.1"},
    "pgm": {"pgmpy": "1.1.2", "pyagrum": "3.3"},
    "bench": {
        "causal-learn": "0.1.4.8",
        "duckdb": "1.2",
        "gcastle": "1.0.4",
        "pandas": "2",
        "pgmpy": "1.1.2",
        "polars": "1.32",
        "pomegranate": "1.1.2",
        "pyagrum": "3.3",
        "pybnesian": "0.5.1",
        "torch": "2.13.0",
    },
}
"""Packages of the extras."""

_USES = {
    "gpu": "learning on an NVIDIA device (kgmi learn --device cuda)",
    "cluster": "counting on several processes or machines (kgmi count --cluster local:4)",
    "pgm": "BIF files and pgmpy models (kgmi bench networks, kgmi compare FILE.bif)",
    "bench": "comparing with other learners (kgmi bench, kgmi reproduce table)",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; ``advice`` says what to do where it is not well."""

    part: str
    name: str
    found: str
    state: State = "well"
    advice: str = ""


def look_at_packages() -> Iterator[Finding]:
    """Versions of kgmi, Python and all packages, and which extras are complete."""
    yield Finding("versions", "kgmi", __version__)
    yield Finding("versions", "Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    for name, (least, use) in REQUIRED.items():
        found = _version(name)
        if found is not None and _is_at_least(found, least):
            yield Finding("versions", name, f"{found} ({use})")
        else:
            what = "not installed" if found is None else f"{found}, older than {least}"
            yield Finding("versions", name, f"{what} ({use})", "broken", f"pip install '{name}>={least}'")
    for extra, packages in EXTRAS.items():
        lacking = [name for name, least in packages.items() if not _is_at_least(_version(name) or "0", least)]
        advice = f"pip install 'kgmi[{extra}]' if you want {_USES[extra]}"
        what = f"{'not installed' if len(lacking) == len(packages) else 'lacks'}: {', '.join(lacking)}"
        if lacking:
            yield Finding("extras", extra, what, "note", advice)
        else:
            yield Finding("extras", extra, f"installed: {_USES[extra]}")


def look_at_engines() -> Iterator[Finding]:
    """Whether all engines count alike, and whether compiled code is kept."""
    import numpy as np

    from kgmi.examples import example
    from kgmi.statistics import Observed
    from kgmi.statistics.engines import ENGINES

    table = example("paper").table
    rows = Observed(table.codes[:2_000], (len(table.states),) * len(table.names))
    expected = ENGINES["plain"](rows)
    for name, engine in ENGINES.items():
        begun = time.perf_counter()
        try:
            agrees = bool(np.array_equal(engine(rows), expected))
        except Exception as error:  # noqa: BLE001  (whatever a broken compiler raises is what is to be told)
            trouble = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            yield Finding("engines", name, trouble, "broken", "pip install --force-reinstall numba llvmlite")
            continue
        spent = f"{time.perf_counter() - begun:.2f} s for 2,000 rows, loading included"
        if agrees:
            yield Finding("engines", name, f"counts right ({spent})")
        else:
            yield Finding(
                "engines", name, "counts are wrong", "broken", "report this with the output of kgmi doctor"
            )
    kept = _cache_folder()
    if kept is None:
        yield Finding(
            "engines",
            "compiled code",
            "cannot be kept: no folder for it can be written",
            "note",
            "set NUMBA_CACHE_DIR to a folder of yours; else every process compiles again, some 20 seconds",
        )
    else:
        yield Finding("engines", "compiled code", f"kept in {kept}")


def look_at_machine() -> Iterator[Finding]:
    """Cores, memory, devices, terminal."""
    yield Finding("machine", "cores", f"{n_workers()} for kgmi, {os.cpu_count()} in all")
    free = free_bytes()
    yield Finding("machine", "free memory", "not known" if free is None else shown_bytes(free))
    yield _device()
    try:
        with tempfile.TemporaryFile():
            yield Finding("machine", "temporary folder", tempfile.gettempdir())
    except OSError as error:
        advice = "set TMPDIR to a folder that can be written, or make room"
        yield Finding("machine", "temporary folder", str(error.strerror), "broken", advice)
    encoding = (sys.stdout.encoding or "ascii").lower()
    if encoding.replace("-", "") in ("utf8", "utf16", "utf32"):
        yield Finding("machine", "terminal", f"{encoding}, all letters")
    else:
        advice = "set PYTHONUTF8=1, else letters such as α and → are shown as «?»"
        yield Finding("machine", "terminal", f"{encoding}, which lacks letters", "note", advice)


def try_learning() -> Finding:
    """Learn the example and compare with its true graph."""
    from kgmi.examples import example
    from kgmi.learning.learn import learn
    from kgmi.metrics import compare

    chosen = example("paper")
    assert chosen.truth is not None
    begun = time.perf_counter()
    learned = learn(chosen.table, n_parents=2)
    spent = time.perf_counter() - begun
    result = compare(learned.dag, chosen.truth)
    what = f"{result.n_true - len(result.missing)} of {result.n_true} edges of the example found in {spent:.2f} s"
    if result.exact:
        return Finding("self-test", "kgmi learn", what)
    return Finding("self-test", "kgmi learn", what, "broken", "report this with the output of kgmi doctor")


def _device() -> Finding:
    """A device for learning, if there is one; PyTorch is loaded only here."""
    if util.find_spec("torch") is None:
        return Finding("machine", "device", "the processor (PyTorch is not installed)")
    try:
        import torch

        if not torch.cuda.is_available():
            return Finding(
                "machine", "device", f"the processor (PyTorch {torch.__version__} sees no NVIDIA device)"
            )
        shown = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    except Exception as error:  # noqa: BLE001  (a driver may raise anything; learning without a device goes on)
        trouble = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return Finding("machine", "device", trouble, "note", "mend or remove PyTorch, or leave --device out")
    listed = ", ".join(f"cuda:{n} {one.name} ({shown_bytes(one.total_memory)})" for n, one in enumerate(shown))
    return Finding("machine", "device", listed)


def _cache_folder() -> str | None:
    """Where numba keeps compiled code: the first folder of those it tries that can be written."""
    import kgmi

    beside = Path(kgmi.__file__).parent / "statistics"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder in (Path(chosen),) if chosen else (beside / "__pycache__", home / "numba"):
        there = next(part for part in (folder, *folder.absolute().parents) if part.exists())
        if there.is_dir() and os.access(there, os.W_OK):
            return str(folder)
    return None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_at_least(version: str, least: str) -> bool:
    """Whether a version is not older; of both the numbers count, not what stands behind them."""
    found, wanted = ([int(part) for part in re.findall(r"\d+", text.split("+")[0])] for text in (version, least))
    return found[: len(wanted)] >= wanted or found >= wanted
