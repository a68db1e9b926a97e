"""``Tallied``: what :class:`Observed` tells of rows, from counts of sets of columns alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgmi.errors import DataError
from kgmi.memory import at_most
from kgmi.statistics.observed import Observed
from kgmi.statistics.tally import Tally
from kgmi.types import Codes, Floats, Ints

__all__ = ["Tallied"]

_MOST_CELLS = 8_000_000  # of tables at a time: 64 MB, and as much again for what is made of them
_CELL_BYTES = 24


class Tallied(Observed):
    """Counts instead of rows: every family of up to ``tally.width`` columns is there, and nothing else.

    Whoever asks for the rows themselves is refused, so that nothing is ever computed from too few of them.
    """

    def __init__(self, tally: Tally, alphabets: Sequence[int] = ()) -> None:
        object.__setattr__(self, "tally", tally)
        object.__setattr__(self, "sizes", tally.sizes)
        object.__setattr__(self, "weights", None)
        object.__setattr__(self, "alphabets", tuple(alphabets) or tally.sizes)
        object.__setattr__(self, "is_exact", False)

    tally: Tally

    @property
    def codes(self) -> Codes:
        """There are none."""
        raise DataError("this takes the rows themselves, and only their counts are there")

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.tally.n_nodes

    @cached_property
    def n_rows(self) -> float:
        """Number of rows."""
        return float(self.tally.n_rows)

    @property
    def is_tallied(self) -> bool:
        """Whether these are counts: they are."""
        return True

    @property
    def n_looked_at(self) -> int:
        """A family is looked up: that takes as long as counting it in so many rows."""
        return 64

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value is missing anywhere."""
        return self.tally.has_gaps

    def compressed(self) -> Observed:
        """The same: there is nothing shorter."""
        return self

    def in_order(self, order: Sequence[int]) -> Observed:
        """The same counts with the nodes in another order."""
        return Tallied(self.tally.in_order(order), [self.alphabets[node] for node in order])

    def holds(self, nodes: Sequence[int]) -> bool:
        """Whether these columns were counted together."""
        return self.tally.sets is None or self.tally.holds(nodes)

    def family(self, parents: Sequence[int], child: int) -> Floats:
        """Counts [states of the parents …, state of the child] over the rows in which all have a value."""
        return self.tally.family((*parents, child)).astype(np.float64)

    def configuration(self, nodes: Sequence[int]) -> tuple[Ints, NDArray[np.bool_] | None]:
        """Refused: this is asked row by row."""
        return super().configuration(nodes)

    def beside(self, child: int, tuples: Ints, candidates: Ints) -> Iterator[tuple[slice, Floats]]:
        """Tables of every tuple of parents with every candidate behind it, some tuples at a time.

        Yields slices of tuples and counts [tuple, candidate, states of the tuple …, of the candidate, of the
        child]; where one of the nodes is there twice they are zero.
        """
        key = ("beside", child, tuples.shape[1], tuples.tobytes(), candidates.tobytes())
        if (known := self.kept.get(key)) is not None:
            yield slice(0, len(tuples)), known
            return
        n_tuples, n_before = tuples.shape
        shape = [self.sizes[node] for node in (*tuples[0].tolist(), int(candidates[0]), child)]
        step = max(1, at_most(_MOST_CELLS, _CELL_BYTES) // (len(candidates) * int(np.prod(shape))))
        for start in range(0, n_tuples, step):
            part = slice(start, min(start + step, n_tuples))
            here = tuples[part]
            families = np.empty((len(here), len(candidates), n_before + 2), dtype=np.int64)
            families[:, :, :n_before] = here[:, None]
            families[:, :, n_before] = candidates
            families[:, :, -1] = child
            taken = (here[:, :, None] == candidates).any(axis=1) | (candidates == child)
            taken |= (here == child).any(axis=1)[:, None]
            for place in range(1, n_before):
                taken |= (here[:, :place] == here[:, place : place + 1]).any(axis=1)[:, None]
            counts = np.zeros((len(here), len(candidates), *shape))
            if not taken.all():
                counts[~taken] = self.tally.tables(families[~taken])
            if len(here) == n_tuples and self._room(counts.size):
                self.kept[key] = counts
            yield part, counts

    def _room(self, n_cells: int) -> bool:
        """Whether tables of so many cells may be kept: rounds of a search come back to the same ones."""
        used = self.kept.get("cells beside", 0) + n_cells
        if used > at_most(_MOST_CELLS, _CELL_BYTES):
            return False
        self.kept["cells beside"] = used
        return True
