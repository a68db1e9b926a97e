"""What sets of parents are worth to one child, each with a kernel of its own: gain less price, many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kgmi.counts.base import Counts
from kgmi.penalty import Penalty
from kgmi.search.plan import gap_price, root_price
from kgmi.search.values import x_log_x
from kgmi.types import Floats, Ints

__all__ = ["SetValues", "numbers_of"]

_MOST_LISTED = 5_000_000  # numbers whose logarithm is kept


@dataclass(frozen=True, eq=False)
class SetValues:
    """Values of parent sets.

    Attributes
    ----------
    observed
        The rows.
    penalty
        What the free parameters of a kernel cost.
    """

    observed: Counts
    penalty: Penalty

    def value(self, child: int, parents: Sequence[int]) -> float:
        """Penalised gain of one set."""
        if not parents:
            return -root_price(self.observed, self.penalty, child)
        counts = self.observed.family(child, parents).reshape(-1, self.observed.sizes[child])
        return float(self._values(child, counts[None, :, None, :])[0])

    def extended(self, child: int, parents: tuple[int, ...], candidates: Ints) -> tuple[Ints, Floats]:
        """The candidates that are not in the set yet, and the value of the set with each of them added."""
        free = candidates
        for parent in parents:
            free = free[free != parent]
        sizes = self._sizes[free]
        tuples, values = np.array([parents], dtype=np.int64).reshape(1, len(parents)), np.empty(len(free))
        for size in np.unique(sizes).tolist():
            group = sizes == size
            values[group] = self._beside(child, tuples, free[group], is_half=False)[0]
        return free, values

    def longer(self, child: int, beam: Ints, candidates: Ints) -> tuple[Ints, Floats]:
        """All sets [set, parent] of ``beam`` [set, parent] with one more candidate, each once, and their values."""
        found, values = [np.empty((0, beam.shape[1] + 1), dtype=np.int64)], [np.empty(0)]
        for tuples, group, worth in self._extensions(child, beam, candidates):
            place, other = np.nonzero(worth > -np.inf)
            found.append(np.sort(np.column_stack([tuples[place], group[other]]), axis=1))
            values.append(worth[place, other])
        sets = np.concatenate(found)
        _, first = np.unique(numbers_of(sets, self.observed.n_nodes), return_index=True)
        return sets[first], np.concatenate(values)[first]

    def best_longer(self, child: int, beam: Ints, candidates: Ints) -> tuple[float, tuple[int, ...]] | None:
        """The best of these sets and its value; of equal ones the last in order."""
        found: list[tuple[float, tuple[int, ...]]] = []
        for tuples, group, worth in self._extensions(child, beam, candidates):
            top = float(worth.max())
            for place, other in zip(*np.nonzero(worth == top), strict=True) if top > -np.inf else ():
                found.append((top, tuple(sorted((*tuples[place].tolist(), int(group[other]))))))
        return max(found, default=None)

    def _extensions(self, child: int, beam: Ints, candidates: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Sets, candidates and values [set, candidate], -inf where the candidate is in the set."""
        everything = beam.shape[1] == 1 and np.array_equal(np.sort(beam[:, 0]), candidates)
        for tuples, group in self._alike(beam, candidates):
            if everything and self._sizes[tuples[0, 0]] > self._sizes[group[0]]:
                continue  # the same sets the other way round
            is_half = everything and np.array_equal(tuples[:, 0], group)
            worth = self._beside(child, tuples, group, is_half=is_half)
            if not is_half:
                worth[(tuples[:, :, None] == group).any(axis=1)] = -np.inf
            yield tuples, group, worth

    def _alike(self, beam: Ints, candidates: Ints) -> list[tuple[Ints, Ints]]:
        """Sets and candidates in groups of equal sizes; sets in ascending order, as candidates are."""
        ordered = beam[np.lexsort(beam.T[::-1])] if beam.shape[1] else beam
        kinds, kind = np.unique(self._sizes[ordered], axis=0, return_inverse=True)
        groups = [candidates[self._sizes[candidates] == size] for size in np.unique(self._sizes[candidates])]
        return [(ordered[kind.ravel() == one], group) for one in range(len(kinds)) for group in groups]

    def _beside(self, child: int, tuples: Ints, group: Ints, *, is_half: bool) -> Floats:
        """[tuple, candidate]: values of sets of equal sizes; no meaning where the candidate is in the tuple."""
        if self._whole:
            return np.asarray(
                self.observed.worth(child, tuples, group, prices=self._listed(child), is_half=is_half)[0]
            )
        out = np.empty((len(tuples), len(group)))
        for part, counts in self.observed.families(child, tuples, group):
            n_sets, n_states = counts.shape[0] * counts.shape[1], counts.shape[-1]
            tables = counts.reshape(n_sets, -1, counts.shape[-2], n_states)
            out[part] = self._values(child, tables).reshape(counts.shape[:2])
        out[(tuples[:, :, None] == group).any(axis=1)] = -np.inf
        if is_half:
            out[np.tri(len(tuples), len(group), dtype=bool)] = -np.inf
        return out

    @cached_property
    def _sizes(self) -> Ints:
        return np.array(self.observed.sizes)

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
            price = _price_list(self.penalty, n_states, int(self.observed.n_rows))[seen.astype(np.intp)]
        else:
            price = self.penalty.cost(seen, n_states, self.observed.n_rows)
        gain -= price.sum(axis=axes[:-1])
        return np.asarray(gain - gap_price(self.observed, self.penalty, child, total))

    @cached_property
    def _whole(self) -> bool:
        """Whether counts are whole numbers, and few enough of them to be listed."""
        return self.observed.is_whole and self.observed.n_rows < _MOST_LISTED

    def _x_log_x(self, counts: Floats) -> Floats:
        """x log x; whole numbers are looked up, which is far quicker than a logarithm."""
        return _products(int(self.observed.n_rows))[counts.astype(np.intp)] if self._whole else x_log_x(counts)

    def _listed(self, child: int) -> Floats:
        """[4, count]: what a cell, a configuration, a state of the child and all cases of a family add to a value.

        Which states occur is said beforehand: the others cost nothing.
        """
        observed, n_rows = self.observed, int(self.observed.n_rows)
        products = _products(n_rows)
        paid: Floats = np.zeros((4, n_rows + 1))
        if not observed.is_exact:
            n_states = int((observed.marginals[child] > 0).sum())
            paid[1] = _price_list(self.penalty, n_states, n_rows)
            if observed.has_gaps:
                paid[3] = gap_price(observed, self.penalty, child, np.arange(n_rows + 1, dtype=np.float64))
        return np.stack([products, -products, -products, products]) - paid


@lru_cache(maxsize=4)
def _products(n_rows: int) -> Floats:
    """x log x of all whole numbers up to the number of rows."""
    return x_log_x(np.arange(n_rows + 1, dtype=np.float64))


@lru_cache(maxsize=16)
def _price_list(penalty: Penalty, n_states: int, n_rows: int) -> Floats:
    """What the law of a configuration costs, by how often it was seen."""
    return penalty.cost(np.arange(n_rows + 1, dtype=np.float64), n_states, float(n_rows))


def numbers_of(sets: Ints, n_nodes: int) -> Ints:
    """[set]: one number for each set of nodes [set, node], which are sorted; -1 is no node."""
    numbers = np.zeros(len(sets), dtype=np.int64)
    for place in range(sets.shape[1]):
        if place and float(n_nodes + 1) ** (place + 1) > 2**62:  # too large: the sets so far by their places
            numbers = np.unique(numbers, return_inverse=True)[1].ravel()
        numbers = numbers * (n_nodes + 1) + sets[:, place] + 1
    return numbers
