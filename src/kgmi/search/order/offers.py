"""What is offered to a child where the order is open: all tuples under the present kernels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from kgmi.search.order.choices import MOST_KEPT, NOTHING, Choices, Offer, gather_choices, trimmed
from kgmi.search.own import OwnSearch
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool
from kgmi.search.tuples import as_root, keep_required
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["choices_under", "no_parents", "offers_under"]

# Tuples of one child under one kernel; of more candidates, only those that tell most by themselves count.
_MOST_PAIRS = 400_000
_MOST_TUPLES = 40_000  # of more than two: each lead takes products of matrices of its own


def choices_under(plan: Plan, pools: dict[Key, Pool], costs: Mapping[int, float]) -> Choices:
    """All tuples of all children under the kernels that are open to them."""
    every = spread(
        lambda child: trimmed(offers_under(plan, pools, child, costs), plan.n_heads),
        range(plan.observed.n_nodes),
        parallel=not plan.is_small,
    )
    return gather_choices(every)


def offers_under(plan: Plan, pools: dict[Key, Pool], child: int, costs: Mapping[int, float]) -> list[Offer]:
    """All tuples of one child, an offer for each kernel."""
    found = [no_parents(plan, child, as_root(plan, pools, child).worth, costs)]
    for key, pool in pools.items():
        fits = key[0] == plan.labels[child] and key[2] == plan.observed.alphabets[child]
        if fits and key[1] and pool.n_parents in plan.degrees_of(child):
            found += _under(plan, key, pool, child, costs)
    return found


def no_parents(plan: Plan, child: int, worth: float, costs: Mapping[int, float]) -> Offer:
    """Having none; worth next to nothing where that is not allowed."""
    price = costs.get(0, 0.0) if child in plan.free else 0.0
    allowed = 0 in plan.degrees_of(child)
    return Offer(np.empty((1, 0), dtype=np.int64), np.array([worth - price if allowed else NOTHING]))


def _under(plan: Plan, key: Key, pool: Pool, child: int, costs: Mapping[int, float]) -> list[Offer]:
    """All tuples under one kernel, less what choosing them costs."""
    degree = len(key[1])
    candidates = _likely(plan, child, degree)
    whole = len(candidates) == len(plan.candidates.of(child))
    roles = _roles(plan, key, candidates)
    if min(map(len, roles)) == 0:
        return []
    price = plan.choice_cost(child, degree) + plan.order_cost(pool.order_cost) + plan.indifference * degree
    price += costs.get(degree, 0.0) if child in plan.free else 0.0
    table = plan.guide.prepare(child, pool.seen)
    if degree == 1:
        worth = np.asarray(plan.guide.singles(child, table, roles[0]), dtype=np.float64) - price
        keep = roles[0] != child
        for parent in plan.candidates.required[child]:
            keep &= roles[0] == parent
        return [Offer(roles[0][keep, None], worth[keep], whole)]
    *lead_roles, firsts, seconds = roles
    found = []
    for leads in product(*(role.tolist() for role in lead_roles)):
        if len({*leads, child}) > len(leads):
            scores = np.asarray(plan.guide.pairs(child, table, leads, firsts, seconds), dtype=np.float64) - price
            if plan.candidates.required[child]:
                keep_required(scores, firsts, seconds, leads, plan.candidates.required[child])
            found.append(_pairs(scores, (*leads, child), firsts, seconds, whole))
    return found


def _roles(plan: Plan, key: Key, candidates: Ints) -> list[Ints]:
    """The candidates of every role; all nodes, the child too, where that saves copying the indicators."""
    if len(candidates) == plan.observed.n_nodes - 1 and len(set(plan.observed.alphabets)) == 1:
        return [np.arange(plan.observed.n_nodes)] * len(key[1])
    alphabets = np.array(plan.observed.alphabets)[candidates]
    return [candidates[alphabets == alphabet] for alphabet in key[1]]


def _pairs(scores: Floats, others: tuple[int, ...], firsts: Ints, seconds: Ints, whole: bool) -> Offer:
    """The best pairs of different nodes, none of them among the ``others``: the leads and, last, the child."""
    flat = scores.ravel()
    most = min(2 * MOST_KEPT, flat.size)
    best = np.argpartition(-flat, most - 1)[:most]
    first, second = firsts[best // len(seconds)], seconds[best % len(seconds)]
    good = (first != second) & np.isfinite(flat[best])
    for other in others:
        good &= (first != other) & (second != other)
    columns = [np.full(good.sum(), lead) for lead in others[:-1]]
    return Offer(np.stack([*columns, first[good], second[good]], axis=1), flat[best][good], whole)


def _likely(plan: Plan, child: int, degree: int) -> Ints:
    """The candidates; where tuples of them are too many, those that tell most by themselves."""
    candidates = plan.candidates.of(child)
    most = max(int((_MOST_TUPLES if degree > 2 else _MOST_PAIRS) ** (1 / degree)), degree + 2)
    if len(candidates) <= most:
        return candidates
    search = OwnSearch(plan.observed, plan.penalty, 1)
    nodes, values = search.extended(child, (), candidates)
    kept = nodes[np.argsort(-values, kind="stable")[:most]]
    return np.unique(np.concatenate([kept, np.array(plan.candidates.required[child], dtype=kept.dtype)]))
