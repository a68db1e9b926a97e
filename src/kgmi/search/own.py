"""Parent sets of one child by its own likelihood: a kernel of its own for every set, nothing shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.penalty import Penalty
from kgmi.search.plan import gap_price, root_price
from kgmi.search.values import x_log_x
from kgmi.statistics.observed import Observed
from kgmi.types import Floats, Ints

__all__ = ["OwnSearch", "ParentSet"]

_MOST_LISTED = 5_000_000  # numbers whose logarithm is kept
_MANY_CELLS = 200  # of a family: more indicators than that for every row would fill the memory
_MOST_SWAPS = 8  # rounds of exchanging one parent of the best set


@dataclass(frozen=True, order=True)
class ParentSet:
    """A set of parents with its gain over the child's own law less the price of its kernel, in nats."""

    value: float
    parents: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OwnSearch:
    """Beam search over parent sets; as wide as there are sets of one parent less it is exhaustive.

    Attributes
    ----------
    observed
        The rows.
    penalty
        What the free parameters of a kernel cost.
    width
        How many sets of each size are extended by one more parent.
    """

    observed: Observed
    penalty: Penalty
    width: int

    def best(self, child: int, candidates: Ints, required: Sequence[int], n_heads: int) -> list[ParentSet | None]:
        """The best set of every size 0..K by penalised gain; None for sizes below the number required."""
        found: list[ParentSet | None] = [None] * (n_heads + 1)
        start = tuple(sorted(required))
        beam = [ParentSet(self.value(child, start), start)]
        found[len(start)] = beam[0]
        for size in range(len(start) + 1, min(n_heads, len(candidates)) + 1):
            longer: dict[tuple[int, ...], float] = {}
            for one in beam:
                longer.update(self._best_extended(child, one.parents, candidates))
            best = nlargest(self.width, longer.items(), key=lambda item: (item[1], item[0]))
            beam = [ParentSet(value, parents) for parents, value in best]
            if not beam:
                break
            found[size] = (
                beam[0] if self.width >= len(candidates) else self._swapped(child, beam[0], candidates, start)
            )
        return found

    def value(self, child: int, parents: Sequence[int]) -> float:
        """Penalised gain of one set."""
        if not parents:
            return -root_price(self.observed, self.penalty, child)
        counts = self.observed.family(parents, child).reshape(-1, self.observed.sizes[child])
        return float(self._values(child, counts[None, :, None, :])[0])

    def extended(self, child: int, parents: tuple[int, ...], candidates: Ints) -> tuple[Ints, Floats]:
        """The candidates that are not in the set yet, and the value of the set with each of them added."""
        free = candidates[~np.isin(candidates, parents)]
        sizes = np.array([self.observed.sizes[node] for node in free])
        values = np.empty(len(free))
        for size in np.unique(sizes):
            group = sizes == size
            values[group] = self._group_values(child, parents, free[group], int(size))
        return free, values

    def _group_values(self, child: int, parents: tuple[int, ...], group: Ints, size: int) -> Floats:
        """Candidates of one size at once; where their tables are large, one after the other, to save memory."""
        n_cells = int(np.prod([self.observed.sizes[node] for node in (*parents, child)]))
        if n_cells <= _MANY_CELLS:
            return self._values(child, self._counts(child, parents, group, size))
        families = (self.observed.family((*parents, node), child) for node in group.tolist())
        shape = (1, n_cells // self.observed.sizes[child], size, self.observed.sizes[child])
        return np.array([float(self._values(child, family.reshape(shape))[0]) for family in families])

    def _best_extended(
        self, child: int, parents: tuple[int, ...], candidates: Ints
    ) -> dict[tuple[int, ...], float]:
        """The best of the extended sets, as many as the beam is wide: no more of them can be in it."""
        nodes, values = self.extended(child, parents, candidates)
        if len(nodes) > self.width:
            kept = np.argpartition(-values, self.width - 1)[: self.width]
            nodes, values = nodes[kept], values[kept]
        pairs = zip(nodes.tolist(), values.tolist(), strict=True)
        return {tuple(sorted((*parents, node))): value for node, value in pairs}

    def _swapped(self, child: int, best: ParentSet, candidates: Ints, required: Sequence[int]) -> ParentSet:
        """The set after exchanging one parent at a time for as long as that helps."""
        if len(best.parents) < 3:  # with one or two, the beam has seen the exchanges that matter
            return best
        for _ in range(_MOST_SWAPS):
            options = [best]
            for parent in best.parents:
                if parent not in required:
                    rest = tuple(p for p in best.parents if p != parent)
                    options += [ParentSet(v, p) for p, v in self._best_extended(child, rest, candidates).items()]
            top = max(options)
            if top.value <= best.value + 1e-9:
                break
            best = top
        return best

    def _counts(self, child: int, parents: Sequence[int], group: Ints, size: int) -> Floats:
        """[candidate, configuration of the parents, state of the candidate, state of the child]."""
        observed = self.observed
        index, complete = observed.configuration((*parents, child))
        n_cells = int(np.prod([observed.sizes[node] for node in (*parents, child)]))
        total = np.zeros((size, n_cells, len(group)))
        for block in observed.blocks:
            here = index[block]
            # Whole numbers are exact in float32; probabilities are not.
            cells: NDArray[Any] = np.zeros((n_cells, len(here)), dtype=np.float32 if self._whole else np.float64)
            rows = np.arange(len(here)) if complete is None else np.flatnonzero(complete[block])
            cells[here[rows], rows] = 1.0 if observed.weights is None else observed.weights[block][rows]
            hot = observed.indicators(block)
            for state in range(size):
                total[state] += cells @ hot[state, group].T
        shaped = total.reshape(size, -1, observed.sizes[child], len(group))
        return np.ascontiguousarray(shaped.transpose(3, 1, 0, 2))

    def _values(self, child: int, counts: Floats) -> Floats:
        """[candidate]: penalised gain of counts [candidate, configuration, state of it, state of the child]."""
        occurs = self.observed.marginals[child] > 0
        if not occurs.all():  # which states occur is said beforehand: the others cost nothing
            counts = counts[..., occurs]
        n_states = counts.shape[-1]
        seen = counts.sum(axis=-1)
        axes = tuple(range(1, counts.ndim))
        total = seen.sum(axis=axes[:-1])
        inner = self._x_log_x(counts).sum(axis=axes) - self._x_log_x(seen).sum(axis=axes[:-1])
        own = counts.sum(axis=axes[:-1])  # the child's law over the same rows
        alone = x_log_x(own).sum(axis=-1) - x_log_x(total)
        gain = inner - alone
        if self.observed.is_exact:
            return np.asarray(gain)
        if self._whole:
            price = self._prices(n_states)[seen.astype(np.intp)]
        else:
            price = self.penalty.cost(seen, n_states, self.observed.n_rows)
        gain -= price.sum(axis=axes[:-1])
        return np.asarray(gain - gap_price(self.observed, self.penalty, child, total))

    @cached_property
    def _whole(self) -> bool:
        """Whether counts are whole numbers, and few enough of them to be listed."""
        weights = self.observed.weights
        whole = weights is None or bool((weights == np.rint(weights)).all())
        return whole and self.observed.n_rows < _MOST_LISTED

    @cached_property
    def _products(self) -> Floats:
        return x_log_x(np.arange(int(self.observed.n_rows) + 1, dtype=np.float64))

    def _x_log_x(self, counts: Floats) -> Floats:
        """x log x; whole numbers are looked up, which is far quicker than a logarithm."""
        return self._products[counts.astype(np.intp)] if self._whole else x_log_x(counts)

    def _prices(self, n_states: int) -> Floats:
        known = self.__dict__.setdefault("_price_tables", {})
        if n_states not in known:
            rows = np.arange(int(self.observed.n_rows) + 1, dtype=np.float64)
            known[n_states] = self.penalty.cost(rows, n_states, self.observed.n_rows)
        return np.asarray(known[n_states])
