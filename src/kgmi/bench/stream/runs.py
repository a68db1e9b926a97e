"""``Run``: something to be timed in a fresh process, and what came of it."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.bench.child import reason_of, run_module
from kgmi.bench.peer import Edges
from kgmi.bench.score import score_edges
from kgmi.bench.stream.tables import Generated
from kgmi.errors import KgmiError
from kgmi.types import Ints

__all__ = ["Run", "check_same", "ran"]

_WARM_ROWS = 20_000  # of the first call, which is not timed


@dataclass(frozen=True, eq=False)
class Run:
    """A run, and, once it was done, what came of it.

    Attributes
    ----------
    part
        Of the benchmark: ``rows``, ``workers``, ``kinds``, ``peers`` or ``learn``.
    method
        Who counts: ``kgmi``, ``kgmi-dask``, ``kgmi-learn`` or the key of a peer.
    table
        What is read.
    width
        Columns of a set that is counted: 2 for pairs, 3 for families of two parents.
    workers
        Threads, or processes of Dask.
    seconds, repeats
        Shortest time of that many calls; None where it did not finish, and ``trouble`` says why.
    base_bytes, peak_bytes
        The most memory of the process before the timed call, and at its end; with the workers of Dask together.
    pairs
        Counts of all pairs [pair, state, state]; None of a run that learned.
    more
        What there is besides, as plain values.
    """

    part: str
    method: str
    table: Generated
    width: int = 2
    workers: int = 2
    seconds: float | None = None
    repeats: int | None = None
    base_bytes: int | None = None
    peak_bytes: int | None = None
    trouble: str | None = None
    pairs: Ints | None = None
    more: dict[str, Any] | None = None

    @property
    def rate(self) -> float | None:
        """Rows per second."""
        return None if self.seconds is None else self.table.n_rows / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        numbers = ("width", "workers", "seconds", "repeats", "base_bytes", "peak_bytes", "trouble")
        return {
            "part": self.part,
            "method": self.method,
            "n_rows": self.table.n_rows,
            "kind": self.table.kind,
            **{name: getattr(self, name) for name in numbers},
            "rows_per_second": self.rate,
            **(self.more or {}),
        }


def ran(run: Run, folder: Path, limit: float) -> Run:
    """The run with what came of it, done in a process of its own; ``folder`` has the tables."""
    source = run.table.write(folder)
    with tempfile.TemporaryDirectory(prefix="kgmi-bench-", ignore_cleanup_errors=True) as name:
        here = Path(name)
        task = _task(run, source, folder, here)
        (here / "task.json").write_text(json.dumps(task), encoding="utf-8")
        start = time.perf_counter()
        code = run_module("kgmi.bench.stream", here, limit)
        whole = time.perf_counter() - start
        if code != 0:
            errors = (here / "errors.txt").read_text(encoding="utf-8", errors="replace")
            trouble = f"stopped after {limit:g} s" if code is None else reason_of(code, errors)
            return replace(run, trouble=trouble)
        answer = json.loads((here / "answer.json").read_text(encoding="utf-8"))
        done = replace(run, **{name: answer[name] for name in ("seconds", "repeats", "peak_bytes")})
        if run.part == "learn":
            return replace(done, seconds=whole, more=_learned(run.table, here, answer))
        done = replace(done, pairs=np.load(here / "pairs.npy", allow_pickle=False))
        workers = answer.get("peak_bytes_of_workers") or []
        peak = None if None in (done.peak_bytes, *workers) else sum([done.peak_bytes, *workers])
        return replace(done, base_bytes=answer["base_bytes"], peak_bytes=peak)


def _task(run: Run, source: Path, folder: Path, here: Path) -> dict[str, Any]:
    if run.part == "learn":
        out = str(here / "result")
        arguments = ["learn", str(source), "--stream", "--out", out, "--json"]
        return {"do": "learn", "arguments": arguments}
    warm = replace(run.table, n_rows=min(_WARM_ROWS, run.table.n_rows), n_files=1).write(folder)
    return {
        "do": "count" if run.method.startswith("kgmi") else "peer",
        "way": run.method,
        "source": str(source),
        "warm": str(warm),
        "names": run.table.names,
        "texts": run.table.texts,
        "width": run.width,
        "workers": run.workers,
        "dask": run.method == "kgmi-dask",
    }


def _learned(table: Generated, here: Path, answer: dict[str, Any]) -> dict[str, Any]:
    """How good the graph is, from what the command printed, and how long it counted."""
    printed = json.loads((here / "printed.json").read_text(encoding="utf-8"))
    number = {name: place for place, name in enumerate(table.names)}
    edges = [(number[parent], number[child]) for child, chosen in printed["parents"].items() for parent in chosen]
    score = score_edges(Edges.of(edges), table.process.dag)
    times = {"command_seconds": answer["seconds"], "counting_seconds": answer["counting_seconds"]}
    return {**times, "f1": score.f1, "shd": score.shd}


def check_same(runs: list[Run]) -> int:
    """How many runs counted all pairs of the same rows; where two of them disagree, that is an error."""
    first: dict[tuple[int, int, int], Run] = {}
    counted = [run for run in runs if run.pairs is not None]
    for run in counted:
        table = run.table
        other = first.setdefault((table.n_rows, table.n_nodes, table.seed), run)
        assert run.pairs is not None
        assert other.pairs is not None
        n_pairs = len(list(combinations(table.names, 2)))
        whole = len(run.pairs) == n_pairs and (run.pairs.sum(axis=(1, 2)) == table.n_rows).all()
        if not whole or not np.array_equal(run.pairs, other.pairs):
            raise KgmiError(
                f"{run.method} and {other.method} counted other pairs in the same {table.n_rows:,} rows "
                f"({run.part}, {table.kind}); times mean nothing where counts differ"
            )
    return len(counted)
