"""How sure the direction of an edge is: by how much the best graph with that edge reversed is worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kgmi.search.alternate import State, alternate
from kgmi.search.order.alone import offers_alone, with_required
from kgmi.search.order.best import best_order, parents_in
from kgmi.search.order.choices import Choices, trimmed
from kgmi.search.order.discover import Opened, ends_of
from kgmi.search.order.offers import forget_choices, offers_under
from kgmi.search.order.sweep import order_of
from kgmi.search.order.turn import best_touched_up
from kgmi.search.order.varied import best_changed, is_varied, new_kinds, with_new_kinds
from kgmi.search.plan import Plan
from kgmi.types import Ints, Parents

__all__ = ["reversals"]

_FEW_NODES = 20  # for which kernels are learned anew with the edge reversed, round after round
_VERY_FEW_NODES = 6
_FEW_STARTS = 1  # of which there are twice as many; see discover_order
_DOUBTFUL = 40.0  # nats below which all starts are tried
_MOST_EDGES = 1_000  # for more, a look at each takes too long


def reversals(opened: Opened, parents: Parents) -> dict[tuple[int, int], float]:
    """Nats by which the best graph with each edge (parent, child) reversed is worse than the graph itself.

    Infinite where the edge cannot be reversed (tiers, forbidden and required edges, roots that were told). It is
    what a search finds, from the graph itself, from other starts where that takes no time, and among the graphs
    that the search met before: so the true difference may be smaller, never larger.
    """
    plan = opened.found.plan
    edges = [(parent, child) for child, chosen in enumerate(parents) for parent in chosen]
    if len(edges) > _MOST_EDGES:
        return {}
    state = opened.state(parents)
    costs = plan.degree_costs([len(ps) for ps in parents])
    choices = opened.choices(state.pools, costs)
    if opened.found.shared:
        choices = with_new_kinds(plan, state.pools, opened.offers, choices, costs)
    rivals = [opened.state(one.parents) for one in opened.rivals]
    found = {}
    for parent, child in edges:
        others = [one.score for one in rivals if child in one.parents[parent]]
        bound = _requiring(plan, child, parent)
        if bound is not None:
            others.append(_reversed(opened, bound, state, choices, costs, parent, child))
        found[parent, child] = max(state.score - max(others, default=-np.inf), 0.0)
    forget_choices(plan)
    return found


def _reversed(
    opened: Opened,
    bound: Plan,
    state: State,
    choices: Choices,
    costs: Mapping[int, float],
    parent: int,
    child: int,
) -> float:
    """Score of the best graph with the edge child → parent that is found from here; ``bound`` requires it."""
    rng = np.random.default_rng(0)
    if opened.found.shared:
        offers = offers_under(bound, state.pools, parent, costs)
        offers += new_kinds(bound, state.pools, opened.offers[parent], parent, costs)
    else:
        offers = offers_alone(bound, opened.offers[parent], parent, costs)
    turned = choices.with_offer(parent, trimmed(offers, bound.n_heads))
    order = best_order(turned, order_of(_first(state.parents, child, parent)), rng, kicked=False)
    found = [opened.state(parents_in(turned, order))]
    relearned = opened.found.shared and not bound.known and not bound.observed.is_exact
    if relearned and bound.observed.n_nodes <= _FEW_NODES:
        end = alternate(bound, replace(found[0], score=-np.inf), [()] * len(state.parents), frozenset())
        found.append(opened.state(end.parents))
        if bound.is_small:
            found += _ends(opened, replace(bound, starts=_FEW_STARTS), order, rng)
            if state.score - max(one.score for one in found) < _DOUBTFUL or len(state.parents) <= _VERY_FEW_NODES:
                found += _ends(opened, bound, order, rng)
                found.sort(key=lambda one: -one.score)
                found.append(opened.state(best_touched_up(bound, found).parents))
    found = [one for one in found if child in one.parents[parent]]
    if bound.is_small and len(state.parents) <= _VERY_FEW_NODES:
        return best_changed(opened, bound, found)
    return max((one.score for one in found), default=-np.inf)


def _ends(opened: Opened, bound: Plan, order: Ints, rng: np.random.Generator) -> list[State]:
    """Graphs with the edge reversed that other starts lead to."""
    offers = opened.offers
    if is_varied(bound):  # a kernel for the edge is there only if the start has the edge
        offers = [[with_required(bound, one, child) for one in some] for child, some in enumerate(offers)]
    ends, _ = ends_of(bound, offers, order, -np.inf, [[()]] * bound.observed.n_nodes, rng)
    return [opened.state(one.parents) for one in ends]


def _requiring(plan: Plan, parent: int, child: int) -> Plan | None:
    """The plan in which this edge must be there; None where it cannot be."""
    candidates = plan.candidates
    required = tuple(
        tuple(sorted({*chosen, parent})) if node == child else chosen
        for node, chosen in enumerate(candidates.required)
    )
    bound = replace(plan, candidates=replace(candidates, required=required))
    try:
        order_of(required)
    except ValueError:  # the required edges go the other way
        return None
    possible = candidates.allowed[child, parent] and child not in candidates.required[parent]
    enough = any(len(required[child]) <= degree for degree in {*bound.degrees_of(child)} & {*plan.degrees})
    return bound if possible and enough else None


def _first(parents: Parents, early: int, late: int) -> Parents:
    """The graph in which ``late`` is a child of ``early`` and ``early`` has no parents: an order to start from."""
    return tuple((early,) if node == late else () if node == early else ps for node, ps in enumerate(parents))
