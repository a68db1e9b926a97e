"""What is offered to a child where the order is open: all tuples under the present kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from kgmi.guides.likelihood import Likelihood
from kgmi.memory import at_most
from kgmi.progress import told
from kgmi.search.joint import keep_required
from kgmi.search.order.choices import MOST_KEPT, NOTHING, Choices, Offer, gather_choices, trimmed
from kgmi.search.own import OwnSearch
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool
from kgmi.search.tuples import as_root
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["choices_under", "forget_choices", "no_parents", "offers_under"]

# Tuples of one child under one kernel; of more candidates, only those that tell most by themselves count.
_MOST_PAIRS = 400_000
_MOST_REMEMBERED = 1_000_000  # tuples of choices that were made before
_TUPLE_BYTES = 40
_MOST_TUPLES = 40_000  # of more than two: each lead takes products of matrices of its own


def choices_under(plan: Plan, pools: dict[Key, Pool], costs: Mapping[int, float]) -> Choices:
    """All tuples of all children under the kernels that are open to them; several starts come to the same ones."""
    known = plan.observed.kept.setdefault("choices", {})
    kernels = tuple((key, pool.seen.tobytes(), pool.symmetric) for key, pool in pools.items())
    name = (plan, kernels, tuple(sorted(costs.items())))
    if name not in known:

        def offers(child: int) -> Offer:
            return trimmed(offers_under(plan, pools, child, costs), plan.n_heads)

        nodes = range(plan.observed.n_nodes)
        every = spread(told(offers, "search", "looks"), nodes, parallel=not plan.is_small)
        if sum(len(choices.worth) for choices in known.values()) > at_most(_MOST_REMEMBERED, _TUPLE_BYTES):
            known.clear()
        known[name] = gather_choices(every)
    found: Choices = known[name]
    return found


def forget_choices(plan: Plan) -> None:
    """Free what :func:`choices_under` remembers, at the end of a search."""
    plan.observed.kept.pop("choices", None)


def offers_under(plan: Plan, pools: dict[Key, Pool], child: int, costs: Mapping[int, float]) -> list[Offer]:
    """All tuples of one child that are worth more than none, an offer for each kernel."""
    found = [no_parents(plan, child, as_root(plan, pools, child).worth, costs)]
    least = float(found[0].worth[0])
    for key, pool in pools.items():
        fits = key[0] == plan.labels[child] and key[2] == plan.observed.alphabets[child]
        if fits and key[1] and pool.n_parents in plan.degrees_of(child):
            found += _under(plan, key, pool, child, costs, least)
    return found


def no_parents(plan: Plan, child: int, worth: float, costs: Mapping[int, float]) -> Offer:
    """Having none; worth next to nothing where that is not allowed."""
    price = costs.get(0, 0.0) if child in plan.free else 0.0
    allowed = 0 in plan.degrees_of(child)
    return Offer(np.empty((1, 0), dtype=np.int64), np.array([worth - price if allowed else NOTHING]))


def _under(plan: Plan, key: Key, pool: Pool, child: int, costs: Mapping[int, float], least: float) -> list[Offer]:
    """All tuples under one kernel, less what choosing them costs, that are worth more than ``least``."""
    degree = len(key[1])
    candidates = _likely(plan, child, degree)
    whole = len(candidates) == len(plan.candidates.of(child))
    roles = _roles(plan, key, candidates)
    if min(map(len, roles)) == 0:
        return []
    price = plan.choice_cost(child, degree) + plan.order_cost(pool.order_cost) + plan.indifference * degree
    price += costs.get(degree, 0.0) if child in plan.free else 0.0
    table = plan.guide.prepare(child, pool.seen)
    required = plan.candidates.required[child]
    if degree == 1:
        worth = np.asarray(plan.guide.singles(child, table, roles[0]), dtype=np.float64) - price
        keep = (roles[0] != child) & (worth > least)
        for parent in required:
            keep &= roles[0] == parent
        return [Offer(roles[0][keep, None], worth[keep], whole)]
    if degree == 2 and len(set(key[1])) == 1 and isinstance(plan.guide, Likelihood):
        alike = candidates[np.array(plan.observed.alphabets)[candidates] == key[1][0]]
        both = plan.guide.unordered(child, table, alike)
        return [_unordered(one, alike, required, price, least, whole, bool(n)) for n, one in enumerate(both)]
    *lead_roles, firsts, seconds = roles
    found = []
    for leads in product(*(role.tolist() for role in lead_roles)):
        if len({*leads, child}) > len(leads):
            scores = plan.guide.pairs(child, table, leads, firsts, seconds)
            if required:
                keep_required(scores, firsts, seconds, leads, required)
            found.append(_pairs(scores, (*leads, child), firsts, seconds, price, least, whole))
    return found


def _roles(plan: Plan, key: Key, candidates: Ints) -> list[Ints]:
    """The candidates of every role; all nodes, the child too, where that saves copying the indicators."""
    if len(candidates) == plan.observed.n_nodes - 1 and len(set(plan.observed.alphabets)) == 1:
        return [np.arange(plan.observed.n_nodes)] * len(key[1])
    alphabets = np.array(plan.observed.alphabets)[candidates]
    return [candidates[alphabets == alphabet] for alphabet in key[1]]


def _unordered(
    scores: Floats, nodes: Ints, required: Sequence[int], price: float, least: float, whole: bool, is_turned: bool
) -> Offer:
    """The best pairs of scores [node, later node], the later one first where they are turned."""
    if required:
        keep_required(scores, nodes, nodes, (), required)
    best = _above(scores, price + least)
    pairs = np.stack([nodes[best // len(nodes)], nodes[best % len(nodes)]], axis=1)
    return Offer(pairs[:, ::-1] if is_turned else pairs, scores.ravel()[best] - price, whole)


def _pairs(
    scores: Floats, others: tuple[int, ...], firsts: Ints, seconds: Ints, price: float, least: float, whole: bool
) -> Offer:
    """The best pairs of different nodes, none of them among the ``others``: the leads and, last, the child."""
    best = _above(scores, price + least)
    worth = scores.ravel()[best].astype(np.float64) - price
    first, second = firsts[best // len(seconds)], seconds[best % len(seconds)]
    good = (first != second) & (worth > least)
    for other in others:
        good &= (first != other) & (second != other)
    columns = [np.full(good.sum(), lead) for lead in others[:-1]]
    return Offer(np.stack([*columns, first[good], second[good]], axis=1), worth[good], whole)


def _above(scores: Floats, least: float) -> Ints:
    """Places of the scores above the least, of many the best; mostly there are few, and no need to sort."""
    flat = scores.ravel()
    found = np.flatnonzero(flat > least)
    if len(found) <= 2 * MOST_KEPT:
        return found
    return found[np.argpartition(-flat[found], 2 * MOST_KEPT - 1)[: 2 * MOST_KEPT]]


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
