"""Our own methods on samples: a table with declared states, one call of :func:`kgmi.learn`, the edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.bench.peer import Edges, Given, Peer
from kgmi.learning import Learned, learn
from kgmi.table import Table
from kgmi.types import Rows

__all__ = ["our_method"]


@dataclass(frozen=True, eq=False)
class _Kept:
    """The table that is learned from, and which columns of the sample it has.

    The learner refuses a column that has one state in all rows, which small samples do have. Such a column is left
    out: nothing can be learned about it, and it gets neither parents nor children.
    """

    table: Table
    columns: tuple[int, ...]


def our_method(key: str, setting: str, *, told_kernel: bool = False, **options: Any) -> Peer:
    """A peer that calls :func:`kgmi.learn` with these options, K, and the kernel where it is to be told."""

    def fit(kept: _Kept, given: Given) -> Learned | None:
        most = given.n_parents if told_kernel else min(given.n_parents, len(kept.columns) - 1)
        if not 0 < most < len(kept.columns):  # too few columns are left for a node with parents
            return None
        kernel = given.kernel if told_kernel else None
        return learn(kept.table, n_parents=most, kernel=kernel, **options)

    ordered = options.get("order") != "learn"
    return Peer(
        key=key, name=key, library="kgmi", ordered=ordered, setting=setting, prepare=_varied, fit=fit, read=_edges
    )


def _varied(rows: Rows, given: Given) -> _Kept:
    """Rows with declared states: one alphabet where all columns have as many states, else one for each column.

    With numba loaded, long ascents are compiled in the warm-up and not in the first call that is timed.
    """
    import numba  # noqa: F401

    columns = tuple(map(int, np.flatnonzero((rows != rows[0]).any(axis=0))))
    sizes = [given.n_states[column] for column in columns]
    states = tuple(str(code) for code in range(max(sizes, default=0)))
    own = None if len(set(given.n_states)) == 1 else tuple(states[:n] for n in sizes)
    names = tuple(_name(column) for column in columns)
    return _Kept(Table(rows[:, columns], names, states, alphabets=own), columns)


def _edges(learned: Learned | None) -> Edges:
    """By name, as a learned order moves the columns."""
    pairs = [] if learned is None else [(p, child) for child, chosen in learned.parents.items() for p in chosen]
    return Edges.of((_column(parent), _column(child)) for parent, child in pairs)


def _name(column: int) -> str:
    return f"X{column + 1}"


def _column(name: str) -> int:
    return int(name[1:]) - 1
