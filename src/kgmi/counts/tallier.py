"""``Tallier``: counts rows that come in pieces: small tables in bits, large ones code by code."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from kgmi.counts import loops
from kgmi.counts.tally import Layout, Sets, Tally, smaller_sets
from kgmi.errors import DataError
from kgmi.types import Codes, Ints

_MOST_FILLED = 500_000  # cells of whole tables that are made at a time
_ROWS = 32_768  # at a time: the bits of a set stay in the first-level cache
_MOST_PLANES = 256  # combinations that are counted in bits; more are counted code by code (measured November 2026)


class Tallier:
    """Counts rows that come in pieces, and keeps nothing but the counts.

    Sets of few cells are counted in bits, without the last code of any column: these cells, and those of the
    smaller sets inside, give all others. Sets of many cells are counted code by code.

    Parameters
    ----------
    sizes, has_gaps
        See :class:`Tally`.
    width, sets
        Columns of a set, and the sets; by default all.
    """

    def __init__(
        self, sizes: tuple[int, ...], width: int, has_gaps: bool = False, sets: Sets | None = None
    ) -> None:
        self._empty = Tally.of_nothing(sizes, width, has_gaps=has_gaps, sets=sets)
        self._codes, listed = self._empty.layout.codes, self._empty.sets
        planes = np.maximum(self._codes - 1, 1)[listed].prod(axis=1, dtype=np.float64)
        self._few, self._many = np.flatnonzero(planes <= _MOST_PLANES), np.flatnonzero(planes > _MOST_PLANES)
        self._wide = np.zeros(len(self._empty.cells) if self._many.size else 0, dtype=np.int64)
        self._inner = dict[int, tuple[Layout, Ints]]()  # by the width of sets
        inside = listed[self._few]
        for size in range(width if self._few.size else 0, 0, -1):
            inside = smaller_sets(inside, size) if size < width else inside
            layout = Layout(self._codes - 1, inside)
            self._inner[size] = layout, np.zeros(int(layout.starts[-1]), dtype=np.int64)
        in_bits = np.isin(np.arange(len(sizes)), listed[self._few])
        self._lines = np.concatenate([[0], np.cumsum(np.where(in_bits, self._codes - 1, 0))])
        # A type that has room for the code of a missing value.
        self._gaps = (self._codes - 1).astype(np.min_scalar_type(-int(self._codes.max())))[:, None]
        self.n_rows = 0

    def add(self, columns: Codes) -> None:
        """Count these rows [column, row] too; -1 is a missing value."""
        count_set_bits = loops().count_set_bits
        if len(columns) != len(self._codes):
            raise DataError(f"{len(self._codes)} columns are counted, got {len(columns)}")
        for start in range(0, columns.shape[1], _ROWS):
            piece = columns[:, start : start + _ROWS]
            if self._empty.has_gaps:
                piece = np.where(piece < 0, self._gaps, piece)
            if self._few.size:
                words = _bits(piece, self._lines)
                for layout, cells in self._inner.values():
                    count_set_bits(words, self._lines, layout.sets, layout.starts, cells)
            if self._many.size:
                self._count_codes(np.ascontiguousarray(piece, dtype=np.int32))
        self.n_rows += columns.shape[1]

    def _count_codes(self, columns: NDArray[np.int32]) -> None:
        """Count the sets of many cells code by code: those with the same last columns together."""
        sets, starts = self._empty.sets[self._many], self._empty.layout.starts[self._many]
        codes, no_weights = self._codes.astype(np.int32), np.zeros(0, dtype=np.int64)
        edges = np.flatnonzero((sets[1:, 1:] != sets[:-1, 1:]).any(axis=1)) + 1
        for start, stop in pairwise([0, *edges.tolist(), len(sets)]):
            places, step = np.zeros(columns.shape[1], dtype=np.int32), 1
            for node in sets[start, 1:].tolist():
                places = places * codes[node] + columns[node]
                step *= int(codes[node])
            nodes = sets[start:stop, 0].astype(np.int64)
            loops().count_codes(places, step, columns, nodes, no_weights, starts[start:stop], self._wide)

    def tally(self) -> Tally:
        """Return the counts so far."""
        cells = self._wide.copy() if self._many.size else np.zeros(len(self._empty.cells), dtype=np.int64)
        layout, listed = self._empty.layout, self._empty.sets[self._few]
        for shape, which in layout.alike(listed, _MOST_FILLED):
            sets = listed[which]
            cells[layout.addresses(sets, [np.arange(n) for n in shape])] = self._whole(sets, shape)
        return replace(self._empty, cells=cells, rows=self.n_rows)

    def _whole(self, sets: Sets, shape: tuple[int, ...]) -> Ints:
        """Return whole tables [set, code, …]: what was counted, and for last codes what is left of the margins."""
        tables = np.empty((len(sets), *shape), dtype=np.int64)
        for kept in product((True, False), repeat=len(shape)):  # a place that is not kept has the sum of all codes
            places = [place for place, keeps in enumerate(kept) if keeps]
            ends = [slice(n - 1) if keeps else slice(n - 1, n) for n, keeps in zip(shape, kept, strict=True)]
            found: Ints = np.full(len(sets), self.n_rows)
            if places:
                layout, cells = self._inner[len(places)]
                found = cells[layout.addresses(sets[:, places], [np.arange(shape[place] - 1) for place in places])]
            at = (slice(None), *ends)
            tables[at] = found.reshape(tables[at].shape)
        for place in range(len(shape)):
            along = np.moveaxis(tables, place + 1, -1)
            along[..., -1] -= along[..., :-1].sum(axis=-1)
        return tables


def _bits(columns: Codes, lines: Ints) -> NDArray[np.uint64]:
    """Return [line, word]: in which rows a column has a state; the lines of column c begin at ``lines[c]``."""
    n_rows, n_planes = columns.shape[1], np.diff(lines)
    words = np.zeros((int(lines[-1]), -(-n_rows // 512) * 8), dtype="<u8")
    packed, n_bytes = words.view(np.uint8), -(-n_rows // 8)
    for state in range(int(n_planes.max())):
        having = np.flatnonzero(n_planes > state)
        some = columns if len(having) == len(columns) else columns[having]
        packed[lines[having] + state, :n_bytes] = np.packbits(some == state, axis=1, bitorder="little")
    return words.astype(np.uint64, copy=False)
