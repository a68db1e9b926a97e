"""Nodes of several alphabets or classes: sets of parents that none of the present kernels is for.

Where all nodes are alike, a kernel for so many parents is for every set of so many. Else an edge that is turned may
lead from one alphabet to another for which the graph has no kernel yet: it gets a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np

from kgmi.search.alternate import State
from kgmi.search.order.alone import OwnOffers, choices_alone, offers_alone, with_required
from kgmi.search.order.best import best_order, parents_in
from kgmi.search.order.choices import Choices, Offer, gather_choices, trimmed
from kgmi.search.order.discover import Opened
from kgmi.search.order.sweep import without_descendants
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool
from kgmi.search.starts import order_inside
from kgmi.types import Parents

__all__ = ["best_changed", "is_varied", "new_kinds", "with_new_kinds"]

_MOST_TRIED = 5  # graphs that single changes start from
_MOST_CHANGES = 50  # far more than ever needed


def is_varied(plan: Plan) -> bool:
    """Whether nodes with equally many parents may need different kernels."""
    return len(set(plan.observed.alphabets)) > 1 or len(set(plan.labels)) > 1


def new_kinds(
    plan: Plan, pools: dict[Key, Pool], by_size: Sequence[Offer], child: int, costs: Mapping[int, float]
) -> list[Offer]:
    """Sets that would need a new kernel, as if no other node had it; none where all nodes are alike."""
    if not is_varied(plan) or plan.known:
        return []
    return [_new(plan, pools, one, child) for one in offers_alone(plan, by_size, child, costs)[1:]]


def _new(plan: Plan, pools: dict[Key, Pool], offer: Offer, child: int) -> Offer:
    """Those for which there is no kernel, with parents in the order that families of their kind have."""
    alphabets = np.array(plan.observed.alphabets)
    parents = np.sort(offer.parents, axis=1)
    parents = np.take_along_axis(parents, np.argsort(alphabets[parents], axis=1, kind="stable"), axis=1)
    kinds, kind = np.unique(alphabets[parents], axis=0, return_inverse=True)
    label, own = plan.labels[child], plan.observed.alphabets[child]
    is_new = np.array([(label, tuple(one), own) not in pools for one in kinds.tolist()])[kind.ravel()]
    return Offer(parents[is_new], offer.worth[is_new], offer.whole)


def with_new_kinds(
    plan: Plan, pools: dict[Key, Pool], offers: OwnOffers, choices: Choices, costs: Mapping[int, float]
) -> Choices:
    """What is open to the nodes, and the sets that would need a new kernel."""
    if not is_varied(plan) or plan.known:
        return choices
    every = [[choices.of(child), *new_kinds(plan, pools, one, child, costs)] for child, one in enumerate(offers)]
    return gather_choices([trimmed(some, plan.n_heads) for some in every])


def best_changed(opened: Opened, plan: Plan, states: Sequence[State]) -> float:
    """The best score that changes of single nodes lead to.

    They start from the best of these states, of graphs with a kernel for each node, and of what is required alone.
    """
    scores = {one.parents: one.score for one in states}

    def score(parents: Parents) -> float:
        if parents not in scores:
            scores[parents] = opened.state(parents).score
        return scores[parents]

    graphs = {*scores, plan.candidates.required, *_graphs_alone(opened, plan)}
    allowed = [parents for parents in graphs if _is_allowed(plan, parents)]
    first = sorted(allowed, key=lambda parents: (-score(parents), parents))[:_MOST_TRIED]
    return max((score(_climbed(opened, plan, parents, score)) for parents in first), default=-np.inf)


def _is_allowed(plan: Plan, parents: Parents) -> bool:
    """Whether all nodes have the parents that they must have, and as many as they may."""
    return all(
        len(chosen) in plan.degrees_of(child) and {*plan.candidates.required[child]} <= {*chosen}
        for child, chosen in enumerate(parents)
    )


def _graphs_alone(opened: Opened, plan: Plan) -> set[Parents]:
    """The best graphs with a kernel for each node, for all that in-degrees may cost: that depends on the graph."""
    n_nodes, found = plan.observed.n_nodes, set()
    prices = [plan.degree_costs(some) for some in combinations_with_replacement(plan.degrees, n_nodes)]
    for costs in {tuple(sorted(one.items())): one for one in prices}.values():
        choices = choices_alone(plan, opened.offers, costs)
        order = best_order(choices, np.arange(choices.n_nodes), np.random.default_rng(0))
        found.add(tuple(order_inside(plan, one) for one in parents_in(choices, order)))
    return found


def _climbed(opened: Opened, plan: Plan, parents: Parents, score: Callable[[Parents], float]) -> Parents:
    """Change single nodes, always what gains most with all kernels estimated anew, as long as the score rises."""
    for _ in range(_MOST_CHANGES):
        best = max(_changed(opened, plan, parents), key=score, default=parents)
        if score(best) <= score(parents) + 1e-9:
            break
        parents = best
    return parents


def _changed(opened: Opened, plan: Plan, parents: Parents) -> Iterator[Parents]:
    """Graphs without cycles in which one node has another set of parents."""
    for child in range(len(parents)):
        for one in _sets(opened, without_descendants(plan, parents, child), child):
            yield (*parents[:child], one, *parents[child + 1 :])


def _sets(opened: Opened, plan: Plan, child: int) -> list[tuple[int, ...]]:
    """All sets that are open to a child and have the parents that it must have."""
    allowed = plan.candidates.of(child)
    found = []
    for degree in plan.degrees_of(child):
        one = with_required(plan, opened.offers[child][degree], child)
        open_to = np.isin(one.parents, allowed).all(axis=1)
        found += [order_inside(plan, tuple(parents)) for parents in one.parents[open_to].tolist()]
    return found
