"""One run in a process of its own: it counts with kgmi or a peer, or learns with the command ``kgmi learn``.

The folder holds ``task.json``; the answer is written to it as ``answer.json`` and, where pairs were counted,
``pairs.npy``. The first call, on a few rows of the same columns, loads and compiles and is not timed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from itertools import combinations
from pathlib import Path
from runpy import run_module
from typing import Any

import numpy as np

from kgmi.bench.parent import end_with_parent
from kgmi.bench.stream.peers import way_named
from kgmi.counts.counted import CountedTable
from kgmi.files import atomic_write
from kgmi.memory import peak_bytes
from kgmi.progress import Step, telling
from kgmi.threads import one_thread
from kgmi.types import Ints

__all__ = ["pairs_of", "work"]

_LEAST_REPEATS, _MOST_REPEATS, _ENOUGH_SECONDS = 2, 5, 5.0
"""A call is made at least and at most so often, and no more after so long. The shortest time counts: what is longer
is what others did to the machine."""


def work(folder: Path) -> None:
    """Do what the folder asks for; it belongs to the process that started this one and goes with it."""
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    end_with_parent(folder)
    doing = {"count": _count, "peer": _peer, "learn": _learn}[task["do"]]
    answer = doing(task, folder)
    with atomic_write(folder / "answer.json", "internal") as stream:
        stream.write(json.dumps(answer).encode())


def pairs_of(counts: CountedTable, texts: list[str]) -> Ints:
    """[pair, state, state] of all pairs of columns, with the states in the order of ``texts``."""
    places = [[states.index(text) for text in texts] for states in counts.column_states]
    pairs = combinations(range(counts.n_nodes), 2)
    return np.stack([counts.tally.table(pair)[np.ix_(*(places[node] for node in pair))] for pair in pairs])


def _count(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    from kgmi.counts.stream import count
    from kgmi.sources import stream

    with _client(task) as (client, others):

        def counted(source: Path) -> CountedTable:
            return count(stream(source), width=task["width"], cluster=client)

        answer, counts = _timed(counted, task)
        answer["peak_bytes_of_workers"] = others()
    np.save(folder / "pairs.npy", pairs_of(counts, task["texts"]), allow_pickle=False)
    return answer


@contextmanager
def _client(task: dict[str, Any]) -> Iterator[tuple[Any, Callable[[], list[int | None]]]]:
    """Yield a client of Dask, or None for threads, and a function that returns the peak memory of its processes."""
    if not task["dask"]:
        with one_thread() if task["workers"] == 1 else nullcontext():
            yield None, list
        return
    from kgmi.counts.dask import connect

    with connect(f"local:{task['workers']}") as client:
        yield client, lambda: list(client.run(peak_bytes).values())


def _peer(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    counted = way_named(task["way"]).ready(task["names"], len(task["texts"]), task["workers"])
    answer, pairs = _timed(counted, task)
    np.save(folder / "pairs.npy", pairs, allow_pickle=False)
    return answer


def _timed(call: Callable[[Path], Any], task: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    call(Path(task["warm"]))
    base, taken = peak_bytes(), list[float]()
    while len(taken) < _LEAST_REPEATS or (len(taken) < _MOST_REPEATS and sum(taken) < _ENOUGH_SECONDS):
        start = time.perf_counter()
        found = call(Path(task["source"]))
        taken.append(time.perf_counter() - start)
    answer = {
        "seconds": min(taken),
        "repeats": len(taken),
        "base_bytes": base,
        "peak_bytes": peak_bytes(),
    }
    return answer, found


def _learn(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The whole command, from reading the line to the files that it writes."""
    heard: list[tuple[float, Step]] = []
    start = time.perf_counter()
    sys.argv = ["kgmi", *task["arguments"]]
    with (
        (folder / "printed.json").open("w", encoding="utf-8") as printed,
        redirect_stdout(printed),
        telling(lambda step: heard.append((time.perf_counter(), step))),
    ):
        try:
            run_module("kgmi", run_name="__main__")  # what «python -m kgmi» does; here it tells the memory too
        except SystemExit as end:
            if end.code:
                raise
    answer = {"seconds": time.perf_counter() - start, "repeats": 1, "peak_bytes": peak_bytes()}
    return answer | {"counting_seconds": _counting(heard)}


def _counting(heard: list[tuple[float, Step]]) -> float | None:
    """From the first news of rows that are counted to the first of what comes after; None where there was none."""
    places = [place for place, (_, step) in enumerate(heard) if (step.phase, step.unit) == ("counting", "rows")]
    after = heard[places[-1] + 1 :][:1] if places else []
    return after[0][0] - heard[places[0]][0] if after else None
