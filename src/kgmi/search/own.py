"""Parent sets of one child, each with a kernel of its own: a sum of independent problems, many sets at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kgmi.problem import Family, Problem
from kgmi.progress import told
from kgmi.score import gap_price, make_group, node_part, root_price, x_log_x
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["OwnSets", "ParentSet", "numbers_of"]

_BEAM = 4  # sets of each size that are extended by one more parent, where not all are
_ALL_SETS = 2e10  # pairs of bits that a look at all sets may compare, times the square of the states
_MOST_SWAPS = 8  # rounds of exchanging one parent of the best set
_MOST_LISTED = 5_000_000  # numbers whose x log x is kept
_ROUNDING = 1e-9


@dataclass(frozen=True, order=True)
class ParentSet:
    """A set of parents, and its gain less the prices of kernel and gaps, in nats."""

    value: float
    parents: Family


@dataclass(frozen=True, eq=False)
class OwnSets:
    """Values of parent sets; see :mod:`kgmi.score`. The price of choosing a set is not in them."""

    problem: Problem

    def every(self) -> list[list[ParentSet | None]]:
        """Return [child][size]: the best set of so many parents; None where there is none."""
        problem = self.problem
        exhaustive = problem.search == "exhaustive"
        exhaustive |= problem.effort * max(problem.counts.sizes) ** 2 <= _ALL_SETS
        width = problem.n_nodes ** max(problem.n_heads - 1, 1) if exhaustive else _BEAM

        def best(child: int) -> list[ParentSet | None]:
            return self.best(child, width)

        nodes = range(problem.n_nodes)
        return spread(told(best, "search", "looks"), nodes, parallel=not problem.is_small)

    def best(self, child: int, width: int) -> list[ParentSet | None]:
        """Return [size]: the best set, from ``width`` sets of each size that are extended."""
        problem = self.problem
        candidates, required = problem.candidates.of(child), problem.candidates.required[child]
        found: list[ParentSet | None] = [None] * (problem.n_heads + 1)
        start = tuple(sorted(required))
        found[len(start)] = ParentSet(self.value(child, start), start)
        beam = np.array([start], dtype=np.int64)
        most = min(problem.n_heads, len(candidates))
        for size in range(len(start) + 1, most + 1):
            if size < most:
                sets, values = self.longer(child, beam, candidates)
                beam = sets[widest(values, width)]
                top = max(zip(values.tolist(), map(tuple, sets.tolist()), strict=True), default=None)
            else:
                top = self._best_longer(child, beam, candidates)
            if top is None:
                break
            best = ParentSet(*top)
            found[size] = best if width >= len(candidates) else self._swapped(child, best, candidates, start)
        return found

    def value(self, child: int, parents: Sequence[int]) -> float:
        """Return the value of one set."""
        if not parents:
            return -root_price(self.problem, child)
        one = make_group(self.problem, {child: tuple(parents)})
        part = node_part(self.problem, child, parents) + self.problem.indifference * len(parents)
        return one.fit - one.price + part + self.problem.choice_cost(child, len(parents))

    def extended(self, child: int, parents: Sequence[int], candidates: Ints) -> tuple[Ints, Floats]:
        """Return the candidates that are not in the set yet, and the value of the set with each of them added."""
        free = candidates[~np.isin(candidates, parents)]
        values = np.empty(len(free))
        tuples = np.array([sorted(parents)], dtype=np.int64).reshape(1, len(parents))
        for kind, group in self._by_kind(free):
            values[kind] = self._beside(child, tuples, group, is_half=False)[0]
        return free, values

    def longer(self, child: int, beam: Ints, candidates: Ints) -> tuple[Ints, Floats]:
        """Return all sets [set, parent] of ``beam`` with one more candidate, each once, and their values."""
        found, values = [np.empty((0, beam.shape[1] + 1), dtype=np.int64)], [np.empty(0)]
        for tuples, group, worth in self._extensions(child, beam, candidates):
            place, other = np.nonzero(worth > -np.inf)
            found.append(np.sort(np.column_stack([tuples[place], group[other]]), axis=1))
            values.append(worth[place, other])
        sets = np.concatenate(found)
        _, first = np.unique(numbers_of(sets, self.problem.n_nodes), return_index=True)
        return sets[first], np.concatenate(values)[first]

    def _best_longer(self, child: int, beam: Ints, candidates: Ints) -> tuple[float, Family] | None:
        """Return the best of these sets and its value; of equal ones the last in order."""
        found: list[tuple[float, Family]] = []
        for tuples, group, worth in self._extensions(child, beam, candidates):
            top = float(worth.max())
            for place, other in zip(*np.nonzero(worth == top), strict=True) if top > -np.inf else ():
                found.append((top, tuple(sorted((*tuples[place].tolist(), int(group[other]))))))
        return max(found, default=None)

    def _swapped(self, child: int, best: ParentSet, candidates: Ints, required: Sequence[int]) -> ParentSet:
        """Return the set after exchanging one parent at a time for as long as that helps."""
        if len(best.parents) < 3:  # with one or two, the beam has seen the exchanges that matter
            return best
        for _ in range(_MOST_SWAPS):
            rests = [[p for p in best.parents if p != parent] for parent in best.parents if parent not in required]
            options = [self._best_longer(child, np.array([rest], dtype=np.int64), candidates) for rest in rests]
            top = max([best, *(ParentSet(*option) for option in options if option is not None)])
            if top.value <= best.value + _ROUNDING:
                break
            best = top
        return best

    def _extensions(self, child: int, beam: Ints, candidates: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield sets, candidates and values [set, candidate], -inf where the candidate is in the set."""
        if not len(candidates):
            return
        everything = beam.shape[1] == 1 and np.array_equal(np.sort(beam[:, 0]), candidates)
        ordered = beam[np.lexsort(beam.T[::-1])] if beam.shape[1] else beam
        kinds, kind = np.unique(self._kinds[ordered], axis=0, return_inverse=True)
        groups = [group for _, group in self._by_kind(candidates)]
        for one in range(len(kinds)):
            tuples = ordered[kind.ravel() == one]
            for group in groups:
                if everything and kinds[one, 0] > self._kinds[group[0]]:
                    continue  # the same sets the other way round
                is_half = everything and np.array_equal(tuples[:, 0], group)
                worth = self._beside(child, tuples, group, is_half=is_half)
                if not is_half:
                    worth[(tuples[:, :, None] == group).any(axis=1)] = -np.inf
                yield tuples, group, worth

    def _by_kind(self, nodes: Ints) -> list[tuple[Ints, Ints]]:
        """Return places and nodes in groups with equally many states, of which equally many occur."""
        kinds = self._kinds[nodes]
        return [(np.flatnonzero(kinds == kind), nodes[kinds == kind]) for kind in np.unique(kinds).tolist()]

    @cached_property
    def _kinds(self) -> Ints:
        """[node]: a number for its states and how many of them occur."""
        sizes, occurring = np.array(self.problem.counts.sizes), np.array(self.problem.occurring)
        return np.asarray(sizes * (occurring.max() + 1) + occurring)

    def _beside(self, child: int, tuples: Ints, group: Ints, *, is_half: bool) -> Floats:
        """Return [tuple, candidate]: values of sets of equal kinds; no meaning where a node is twice in a set."""
        problem, counts = self.problem, self.problem.counts
        n_rows, n_states = int(counts.n_rows), problem.occurring[child]
        n_joint = problem.n_configurations((*tuples[0].tolist(), int(group[0])))
        if counts.is_whole and n_rows < _MOST_LISTED:
            found = counts.worth(child, tuples, group, prices=_products(n_rows), is_half=is_half)
            prices = self._prices(child, n_states * n_joint, n_joint, *np.maximum(found[1:], 0.0))
            return np.asarray(found[0] - prices)
        out = np.empty((len(tuples), len(group)))
        for part, tables in counts.families(child, tuples, group):
            flat = tables.reshape(*tables.shape[:2], -1, tables.shape[-1])
            own, seen = flat.sum(axis=2), flat.sum(axis=3)
            total = own.sum(axis=2)
            gain = x_log_x(flat).sum(axis=(2, 3)) - x_log_x(seen).sum(axis=2)
            gain += x_log_x(total) - x_log_x(own).sum(axis=2)
            occurring = np.count_nonzero(flat, axis=(2, 3)), np.count_nonzero(seen, axis=2)
            out[part] = gain - self._prices(child, n_states * n_joint, n_joint, *occurring, total)
        if is_half:
            out[np.tri(len(tuples), len(group), dtype=np.bool_)] = -np.inf
        return out

    def _prices(
        self, child: int, n_joint: int, n_configurations: int, joint: Floats, configurations: Floats, cases: Floats
    ) -> Floats:
        """Return what families cost, by how many joint states are possible and occur, and by their cases."""
        problem, penalty = self.problem, self.problem.penalty
        if problem.is_exact:
            return np.zeros(cases.shape)
        sizes = penalty.effective(n_joint, joint), penalty.effective(n_configurations, configurations)
        return penalty.cost(cases, *sizes) + gap_price(problem, child, cases, excused=1.0)


def widest(values: Floats, width: int) -> Ints:
    """Return the numbers of the best values, at most so many."""
    return np.arange(len(values)) if len(values) <= width else np.argpartition(-values, width - 1)[:width]


@lru_cache(maxsize=4)
def _products(n_rows: int) -> Floats:
    """Return [4, count]: x log x with the signs of a cell, a joint state of the parents, the child, all cases."""
    products = x_log_x(np.arange(n_rows + 1, dtype=np.float64))
    return np.stack([products, -products, -products, products])


def numbers_of(sets: Ints, n_nodes: int) -> Ints:
    """Return one number for each set of nodes [set, node], which are sorted; -1 is no node."""
    numbers = np.zeros(len(sets), dtype=np.int64)
    for place in range(sets.shape[1]):
        if place and float(n_nodes + 1) ** (place + 1) > 2**62:  # too large: the sets so far by their places
            numbers = np.unique(numbers, return_inverse=True)[1].ravel()
        numbers = numbers * (n_nodes + 1) + sets[:, place] + 1
    return numbers
