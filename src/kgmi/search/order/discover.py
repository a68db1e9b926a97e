"""``discover_order``: parents, kernels and the order of the nodes, all from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgmi.search.alternate import State, alternate, pools_of, state_of
from kgmi.search.discover import alone_state, best_alone, evident, is_far_off
from kgmi.search.found import Found, Share
from kgmi.search.order.alone import OwnOffers, choices_alone, graph_alone, own_offers, sets_in
from kgmi.search.order.choices import Choices
from kgmi.search.order.offers import choices_under
from kgmi.search.order.sweep import generations, order_of
from kgmi.search.order.turn import best_touched_up
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool
from kgmi.search.reopen import reopen, unhappy
from kgmi.search.roles import reorient
from kgmi.search.simplify import simplify
from kgmi.search.starts import start_state
from kgmi.types import Ints, Parents

__all__ = ["CLOSE", "Opened", "discover_order", "ends_of"]

_STARTS = 2  # times as many as with a given order
_SAME = 1e-6
CLOSE = 15.0
"""Nats that roots drawn together may make up for."""
_LONG_STARTS = 4  # where each takes seconds
_FEW_NODES = 20  # of which all starts are tried; of more, only until the best graph was reached twice
_KINDS = (1, 0, 2, 3)  # of starts, in turn; see start_state


@dataclass(frozen=True, eq=False)
class Opened:
    """What a search for the order ended with.

    Attributes
    ----------
    plan
        With the nodes numbered as they came, and kernels shared by all, or by classes that were given.
    found
        Parents and kernels.
    rivals
        The graphs that the starts led to, the best first; none for kernels of each node.
    other
        The best graph with kernels shared, where one for each node is better by so little that roots drawn
        together, which show only in an order, may make up for it; else None.
    offers
        Sets of parents with a kernel for each.
    proved
        Whether no graph without cycles is better under the kernels of the one found.
    """

    plan: Plan
    found: Found
    rivals: tuple[State, ...]
    offers: OwnOffers
    proved: bool = False
    other: Found | None = None

    def choices(self, pools: dict[Key, Pool], costs: Mapping[int, float]) -> Choices:
        """Everything that is open to the nodes: tuples under these kernels, or sets with a kernel for each."""
        if self.found.shared:
            return choices_under(self.found.plan, pools, costs)
        return choices_alone(self.found.plan, self.offers, costs)

    def state(self, parents: Parents) -> State:
        """A graph with the kernels that follow from it."""
        plan = self.found.plan
        return state_of(plan, parents, pools_of(plan, parents)) if self.found.shared else alone_state(plan, parents)


def discover_order(plan: Plan, share: Share = "auto") -> Opened:
    """Search for order and graph with shared kernels, with one for each node, or with both."""
    rng = np.random.default_rng(plan.observed.n_nodes)
    offers = own_offers(plan)
    sets = sets_in(offers, None)
    hints = [[one.parents for one in by_size[1:] if one is not None] for by_size in sets]
    empty: Parents = ((),) * plan.observed.n_nodes
    if plan.known:
        start = state_of(plan, empty, pools_of(plan, empty))
        state = evident(plan, alternate(plan, start, hints, frozenset()), start)
        later = sets_in(offers, order_of(state.parents))  # what follows from a node is no parent of it
        misfits = tuple((child, nats) for nats, child, _ in unhappy(plan, state, later))
        return Opened(plan, Found(plan, state, True, state.score, None, 1, start.score, misfits), (), offers)
    own = replace(plan, labels=tuple(range(plan.observed.n_nodes)))
    alone = best_alone(own, graph_alone(plan, offers, rng))
    parents = alone.parents
    node = Found(own, alone, False, None, alone.score, 1, alone.score)
    if share == "node":
        return Opened(plan, node, (), offers)
    ends, start_score = ends_of(plan, offers, order_of(parents), alone.score, hints, rng)
    best = simplify(plan, ends[0], hints)
    if plan.is_small:  # else in the order found, where a look at all nodes takes less
        best = reopen(plan, best, sets_in(offers, order_of(best.parents)), hints)
        best = best_touched_up(plan, [best, *ends])
    plain = [replace(state_of(plan, ps, pools_of(plan, ps)), rounds=1, settled=True) for ps in (empty, parents)]
    best = evident(plan, max(best, *plain, key=lambda state: state.score), plain[0])
    together = Found(plan, best, True, best.score, None, len(ends), start_score)
    if share == "shared":
        return Opened(plan, together, tuple(ends), offers)
    better = node if best.score < alone.score - plan.indifference * len(parents) else together
    found = replace(better, shared_score=best.score, node_score=alone.score, n_starts=len(ends))
    if better is together:
        return Opened(plan, found, tuple(ends), offers)
    if best.score < alone.score - CLOSE:
        return Opened(plan, found, (), offers)
    return Opened(plan, found, (), offers, other=replace(together, node_score=alone.score))


def ends_of(
    plan: Plan,
    offers: OwnOffers,
    order: Ints,
    poor: float,
    hints: Sequence[Sequence[tuple[int, ...]]],
    rng: np.random.Generator,
) -> tuple[list[State], float]:
    """Where the starts lead, the best first, and the score of the best start.

    Where starts take long, there are more only while the best end is ``poor``, but not too poor, or while no two
    led to the best one.
    """
    ends, start_score = [], -np.inf
    for first, kind in _starts(plan, order, rng):
        start = start_state(plan, sets_in(offers, first), kind)
        start_score = max(start_score, start.score)
        end = alternate(plan, start, hints, frozenset())
        if (turned := reorient(plan, end)) is not end:
            end = alternate(plan, turned, hints, frozenset())
        ends.append(end)
        if not plan.is_small and (end.score > poor or is_far_off(end, poor)):
            break
        top = max(one.score for one in ends)
        if len(order) > _FEW_NODES and sum(one.score > top - _SAME for one in ends) > 1 and top > poor:
            break
    ends.sort(key=lambda end: -end.score)
    return ends, start_score


def _starts(plan: Plan, order: Ints, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
    """Orders to start from, and how: that of the graph with a kernel for each node first, then any.

    A child must have what is required of it, even at the start: so no order may have it before its parents.
    """
    place = np.argsort(order)
    if any(place[parent] > place[child] for child, ps in enumerate(plan.candidates.required) for parent in ps):
        order = _with_required_first(plan, order)
    n_starts = _STARTS * plan.starts if plan.is_small else min(_LONG_STARTS, plan.starts)
    for number in range(n_starts):
        kind = _KINDS[number % len(_KINDS)]
        yield (order, kind) if number < 2 else (_any_order(plan, rng), kind)


def _any_order(plan: Plan, rng: np.random.Generator) -> Ints:
    """A random order that tiers and required edges allow."""
    return _with_required_first(plan, rng.permutation(plan.observed.n_nodes))


def _with_required_first(plan: Plan, order: Ints) -> Ints:
    """The order as far as tiers and required edges allow it."""
    candidates = plan.candidates
    stage = candidates.rules.stages[list(candidates.order)]
    return order[np.lexsort((generations(candidates.required)[order], stage[order]))]
