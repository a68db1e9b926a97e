"""Roots once the kernel is known: alone, or drawn together with an earlier one from its stationary law."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from kgmi.guides.likelihood import IMPOSSIBLE
from kgmi.search.blocks import block_laws
from kgmi.search.decisive.evidence import Evidence, root_prices
from kgmi.search.decisive.shared import SharedKernel, heaviest_tail
from kgmi.search.plan import Plan
from kgmi.search.pools import key_of
from kgmi.types import Floats, Ints, Parents

__all__ = ["Roots", "hide_kernel", "place_roots"]


@dataclass(frozen=True, eq=False)
class Roots:
    """Who is drawn with whom, and what every root is worth; nodes with parents have no worth here (NaN)."""

    together: Parents
    worth: Floats


def place_roots(plan: Plan, evidence: Evidence, shared: SharedKernel) -> Roots:
    """Roots in their order, each by itself or with an earlier one that nobody follows from yet."""
    rows = evidence.scan.rows
    implied = block_laws(plan, shared.pools).values()
    laws = [np.log(np.maximum(law, IMPOSSIBLE)) for some in implied for law in some]
    worth = _alone(plan, evidence, shared)
    together: list[tuple[int, ...]] = [()] * rows.n_nodes
    alone: dict[int, None] = {}  # roots by themselves that a later one may join, in their order
    for node, parents in enumerate(shared.parents):
        for parent in parents:
            alone.pop(parent, None)
        if parents:
            continue
        if alone and laws:
            earlier = np.array(list(alone))
            tables = rows.pair_tables(earlier, np.full(len(earlier), node)).reshape(len(earlier), -1)
            gains = np.max([tables @ law.ravel() for law in laws], axis=0) - rows.alone[node]
            best = int(gains.argmax())
            joined = float(gains[best]) - log(len(laws)) - log(len(earlier))
            if joined > worth[node] + plan.block_margin:
                together[node] = (int(earlier[best]),)
                worth[node] = joined
                del alone[int(earlier[best])]
                continue
        alone[node] = None
    return Roots(tuple(together), worth)


def _alone(plan: Plan, evidence: Evidence, shared: SharedKernel) -> Floats:
    """[node]: what it is worth as a root by itself: with a law that roots share, or with one of its own."""
    rows, rest = evidence.scan.rows, evidence.rest
    worth = np.full(rows.n_nodes, np.nan)
    worth[rest] = -root_prices(rows, plan.penalty)[rest]
    laws = shared.pools.get(key_of(plan.observed, plan.labels, (), int(rest[0])))
    if laws is not None:
        common = rows.singles[rest] @ np.log(np.maximum(laws.seen, IMPOSSIBLE)).T - rows.alone[rest, None]
        worth[rest] = np.maximum(worth[rest], common.max(axis=1))
    return worth


def hide_kernel(evidence: Evidence, roots: Roots, nodes: Ints, gains: Floats, degree: int) -> bool:
    """Whether so many roots depend on others, each too little to pay for a kernel, that one for all of them could.

    ``gains`` [root] are those of its best parents with a kernel of its own; where all pairs were looked at one root
    may be enough, if it depends on two parents that tell nothing each by itself.
    What is best of many parents fits well by chance; that is allowed for. Of pairs there are so many that this
    hides much of what is real, so half of the price is enough for a doubt.
    """
    choices, n_states = evidence.choices[nodes, degree], evidence.scan.rows.n_states
    known = (evidence.single_gains if degree == 1 else evidence.pair_gains)[nodes]
    prices = known - choices - evidence.values[nodes, degree]
    misfits = gains - np.maximum(roots.worth[nodes], 0.0)
    freedom = (n_states**degree - 1) * (n_states - 1)
    return heaviest_tail(misfits, freedom, float(prices.min()) / degree, np.exp(choices)) > 0
