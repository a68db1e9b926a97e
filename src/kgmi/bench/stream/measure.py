"""The whole benchmark: tables of more and more rows, counted and learned from, each time in a fresh process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from kgmi.bench.compare import Tell
from kgmi.bench.speed.measured import Measured
from kgmi.bench.speed.timing import check_sizes
from kgmi.bench.stream.peers import WAYS, Way
from kgmi.bench.stream.report import stream_report
from kgmi.bench.stream.runs import Run, check_same, ran
from kgmi.bench.stream.tables import KINDS, Generated
from kgmi.errors import SettingError
from kgmi.threads import n_workers

__all__ = ["PARTS", "measure_stream", "planned_runs"]

PARTS = ("rows", "workers", "kinds", "peers", "learn")
"""Of the benchmark, in their order."""

_ALWAYS = {
    "graph": "random, two parents for every node but the first two",
    "kernel": "the paper's, random p of the seed",
    "files": "Parquet, one file to a table, snappy, every row drawn",
    "warm_up": "each process counts the first 20,000 rows before",
    "file_cache": "files were written or read before they are timed",
}
_COMPARED = 10_000_000  # rows on which peers, workers and kinds of cells are compared, at most


def measure_stream(
    rows: Sequence[int] = (1_000_000, 10_000_000, 100_000_000),
    *,
    n_nodes: int = 20,
    workers: Sequence[int] = (1, 2, 4),
    ways: Sequence[Way] = WAYS,
    parts: Sequence[str] = PARTS,
    seed: int = 1,
    folder: Path | None = None,
    limit: float = 1_800.0,
    group_rows: int = 1_000_000,
    tell: Tell | None = None,
) -> Measured:
    """Count generated Parquet files, and learn from the largest.

    Parameters
    ----------
    rows
        Sizes N. Peers, workers and kinds of cells are compared on sizes up to 10 million rows.
    n_nodes
        T.
    workers
        Threads of one process, and processes of Dask where it is installed.
    ways
        Peers; those that are not installed are named and left out.
    parts
        Some of :data:`PARTS`.
    seed
        Of graph, kernel and rows.
    folder
        Where the files are kept for another time; by default they are temporary.
    limit
        Seconds for one run, its start included.
    group_rows
        Rows of a row group.
    tell
        Called with the runs done and all of them.
    """
    check_sizes(rows=rows, workers=workers, group_rows=group_rows)
    if unknown := sorted(set(parts) - set(PARTS)):
        raise SettingError(f"there is no part {unknown[0]!r} of this benchmark; choose from {', '.join(PARTS)}")
    versions = {name: _version(name) for name in ("pyarrow", "distributed", *(way.library for way in ways))}
    ready = [way for way in ways if versions[way.library] is not None]
    planned = planned_runs(sorted(rows), n_nodes, sorted(workers), ready, parts, seed, group_rows, versions)
    runs = _done(planned, folder, limit, tell)
    settings = {
        "rows": sorted(rows),
        "n_nodes": n_nodes,
        "n_states": planned[0].table.process.n_states,
        "workers": sorted(workers),
        "cores": n_workers(),
        "parts": [part for part in PARTS if part in parts],
        "peers": {way.key: way.says for way in ready},
        "missing": sorted({way.library for way in ways if way not in ready}),
        "versions": versions,
        "seed": seed,
        "limit_seconds": limit,
        "group_rows": group_rows,
        "agreeing": check_same(runs),
        **_ALWAYS,
    }
    return stream_report(settings, runs)


def planned_runs(
    rows: list[int],
    n_nodes: int,
    workers: list[int],
    ways: list[Way],
    parts: Sequence[str],
    seed: int,
    group_rows: int,
    versions: dict[str, Any],
) -> list[Run]:
    """All runs, in the order of the parts."""

    def table(n_rows: int, kind: str = "int8") -> Generated:
        return Generated(n_rows, n_nodes, kind, seed, group_rows=group_rows)

    cores = n_workers()
    compared = [n for n in rows if n <= _COMPARED] or [min(rows)]
    runs = [Run("rows", "kgmi", table(n), width, cores) for n in rows for width in (2, 3)]
    most = table(max(compared))
    dask = ["kgmi-dask"] if versions["distributed"] is not None else []
    runs += [Run("workers", method, most, 3, n) for method in ["kgmi", *dask] for n in workers]
    runs += [Run("kinds", "kgmi", table(most.n_rows, kind), 3, cores) for kind in KINDS]
    for n_rows in compared:
        runs += [Run("peers", "kgmi", table(n_rows), width, cores) for width in (2, 3)]
        runs += [Run("peers", way.key, table(n_rows), 2, cores) for way in ways]
    runs.append(Run("learn", "kgmi-learn", table(max(rows)), 3, cores))
    return [run for run in runs if run.part in parts]


def _done(planned: Sequence[Run], folder: Path | None, limit: float, tell: Tell | None) -> list[Run]:
    """The runs, one after the other."""
    runs: list[Run] = []
    with _kept(folder) as here:
        for number, run in enumerate(planned):
            if tell is not None:
                tell(number, len(planned))
            runs.append(ran(run, here, limit))
    return runs


@contextmanager
def _kept(folder: Path | None) -> Iterator[Path]:
    """The folder of the tables; a temporary one goes with them."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="kgmi-stream-") as name:
        yield Path(name)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
