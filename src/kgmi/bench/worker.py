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
from kgmi.bench.peer import Peer
from kgmi.bench.registry import PEERS, peer_named
from kgmi.files import atomic_write
from kgmi.kernel import Kernel
from kgmi.types import Floats, Rows

__all__ = ["answer_file", "work"]

_ENOUGH_SECONDS = 1.0  # a call is repeated until this has passed …
_MOST_REPEATS = 21  # … or this often, and the median counts; the same for everybody


def work(folder: Path, peers: Sequence[Peer] = PEERS) -> None:
    """Warm up, then answer every problem of the folder, with one of the peers.

    Where the task says so, the folder belongs to the process that started this one and goes with it.
    """
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    if task.get("ends_with_parent"):
        end_with_parent(folder)
    peer = peer_named(task["peer"], peers)
    if not peer.cold:
        peer.read(peer.fit(peer.prepare(_load(folder, "rows-warm")), Kernel(_load(folder, "kernel-warm"))))
        _write(folder / "warm.json", {})
    for number in range(task["n_problems"]):
        rows, table = _load(folder, f"rows-{number}"), _load(folder, f"kernel-{number}")
        _write(answer_file(folder, number), _answer(peer, rows, table))


def answer_file(folder: Path, number: int) -> Path:
    """Where the answer to a problem is written."""
    return folder / f"answer-{number}.json"


def _answer(peer: Peer, rows: Rows, table: Floats) -> dict[str, Any]:
    learning: list[float] = []
    preparing: list[float] = []
    most = 1 if peer.cold else _MOST_REPEATS
    while len(learning) < most and sum(learning) < _ENOUGH_SECONDS:
        kernel = Kernel(table)  # a new one each time: what our method derives from it is part of our time
        start = time.perf_counter()
        data = peer.prepare(rows)  # anew each time, so that nothing that a library remembers makes it look faster
        ready = time.perf_counter()
        answer = peer.fit(data, kernel)
        learning.append(time.perf_counter() - ready)
        preparing.append(ready - start)
    edges = peer.read(answer)
    return {
        "directed": edges.directed,
        "undirected": edges.undirected,
        "seconds": statistics.median(learning),
        "prepare_seconds": statistics.median(preparing),
        "repeats": len(learning),
    }


def _load(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path) as stream:
        stream.write(json.dumps(content).encode())
