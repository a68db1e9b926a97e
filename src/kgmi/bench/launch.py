"""Start a peer in its own process, wait for it no longer than its limit, and collect what it answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from kgmi.bench.peer import Edges, Peer
from kgmi.bench.worker import answer_file
from kgmi.kernel import Kernel
from kgmi.types import Rows
from kgmi.version import __version__

__all__ = ["Answer", "Problem", "Trial", "installed", "left_out", "run_peer"]

_LONGEST_REASON = 160  # letters of an error message that are kept


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from, and the kernel behind them (which only our own methods look at)."""

    rows: Rows
    kernel: Kernel


@dataclass(frozen=True)
class Answer:
    """One answered problem.

    ``seconds`` is the median time of the learning call, ``prepare_seconds`` that of putting the rows into the form
    that the library wants, over ``repeats`` calls.
    """

    edges: Edges
    seconds: float
    prepare_seconds: float
    repeats: int


@dataclass(frozen=True)
class Trial:
    """What a peer did.

    Attributes
    ----------
    version
        Of its library; None where it is not installed.
    answers
        To the problems in their order, as far as it came.
    trouble
        Why it did not answer all of them; None when it did.
    """

    peer: Peer
    version: str | None
    answers: tuple[Answer, ...]
    trouble: str | None


def installed(peer: Peer) -> str | None:
    """Version of the peer's library, None where it is not installed."""
    if peer.library == "kgmi":  # it may be in use from its source, without having been installed
        return __version__
    try:
        return metadata.version(peer.library)
    except metadata.PackageNotFoundError:
        return None


def left_out(peer: Peer, why: str) -> Trial:
    """A trial that did not take place; a library that is not installed is a reason that goes before ``why``."""
    version = installed(peer)
    missing = f"{peer.library} is not installed (pip install 'kgmi[bench]')"
    return Trial(peer, version, (), missing if version is None else why)


def run_peer(peer: Peer, problems: Sequence[Problem], warm_up: Problem, limit: float | None = None) -> Trial:
    """Run a peer on every problem, in a process that may crash or hang without harm.

    Parameters
    ----------
    peer
        From the registry: the process looks it up there by its key.
    problems
        What is timed.
    warm_up
        Other rows, for a first call that loads the library and compiles what it compiles.
    limit
        Seconds for everything; by default the peer's own.
    """
    version = installed(peer)
    if version is None:
        return left_out(peer, "")
    allowed = peer.limit if limit is None else limit
    with tempfile.TemporaryDirectory(prefix="kgmi-bench-") as name:
        folder = Path(name)
        _write_task(folder, peer, problems, warm_up)
        code = _run(folder, allowed)
        answers = _answers(folder, len(problems))
        warmed = (folder / "warm.json").exists()
        trouble = None
        if code is None:
            done = f"with {len(answers)} of {len(problems)} data sets done" if warmed else "in the warm-up"
            trouble = f"stopped after {allowed:g} s {done}"
        elif code != 0:
            trouble = _reason(code, (folder / "errors.txt").read_text(encoding="utf-8", errors="replace"))
    return Trial(peer, version, answers, trouble)


def _write_task(folder: Path, peer: Peer, problems: Sequence[Problem], warm_up: Problem) -> None:
    task = {"peer": peer.key, "n_problems": len(problems)}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    for label, problem in [("warm", warm_up), *enumerate(problems)]:
        np.save(folder / f"rows-{label}.npy", problem.rows, allow_pickle=False)
        np.save(folder / f"kernel-{label}.npy", problem.kernel.table, allow_pickle=False)


def _run(folder: Path, limit: float) -> int | None:
    """Exit code of the worker; None if it had to be stopped."""
    command = [sys.executable, "-P", "-m", "kgmi.bench", str(folder)]
    with (
        (folder / "errors.txt").open("wb") as errors,
        # In a session of its own, so that processes which a library starts are stopped with it.
        subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker and all that it started, if it is still there."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no process groups of this kind
            process.kill()
        process.wait()


def _answers(folder: Path, n_problems: int) -> tuple[Answer, ...]:
    answers = []
    for number in range(n_problems):
        path = answer_file(folder, number)
        if not path.exists():
            break
        found = json.loads(path.read_text(encoding="utf-8"))
        edges = Edges.of(found["directed"], found["undirected"])
        answers.append(Answer(edges, found["seconds"], found["prepare_seconds"], found["repeats"]))
    return tuple(answers)


def _reason(code: int, errors: str) -> str:
    """Why a process ended early: the signal that ended it, or the last line of its traceback."""
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1] if lines else f"exit code {code}"
    return f"failed: {last[:_LONGEST_REASON]}"
