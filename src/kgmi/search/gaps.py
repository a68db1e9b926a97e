"""Parents with many gaps: compared with the others on the rows that have the values of both.

Gains are sums over the rows in which a family has all its values, so a stand-in that was always seen gains more
than the true parent that was seen now and then, however many rows there are. On common rows the true one wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, prod

import numpy as np

from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.search.alternate import State
from kgmi.search.own import OwnSearch
from kgmi.search.plan import Plan
from kgmi.search.pools import key_of, role_orders
from kgmi.types import Floats, Ints, Parents

__all__ = ["lead_of", "weigh_gaps"]

_MOST_RIVALS = 3  # for each way of making room
_MOST_CHANGES = 5  # of one node
_MOST_CELLS = 2_000_000  # of a family with the parents of both


def _cases_with(plan: Plan, parents: Sequence[int], child: int, others: Ints) -> Floats:
    """[other]: rows in which the child, the parents and this other node have values; at least one, to divide by."""
    return np.maximum(plan.observed.cases((child, *parents), others), 1.0)


def weigh_gaps(plan: Plan, state: State) -> Parents:
    """Other parents for the nodes that these explain better on the rows that have the values of both."""
    return tuple(_settled(plan, state, child) for child in range(plan.observed.n_nodes))


def lead_of(plan: Plan, state: State, child: int, rival: tuple[int, ...]) -> float:
    """By how much other parents are better than the present ones on the rows that have the values of both."""
    return _lead(plan, state, child, rival, state.parents[child])[0]


def _settled(plan: Plan, state: State, child: int) -> tuple[int, ...]:
    """The parents of one node after it has met its rivals, one after the other."""
    now = state.parents[child]
    met: set[frozenset[int]] = set()
    for _ in range(_MOST_CHANGES if now else 0):
        rivals = [rival for rival in _rivals(plan, child, now) if frozenset(rival) not in met]
        met.update(map(frozenset, (now, *rivals)))
        lead, best = max((_lead(plan, state, child, rival, now) for rival in rivals), default=(-inf, now))
        if lead <= 0:
            break
        now = best
    return now


def _rivals(plan: Plan, child: int, now: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Sets with one other parent, in the place of some or none of the present ones, that gain more a row."""
    search = OwnSearch(plan.observed, plan.penalty, 1)
    required, degrees = {*plan.candidates.required[child]}, plan.degrees_of(child)
    present = search.value(child, now) / _cases_with(plan, now[1:], child, np.array(now[:1]))[0]
    found = []
    for size in range(len(now) + 1):
        for kept in combinations(sorted(now), size) if size + 1 in degrees else ():
            others, values = search.extended(child, kept, plan.candidates.of(child))
            rates = values / _cases_with(plan, kept, child, others)
            rates[np.isin(others, now)] = -inf
            best = np.argsort(-rates)[:_MOST_RIVALS]
            found += [(*kept, int(others[place])) for place in best if rates[place] > present]
    return [rival for rival in found if required <= {*rival}]


def _lead(
    plan: Plan, state: State, child: int, rival: tuple[int, ...], now: tuple[int, ...]
) -> tuple[float, tuple[int, ...]]:
    """By how much the rival explains more on the common rows, and the rival with its parents in their roles.

    What it saves in price does not count unless it explains more: without common rows nobody wins.
    """
    both = tuple(sorted({*rival, *now}))
    if prod(plan.observed.sizes[node] for node in (*both, child)) > _MOST_CELLS:
        return -inf, rival
    counts = plan.observed.family(child, both)
    costs = plan.degree_costs([len(parents) for parents in state.parents])
    found = []
    for parents in (rival, now):
        orders = role_orders(plan.observed, parents)
        explained, roles = max((_explained(plan, state, child, o, _only(counts, both, o)), o) for o in orders)
        price = plan.choice_cost(child, len(parents)) + plan.gap_cost(child, parents)
        price += costs[len(parents)] if child in plan.free else 0.0
        found.append((explained, price, roles))
    (explains, costs_it, roles), (explained, price, _) = found
    better = explains - explained
    return min(better, better - costs_it + price), roles


def _explained(plan: Plan, state: State, child: int, parents: tuple[int, ...], counts: Floats) -> float:
    """Gain of these cases under the kernel that the family would follow, or under one fitted to them."""
    pool = state.pools.get(key_of(plan.observed, plan.labels, parents, child))
    by_all = len({*plan.labels}) == 1
    if pool is None and by_all:
        return -inf
    if pool is not None and (by_all or pool.n_nodes > 1):
        return family_gain(counts, gain_table(plan.observed, child, pool.seen)) - pool.order_cost
    total = counts.sum(axis=-1, keepdims=True)
    fitted = np.divide(counts, total, out=np.ones(counts.shape), where=counts > 0)
    return family_gain(counts, gain_table(plan.observed, child, fitted)) - plan.penalty.of(counts)


def _only(counts: Floats, both: tuple[int, ...], order: tuple[int, ...]) -> Floats:
    """Counts [parents in this order …, child] from those of more parents."""
    axes = tuple(axis for axis, node in enumerate(both) if node not in order)
    left = [node for node in both if node in order]
    return np.asarray(counts.sum(axis=axes).transpose(*(left.index(node) for node in order), len(order)))
