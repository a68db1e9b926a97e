"""One peer in a process of its own: ``python -m kgmi.bench FOLDER``.

The folder holds ``task.json`` and the data as ``.npy`` files; every answer is written to it as soon as it is there,
so that a peer that crashes or runs out of time keeps what it had finished.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.bench.parent import end_with_parent
from kgmi.bench.peer import Given, Peer
from kgmi.bench.registry import PEERS, peer_named
from kgmi.files import atomic_write
from kgmi.kernel import Kernel
from kgmi.memory import peak_bytes

__all__ = ["MOST_REPEATS", "answer_file", "given_file", "work"]

_ENOUGH_SECONDS = 1.0  # a call is repeated until this has passed …
MOST_REPEATS = 21  # … or this often, and the median counts; the same for everybody


def work(folder: Path, peers: Sequence[Peer] = PEERS) -> None:
    """Warm up, then answer every problem of the folder, with one of the peers.

    Where the task says so, the folder belongs to the process that started this one and goes with it.
    """
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    if task.get("ends_with_parent"):
        end_with_parent(folder)
    peer = peer_named(task["peer"], peers)
    if not peer.cold:
        _warm_up(peer, folder)
        _write(folder / "warm.json", {})
    most_repeats = 1 if peer.cold else task.get("most_repeats", MOST_REPEATS)
    for number in range(task["n_problems"]):
        _write(answer_file(folder, number), _answer(peer, folder, number, most_repeats))


def answer_file(folder: Path, number: int) -> Path:
    """Where the answer to a problem is written."""
    return folder / f"answer-{number}.json"


def given_file(folder: Path, label: object) -> Path:
    """Where states and parents of a problem are written if it has no kernel that says so."""
    return folder / f"given-{label}.json"


def _warm_up(peer: Peer, folder: Path) -> None:
    """The first call; its rows go with it, as memory is measured after it."""
    rows = _load(folder, "rows-warm")
    given = _given(folder, "warm", rows.shape[1])
    peer.read(peer.fit(peer.prepare(rows, given), given))


def _answer(peer: Peer, folder: Path, number: int, most_repeats: int) -> dict[str, Any]:
    learning: list[float] = []
    preparing: list[float] = []
    rows = _load(folder, f"rows-{number}")
    while len(learning) < most_repeats and sum(learning) < _ENOUGH_SECONDS:
        # With a new kernel each time: what our method derives from it is part of our time.
        given = _given(folder, number, rows.shape[1])
        start = time.perf_counter()
        # Anew each time, so that nothing that a library remembers makes it look faster.
        data = peer.prepare(rows, given)
        ready = time.perf_counter()
        answer = peer.fit(data, given)
        learning.append(time.perf_counter() - ready)
        preparing.append(ready - start)
    edges = peer.read(answer)
    return {
        "directed": edges.directed,
        "undirected": edges.undirected,
        "seconds": statistics.median(learning),
        "prepare_seconds": statistics.median(preparing),
        "repeats": len(learning),
        "peak_bytes": peak_bytes(),
    }


def _given(folder: Path, label: object, n_nodes: int) -> Given:
    """What a problem tells: all of it through its kernel, or states and parents alone."""
    path = given_file(folder, label)
    if path.exists():
        told = json.loads(path.read_text(encoding="utf-8"))
        return Given(tuple(told["n_states"]), told["n_parents"])
    law = _load(folder, f"law-{label}") if (folder / f"law-{label}.npy").exists() else None
    kernel = Kernel(_load(folder, f"kernel-{label}"), parent_law=law)
    return Given((kernel.n_states,) * n_nodes, kernel.n_parents, kernel)


def _load(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path, "internal") as stream:
        stream.write(json.dumps(content).encode())
