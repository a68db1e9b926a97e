"""Importing kgmi loads NumPy and nothing heavier, and says nothing."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_package_is_light_and_silent():
    heavy = "numba torch matplotlib sklearn dask scipy networkx pyarrow typer rich pandas"
    code = f"import sys, kgmi; sys.exit(', '.join(m for m in {heavy.split()!r} if m in sys.modules) or None)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
