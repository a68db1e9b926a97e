"""Importing kgmi loads NumPy and nothing heavier, and says nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kgmi


def test_importing_the_package_is_light_and_silent():
    heavy = "numba torch matplotlib sklearn dask scipy networkx pyarrow typer rich pandas polars narwhals"
    code = f"import sys, kgmi; sys.exit(', '.join(m for m in {heavy.split()!r} if m in sys.modules) or None)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_estimator_is_there_though_it_is_loaded_late():
    code = "import kgmi; assert 'KGMI' in dir(kgmi); from kgmi import *; print(KGMI.__name__)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KGMI\n", "")


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Kgmi'"):
        kgmi.Kgmi  # noqa: B018
