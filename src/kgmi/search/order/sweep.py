"""One round of re-guiding where the order is open: all children choose together, so that no cycle arises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

import numpy as np

from kgmi.search.order.best import best_order, parents_in
from kgmi.search.order.offers import choices_under
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool
from kgmi.types import Ints, Parents

__all__ = ["acyclic_sweep", "generations", "order_of", "without_descendants"]


def acyclic_sweep(plan: Plan, pools: dict[Key, Pool], parents: Parents, costs: Mapping[int, float]) -> Parents:
    """The best graph under the present kernels, looked for from the present one."""
    choices = choices_under(plan, pools, costs)
    order = best_order(choices, order_of(parents), np.random.default_rng(0))
    return parents_in(choices, order)


def order_of(parents: Sequence[Sequence[int]]) -> Ints:
    """An order in which parents come before their children, by generation; nodes of one generation by number."""
    return np.argsort(generations(parents), kind="stable")


def generations(parents: Sequence[Sequence[int]]) -> Ints:
    """[node]: length of the longest path that leads to it."""
    found = np.zeros(len(parents), dtype=np.int64)
    for node in TopologicalSorter(dict(enumerate(parents))).static_order():
        found[node] = max((found[parent] + 1 for parent in parents[node]), default=0)
    return found


def without_descendants(plan: Plan, parents: Parents, child: int) -> Plan:
    """The plan in which a child may not have those as parents that descend from it."""
    below = {child}
    for node in order_of(parents).tolist():
        if below & set(parents[node]):
            below.add(node)
    allowed = plan.candidates.allowed.copy()
    allowed[child, sorted(below)] = False
    return replace(plan, candidates=replace(plan.candidates, allowed=allowed))
