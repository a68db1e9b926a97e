"""``Tally``: counts of sets of columns, additive over rows: of streams, files of counts and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, permutations, product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.counts import loops
from kgmi.counts.base import Counts, PairCounts
from kgmi.counts.sets import Sets, all_sets, numbers_in, set_numbers, smaller_sets
from kgmi.errors import DataError
from kgmi.joint import check_pair_size
from kgmi.types import Codes, Floats, Ints

__all__ = ["Tallier", "Tally", "family_width", "pieces", "tally_bytes"]

_MOST_CELLS = 1_000_000  # that are moved at a time
_MOST_FILLED = 500_000  # cells of whole tables that are made at a time
_ROWS = 32_768  # at a time: the bits of a set stay in the first-level cache
_MOST_PLANES = 256  # combinations that are counted in bits; more are counted code by code (measured November 2026)
_LOOKED_UP = 64  # rows in which a family is counted as fast as it is looked up


@dataclass(frozen=True, eq=False)
class Tally(Counts):
    """How often the states of sets of columns occur together.

    Where values are missing, every column has one more code, its last one, for a missing value; so smaller sets
    follow from larger ones, and rows without a value drop out of exactly the counts that need it.

    Attributes
    ----------
    sizes
        Number of states of every column.
    width
        Columns of a set.
    rows
        Rows that were counted.
    cells
        The tables of all sets, one after the other, each in the order of its columns.
    has_gaps
        Whether there are codes for missing values.
    sets
        [set, column], ascending, in colex order; None: all sets of that width.
    alphabets
        Which alphabet each column has, as a number; by default columns of one size have the same.
    """

    sizes: tuple[int, ...]
    width: int
    rows: int
    cells: NDArray[np.int64]
    has_gaps: bool = False
    sets: Sets | None = None
    alphabets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.width <= self.n_nodes:
            raise DataError(f"sets of {self.width} columns cannot be made of {self.n_nodes}")
        if self.cells.shape != (self.n_cells,):
            raise DataError(f"these counts need {self.n_cells:,} cells, got {self.cells.shape}")
        cells = self.cells.view()
        cells.setflags(write=False)
        object.__setattr__(self, "cells", cells)
        if not self.alphabets:
            object.__setattr__(self, "alphabets", self.sizes)

    @classmethod
    def of_nothing(
        cls, sizes: Sequence[int], width: int, *, has_gaps: bool = False, sets: Sets | None = None
    ) -> Tally:
        """Return the counts of no rows."""
        n_cells = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets) // 8
        return cls(tuple(sizes), width, 0, np.zeros(n_cells, dtype=np.int64), has_gaps, sets)

    @property
    def n_rows(self) -> float:
        """Number of rows."""
        return float(self.rows)

    @property
    def effort(self) -> int:
        """Rows in which a family is counted as fast as it is looked up."""
        return _LOOKED_UP

    @cached_property
    def codes_of(self) -> Ints:
        """[column]: number of codes, that for missing values included."""
        return np.array(self.sizes, dtype=np.int64) + self.has_gaps

    @cached_property
    def listed(self) -> Sets:
        """[set, column]: the sets."""
        return all_sets(self.n_nodes, self.width) if self.sets is None else self.sets

    @cached_property
    def starts(self) -> Ints:
        """[set + 1]: where the table of each set begins, and the end."""
        return _starts(self.codes_of, self.listed)

    @cached_property
    def n_cells(self) -> int:
        """Cells of all tables together."""
        return int(self.starts[-1])

    def merge(self, other: Tally) -> Tally:
        """Return the counts of these rows and of others."""
        mine, theirs = ((one.sizes, one.width, one.has_gaps) for one in (self, other))
        if mine != theirs or not self.has_sets_of(other):
            raise DataError("cannot add counts of other columns, states or sets of columns")
        return replace(self, cells=self.cells + other.cells, rows=self.rows + other.rows)

    def has_sets_of(self, other: Tally) -> bool:
        """Return whether the sets of columns are those of other counts."""
        if self.sets is None or other.sets is None:
            return self.sets is other.sets
        return np.array_equal(self.sets, other.sets)

    def with_alphabets(self, alphabets: Sequence[int]) -> Tally:
        """Return the same with other numbers of alphabets."""
        return replace(self, alphabets=tuple(alphabets))

    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of columns, padded to the largest alphabet."""
        n_nodes, n_states = self.n_nodes, max(self.sizes)
        check_pair_size(n_nodes, n_states)
        out = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
        for node, size in enumerate(self.sizes):
            out[node, node, range(size), range(size)] = self.table((node,))
        every = all_sets(n_nodes, 2)
        for shape, which in pieces(np.array(self.sizes), every):
            first, second = every[which].T
            tables = self.tables(every[which].astype(np.int64))
            out[first, second, : shape[0], : shape[1]] = tables
            out[second, first, : shape[1], : shape[0]] = tables.transpose(0, 2, 1)
        return PairCounts(out)

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Return counts [states of the parents …, state of the child] over the rows in which all have a value."""
        return self.table((*parents, child)).astype(np.float64)

    def table(self, nodes: Sequence[int]) -> Ints:
        """Return counts [states of the nodes …], in this order, of up to ``width`` columns."""
        return np.asarray(self.tables(np.array([nodes], dtype=np.int64).reshape(1, len(nodes)))[0])

    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Any, out: Floats) -> None:
        n_tuples, n_before = tuples.shape
        families = np.empty((n_tuples, len(candidates), n_before + 2), dtype=np.int64)
        families[:, :, :n_before] = tuples[:, None]
        families[:, :, n_before] = candidates
        families[:, :, -1] = child
        out[wanted] = self.tables(families[wanted])

    def holds(self, nodes: Sequence[int]) -> bool:
        """Return whether these columns were counted together."""
        if len(nodes) > self.width:
            return False
        wanted = np.sort(np.array([nodes], dtype=np.int64).reshape(1, len(nodes)), axis=1)
        fitting = self.smaller(len(nodes))
        return bool(numbers_in(fitting.sets, wanted, fitting._numbers)[0] >= 0)

    def tables(self, families: Ints) -> Ints:
        """Return [family, states of its nodes …] of families [family, node] of the same sizes place by place."""
        n_families, width = families.shape
        if width == 0:
            return np.full(n_families, self.rows, dtype=np.int64)
        if width < self.width:
            return self.smaller(width).tables(families)
        if width > self.width:
            raise DataError(f"sets of {self.width} columns were counted, not of {width}")
        shape = [self.sizes[node] for node in families[0].tolist()] if n_families else [0] * width
        return self._with_gaps(families)[:, *(slice(size) for size in shape)]

    def _with_gaps(self, families: NDArray[np.integer]) -> Ints:
        """Return [family, codes of its nodes …] of families [family, node], whose nodes have the same codes."""
        n_families, width = families.shape
        order = np.argsort(families, axis=1)
        numbers = numbers_in(self.sets, np.take_along_axis(families, order, axis=1), self._numbers)
        if numbers.size and numbers.min() < 0:
            missing = families[int(numbers.argmin())].tolist()
            raise DataError(f"the columns {missing} were not counted together")
        shape = self.codes_of[families[0]].tolist() if n_families else [0] * width
        out = np.empty((n_families, *shape), dtype=np.int64)
        for turn in permutations(range(width)):
            here = np.flatnonzero((order == turn).all(axis=1))
            if len(here):
                cells = self._cells_of(numbers[here], prod(shape))
                turned = cells.reshape(len(here), *(shape[place] for place in turn))
                out[here] = turned.transpose(0, *(1 + np.argsort(turn)))
        return out

    def _cells_of(self, numbers: Ints, n_cells: int) -> Ints:
        """Return [set, cell]: the tables of some sets, each of ``n_cells`` cells."""
        if n_cells and (self.codes_of == self.codes_of[0]).all():
            return np.asarray(self.cells.reshape(-1, n_cells)[numbers])
        return np.asarray(self.cells[self.starts[numbers][:, None] + np.arange(n_cells)])

    def _sums(self, families: NDArray[np.integer], width: int) -> Ints:
        """Return the tables of the first ``width`` nodes of families [family, node], one after the other."""
        starts = _starts(self.codes_of, families[:, :width])
        cells = np.empty(int(starts[-1]), dtype=np.int64)
        for shape, which in pieces(self.codes_of, families):
            n_cells = prod(shape[:width])
            tables = self._with_gaps(families[which]).reshape(len(which), n_cells, -1)
            cells[starts[which][:, None] + np.arange(n_cells)] = tables.sum(axis=2)
        return cells

    @property
    def agrees(self) -> bool:
        """Whether the tables agree on the columns that they have in common."""
        if not self.rows or self.width == 1 or len(self.listed) < 2:
            return True
        smaller, width = self.smaller(self.width - 1), self.width - 1
        for place in range(self.width):
            rest = np.delete(self.listed, place, axis=1)
            sums = self._sums(np.column_stack([rest, self.listed[:, place]]), width)
            if not np.array_equal(sums, smaller._sums(rest, width)):
                return False
        return self.sets is None or smaller.agrees

    def smaller(self, width: int) -> Tally:
        """Return the counts of all sets of ``width`` columns that lie in one that was counted."""
        if width == self.width:
            return self
        if width not in self._smaller:
            wider = self.smaller(width + 1)
            sets = None if self.sets is None else smaller_sets(wider.listed, width)
            listed = all_sets(self.n_nodes, width) if sets is None else sets
            other = np.empty(len(listed), dtype=np.int64)  # a column with which each set was counted
            for place in range(wider.width):
                other[numbers_in(sets, np.delete(wider.listed, place, axis=1))] = wider.listed[:, place]
            cells = wider._sums(np.column_stack([listed, other]), width)
            self._smaller[width] = replace(self, cells=cells, width=width, sets=sets)
        return self._smaller[width]

    @cached_property
    def _numbers(self) -> Ints | None:
        return None if self.sets is None else set_numbers(self.sets)

    @cached_property
    def _smaller(self) -> dict[int, Tally]:
        return {}

    def recoded(self, maps: Sequence[Ints], sizes: Sequence[int], *, has_gaps: bool) -> Tally:
        """Return the same counts with other codes.

        Parameters
        ----------
        maps
            ``maps[column][old code]``: the new code. Two codes may become one. Missing values stay missing, unless
            there is one code more than states: then it is what they become.
        sizes
            Number of states of every column afterwards.
        has_gaps
            Whether there are codes for missing values afterwards.
        """
        made = Tally.of_nothing(sizes, self.width, has_gaps=has_gaps, sets=self.sets)
        whole = []
        for codes, old, new in zip(maps, self.sizes, sizes, strict=True):
            one = np.asarray(codes, dtype=np.int64)
            whole.append(np.append(one, new) if self.has_gaps and len(one) == old else one)
        if any(len(one) and one.max() >= most for one, most in zip(whole, made.codes_of.tolist(), strict=True)):
            raise DataError("a state is not among those that the counts are to have")
        changed: dict[str, Any] = {"sizes": made.sizes, "has_gaps": has_gaps, "alphabets": ()}
        same = bool((made.codes_of == self.codes_of).all())
        if same and all(np.array_equal(m[:n], np.arange(n)) for m, n in zip(whole, self.codes_of, strict=True)):
            return replace(self, **changed)
        out = np.zeros(made.n_cells, dtype=np.int64)
        for shape, which in pieces(self.codes_of, self.listed):
            places = np.zeros((len(which), 1), dtype=np.int64)
            for place in range(self.width):
                nodes = self.listed[which, place]
                steps = np.stack([whole[node][: shape[place]] for node in nodes.tolist()])
                places = places[:, :, None] * made.codes_of[nodes][:, None, None] + steps[:, None]
                places = places.reshape(len(which), prod(shape[: place + 1]))
            places += made.starts[which][:, None]
            np.add.at(out, places.ravel(), self._cells_of(which, prod(shape)).ravel())
        return replace(self, cells=out, **changed)

    def in_order(self, order: Sequence[int]) -> Tally:
        """Return the same counts with the columns in another order; ``order`` has their present numbers."""
        nodes, sets = np.array(order, dtype=np.int64), None
        if self.sets is not None:
            sets = np.sort(np.argsort(nodes)[self.sets], axis=1).astype(np.int32)
            sets = np.ascontiguousarray(sets[np.lexsort(sets.T)])
        sizes, alphabets = (tuple(some[node] for node in order) for some in (self.sizes, self.alphabets))
        cells = self._sums(nodes[self.listed if sets is None else sets], self.width)
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
    if min(codes, default=0) == max(codes, default=0):
        return 8 * comb(len(codes), width) * codes[0] ** width if codes else 0
    sums = [1] + [0] * width  # elementary symmetric sums: Σ over sets of the product of their sizes
    for code in codes:
        for size in range(width, 0, -1):
            sums[size] += sums[size - 1] * code
    return 8 * sums[width]


def _starts(codes: Ints, sets: NDArray[np.integer]) -> Ints:
    starts = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum(codes[sets].prod(axis=1), out=starts[1:])
    return starts


def pieces(
    codes: Ints, sets: NDArray[np.integer], most: int = _MOST_CELLS
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield sets whose tables have the same shape, some at a time: shapes and numbers of sets."""
    kinds, kind = np.zeros((1, sets.shape[1]), dtype=np.int64) + codes[0], np.zeros(len(sets), dtype=np.int64)
    if not (codes == codes[0]).all():
        kinds, kind = np.unique(codes[sets], axis=0, return_inverse=True)
    for number, shape in enumerate(kinds.tolist()):
        same, step = np.flatnonzero(kind.ravel() == number), max(1, most // max(prod(shape), 1))
        for start in range(0, len(same), step):
            yield tuple(shape), same[start : start + step]


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
        made.append((here, _starts(n_codes - 1, here)))
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
