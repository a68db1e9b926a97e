"""Databases and data frames that count the same pairs: one function each, in several ways of asking.

All return counts [pair, state, state] of the pairs of columns in the order of ``itertools.combinations``. Libraries
are imported when their function is made ready, before anything is timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.errors import SettingError
from kgmi.types import Ints

__all__ = ["WAYS", "Way", "chosen_ways", "way_named"]

Ready = Callable[[Path], Ints]


@dataclass(frozen=True)
class Way:
    """A way to count all pairs with a library.

    Attributes
    ----------
    key
        Its name on the command line.
    library
        The distribution that has to be installed.
    says
        What it does, for people.
    ready
        Columns, number of states and threads → a function from a folder of Parquet files to counts.
    """

    key: str
    library: str
    says: str
    ready: Callable[[Sequence[str], int, int], Ready]


def _duckdb_pairs(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    connection = _duckdb(n_threads)

    def count(folder: Path) -> Ints:
        tables = [
            connection.execute(
                f'SELECT "{one}", "{other}", count(*) FROM read_parquet(?) GROUP BY ALL', [_files(folder)]
            ).fetchall()
            for one, other in combinations(names, 2)
        ]
        return _filled(tables, n_states)

    return count


def _duckdb_sets(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    connection = _duckdb(n_threads)
    sets = ", ".join(f'("{one}", "{other}")' for one, other in combinations(names, 2))
    columns = ", ".join(f'"{name}"' for name in names)
    query = f"SELECT {columns}, count(*) FROM read_parquet(?) GROUP BY GROUPING SETS ({sets})"

    def count(folder: Path) -> Ints:
        numbers = {pair: number for number, pair in enumerate(combinations(range(len(names)), 2))}
        tables: list[list[Sequence[int]]] = [[] for _ in numbers]
        for *cells, n in connection.execute(query, [_files(folder)]).fetchall():
            (one, a), (other, b) = ((place, cell) for place, cell in enumerate(cells) if cell is not None)
            tables[numbers[one, other]].append((a, b, n))
        return _filled(tables, n_states)

    return count


def _duckdb_table(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    connection = _duckdb(n_threads)

    def count(folder: Path) -> Ints:
        connection.execute("CREATE OR REPLACE TABLE held AS SELECT * FROM read_parquet(?)", [_files(folder)])
        tables = [
            connection.execute(f'SELECT "{one}", "{other}", count(*) FROM held GROUP BY ALL').fetchall()
            for one, other in combinations(names, 2)
        ]
        return _filled(tables, n_states)

    return count


def _duckdb(n_threads: int) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {n_threads:d}")
    return connection


def _polars_pairs(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    pl = _polars(n_threads)

    def count(folder: Path) -> Ints:
        rows = pl.scan_parquet(_files(folder))
        tables = [rows.group_by(pair).agg(pl.len()).collect(engine="streaming").rows() for pair in _pairs(names)]
        return _filled(tables, n_states)

    return count


def _polars_keys(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    pl = _polars(n_threads)

    def count(folder: Path) -> Ints:
        rows = pl.read_parquet(_files(folder))
        keys = [pl.col(one) * n_states + pl.col(other) for one, other in combinations(names, 2)]
        found = rows.select(key.value_counts().implode().alias(str(n)) for n, key in enumerate(keys))
        tables = [[tuple(line.values()) for line in cell] for cell in found.row(0)]
        return _filled([[(key // n_states, key % n_states, n) for key, n in one] for one in tables], n_states)

    return count


def _polars(n_threads: int) -> Any:
    os.environ["POLARS_MAX_THREADS"] = str(n_threads)  # it is read when polars is loaded
    import polars

    if polars.thread_pool_size() != n_threads:
        raise SettingError(f"polars was loaded before with {polars.thread_pool_size()} threads, not {n_threads}")
    return polars


def _pyarrow_groups(names: Sequence[str], n_states: int, n_threads: int) -> Ready:
    import pyarrow
    from pyarrow import parquet

    pyarrow.set_cpu_count(n_threads)

    def count(folder: Path) -> Ints:
        rows = parquet.read_table(_files(folder))
        tables = []
        for pair in _pairs(names):
            found = rows.group_by(pair).aggregate([([], "count_all")])
            tables.append(list(zip(*(found[name].to_pylist() for name in [*pair, "count_all"]), strict=True)))
        return _filled(tables, n_states)

    return count


WAYS = (
    Way("duckdb-pairs", "duckdb", "DuckDB, one GROUP BY per pair over the files", _duckdb_pairs),
    Way("duckdb-sets", "duckdb", "DuckDB, one query with GROUPING SETS", _duckdb_sets),
    Way("duckdb-table", "duckdb", "DuckDB, rows in memory, GROUP BY per pair", _duckdb_table),
    Way("polars-pairs", "polars", "polars, lazy scan, streaming group_by per pair", _polars_pairs),
    Way("polars-keys", "polars", "polars, rows in memory, value_counts of joined codes", _polars_keys),
    Way("pyarrow-groups", "pyarrow", "PyArrow, rows in memory, group_by per pair", _pyarrow_groups),
)


def way_named(key: str) -> Way:
    """The way with this key."""
    for way in WAYS:
        if way.key == key:
            return way
    raise SettingError(f"there is no peer {key!r}; choose from {', '.join(way.key for way in WAYS)}")


def chosen_ways(text: str) -> tuple[Way, ...]:
    """The peers that a command line asks for: all, none, or their keys with commas."""
    if text in ("all", "none"):
        return WAYS if text == "all" else ()
    return tuple(way_named(key.strip()) for key in text.split(","))


def _files(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("*.parquet"))]


def _pairs(names: Sequence[str]) -> list[list[str]]:
    return [list(pair) for pair in combinations(names, 2)]


def _filled(tables: Sequence[Iterable[Sequence[int]]], n_states: int) -> Ints:
    """[pair, state, state] from the states and the number of each group that occurs."""
    counts = np.zeros((len(tables), n_states, n_states), dtype=np.int64)
    for number, table in enumerate(tables):
        for one, other, n in table:
            counts[number, one, other] = n
    return counts
