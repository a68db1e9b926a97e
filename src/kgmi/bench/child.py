"""A process of its own for a module: it is given a folder, a limit, and the packages that run here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

__all__ = ["reason_of", "run_module"]

_LONGEST_REASON = 160  # letters of an error message that are kept


def run_module(module: str, folder: Path, limit: float) -> int | None:
    """Run ``python -m module FOLDER`` there; its exit code, or None if it had to be stopped.

    Errors go to ``errors.txt``. Nothing is ever written to its standard input, which ends when this process does,
    however it ends (see :mod:`kgmi.bench.parent`).
    """
    command = [sys.executable, "-P", "-m", module, str(folder)]
    with (
        (folder / "errors.txt").open("wb") as errors,
        # In a session of its own, so that processes which a library starts are stopped with it.
        subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def reason_of(code: int, errors: str) -> str:
    """Why a process ended early: the signal that ended it, or the last line of its traceback."""
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1] if lines else f"exit code {code}"
    return f"failed: {last[:_LONGEST_REASON]}"


def _environment() -> dict[str, str]:
    """Ours, with a path on which the same kgmi comes first and nothing depends on the folder one is in."""
    here = str(Path(__file__).absolute().parents[2])
    given = os.environ.get("PYTHONPATH")
    path = [here, *(os.path.abspath(entry) for entry in given.split(os.pathsep))] if given else [here]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process if it is still there, and in any case what it started: a crash leaves that behind."""
    if hasattr(os, "killpg"):
        # Nobody is left in the group; macOS says so with a PermissionError.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows has no process groups of this kind
        process.kill()
    process.wait()
