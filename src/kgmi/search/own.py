"""Parent sets of one child by its own likelihood: a kernel of its own for every set, nothing shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.search.set_values import SetValues
from kgmi.types import Floats, Ints

__all__ = ["OwnSearch", "ParentSet"]

_MOST_SWAPS = 8  # rounds of exchanging one parent of the best set


@dataclass(frozen=True, order=True)
class ParentSet:
    """A set of parents with its gain over the child's own law less the price of its kernel, in nats."""

    value: float
    parents: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OwnSearch(SetValues):
    """Beam search over parent sets; as wide as there are sets of one parent less it is exhaustive.

    Attributes
    ----------
    width
        How many sets of each size are extended by one more parent.
    """

    width: int

    def best(self, child: int, candidates: Ints, required: Sequence[int], n_heads: int) -> list[ParentSet | None]:
        """The best set of every size 0..K by penalised gain; None for sizes below the number required."""
        found: list[ParentSet | None] = [None] * (n_heads + 1)
        start = tuple(sorted(required))
        found[len(start)] = ParentSet(self.value(child, start), start)
        beam = np.array([start], dtype=np.int64)
        most = min(n_heads, len(candidates))
        for size in range(len(start) + 1, most + 1):
            if size < most:
                sets, values = self.longer(child, beam, candidates)
                beam = sets[self.widest(values)]
                top = max(zip(values.tolist(), map(tuple, sets.tolist()), strict=True), default=None)
            else:
                top = self.best_longer(child, beam, candidates)
            if top is None:
                break
            best = ParentSet(*top)
            found[size] = best if self.width >= len(candidates) else self._swapped(child, best, candidates, start)
        return found

    def widest(self, values: Floats) -> Ints:
        """Numbers of the best values, as many as the beam is wide."""
        if len(values) <= self.width:
            return np.arange(len(values))
        return np.argpartition(-values, self.width - 1)[: self.width]

    def _swapped(self, child: int, best: ParentSet, candidates: Ints, required: Sequence[int]) -> ParentSet:
        """The set after exchanging one parent at a time for as long as that helps."""
        if len(best.parents) < 3:  # with one or two, the beam has seen the exchanges that matter
            return best
        for _ in range(_MOST_SWAPS):
            rests = [[p for p in best.parents if p != parent] for parent in best.parents if parent not in required]
            options = [self.best_longer(child, np.array([rest], dtype=np.int64), candidates) for rest in rests]
            top = max([best, *(ParentSet(*option) for option in options if option is not None)])
            if top.value <= best.value + 1e-9:
                break
            best = top
        return best
