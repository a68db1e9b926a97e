"""How sure the direction of an edge is: by how much the best graph with that edge reversed is worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kgmi.search.alternate import Parents, State, alternate
from kgmi.search.order.alone import offers_alone
from kgmi.search.order.best import best_order, parents_in
from kgmi.search.order.choices import Choices, trimmed
from kgmi.search.order.discover import Opened, ends_of
from kgmi.search.order.offers import offers_under
from kgmi.search.order.sweep import order_of
from kgmi.search.plan import Plan
from kgmi.search.polish import polish
from kgmi.types import Ints

__all__ = ["reversals"]

_FEW_NODES = 20  # for which the kernels are learned anew, round after round, with the edge reversed
_DOUBTFUL = 100.0  # nats below which it is looked for from several starts, if that takes no time
_MOST_EDGES = 1_000  # for more, a look at each takes too long


def reversals(opened: Opened, parents: Parents) -> dict[tuple[int, int], float]:
    """Nats by which the best graph with each edge (parent, child) reversed is worse than the graph itself.

    Infinite where the edge cannot be reversed (tiers, forbidden edges). It is what a search finds, from the graph
    itself and among the graphs that other starts led to, so the true difference may be smaller, never larger.
    """
    plan = opened.found.plan
    edges = [(parent, child) for child, chosen in enumerate(parents) for parent in chosen]
    if len(edges) > _MOST_EDGES:
        return {}
    state = opened.state(parents)
    costs = plan.degree_costs([len(ps) for ps in parents])
    choices = opened.choices(state.pools, costs)
    rivals = [opened.state(one.parents) for one in opened.rivals]
    found = {}
    for parent, child in edges:
        others = [one.score for one in rivals if child in one.parents[parent]]
        if plan.candidates.allowed[parent, child]:
            others.append(_reversed(opened, state, choices, costs, parent, child))
        found[parent, child] = max(state.score - max(others, default=-np.inf), 0.0)
    return found


def _reversed(
    opened: Opened, state: State, choices: Choices, costs: Mapping[int, float], parent: int, child: int
) -> float:
    """Score of the best graph with the edge child → parent that is found from here."""
    plan, rng = opened.found.plan, np.random.default_rng(0)
    bound = _requiring(plan, child, parent)
    if opened.found.shared:
        offers = offers_under(bound, state.pools, parent, costs)
    else:
        offers = offers_alone(bound, opened.offers[parent], parent, costs)
    turned = choices.with_offer(parent, trimmed(offers, plan.n_heads))
    order = best_order(turned, order_of(_first(state.parents, child, parent)), rng, kicked=False)
    found = opened.state(parents_in(turned, order))
    if opened.found.shared and not plan.known and plan.observed.n_nodes <= _FEW_NODES:
        end = alternate(bound, replace(found, score=-np.inf), [()] * len(found.parents), frozenset())
        found = max(found, opened.state(end.parents), key=lambda one: one.score)
        if plan.is_small and state.score - found.score < _DOUBTFUL:
            found = max(found, _from_starts(opened, bound, order, rng), key=lambda one: one.score)
    return found.score if child in found.parents[parent] else -np.inf


def _from_starts(opened: Opened, bound: Plan, order: Ints, rng: np.random.Generator) -> State:
    """The best graph with the edge reversed that other starts lead to."""
    hints = [[()]] * bound.observed.n_nodes
    ends, _ = ends_of(bound, opened.offers, order, -np.inf, hints, rng)
    return opened.state(polish(bound, ends[0]).parents)


def _requiring(plan: Plan, parent: int, child: int) -> Plan:
    """The plan in which this edge must be there."""
    required = tuple(
        tuple(sorted({*chosen, parent})) if node == child else chosen
        for node, chosen in enumerate(plan.candidates.required)
    )
    return replace(plan, candidates=replace(plan.candidates, required=required))


def _first(parents: Parents, early: int, late: int) -> Parents:
    """The graph in which ``late`` is a child of ``early`` and ``early`` has no parents: an order to start from."""
    return tuple((early,) if node == late else () if node == early else ps for node, ps in enumerate(parents))
