"""``Tally``: counts of sets of columns, those of streams, files and clusters; and ``Tallier``, which makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, product
from math import comb, factorial, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgmi.counts import loops
from kgmi.counts.base import Counts, PairCounts
from kgmi.errors import DataError, TooLargeError
from kgmi.joint import check_pair_size
from kgmi.types import Codes, Floats, Ints

_MOST_CELLS = 1_000_000  # that are moved at a time
_LOOKED_UP = 64  # rows in which a family is counted as fast as it is looked up
_MOST_NUMBERED = 2.0**62  # what a product of nodes may be
_MOST_FILLED = 500_000  # cells of whole tables that are made at a time
_ROWS = 32_768  # at a time: the bits of a set stay in the first-level cache
_MOST_PLANES = 256  # combinations that are counted in bits; more are counted code by code (measured November 2026)

Sets: TypeAlias = NDArray[np.int32]
"""[set, node]: ascending nodes, the sets in order of their last nodes, then those before (colex)."""


@lru_cache(maxsize=8)
def all_sets(n_nodes: int, width: int) -> Sets:
    """Return all sets of so many nodes; set (a < b < c) is number C(a, 1) + C(b, 2) + C(c, 3)."""
    made = np.empty((comb(n_nodes, width), width), dtype=np.int32)
    left = np.arange(len(made), dtype=np.int64)
    for place in range(width - 1, -1, -1):
        steps = np.array([comb(node, place + 1) for node in range(n_nodes + 1)], dtype=np.int64)
        made[:, place] = np.searchsorted(steps, left, side="right") - 1
        left = left - steps[made[:, place]]
    made.setflags(write=False)
    return made


def set_numbers(sets: NDArray[np.integer]) -> Ints:
    """Return the number of each ascending set [set, node] among all sets of its width."""
    if float(sets.max(initial=0) + 1) ** sets.shape[1] > _MOST_NUMBERED:
        raise TooLargeError(f"there are too many sets of {sets.shape[1]} of so many columns to number them")
    total = np.zeros(len(sets), dtype=np.int64)
    for place in range(sets.shape[1]):
        term = np.ones(len(sets), dtype=np.int64)
        for less in range(place + 1):
            term *= np.maximum(sets[:, place].astype(np.int64) - less, 0)
        total += term // factorial(place + 1)
    return total


def smaller_sets(sets: Sets, width: int) -> Sets:
    """Return all sets of ``width`` nodes that lie in one of the ``sets``, each once, in their order."""
    every = np.concatenate([sets[:, list(kept)] for kept in combinations(range(sets.shape[1]), width)])
    _, first = np.unique(set_numbers(every), return_index=True)
    return np.ascontiguousarray(every[first])


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the tables of sets of columns lie in one array, one after the other, each ordered by its columns."""

    codes: Ints  # [column]: number of codes
    sets: NDArray[np.integer[Any]]  # [set, place]: columns, ascending

    def __post_init__(self) -> None:
        sets = np.ascontiguousarray(self.sets, dtype=np.int32).view()
        sets.setflags(write=False)  # all sets are of one type to the compiler
        object.__setattr__(self, "sets", sets)

    @property
    def is_complete(self) -> bool:
        """Whether these are all sets of their width."""
        return len(self.sets) == comb(len(self.codes), self.sets.shape[1])

    @cached_property
    def starts(self) -> Ints:
        """[set + 1]: where the table of each set begins, and the end."""
        return np.concatenate([[0], np.cumsum(self.codes[self.sets].prod(axis=1), dtype=np.int64)])

    @cached_property
    def _numbers(self) -> Ints:
        return set_numbers(self.sets)

    def find(self, wanted: NDArray[np.integer]) -> Ints:
        """Return the places of the ``wanted`` sets [set, node], ascending each; -1 for those that are not here."""
        numbers = set_numbers(wanted)
        if self.is_complete:
            return numbers
        place = np.minimum(np.searchsorted(self._numbers, numbers), len(self.sets) - 1)
        return np.where(self._numbers[place] == numbers, place, -1)

    def addresses(self, families: NDArray[np.integer], codes: Sequence[Any]) -> Ints:
        """Return [family, code, …]: where cells lie.

        Parameters
        ----------
        families
            [family, node], the nodes in any order.
        codes
            For each place of a family the codes that are looked up: [code], or [family, code].
        """
        order = np.argsort(families, axis=1)
        ascending = np.take_along_axis(families, order, axis=1)
        numbers = self.find(ascending)
        if numbers.size and numbers.min() < 0:
            raise DataError(f"the columns {families[numbers.argmin()].tolist()} were not counted together")
        behind = self.codes[ascending][:, :0:-1]  # codes of a node are as far apart as later nodes have cells
        ahead = np.cumprod(np.column_stack([np.ones(len(families), dtype=np.int64), behind]), axis=1)[:, ::-1]
        steps = np.empty_like(ahead)
        np.put_along_axis(steps, order, ahead, axis=1)
        cells = self.starts[numbers]
        for place, some in enumerate(codes):
            step = steps[:, place, None] * some
            cells = cells[..., None] + step.reshape(len(families), *[1] * place, -1)
        return np.asarray(cells)

    def alike(
        self, families: NDArray[np.integer], most: int = _MOST_CELLS
    ) -> Iterator[tuple[tuple[int, ...], Ints]]:
        """Yield families whose tables have the same shape, some at a time: the shape, and which they are."""
        kind = np.zeros(len(families), dtype=np.int64)
        for nodes in families.T:  # np.unique of whole rows is slower, and turns Ctrl-C into a TypeError
            kind = np.unique(kind * (self.codes.max() + 1) + self.codes[nodes], return_inverse=True)[1]
        for number in range(kind.max(initial=-1) + 1):
            same = np.flatnonzero(kind == number)
            shape = tuple(self.codes[families[same[0]]].tolist())
            step = max(1, most // max(prod(shape), 1))
            for start in range(0, len(same), step):
                yield shape, same[start : start + step]


@dataclass(frozen=True, eq=False)
class Tally(Counts):
    """How often the states of sets of columns occur together.

    Where values are missing, every column has one more code, its last one, for a missing value; so smaller sets
    follow from larger ones, and rows without a value drop out of exactly the counts that need it.
    """

    sizes: tuple[int, ...]  # [column]: number of states
    sets: Sets
    rows: int  # rows that were counted
    cells: Ints  # the tables of all sets, as their Layout says
    has_gaps: bool = False  # whether there are codes for missing values
    alphabets: tuple[int, ...] = ()  # [column]: number of its alphabet; by default columns of one size share one

    def __post_init__(self) -> None:
        if self.cells.shape != (self.layout.starts[-1],):
            raise DataError(f"these counts need {self.layout.starts[-1]:,} cells, got {self.cells.shape}")
        cells = self.cells.view()
        cells.setflags(write=False)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "alphabets", self.alphabets or self.sizes)

    @classmethod
    def of_nothing(
        cls, sizes: Sequence[int], width: int, *, has_gaps: bool = False, sets: Sets | None = None
    ) -> Tally:
        """Return the counts of no rows; ``sets`` are by default all of that width."""
        if not 1 <= width <= len(sizes):
            raise DataError(f"sets of {width} columns cannot be made of {len(sizes)}")
        n_cells = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets) // 8
        counted = all_sets(len(sizes), width) if sets is None else sets
        return cls(tuple(sizes), counted, 0, np.zeros(n_cells, dtype=np.int64), has_gaps)

    @property
    def n_rows(self) -> float:
        """Number of rows."""
        return float(self.rows)

    effort = _LOOKED_UP

    @cached_property
    def layout(self) -> Layout:
        """Where the tables lie."""
        return Layout(np.array(self.sizes, dtype=np.int64) + self.has_gaps, self.sets)

    @property
    def width(self) -> int:
        """Columns of a set."""
        return int(self.sets.shape[1])

    @property
    def is_complete(self) -> bool:
        """Whether all sets of that width were counted."""
        return self.layout.is_complete

    def merge(self, other: Tally) -> Tally:
        """Return the counts of these rows and of others."""
        if (self.sizes, self.has_gaps) != (other.sizes, other.has_gaps) or not self.has_sets_of(other):
            raise DataError("cannot add counts of other columns, states or sets of columns")
        return replace(self, cells=self.cells + other.cells, rows=self.rows + other.rows)

    def has_sets_of(self, other: Tally) -> bool:
        """Return whether the sets of columns are those of other counts."""
        return self.sets is other.sets or np.array_equal(self.sets, other.sets)

    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of columns, padded to the largest alphabet."""
        n_nodes, n_states = self.n_nodes, max(self.sizes)
        check_pair_size(n_nodes, n_states)
        out = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
        for node, size in enumerate(self.sizes):
            out[node, node, range(size), range(size)] = self.table((node,))
        every = all_sets(n_nodes, 2)
        for _, which in self.layout.alike(every):
            first, second = every[which].T
            tables = self.tables(every[which])
            height, width = tables.shape[1:]
            out[first, second, :height, :width] = tables
            out[second, first, :width, :height] = tables.transpose(0, 2, 1)
        return PairCounts(out)

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Return counts [states of the parents …, state of the child] over the rows in which all have a value."""
        return self.table((*parents, child)).astype(np.float64)

    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Any, out: Floats) -> None:
        place, candidate = np.nonzero(wanted)
        children = np.full(len(place), child)
        out[wanted] = self.tables(np.column_stack([tuples[place], candidates[candidate], children]))

    def table(self, nodes: Sequence[int]) -> Ints:
        """Return counts [states of the nodes …], in this order, of up to ``width`` columns."""
        return np.asarray(self.tables(np.array(nodes, dtype=np.int64).reshape(1, len(nodes)))[0])

    def tables(self, families: NDArray[np.integer]) -> Ints:
        """Return [family, states of its nodes …] of families [family, node] of equal sizes at every position."""
        n_families, width = families.shape
        if width == 0:
            return np.full(n_families, self.rows, dtype=np.int64)
        if width > self.width:
            raise DataError(f"sets of {self.width} columns were counted, not of {width}")
        shape = [self.sizes[node] for node in families[0].tolist()] if n_families else [0] * width
        return self.smaller(width)._looked_up(families, shape)

    def holds(self, nodes: Sequence[int]) -> bool:
        """Return whether these columns were counted together."""
        if len(nodes) > self.width:
            return False
        return bool(self.smaller(len(nodes)).layout.find(np.sort(np.array([nodes])))[0] >= 0)

    def _looked_up(self, families: NDArray[np.integer], shape: Sequence[int]) -> Ints:
        """Return the first ``shape`` cells [family, code, …] of the tables of families [family, node]."""
        return np.asarray(self.cells[self.layout.addresses(families, [np.arange(size) for size in shape])])

    def _sums(self, families: NDArray[np.integer], width: int) -> Ints:
        """Return the tables of the first ``width`` nodes of families [family, node], one after the other."""
        starts = Layout(self.layout.codes, families[:, :width]).starts
        cells = np.empty(int(starts[-1]), dtype=np.int64)
        for shape, which in self.layout.alike(families):
            n_cells = prod(shape[:width])
            tables = self._looked_up(families[which], shape).reshape(len(which), n_cells, -1)
            cells[starts[which][:, None] + np.arange(n_cells)] = tables.sum(axis=2)
        return cells

    def smaller(self, width: int) -> Tally:
        """Return the counts of all sets of ``width`` columns that lie in one that was counted."""
        if width == self.width:
            return self
        if width not in self._smaller:
            wider = self.smaller(width + 1)
            complete = self.is_complete
            sets = all_sets(self.n_nodes, width) if complete else smaller_sets(wider.sets, width)
            layout = Layout(wider.layout.codes, sets)
            other = np.empty(len(sets), dtype=np.int64)  # a column with which each set was counted
            for place in range(wider.width):
                other[layout.find(np.delete(wider.sets, place, axis=1))] = wider.sets[:, place]
            cells = wider._sums(np.column_stack([sets, other]), width)
            self._smaller[width] = replace(self, cells=cells, sets=sets)
        return self._smaller[width]

    @cached_property
    def _smaller(self) -> dict[int, Tally]:
        return {}

    def recoded(self, maps: Sequence[Ints], sizes: Sequence[int], *, has_gaps: bool) -> Tally:
        """Return the same counts with other codes.

        Parameters
        ----------
        maps
            ``maps[column][old code]``: the new code. The last entry is for missing values, -1 where these stay
            missing or where there are none. Two codes may become one.
        sizes
            Number of states of every column afterwards.
        has_gaps
            Whether there are codes for missing values afterwards.
        """
        same = all(np.array_equal(codes[:n], range(n)) for codes, n in zip(maps, self.sizes, strict=True))
        if same and (self.sizes, self.has_gaps) == (tuple(sizes), has_gaps):
            return replace(self, alphabets=())
        made = Tally.of_nothing(sizes, self.width, has_gaps=has_gaps, sets=self.sets)
        each = zip(maps, sizes, self.layout.codes, strict=True)
        whole = [np.where(codes < 0, size, codes)[:n] for codes, size, n in each]
        for node, (codes, n) in enumerate(zip(whole, made.layout.codes, strict=True)):
            if (left_out := codes >= n).any():
                if self.smaller(1)._looked_up(np.array([[node]]), codes.shape)[0, left_out].any():
                    raise DataError("a state is not among those that the counts are to have")
                codes[left_out] = 0
        out = np.zeros(len(made.cells), dtype=np.int64)
        for shape, which in self.layout.alike(self.sets):
            sets = self.sets[which]
            new = [np.stack([whole[node] for node in nodes]) for nodes in sets.T.tolist()]
            np.add.at(out, made.layout.addresses(sets, new), self._looked_up(sets, shape))
        return replace(made, cells=out, rows=self.rows)

    def in_order(self, order: Sequence[int]) -> Tally:
        """Return the same counts with the columns in another order; ``order`` has their present numbers."""
        nodes = np.array(order, dtype=np.int64)
        renamed = np.sort(np.argsort(nodes)[self.sets], axis=1)
        sets = renamed[np.lexsort(renamed.T)].astype(np.int32)
        sizes, alphabets = (tuple(some[node] for node in order) for some in (self.sizes, self.alphabets))
        cells = self._sums(nodes[sets], self.width)
        return replace(self, cells=cells, sizes=sizes, sets=sets, alphabets=alphabets)


def family_width(n_parents: int, n_nodes: int, *, has_gaps: bool) -> int:
    """Return how many columns a set must have for a search for so many parents, at most all.

    Where values are missing, parents are compared with another candidate on the rows that have the values of all.
    """
    return min(n_parents + 1 + has_gaps, n_nodes)


def tally_bytes(sizes: Sequence[int], width: int, *, has_gaps: bool = False, sets: Sets | None = None) -> int:
    """Return the memory of the counts of all sets of ``width`` columns, or of ``sets``, without making them."""
    codes = [size + has_gaps for size in sizes]
    if sets is not None:
        return 8 * int(np.array(codes, dtype=np.float64)[sets].prod(axis=1).sum())  # whole numbers would overflow
    sums = [1] + [0] * width  # elementary symmetric sums: Σ over sets of the product of their sizes
    for code in codes:
        for size in range(width, 0, -1):
            sums[size] += sums[size - 1] * code
    return 8 * sums[width]


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
