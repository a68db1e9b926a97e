"""How often each edge is chosen when the rows are drawn anew from themselves: counted blocks, reweighted.

A habit, not a guarantee: an edge that is found in every replicate may be wrong, as all of them share the mistakes
of the rows and of the method. Rows are counted once, in blocks; a replicate weighs the blocks, estimates the
kernels of the graph found again, and lets every node choose again among the parents that come into question.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from kgmi.counts.bits import RowCounts
from kgmi.errors import SettingError
from kgmi.guides.likelihood import Likelihood
from kgmi.problem import Key
from kgmi.progress import tell
from kgmi.score import Group, degree_costs, gap_price, kernel_price, root_price
from kgmi.search import Solution
from kgmi.search.own import OwnSets
from kgmi.types import Codes, Floats, Ints, Rng

__all__ = ["bootstrap_edges"]

_BLOCKS = 128
_PER_HEAD = 8  # other candidates for each head
_HALF = 0.5  # pseudo-cases for every state

_Parents = tuple[int, ...]


def bootstrap_edges(found: Solution, codes: Codes, n_replicates: int = 200, *, rng: Rng = 0) -> Floats:
    """[parent, child]: share of replicates in which the edge is chosen.

    Parameters
    ----------
    found
        The search whose result is looked at.
    codes
        Its rows [row, node] in their order, -1 for gaps.
    n_replicates, rng
        How many times rows are drawn anew, and where the randomness comes from.
    """
    if isinstance(n_replicates, bool) or not isinstance(n_replicates, int | np.integer) or n_replicates < 1:
        raise SettingError(f"the bootstrap needs at least one replicate, got {n_replicates!r}")
    problem = found.problem
    rows = RowCounts(codes, problem.counts.sizes, None, problem.counts.alphabets)
    n_blocks = min(_BLOCKS, len(codes))
    block = np.arange(len(codes)) * n_blocks // len(codes)
    weights = np.random.default_rng(rng).multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=n_replicates)
    bag = _Bag(found, rows, block, weights.astype(np.float64))
    kernels = bag.kernels()
    out = np.zeros((problem.n_nodes, problem.n_nodes))
    for child in range(problem.n_nodes):
        tell("bootstrap", child, problem.n_nodes, "nodes")
        options = _options(found, child)
        worth = np.stack([bag.worth(child, parents, kernels) for parents in options])
        chosen = np.bincount(worth.argmax(axis=0), minlength=len(options)) / n_replicates
        for parents, share in zip(options, chosen, strict=True):
            out[list(parents), child] += share
    return out


@dataclass(frozen=True, eq=False)
class _Bag:
    """Counts of families in every replicate, and what parents are worth there."""

    found: Solution
    rows: RowCounts
    block: Ints
    weights: Floats

    def counts(self, parents: _Parents, child: int) -> Floats:
        """[replicate, states of the parents …, state of the child]."""
        shape = (*(self.rows.sizes[node] for node in parents), self.rows.sizes[child])
        index = self.rows.configuration((*parents, child))
        n_cells, n_blocks = int(np.prod(shape)), self.weights.shape[1]
        both = self.block * n_cells + index
        both = both[index >= 0] if self.rows.has_gaps else both
        per_block = np.bincount(both, minlength=n_blocks * n_cells).reshape(n_blocks, n_cells)
        return (self.weights @ per_block).reshape(len(self.weights), *shape)

    def kernels(self) -> dict[Key, Floats]:
        """Kernels [replicate, parents …, child] of the graph found, estimated in every replicate."""
        made = {}
        for group in self.found.state.kernels:
            counts = sum(self.counts(parents, child) for child, parents in group.families.items())
            made[group.key] = _estimate(np.asarray(counts), group)
        return made

    def worth(self, child: int, parents: _Parents, kernels: dict[Key, Floats]) -> Floats:
        """[replicate]: penalised gain of these parents, priced as in the search."""
        problem, own = self.found.problem, self.counts((), child)
        costs = degree_costs(problem, [len(ps) for ps in self.found.parents])
        price = costs.get(len(parents), 0.0) if child in problem.free else 0.0
        if not parents:
            return np.maximum(self._drawn(child, own), -root_price(problem, child)) - price
        cases = problem.family(child, parents).sum()
        price += problem.choice_cost(child, len(parents)) + float(gap_price(problem, child, cases, excused=1.0))
        counts, key = self.counts(parents, child), problem.key(child, parents)
        groups = [group for group in self.found.state.kernels if group.key == key]
        if self.found.share == "node" or len(groups) != 1:  # a kernel of its own, which it pays for
            fitted = _gain(counts, _shares(counts, 0.0), own)
            of_rows = problem.family(child, parents)
            joint = problem.n_configurations(parents)
            return fitted - kernel_price(problem, of_rows, problem.occurring[child], joint) - price
        return _gain(counts, kernels[key], own) - groups[0].role_cost - price

    def _drawn(self, child: int, own: Floats) -> Floats:
        """Gain of the earlier roots that it was drawn with, under the law that suits best."""
        state, problem = self.found.state, self.found.problem
        block = state.together[child]
        laws = state.laws.get(problem.key(child, block)) if block else None
        if not laws:
            return np.full(len(self.weights), -np.inf)
        counts = self.counts(block, child)
        return np.asarray(np.max([_gain(counts, law[None], own) for law in laws], axis=0))


def _options(found: Solution, child: int) -> list[_Parents]:
    """Parents that come into question: those found, with one of them exchanged, left out or added, and none."""
    problem, now = found.problem, found.parents[child]
    candidates = problem.candidates.of(child)
    kept = [now, ()]
    if not problem.known:
        kept += [one.parents for one in OwnSets(problem).best(child, 1) if one is not None]
    starts = {now, *(now[:place] + now[place + 1 :] for place in range(len(now)))}
    for group in found.state.kernels:
        fits = (group.key[0], group.key[2]) == (problem.labels[child], problem.counts.alphabets[child])
        for start in starts if fits else ():
            if group.n_parents in (len(start), len(start) + 1):
                kept += _exchanged(found, group, child, start, candidates)
    return [one for one in dict.fromkeys(kept) if problem.allows(child, one)] or [now]


def _exchanged(found: Solution, group: Group, child: int, start: _Parents, candidates: Ints) -> list[_Parents]:
    """The start with every head in turn on its best other candidates; a shorter one gets one more parent."""
    guide = Likelihood(found.problem.counts)
    gains, alphabets = guide.prepare(child, group.seen), found.problem.alphabets
    made: list[_Parents] = []
    for head in range(group.n_parents):
        others = start[:head] + start[head + 1 :] if len(start) == group.n_parents else start
        rest = [alphabet for place, alphabet in enumerate(group.key[1]) if place != head]
        free = candidates[(alphabets[candidates] == group.key[1][head]) & ~np.isin(candidates, others)]
        if len(free) == 0 or [alphabets[node] for node in others] != rest:
            continue
        scores = guide.head(child, gains, (*others[:head], -1, *others[head:]), head, free)
        best = free[np.argsort(-scores)[:_PER_HEAD]]
        made += [(*others[:head], int(node), *others[head:]) for node in best]
    return made


def _gain(counts: Floats, table: Floats, own: Floats) -> Floats:
    """[replicate]: Σ counts (log π − log of the child's own law)."""
    law = _shares(own, 0.0).reshape(len(own), *(1,) * (counts.ndim - 2), -1)
    logs = np.log(np.maximum(table, 1e-9)) - np.log(np.maximum(law, 1e-9))
    return np.asarray((counts * logs).reshape(len(counts), -1).sum(axis=1))


def _estimate(counts: Floats, group: Group) -> Floats:
    if group.given is not None:
        return group.seen[None]
    if group.symmetric and group.n_parents > 1:
        last = counts.ndim - 1
        counts = np.asarray(sum(counts.transpose(0, *o, last) for o in permutations(range(1, last))))
    return _shares(counts, _HALF)


def _shares(counts: Floats, pseudo: float) -> Floats:
    total = counts.sum(axis=-1, keepdims=True) + pseudo * counts.shape[-1]
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts + pseudo, total, out=even, where=total > 0))
