"""``Counts``: settled counts of all rows, which are learned from, saved, shipped and merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.graph.naming import shown_list
from kgmi.joint import check_pair_size
from kgmi.statistics.pairs import PairCounts
from kgmi.statistics.sets import all_sets
from kgmi.statistics.tally import Tally, pieces
from kgmi.types import Codes, Ints, PathLike

if TYPE_CHECKING:  # who learns from rows in memory needs no streams
    from kgmi.counting.part import Part
    from kgmi.streams import Settled

__all__ = ["Counts", "settle"]

_SHOWN = 8  # columns that are named where counts are shown


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How often the states of all sets of K + 1 columns occur together: enough to learn up to K parents of each.

    They add up: ``counts + others``, or :func:`kgmi.merge`, where data are in several places. No row can be read
    off them, but small numbers in them may say something about single people; look before you ship them.

    Attributes
    ----------
    names
        The columns.
    states, alphabets
        The alphabet that all columns share, or all states; and the alphabet of each column where each has its own.
    tally
        The counts themselves.
    marks
        Fingerprints of the pieces of data that were counted, so that none is counted twice.
    contents
        Fingerprints of the files behind them (:attr:`kgmi.streams.Stream.contents`), whatever was read of them: so
        a copy of a file is noticed, or other rows and columns of it. Empty where the rows came from no files.
    reading
        How cells were read: ``missing`` and ``alphabet``; ``where``, the filter, if there was one
        (:mod:`kgmi.counting.filtered`); and ``gap``, the state that missing values are, where they are one.
    first
        The first rows [row, column], where they were at hand: for the checks of a fit only. They are neither saved
        nor merged. None of them is here where a filter lets none of the first ones pass.
    """

    names: tuple[str, ...]
    states: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...] | None
    tally: Tally
    marks: tuple[str, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    first: Codes | None = None
    contents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        expected = tuple(len(states) for states in self.column_states)
        if len(self.names) != self.tally.n_nodes or expected != self.tally.sizes:
            raise DataError("these counts do not fit their columns and states")

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:_SHOWN])) + ", …" * (len(self.names) > _SHOWN)
        return f"Counts({len(self.names)} columns: {shown}; n_rows={self.n_rows}, width={self.tally.width})"

    def __str__(self) -> str:
        columns = "1 column" if len(self.names) == 1 else f"{len(self.names):,} columns"
        shown = shown_list(self.names[:_SHOWN]) + " …" * (len(self.names) > _SHOWN)
        parents = "1 parent" if self.n_parents == 1 else f"{self.n_parents} parents"
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        return f"Counts of {rows} of {columns} ({shown}), from which up to {parents} of each can be learned."

    @property
    def n_nodes(self) -> int:
        """Number of columns T."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Rows that were counted."""
        return self.tally.n_rows

    @property
    def n_parents(self) -> int:
        """K, the most parents that can be learned from these counts."""
        return max(1, self.tally.width - 1 - (self.tally.has_gaps and self.tally.width < self.n_nodes))

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """The states of every column."""
        return (self.states,) * len(self.names) if self.alphabets is None else self.alphabets

    @cached_property
    def pairs(self) -> PairCounts:
        """Counts of all pairs of columns."""
        return PairCounts(pair_table(self.tally))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of columns, states and counts: the same for the same rows, however they came."""
        mark = sha256(repr((self.names, self.states, self.alphabets, self.tally.width)).encode())
        mark.update(np.ascontiguousarray(self.tally.cells, dtype="<i8").tobytes())
        return mark.hexdigest()

    def in_order(self, order: Sequence[int]) -> Counts:
        """The same with the columns in another order."""
        alphabets = None if self.alphabets is None else tuple(self.alphabets[column] for column in order)
        names = tuple(self.names[column] for column in order)
        first = None if self.first is None else self.first[:, list(order)]
        tally = self.tally.in_order(order)
        return replace(self, names=names, alphabets=alphabets, tally=tally, first=first)

    def __add__(self, other: Counts) -> Counts:
        from kgmi.counting.merge import merge

        return merge([self, other])

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Write them to a file that :meth:`load` and ``kgmi learn``, ``kgmi merge`` read.

        A file that is there and is none of counts is replaced with ``force`` only.
        """
        from kgmi.counting.files import save_counts

        save_counts(self, path, force=force)

    @classmethod
    def load(cls, path: PathLike) -> Counts:
        """Counts from a file."""
        from kgmi.counting.files import load_counts

        return load_counts(path)


def settle(part: Part, settled: Settled, reading: dict[str, Any], first: Codes | None = None) -> Counts:
    """The counts with the final alphabets."""
    from kgmi.counting.part import check_size

    columns = (settled.states,) * len(part.names) if settled.alphabets is None else settled.alphabets
    sizes = tuple(len(states) for states in columns)
    maps = list(settled.maps)
    has_gaps = part.tally.has_gaps
    if has_gaps and settled.gap_codes is not None:  # a gap is a state of its own now
        maps = [np.append(m, code) for m, code in zip(maps, settled.gap_codes, strict=True)]
        has_gaps = False
    check_size(sizes, part.tally.width, has_gaps, part.tally.sets)
    tally = part.tally.recoded(maps, sizes, has_gaps=has_gaps)
    return Counts(part.names, settled.states, settled.alphabets, tally, part.marks, reading, first)


def pair_table(tally: Tally) -> Ints:
    """[i, j, s', s]: counts of all pairs of columns, with themselves too; padded to the largest alphabet."""
    n_nodes, n_states = tally.n_nodes, max(tally.sizes)
    check_pair_size(n_nodes, n_states)
    out = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
    for node, size in enumerate(tally.sizes):
        out[node, node, range(size), range(size)] = tally.family((node,))
    every = all_sets(n_nodes, 2)
    for shape, which in pieces(np.array(tally.sizes), every):
        first, second = every[which].T
        tables = tally.tables(every[which].astype(np.int64))
        out[first, second, : shape[0], : shape[1]] = tables
        out[second, first, : shape[1], : shape[0]] = tables.transpose(0, 2, 1)
    return out
