"""Parents with many gaps: compared with others on the rows that have the values of both.

Gains are sums over the rows in which a family has all its values, so a stand-in that was always seen gains more
than the true parent that was seen now and then, however many rows there are. On common rows the true one wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from kgmi.guides.likelihood import gain_table
from kgmi.problem import Family
from kgmi.score import degree_costs, gap_price, kernel_price, log_orders
from kgmi.search.own import OwnSets
from kgmi.search.rounds import State
from kgmi.search.tuples import role_orders
from kgmi.types import Floats, Parents

__all__ = ["lead_of", "weighed"]

_MOST_RIVALS = 3  # for each way of making room
_MOST_CHANGES = 5  # of one node
_MOST_CELLS = 2_000_000  # of a family with the parents of both


def weighed(state: State) -> Parents:
    """Return other parents for the nodes that these explain better on the rows that have the values of both."""
    return tuple(_settled(state, child) for child in range(state.problem.n_nodes))


def lead_of(state: State, child: int, rival: Family) -> float:
    """Return by how much other parents are better than the present ones on their common rows."""
    return _lead(state, child, rival, state.parents[child])[0]


def _settled(state: State, child: int) -> Family:
    """Return the parents of one node after it has met its rivals, one after the other."""
    now = state.parents[child]
    met: set[frozenset[int]] = set()
    for _ in range(_MOST_CHANGES if now else 0):
        rivals = [rival for rival in _rivals(state, child, now) if frozenset(rival) not in met]
        met.update(map(frozenset, (now, *rivals)))
        lead, best = max((_lead(state, child, rival, now) for rival in rivals), default=(-np.inf, now))
        if lead <= 0:
            break
        now = best
    return now


def _rivals(state: State, child: int, now: Family) -> list[Family]:
    """Return sets with one other parent, in the place of some or none of the present ones, that gain more a row."""
    problem, own = state.problem, OwnSets(state.problem)

    def per_row(parents: Sequence[int], values: Floats, others: np.ndarray) -> Floats:
        return values / np.maximum(problem.counts.cases((child, *parents), others), 1.0)

    present = per_row(now[1:], np.array([own.value(child, now)]), np.array(now[:1]))[0]
    found: list[Family] = []
    for size in range(len(now) + 1):
        for kept in combinations(sorted(now), size):
            others, values = own.extended(child, kept, problem.candidates.of(child))
            rates = per_row(kept, values, others)
            rates[np.isin(others, now)] = -np.inf
            best = np.argsort(-rates)[:_MOST_RIVALS]
            found += [(*kept, int(others[place])) for place in best if rates[place] > present]
    return [rival for rival in found if problem.allows(child, rival)]


def _lead(state: State, child: int, rival: Family, now: Family) -> tuple[float, Family]:
    """Return by how much the rival explains more on the common rows, and the rival with its parents in their roles.

    What it saves in price does not count unless it explains more: without common rows nobody wins.
    """
    problem, both = state.problem, tuple(sorted({*rival, *now}))
    if prod(problem.counts.sizes[node] for node in (*both, child)) > _MOST_CELLS:
        return -np.inf, rival
    counts = problem.family(child, both)
    costs = degree_costs(problem, [len(parents) for parents in state.parents]) if child in problem.free else {}
    found = []
    for parents in (rival, now):
        alphabets = sorted(problem.counts.alphabets[parent] for parent in parents)
        orders = [parents] if parents == now else role_orders(problem, parents, alphabets)
        explained, roles = max((_explained(state, child, one, _only(counts, both, one)), one) for one in orders)
        cases = np.asarray(problem.family(child, parents).sum())
        price = problem.choice_cost(child, len(parents)) + float(gap_price(problem, child, cases, excused=1.0))
        found.append((explained, price + costs.get(len(parents), 0.0), roles))
    (explains, costs_it, roles), (explained, price, _) = found
    better = explains - explained
    return min(better, better - costs_it + price), roles


def _explained(state: State, child: int, parents: Family, counts: Floats) -> float:
    """Return the gain of these cases under the kernel that the family would follow, or under one fitted to them."""
    problem, key = state.problem, state.problem.key(child, parents)
    shared = [group for group in state.groups if group.key == key and (group.size > 1 or group.known)]
    if len(shared) == 1:
        gains = gain_table(problem.counts, child, shared[0].seen)
        return float((counts * gains).sum()) - (0.0 if shared[0].symmetric else log_orders(key[1]))
    total = counts.sum(axis=-1, keepdims=True)
    fitted = np.divide(counts, total, out=np.ones(counts.shape), where=counts > 0)
    price = kernel_price(problem, counts, problem.occurring[child], problem.n_configurations(parents))
    return float((counts * gain_table(problem.counts, child, fitted)).sum()) - price


def _only(counts: Floats, both: Family, order: Family) -> Floats:
    """Return counts [parents in this order …, child] from those of more parents."""
    axes = tuple(axis for axis, node in enumerate(both) if node not in order)
    left = [node for node in both if node in order]
    return np.asarray(counts.sum(axis=axes).transpose(*(left.index(node) for node in order), len(order)))
