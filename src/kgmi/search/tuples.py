"""The best tuple of parents of one child under the present kernels: all tuples, short lists, or head by head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgmi.guides.likelihood import Likelihood, family_gain, gain_table
from kgmi.search.joint import best_joint
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of, role_orders
from kgmi.search.root_laws import RootLaws
from kgmi.types import Floats, Ints

__all__ = ["Choice", "as_root", "best_tuple", "choose", "head_scores", "options", "short_lists"]

_SHORTEST_LIST = 3
_FEW_HEADS = 4  # whose short lists are searched together
_MOST_LISTS = 3  # times that short lists are made around what the last ones led to
_MOST_SWEEPS = 20  # over the heads of one child


@dataclass(frozen=True)
class Choice:
    """Parents of a child in role order, and what they are worth: their gain over none less what they cost."""

    parents: tuple[int, ...]
    worth: float


def choose(
    plan: Plan,
    pools: dict[Key, Pool],
    degree_costs: dict[int, float],
    child: int,
    starts: Sequence[tuple[int, ...]],
    thorough: bool,
) -> Choice:
    """In-degree and parents of a child by penalised likelihood.

    ``starts`` are tuples that the heads may start from; those that are looked at in any case are not needed.
    """
    costs = degree_costs if child in plan.free else {}
    priced = [
        replace(one, worth=one.worth - _price(plan, costs, len(one.parents)))
        for one in options(plan, pools, child, starts, thorough)
    ]
    return max(priced, key=lambda choice: choice.worth)


def options(
    plan: Plan, pools: dict[Key, Pool], child: int, starts: Sequence[tuple[int, ...]], thorough: bool
) -> list[Choice]:
    """No parents, and the best parents under every kernel, as far as the child can have so many."""
    degrees = plan.degrees_of(child)
    found = [as_root(plan, pools, child)] if 0 in degrees else []
    for key, pool in pools.items():
        if (
            pool.n_parents in degrees
            and pool.n_parents > 0
            and key[0] == plan.labels[child]
            and key[2] == plan.observed.alphabets[child]
        ):
            one = best_tuple(plan, key, pool, child, starts, thorough)
            if one is not None:
                found.append(one)
    if not found:  # no kernel fits the alphabets of the candidates: the first start that is long enough
        found = [Choice(start, 0.0) for start in starts if len(start) in degrees][:1]
    return found


def _price(plan: Plan, degree_costs: dict[int, float], degree: int) -> float:
    return degree_costs.get(degree, 0.0) + plan.indifference * degree


def as_root(plan: Plan, pools: dict[Key, Pool], child: int) -> Choice:
    """No parents: a law of its own, which costs parameters, or one that roots share, which fits less."""
    own = -plan.root_cost(child)
    shared = pools.get(key_of(plan.observed, plan.labels, (), child))
    return Choice((), max(own, shared.gains(plan, child).max()) if isinstance(shared, RootLaws) else own)


def best_tuple(
    plan: Plan, key: Key, pool: Pool, child: int, starts: Sequence[tuple[int, ...]], thorough: bool
) -> Choice | None:
    """The best parents that follow one kernel; None where there are no candidates of its alphabets."""
    candidates = plan.candidates.of(child)
    alphabets = np.array(plan.observed.alphabets)[candidates]
    roles = [candidates[alphabets == alphabet] for alphabet in key[1]]
    required = plan.candidates.required[child]
    if min(map(len, roles)) == 0 or len(set(np.concatenate(roles).tolist())) < len(roles):
        return None
    table = plan.guide.prepare(child, pool.seen)
    begin = None
    if len(roles) > 1 and not (plan.is_exhaustive and thorough):
        begin = _oriented(plan, child, table, roles, starts) or _filled(roles, starts)
    if begin is None:
        best = best_joint(plan, child, table, roles, required)
    elif plan.search == "heads" or len(roles) > _FEW_HEADS:  # of many heads even short lists have too many tuples
        best = _by_heads(plan, child, table, roles, begin)
    else:
        best = _by_lists(plan, child, table, roles, begin)
    if best is not None and pool.symmetric and len({*key[1]}) == 1:
        best = tuple(sorted(best))  # all orders are as good: rounding must not choose between them
    return None if best is None else _choice(plan, pool, child, best)


def _by_lists(
    plan: Plan, child: int, table: Floats, roles: Sequence[Ints], parents: tuple[int, ...]
) -> tuple[int, ...]:
    """The best tuple over the short lists around the parents; where that is another one, once more around that."""
    for _ in range(_MOST_LISTS):
        lists = short_lists(plan, child, table, roles, parents)
        best = best_joint(plan, child, table, lists, plan.candidates.required[child])
        if best is None or best == parents:
            break
        parents = best
    return parents


def _choice(plan: Plan, pool: Pool, child: int, parents: tuple[int, ...]) -> Choice:
    gains = gain_table(plan.observed, child, pool.seen)
    gain = family_gain(plan.family(child, parents), gains)
    cost = plan.choice_cost(child, len(parents)) + plan.gap_cost(child, parents)
    return Choice(parents, gain - cost - plan.order_cost(pool.order_cost))


def _oriented(
    plan: Plan, child: int, table: Floats, roles: Sequence[Ints], starts: Sequence[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """The first start of the right length, in the order of roles that scores best."""
    for start in starts:
        if len(start) != len(roles):
            continue
        every = role_orders(plan.observed, start)
        orders = [o for o in every if all(p in role for p, role in zip(o, roles, strict=True))]
        if len(orders) == 1:
            return orders[0]
        if orders:
            return max(orders, key=lambda order: _tuple_score(plan, child, table, order))
    return None


def _filled(roles: Sequence[Ints], starts: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Some tuple with the right alphabets: parents from the starts as far as they fit, then whoever comes first."""
    likely = list(dict.fromkeys(parent for start in starts for parent in start))
    chosen: list[int] = []
    for role in roles:
        free = [p for p in (*likely, *role.tolist()) if p in role and p not in chosen]
        if not free:
            return None
        chosen.append(free[0])
    return tuple(chosen)


def _tuple_score(plan: Plan, child: int, table: Floats, parents: tuple[int, ...]) -> float:
    if isinstance(plan.guide, Likelihood):
        return family_gain(plan.family(child, parents), table)
    return float(plan.guide.head(child, table, parents, 0, np.array(parents[:1]))[0])


def _by_heads(
    plan: Plan, child: int, table: Floats, roles: Sequence[Ints], parents: tuple[int, ...]
) -> tuple[int, ...]:
    """One head after the other moves to its best candidate, given the others, until none does."""
    required = set(plan.candidates.required[child])
    for _ in range(_MOST_SWEEPS):
        before = parents
        for head in range(len(parents)):
            if parents[head] in required:
                continue
            scores = head_scores(plan, child, table, roles[head], parents, head)
            now = int(np.flatnonzero(roles[head] == parents[head])[0])
            best = int(np.nanargmax(scores))
            if scores[best] > scores[now] + 1e-9:
                parents = (*parents[:head], int(roles[head][best]), *parents[head + 1 :])
        if parents == before:
            break
    return parents


def head_scores(plan: Plan, child: int, table: Floats, role: Ints, parents: tuple[int, ...], head: int) -> Floats:
    """Scores of a head's candidates, NaN for the parents that other heads hold."""
    scores = np.array(plan.guide.head(child, table, parents, head, role))
    for other, parent in enumerate(parents):
        if other != head:
            scores[role == parent] = np.nan
    return scores


def short_lists(
    plan: Plan, child: int, table: Floats, roles: Sequence[Ints], parents: tuple[int, ...]
) -> list[Ints]:
    """For every head its best candidates given the other heads' parents, and those that are parents now."""
    length = plan.list_length
    if len(roles) > 2:  # as many tuples as two heads have, or nearly so
        length = max(_SHORTEST_LIST, round(length ** (2 / len(roles))))
    lists = []
    for head, role in enumerate(roles):
        scores = head_scores(plan, child, table, role, parents, head)
        keep = role[np.argsort(-scores, kind="stable")[:length]]  # NaN comes last
        here = [p for p in (*parents, *plan.candidates.required[child]) if p in role]
        lists.append(np.unique(np.concatenate([keep, np.array(here, dtype=keep.dtype)])))
    return lists
