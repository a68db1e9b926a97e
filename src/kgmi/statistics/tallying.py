"""Rows to tallies: sets of few cells are counted in bits, those of many as histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from kgmi.errors import DataError
from kgmi.statistics.packed import WORD, Words
from kgmi.statistics.sets import Sets, all_sets, numbers_in, smaller_sets
from kgmi.statistics.tally import Tally
from kgmi.types import Codes, Ints

__all__ = ["Tallier", "tally_rows"]

_ROWS = 32_768  # at a time: the bits of a set stay in the first-level cache
_MOST_FILLED = 500_000  # cells of whole tables that are made at a time
_MOST_PLANES = 256  # combinations that are counted in bits; of more a histogram is quicker (measured November 2026)


def tally_rows(
    columns: Codes, sizes: Sequence[int], width: int, *, has_gaps: bool = False, sets: Sets | None = None
) -> Tally:
    """Count sets of columns.

    Parameters
    ----------
    columns
        ``columns[column, row]``: codes from 0, or -1 where there is no value (with ``has_gaps``).
    sizes
        Number of states of every column.
    width
        Columns of a set.
    has_gaps
        Whether values may be missing: one more code for every column.
    sets
        Those to be counted; None: all.
    """
    tallier = Tallier(tuple(sizes), width, has_gaps, sets)
    tallier.add(columns)
    return tallier.tally()


class Tallier:
    """Takes rows in pieces and keeps nothing but their counts."""

    def __init__(
        self, sizes: tuple[int, ...], width: int, has_gaps: bool = False, sets: Sets | None = None
    ) -> None:
        self._empty = Tally.of_nothing(sizes, width, has_gaps=has_gaps, sets=sets)
        self._codes = self._empty.codes
        planes = np.maximum(self._codes - 1, 1)
        few = planes[self._empty.listed].prod(axis=1, dtype=np.float64) <= _MOST_PLANES
        self._few, self._many = np.flatnonzero(few), np.flatnonzero(~few)
        self._wide = np.zeros(self._empty.n_cells if self._many.size else 0, dtype=np.int64)
        every = self._few.size == few.size and sets is None
        self._orders = _orders(
            self._codes.tobytes(), width, None if every else self._empty.listed[self._few].tobytes()
        )
        self._inner = [np.zeros(int(one.starts[-1]), dtype=np.int64) for one in self._orders]
        in_bits = np.isin(np.arange(len(sizes)), self._orders[0].sets)  # the planes of the others nobody looks at
        self._lines = np.concatenate([[0], np.cumsum(np.where(in_bits, self._codes - 1, 0))])
        # A type that has room for the code of «no value», which may be one more than that of the codes has.
        self._gaps = (self._codes - 1).astype(np.min_scalar_type(-int(self._codes.max())))[:, None]
        self.n_rows = 0

    def add(self, columns: Codes) -> None:
        """Count these rows [column, row] too."""
        from kgmi.statistics.set_kernels import count_set_bits, count_set_histograms

        if len(columns) != len(self._codes):
            raise DataError(f"{len(self._codes)} columns are counted, got {len(columns)}")
        many = self._many
        for start in range(0, columns.shape[1], _ROWS):
            piece = columns[:, start : start + _ROWS]
            if self._empty.has_gaps:
                piece = np.where(piece < 0, self._gaps, piece)
            if self._few.size:
                words = _bits(piece, self._lines)
                for order, inner in zip(self._orders, self._inner, strict=True):
                    count_set_bits(words, self._lines, order.sets, order.starts, inner)
            if many.size:
                wide = np.ascontiguousarray(piece, dtype=np.int32)
                sets, starts = self._empty.listed[many], self._empty.starts[many]
                count_set_histograms(wide, self._codes, sets, starts, self._wide)
        self.n_rows += columns.shape[1]

    def tally(self) -> Tally:
        """The counts so far."""
        empty = self._empty
        cells = self._wide.copy() if self._many.size else np.zeros(empty.n_cells, dtype=np.int64)
        if self._few.size:
            _fill(self._orders, self._inner, self.n_rows, self._codes, empty.starts[self._few], cells)
        return Tally(empty.sizes, empty.width, self.n_rows, cells, empty.has_gaps, empty.sets)


@dataclass(frozen=True, eq=False)
class _Order:
    """Sets of one width, with the last state of every column left out of their tables."""

    sets: Sets
    starts: Ints

    @cached_property
    def width(self) -> int:
        return int(self.sets.shape[1])


@lru_cache(maxsize=8)
def _orders(codes: bytes, width: int, sets: bytes | None) -> tuple[_Order, ...]:
    """The sets and all smaller ones that lie in them, which have the margins; largest first."""
    n_codes = np.frombuffer(codes, dtype=np.int64)
    if sets is None:
        wanted = all_sets(len(n_codes), width)
    else:
        wanted = np.frombuffer(sets, dtype=np.int32).reshape(-1, width)
    made: list[_Order] = []
    for size in range(width, 0, -1):
        here = wanted if size == width else smaller_sets(made[-1].sets, size)
        starts = np.zeros(len(here) + 1, dtype=np.int64)
        np.cumsum((n_codes - 1)[here].prod(axis=1), out=starts[1:])
        made.append(_Order(here, starts))
    return tuple(made)


def _bits(columns: Codes, lines: Ints) -> Words:
    """[line, word]: in which rows a column has a state; the lines of column c begin at ``lines[c]``."""
    n_rows, n_planes = columns.shape[1], np.diff(lines)
    n_words = -(-n_rows // (WORD * 8)) * 8
    words = np.zeros((int(lines[-1]), n_words), dtype="<u8")
    packed, n_bytes = words.view(np.uint8), -(-n_rows // 8)
    for state in range(int(n_planes.max())):
        having = np.flatnonzero(n_planes > state)
        some = columns if len(having) == len(columns) else columns[having]
        packed[lines[having] + state, :n_bytes] = np.packbits(some == state, axis=1, bitorder="little")
    return words.astype(np.uint64, copy=False)


def _fill(
    orders: tuple[_Order, ...], inner: Sequence[Ints], n_rows: int, codes: Ints, starts: Ints, out: Any
) -> None:
    """Write whole tables: what was counted, and for each last state what is left of the margin."""
    largest = orders[0]
    width, planes = largest.width, codes - 1
    kinds, kind = np.unique(planes[largest.sets], axis=0, return_inverse=True)
    pieces = [
        (shape, same[start : start + step])
        for number, shape in enumerate(kinds.tolist())
        for same in (np.flatnonzero(kind.ravel() == number),)
        for step in (max(1, _MOST_FILLED // prod(n + 1 for n in shape)),)
        for start in range(0, len(same), step)
    ]
    for shape, which in pieces:
        table = np.zeros((len(which), *(n + 1 for n in shape)), dtype=np.int64)
        for kept in product((True, False), repeat=width):  # a place that is not kept holds the sum over all states
            places = [place for place in range(width) if kept[place]]
            where = (
                slice(None),
                *(slice(n) if keep else slice(n, n + 1) for n, keep in zip(shape, kept, strict=True)),
            )
            if not places:
                table[where] = n_rows
                continue
            order, cells = orders[width - len(places)], inner[width - len(places)]
            at = numbers_in(order.sets, largest.sets[which][:, places])
            sizes = [shape[place] for place in places]
            found = cells[order.starts[at][:, None] + np.arange(prod(sizes))]
            table[where] = found.reshape(
                len(which), *(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
            )
        for place, n in enumerate(shape):
            table[_at(width, place, slice(n, n + 1))] -= table[_at(width, place, slice(n))].sum(
                axis=1 + place, keepdims=True
            )
        out[starts[which][:, None] + np.arange(table[0].size)] = table.reshape(len(which), -1)


def _at(width: int, place: int, part: slice) -> tuple[slice, ...]:
    return (slice(None), *(part if here == place else slice(None) for here in range(width)))
