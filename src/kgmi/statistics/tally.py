"""``Tally``: counts of sets of columns, additive over rows: all that a search for K parents asks of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from kgmi.errors import DataError
from kgmi.statistics.sets import Sets, all_sets, numbers_in, set_numbers, smaller_sets
from kgmi.types import Ints

__all__ = ["Tally", "family_width", "pieces", "tally_bytes"]

_MOST_CELLS = 1_000_000  # that are moved at a time


@dataclass(frozen=True, eq=False)
class Tally:
    """How often the states of sets of columns occur together.

    Where values are missing, every column has one more code, its last one, for «no value»; so smaller sets follow
    from larger ones, and rows without a value drop out of exactly the counts that need it.

    Attributes
    ----------
    sizes
        Number of states of every column.
    width
        Columns of a set.
    n_rows
        Rows that were counted.
    cells
        The tables of all sets, one after the other, each in the order of its columns.
    has_gaps
        Whether there are codes for «no value».
    sets
        [set, column], ascending, in colex order; None: all sets of that width.
    """

    sizes: tuple[int, ...]
    width: int
    n_rows: int
    cells: NDArray[np.int64]
    has_gaps: bool = False
    sets: Sets | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.width <= self.n_nodes:
            raise DataError(f"sets of {self.width} columns cannot be made of {self.n_nodes}")
        if self.cells.shape != (self.n_cells,):
            raise DataError(f"these counts need {self.n_cells:,} cells, got {self.cells.shape}")
        cells = self.cells.view()
        cells.setflags(write=False)
        object.__setattr__(self, "cells", cells)

    @classmethod
    def of_nothing(
        cls, sizes: Sequence[int], width: int, *, has_gaps: bool = False, sets: Sets | None = None
    ) -> Tally:
        """The counts of no rows."""
        n_cells = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets) // 8
        return cls(tuple(sizes), width, 0, np.zeros(n_cells, dtype=np.int64), has_gaps, sets)

    @property
    def n_nodes(self) -> int:
        """Number of columns T."""
        return len(self.sizes)

    @property
    def codes(self) -> Ints:
        """[column]: number of codes, that for «no value» included."""
        return np.array(self.sizes, dtype=np.int64) + self.has_gaps

    @cached_property
    def listed(self) -> Sets:
        """[set, column]: the sets."""
        return all_sets(self.n_nodes, self.width) if self.sets is None else self.sets

    @cached_property
    def starts(self) -> Ints:
        """[set + 1]: where the table of each set begins, and the end."""
        return _starts(self.codes, self.listed)

    @cached_property
    def n_cells(self) -> int:
        """Cells of all tables together."""
        return int(self.starts[-1])

    def __add__(self, other: Tally) -> Tally:
        same_sets = (self.sets is None) == (other.sets is None) and (
            self.sets is None or np.array_equal(self.sets, other.listed)
        )
        mine, theirs = ((one.sizes, one.width, one.has_gaps) for one in (self, other))
        if mine != theirs or not same_sets:
            raise DataError("cannot add counts of other columns, states or sets of columns")
        return Tally(
            self.sizes, self.width, self.n_rows + other.n_rows, self.cells + other.cells, self.has_gaps, self.sets
        )

    def recoded(self, maps: Sequence[Ints], sizes: Sequence[int], *, has_gaps: bool) -> Tally:
        """The same with other codes; see :func:`kgmi.statistics.moved.recode`."""
        from kgmi.statistics.moved import recode

        return recode(self, maps, sizes, has_gaps=has_gaps)

    def in_order(self, order: Sequence[int]) -> Tally:
        """The same with the columns in another order; ``order`` has their present numbers."""
        from kgmi.statistics.moved import reorder

        return reorder(self, order)

    def family(self, nodes: Sequence[int]) -> Ints:
        """Counts [codes of the nodes …], in this order, of up to ``width`` columns; rows that lack one are out."""
        return np.asarray(self.tables(np.array([nodes], dtype=np.int64).reshape(1, len(nodes)))[0])

    def holds(self, nodes: Sequence[int]) -> bool:
        """Whether these columns were counted together."""
        if len(nodes) > self.width:
            return False
        wanted = np.sort(np.array([nodes], dtype=np.int64).reshape(1, len(nodes)), axis=1)
        fitting = self.smaller(len(nodes))
        return bool(numbers_in(fitting.sets, wanted, fitting._numbers)[0] >= 0)

    def tables(self, families: Ints) -> Ints:
        """[family, codes of its nodes …] of families [family, node], all of the same sizes place by place."""
        n_families, width = families.shape
        if width == 0:
            return np.full(n_families, self.n_rows, dtype=np.int64)
        if width < self.width:
            return self.smaller(width).tables(families)
        if width > self.width:
            raise DataError(f"sets of {self.width} columns were counted, not of {width}")
        shape = [self.sizes[node] for node in families[0].tolist()] if n_families else [0] * width
        out = np.empty((n_families, *shape), dtype=np.int64)
        order = np.argsort(families, axis=1)
        numbers = numbers_in(self.sets, np.take_along_axis(families, order, axis=1), self._numbers)
        if numbers.size and numbers.min() < 0:
            missing = families[int(numbers.argmin())].tolist()
            raise DataError(f"the columns {missing} were not counted together")
        inner = (slice(None), *(slice(size) for size in shape))
        codes = [size + self.has_gaps for size in shape]
        for turn in permutations(range(width)):
            here = np.flatnonzero((order == turn).all(axis=1))
            if not len(here):
                continue
            sorted_shape = [codes[place] for place in turn]
            cells = self.cells_of(numbers[here], prod(sorted_shape))
            back = (0, *(1 + turn.index(place) for place in range(width)))
            out[here] = cells.reshape(len(here), *sorted_shape).transpose(back)[inner]
        return out

    def cells_of(self, numbers: Ints, n_cells: int) -> Ints:
        """[set, cell]: the tables of some sets, each of ``n_cells`` cells."""
        if n_cells and (self.codes == self.codes[0]).all():
            return np.asarray(self.cells.reshape(-1, n_cells)[numbers])
        return np.asarray(self.cells[self.starts[numbers][:, None] + np.arange(n_cells)])

    def smaller(self, width: int) -> Tally:
        """The counts of smaller sets: of all sets of ``width`` columns that lie in one that was counted."""
        if width == self.width:
            return self
        if width not in self._smaller:
            self._smaller[width] = (
                self._summed() if width == self.width - 1 else self.smaller(width + 1).smaller(width)
            )
        return self._smaller[width]

    @cached_property
    def _numbers(self) -> Ints | None:
        return set_numbers(self.sets)

    @cached_property
    def _smaller(self) -> dict[int, Tally]:
        return {}

    def _summed(self) -> Tally:
        """Sets of one column less: each from the first set that it lies in."""
        width = self.width - 1
        sets = None if self.sets is None else smaller_sets(self.sets, width)
        made = Tally.of_nothing(self.sizes, width, has_gaps=self.has_gaps, sets=sets)
        cells = np.zeros(made.n_cells, dtype=np.int64)
        done = np.zeros(len(made.listed), dtype=bool)
        for dropped in range(self.width):
            kept = [place for place in range(self.width) if place != dropped]
            numbers = numbers_in(sets, self.listed[:, kept])
            new, first = np.unique(numbers, return_index=True)
            first = first[~done[new]]
            for shape, which in pieces(self.codes, self.listed[first]):
                holders = first[which]
                sums = self.cells_of(holders, prod(shape)).reshape(len(holders), *shape).sum(axis=1 + dropped)
                n_cells = prod(shape) // max(shape[dropped], 1)
                at = made.starts[numbers[holders]][:, None] + np.arange(n_cells)
                cells[at] = sums.reshape(len(holders), n_cells)
            done[new] = True
            if done.all():
                break
        return Tally(self.sizes, width, self.n_rows, cells, self.has_gaps, sets)


def family_width(n_parents: int, n_nodes: int, *, has_gaps: bool) -> int:
    """Columns of a set that a search for so many parents asks for, at most all.

    Where values are missing, parents are compared with another candidate on the rows that have the values of all.
    """
    return min(n_parents + 1 + has_gaps, n_nodes)


def tally_bytes(
    sizes: Sequence[int],
    width: int,
    *,
    has_gaps: bool = False,
    sets: Sets | None = None,
) -> int:
    """Memory of the counts of all sets of ``width`` columns, or of some ``sets``, in bytes; without making them."""
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


def _starts(codes: Ints, sets: Sets) -> Ints:
    starts = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum(codes[sets].prod(axis=1), out=starts[1:])
    return starts


def pieces(codes: Ints, sets: Sets) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Sets whose tables have the same shape, some at a time: shapes and numbers of sets."""
    kinds, kind = np.zeros((1, sets.shape[1]), dtype=np.int64) + codes[0], np.zeros(len(sets), dtype=np.int64)
    if not (codes == codes[0]).all():
        kinds, kind = np.unique(codes[sets], axis=0, return_inverse=True)
    for number, shape in enumerate(kinds.tolist()):
        same, step = np.flatnonzero(kind.ravel() == number), max(1, _MOST_CELLS // max(prod(shape), 1))
        for start in range(0, len(same), step):
            yield tuple(shape), same[start : start + step]
