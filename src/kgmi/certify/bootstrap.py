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
from kgmi.progress import tell
from kgmi.search import Found
from kgmi.search.own import OwnSearch
from kgmi.search.pools import Key, Pool, key_of
from kgmi.types import Codes, Floats, Ints, Rng

__all__ = ["bootstrap_edges"]

_BLOCKS = 128
_PER_HEAD = 8  # other candidates for each head
_HALF = 0.5  # pseudo-cases for every state

_Parents = tuple[int, ...]


def bootstrap_edges(found: Found, codes: Codes, n_replicates: int = 200, *, rng: Rng = 0) -> Floats:
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
    plan = found.plan
    rows = RowCounts(codes, plan.observed.sizes, None, plan.observed.alphabets)
    n_blocks = min(_BLOCKS, len(codes))
    block = np.arange(len(codes)) * n_blocks // len(codes)
    weights = np.random.default_rng(rng).multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=n_replicates)
    bag = _Bag(found, rows, block, weights.astype(np.float64))
    kernels = bag.kernels()
    out = np.zeros((plan.observed.n_nodes, plan.observed.n_nodes))
    for child in range(plan.observed.n_nodes):
        tell("bootstrap", child, plan.observed.n_nodes, "nodes")
        options = _options(found, child)
        worth = np.stack([bag.worth(child, parents, kernels) for parents in options])
        chosen = np.bincount(worth.argmax(axis=0), minlength=len(options)) / n_replicates
        for parents, share in zip(options, chosen, strict=True):
            out[list(parents), child] += share
    return out


@dataclass(frozen=True, eq=False)
class _Bag:
    """Counts of families in every replicate, and what parents are worth there."""

    found: Found
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
        plan, state = self.found.plan, self.found.state
        pooled: dict[Key, Floats] = {}
        for child, parents in enumerate(state.parents):
            if parents:
                key = key_of(plan.observed, plan.labels, parents, child)
                pooled[key] = pooled.get(key, 0.0) + self.counts(parents, child)
        known = {key: pool.seen[None] for key, pool in state.pools.items() if pool.known and pool.n_parents}
        return known | {key: _estimate(counts, state.pools[key]) for key, counts in pooled.items()}

    def worth(self, child: int, parents: _Parents, kernels: dict[Key, Floats]) -> Floats:
        """[replicate]: penalised gain of these parents, priced as in the search."""
        plan, state = self.found.plan, self.found.state
        own = self.counts((), child)
        costs = plan.degree_costs([len(ps) for ps in state.parents])
        price = costs.get(len(parents), 0.0) if child in plan.free else 0.0
        if not parents:
            return np.maximum(self._drawn(child, own), -plan.root_cost(child)) - price
        price += plan.choice_cost(child, len(parents)) + plan.gap_cost(child, parents)
        counts = self.counts(parents, child)
        key = key_of(plan.observed, plan.labels, parents, child)
        if not self.found.shared or key not in kernels:  # a kernel of its own, which it pays for
            fitted = _gain(counts, _shares(counts, 0.0), own)
            return fitted - plan.penalty.of(plan.family(child, parents)) - price
        return _gain(counts, kernels[key], own) - plan.order_cost(state.pools[key].order_cost) - price

    def _drawn(self, child: int, own: Floats) -> Floats:
        """Gain of the earlier roots that it was drawn with, under the law that suits best."""
        plan, state = self.found.plan, self.found.state
        block = state.together[child]
        laws = state.block_laws(plan).get(key_of(plan.observed, plan.labels, block, child)) if block else None
        if not laws:
            return np.full(len(self.weights), -np.inf)
        counts = self.counts(block, child)
        return np.asarray(np.max([_gain(counts, law[None], own) for law in laws], axis=0))


def _options(found: Found, child: int) -> list[_Parents]:
    """Parents that come into question: those found, with one of them exchanged, left out or added, and none."""
    plan, now = found.plan, found.state.parents[child]
    degrees, required = plan.degrees_of(child), {*plan.candidates.required[child]}
    candidates = plan.candidates.of(child)
    kept = [now] if len(now) in degrees else []
    kept += [()] if 0 in degrees else []
    if not plan.known:
        alone = OwnSearch(plan.observed, plan.penalty, 1).best(child, candidates, (*required,), plan.n_heads)
        kept += [one.parents for one in alone if one is not None and len(one.parents) in degrees]
    starts = {now, *(now[:place] + now[place + 1 :] for place in range(len(now)))}
    for key, pool in found.state.pools.items():
        fits = key[0] == plan.labels[child] and key[2] == plan.observed.alphabets[child]
        for start in starts if fits and pool.n_parents in degrees else ():
            if pool.n_parents in (len(start), len(start) + 1):
                kept += _exchanged(found, pool, child, start, candidates)
    return [one for one in dict.fromkeys(kept) if required <= {*one}] or [now]


def _exchanged(found: Found, pool: Pool, child: int, start: _Parents, candidates: Ints) -> list[_Parents]:
    """The start with every head in turn on its best other candidates; a shorter one gets one more parent."""
    guide = Likelihood(found.plan.observed)
    gains = guide.prepare(child, pool.seen)
    sizes = pool.seen.shape[:-1]
    alphabet_sizes = np.array(found.plan.observed.sizes)
    made: list[_Parents] = []
    for head in range(pool.n_parents):
        others = start[:head] + start[head + 1 :] if len(start) == pool.n_parents else start
        filled = (*others[:head], -1, *others[head:])
        rest = [size for place, size in enumerate(sizes) if place != head]
        free = candidates[(alphabet_sizes[candidates] == sizes[head]) & ~np.isin(candidates, others)]
        if len(free) == 0 or [alphabet_sizes[node] for node in others] != rest:
            continue
        scores = guide.head(child, gains, filled, head, free)
        best = free[np.argsort(-scores)[:_PER_HEAD]]
        made += [(*others[:head], int(node), *others[head:]) for node in best]
    return made


def _gain(counts: Floats, table: Floats, own: Floats) -> Floats:
    """[replicate]: Σ counts (log π − log of the child's own law)."""
    law = _shares(own, 0.0).reshape(len(own), *(1,) * (counts.ndim - 2), -1)
    logs = np.log(np.maximum(table, 1e-9)) - np.log(np.maximum(law, 1e-9))
    return np.asarray((counts * logs).reshape(len(counts), -1).sum(axis=1))


def _estimate(counts: Floats, pool: Pool) -> Floats:
    if pool.known or pool.implied is not None:
        return pool.seen[None]
    if pool.symmetric and pool.n_parents > 1:
        last = counts.ndim - 1
        counts = np.asarray(sum(counts.transpose(0, *o, last) for o in permutations(range(1, last))))
    return _shares(counts, _HALF)


def _shares(counts: Floats, pseudo: float) -> Floats:
    total = counts.sum(axis=-1, keepdims=True) + pseudo * counts.shape[-1]
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts + pseudo, total, out=even, where=total > 0))
