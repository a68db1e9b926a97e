"""Start a peer in its own process, wait for it no longer than its limit, and collect what it answered."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from kgmi.bench.child import reason_of, run_module
from kgmi.bench.peer import Edges, Peer
from kgmi.bench.worker import MOST_REPEATS, answer_file, given_file
from kgmi.errors import SettingError
from kgmi.kernel import Kernel
from kgmi.types import Rows
from kgmi.version import __version__

__all__ = ["Answer", "Problem", "Trial", "installed", "left_out", "run_peer"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from, and what is told beside them (see :class:`kgmi.bench.peer.Given`).

    Attributes
    ----------
    kernel
        The kernel behind all columns, which only our own methods look at, and which says how many states and
        parents there are; None where columns have laws of their own, with ``n_states`` and ``n_parents`` instead.
    n_states
        States of each column.
    n_parents
        The most parents of a node.
    """

    rows: Rows
    kernel: Kernel | None = None
    n_states: tuple[int, ...] | None = None
    n_parents: int | None = None

    def __post_init__(self) -> None:
        if self.kernel is None and (self.n_states is None or self.n_parents is None):
            raise SettingError("a problem needs a kernel, or the states of each column and the most parents")


@dataclass(frozen=True)
class Answer:
    """One answered problem.

    ``seconds`` is the median time of the learning call, ``prepare_seconds`` that of putting the rows into the form
    that the library wants, over ``repeats`` calls. ``peak_bytes`` is the most memory that its process had held by
    then; None where the system does not tell.
    """

    edges: Edges
    seconds: float
    prepare_seconds: float
    repeats: int
    peak_bytes: int | None = None


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


def run_peer(
    peer: Peer,
    problems: Sequence[Problem],
    warm_up: Problem,
    limit: float | None = None,
    module: str = "kgmi.bench",
    most_repeats: int = MOST_REPEATS,
) -> Trial:
    """Run a peer on every problem, in a process that may crash or hang without harm; a cold one in one for each.

    Parameters
    ----------
    peer
        One that the process can look up by its key.
    problems
        What is timed.
    warm_up
        Other rows, for a first call that loads the library and compiles what it compiles.
    limit
        Seconds for everything; by default the peer's own.
    module
        What the process runs, as ``python -m module FOLDER``. By default it knows the peers of the registry; one
        that calls :func:`kgmi.bench.worker.work` with other peers knows those.
    most_repeats
        How often a quick call is repeated at most for its median time.
    """
    version = installed(peer)
    if version is None:
        return left_out(peer, "")
    allowed = peer.limit if limit is None else limit
    end = time.monotonic() + allowed
    answers: list[Answer] = []
    trouble = None
    for batch in [[problem] for problem in problems] if peer.cold else [problems]:
        # What a process that was just stopped still wrote there is no reason to fail.
        with tempfile.TemporaryDirectory(prefix="kgmi-bench-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            _write_task(folder, peer, batch, warm_up, most_repeats)
            code = run_module(module, folder, max(0.0, end - time.monotonic()))
            answers += _answers(folder, len(batch))
            if code is None:
                warmed = peer.cold or (folder / "warm.json").exists()
                done = f"with {len(answers)} of {len(problems)} data sets done" if warmed else "in the warm-up"
                trouble = f"stopped after {allowed:g} s {done}"
            elif code != 0:
                trouble = reason_of(code, (folder / "errors.txt").read_text(encoding="utf-8", errors="replace"))
        if trouble is not None:
            break
    return Trial(peer, version, tuple(answers), trouble)


def _write_task(folder: Path, peer: Peer, problems: Sequence[Problem], warm_up: Problem, most_repeats: int) -> None:
    task = {
        "peer": peer.key,
        "n_problems": len(problems),
        "ends_with_parent": True,
        "most_repeats": most_repeats,
    }
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    for label, problem in [("warm", warm_up), *enumerate(problems)]:
        np.save(folder / f"rows-{label}.npy", problem.rows, allow_pickle=False)
        if problem.kernel is not None:
            np.save(folder / f"kernel-{label}.npy", problem.kernel.table, allow_pickle=False)
            if problem.kernel.parent_law is not None:
                np.save(folder / f"law-{label}.npy", problem.kernel.parent_law, allow_pickle=False)
        else:
            given = {"n_states": problem.n_states, "n_parents": problem.n_parents}
            given_file(folder, label).write_text(json.dumps(given), encoding="utf-8")


def _answers(folder: Path, n_problems: int) -> tuple[Answer, ...]:
    answers = []
    for number in range(n_problems):
        path = answer_file(folder, number)
        if not path.exists():
            break
        found = json.loads(path.read_text(encoding="utf-8"))
        edges = Edges.of(found["directed"], found["undirected"])
        seconds, preparing = found["seconds"], found["prepare_seconds"]
        answers.append(Answer(edges, seconds, preparing, found["repeats"], found["peak_bytes"]))
    return tuple(answers)
