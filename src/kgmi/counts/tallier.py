"""``Tallier``: counts rows that come in pieces: small tables in bits, large ones code by code."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.counts import loops
from kgmi.counts.tally import Sets, Tally, all_sets, numbers_in, pieces, smaller_sets, starts_of
from kgmi.errors import DataError
from kgmi.types import Codes, Ints

__all__ = ["Tallier"]

_MOST_FILLED = 500_000  # cells of whole tables that are made at a time
_ROWS = 32_768  # at a time: the bits of a set stay in the first-level cache
_MOST_PLANES = 256  # combinations that are counted in bits; more are counted code by code (measured November 2026)


class Tallier:
    """Counts rows that come in pieces, and keeps nothing but the counts.

    Sets of few cells are counted in bits, those of many code by code.

    Parameters
    ----------
    sizes, width, has_gaps, sets
        See :class:`Tally`.
    """

    def __init__(
        self, sizes: tuple[int, ...], width: int, has_gaps: bool = False, sets: Sets | None = None
    ) -> None:
        self._empty = Tally.of_nothing(sizes, width, has_gaps=has_gaps, sets=sets)
        self._codes = self._empty.codes_of
        planes = np.maximum(self._codes - 1, 1)
        few = planes[self._empty.listed].prod(axis=1, dtype=np.float64) <= _MOST_PLANES
        self._few, self._many = np.flatnonzero(few), np.flatnonzero(~few)
        self._wide = np.zeros(self._empty.n_cells if self._many.size else 0, dtype=np.int64)
        every = self._few.size == few.size and sets is None
        self._orders = _orders(
            self._codes.tobytes(), width, None if every else self._empty.listed[self._few].tobytes()
        )
        self._inner = [np.zeros(int(starts[-1]), dtype=np.int64) for _, starts in self._orders]
        in_bits = np.isin(np.arange(len(sizes)), self._orders[0][0])
        self._lines = np.concatenate([[0], np.cumsum(np.where(in_bits, self._codes - 1, 0))])
        # A type that has room for the code of a missing value.
        self._gaps = (self._codes - 1).astype(np.min_scalar_type(-int(self._codes.max())))[:, None]
        self.n_rows = 0

    def add(self, columns: Codes) -> None:
        """Count these rows [column, row] too; -1 is a missing value."""
        compiled = loops()
        if len(columns) != len(self._codes):
            raise DataError(f"{len(self._codes)} columns are counted, got {len(columns)}")
        for start in range(0, columns.shape[1], _ROWS):
            piece = columns[:, start : start + _ROWS]
            if self._empty.has_gaps:
                piece = np.where(piece < 0, self._gaps, piece)
            if self._few.size:
                words = _bits(piece, self._lines)
                for (sets, starts), inner in zip(self._orders, self._inner, strict=True):
                    compiled.count_set_bits(words, self._lines, sets, starts, inner)
            if self._many.size:
                self._count_codes(np.ascontiguousarray(piece, dtype=np.int32))
        self.n_rows += columns.shape[1]

    def _count_codes(self, columns: Ints) -> None:
        """Count the sets of many combinations code by code: those with the same last columns together."""
        sets, starts = self._empty.listed[self._many], self._empty.starts[self._many]
        codes, no_weights = self._codes.astype(np.int32), np.zeros(0, dtype=np.int64)
        none = np.zeros(columns.shape[1], dtype=np.int32)
        edges = np.flatnonzero((sets[1:, 1:] != sets[:-1, 1:]).any(axis=1)) + 1
        for start, stop in pairwise([0, *edges.tolist(), len(sets)]):
            places, step = none, 1
            for node in sets[start, 1:].tolist():
                places = columns[node] if step == 1 else places * codes[node] + columns[node]
                step *= int(codes[node])
            nodes = sets[start:stop, 0].astype(np.int64)
            loops().count_codes(places, step, columns, nodes, no_weights, starts[start:stop], self._wide)

    def tally(self) -> Tally:
        """Return the counts so far."""
        empty = self._empty
        cells = self._wide.copy() if self._many.size else np.zeros(empty.n_cells, dtype=np.int64)
        if self._few.size:
            self._fill(empty.starts[self._few], cells)
        return replace(empty, cells=cells, rows=self.n_rows)

    def _fill(self, starts: Ints, out: Any) -> None:
        """Write whole tables: what was counted, and for each last state what is left of the margin."""
        sets, _ = self._orders[0]
        width = sets.shape[1]
        for shape, which in pieces(self._codes, sets, _MOST_FILLED):
            table = np.zeros((len(which), *shape), dtype=np.int64)
            for kept in product((True, False), repeat=width):  # a place that is not kept has the sum of all states
                places = [place for place in range(width) if kept[place]]
                ends = zip(shape, kept, strict=True)
                where = (slice(None), *(slice(n - 1) if keep else slice(n - 1, n) for n, keep in ends))
                if not places:
                    table[where] = self.n_rows
                    continue
                (fewer, begins), cells = self._orders[width - len(places)], self._inner[width - len(places)]
                at = numbers_in(fewer, sets[which][:, places])
                found = cells[begins[at][:, None] + np.arange(prod(shape[place] - 1 for place in places))]
                table[where] = found.reshape(table[where].shape)
            for place, n in enumerate(shape):
                last = (slice(None),) * (place + 1) + (slice(n - 1, n),)
                others = (slice(None),) * (place + 1) + (slice(n - 1),)
                table[last] -= table[others].sum(axis=1 + place, keepdims=True)
            out[starts[which][:, None] + np.arange(table[0].size)] = table.reshape(len(which), -1)


@lru_cache(maxsize=8)
def _orders(codes: bytes, width: int, sets: bytes | None) -> tuple[tuple[Sets, Ints], ...]:
    """Return the sets and all smaller ones that lie in them, largest first, each with where its cells begin.

    Cells are those without the last state of any column; the smaller sets are the margins.
    """
    n_codes = np.frombuffer(codes, dtype=np.int64)
    wanted = all_sets(len(n_codes), width)
    if sets is not None:
        wanted = np.frombuffer(sets, dtype=np.int32).reshape(-1, width)
    made: list[tuple[Sets, Ints]] = []
    for size in range(width, 0, -1):
        here = wanted if size == width else smaller_sets(made[-1][0], size)
        here.setflags(write=False)  # all of one type to the compiler
        made.append((here, starts_of(n_codes - 1, here)))
    return tuple(made)


def _bits(columns: Codes, lines: Ints) -> NDArray[np.uint64]:
    """Return [line, word]: in which rows a column has a state; the lines of column c begin at ``lines[c]``."""
    n_rows, n_planes = columns.shape[1], np.diff(lines)
    n_words = -(-n_rows // 512) * 8
    words = np.zeros((int(lines[-1]), n_words), dtype="<u8")
    packed, n_bytes = words.view(np.uint8), -(-n_rows // 8)
    for state in range(int(n_planes.max())):
        having = np.flatnonzero(n_planes > state)
        some = columns if len(having) == len(columns) else columns[having]
        packed[lines[having] + state, :n_bytes] = np.packbits(some == state, axis=1, bitorder="little")
    return words.astype(np.uint64, copy=False)
