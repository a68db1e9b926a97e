"""What was found with the order open, told in that order, with the last steps that need one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.candidates import in_order
from kgmi.memory import Remembered
from kgmi.search.alternate import State, alternate, pools_of, state_of
from kgmi.search.discover import alone_state, evident, in_classes, is_far_off, weigh_all_gaps, without_edges
from kgmi.search.found import Found, Share
from kgmi.search.order.discover import CLOSE, Opened
from kgmi.search.order.offers import forget_choices
from kgmi.search.order.sweep import generations
from kgmi.search.plan import Plan
from kgmi.search.reopen import reopen
from kgmi.search.simplify import simplify, without_idle_blocks
from kgmi.search.starts import first_parents, own_sets
from kgmi.types import Ints, Parents

__all__ = ["settle_order"]

_MOST_RIVALS = 5


def settle_order(opened: Opened, share: Share = "auto") -> tuple[Ints, Found]:
    """The order and what was found in it: ``order[node]`` is the number that the node had before.

    Which roots are drawn together shows only in an order, and it may settle which of several graphs that are
    about as good is the best.
    """
    forget_choices(opened.plan)
    found = opened.found
    close = [one for one in opened.rivals if one.score > found.state.score - CLOSE] if found.plan.is_small else []
    options = [one for state in _different([found.state, *close]) for one in _in_orders(found, state)]
    if opened.other is not None:
        options += _in_orders(opened.other, opened.other.state)
    order, best = max(options, key=lambda option: option[1].state.score)
    best = weigh_all_gaps(best)
    if share in ("auto", "classes") and not found.plan.known:
        best = _with_classes(_plan_in(opened.plan, order), best, thorough=share == "classes")
    return order, best


def _with_classes(plan: Plan, found: Found, *, thorough: bool) -> Found:
    """Classes of nodes that share kernels, if they describe the rows better in this order."""
    sets = own_sets(plan)
    parents = found.state.parents
    together = found if found.shared else replace(found, state=state_of(plan, parents, pools_of(plan, parents)))
    alone = first_parents(plan, sets) if found.shared else parents
    between = in_classes(plan, sets, replace(together, shared=True), alone, thorough=thorough)
    if between is not None and not any(evident(plan, between.state, without_edges(plan)).parents):
        between = None
    if between is None or between.state.score <= found.state.score:
        return replace(found, classes_score=None if between is None else between.state.score)
    return replace(between, classes_score=between.state.score)


def _different(states: list[State]) -> list[State]:
    """One state of each graph, the first ones."""
    graphs = {tuple(map(frozenset, state.parents)): state for state in reversed(states[: 4 * _MOST_RIVALS])}
    return list(reversed(graphs.values()))[: 1 + _MOST_RIVALS]


def _in_orders(found: Found, state: State) -> list[tuple[Ints, Found]]:
    """The graph in an order of its nodes, and with those of equal rank the other way round.

    The law of roots that are drawn together depends on which of them comes first.
    """
    orders = [_order_of(found.plan, state.parents, turn) for turn in (1, -1)]
    both = found.shared and found.plan.is_small
    return [_in_order(found, state, order) for order in (orders if both else orders[:1])]


def _in_order(found: Found, state: State, order: Ints) -> tuple[Ints, Found]:
    place = np.argsort(order)
    parents: Parents = tuple(tuple(int(place[p]) for p in state.parents[node]) for node in order.tolist())
    plan = _plan_in(found.plan, order)
    if not found.shared:
        return order, replace(found, plan=plan, state=alone_state(plan, parents))
    hints = [[ps] if ps else [] for ps in parents]
    start = state_of(plan, parents, pools_of(plan, parents))
    end = simplify(plan, alternate(plan, start, hints, frozenset()), hints)
    if not plan.is_small and not is_far_off(end, found.node_score or -np.inf):
        end = reopen(plan, end, own_sets(plan), hints)
    end = evident(plan, without_idle_blocks(plan, end), without_edges(plan))
    return order, replace(found, plan=plan, state=replace(end, rounds=state.rounds, settled=state.settled))


def _order_of(plan: Plan, parents: Parents, turn: int) -> Ints:
    """Parents before their children: by tier, generation and number of parents.

    Nodes with few parents come early in their generation: if they are roots that are drawn together, that has
    to show before others follow from them.
    """
    stage = plan.candidates.rules.stages[list(plan.candidates.order)]
    number = turn * np.arange(len(parents))
    return np.lexsort((number, np.array([len(ps) for ps in parents]), generations(parents), stage))


def _plan_in(plan: Plan, order: Ints) -> Plan:
    """The plan with its nodes in an order; choices cost what they did when it was open."""
    nodes = order.tolist()
    place = np.argsort(order)
    observed = plan.observed.in_order(nodes)
    return replace(
        plan,
        observed=observed,
        candidates=in_order(plan.candidates, nodes),
        guide=replace(plan.guide, observed=observed),
        labels=tuple(plan.labels[node] for node in nodes),
        roots=None if plan.roots is None else frozenset(int(place[root]) for root in plan.roots),
        n_open=tuple(len(plan.candidates.of(node)) for node in nodes),
        _families=Remembered(),
    )
