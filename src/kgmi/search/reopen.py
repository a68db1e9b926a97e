"""Kernels that were lost on the way, found again from the nodes that would be better off with one of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log

import numpy as np

from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.search.alternate import State, alternate, worth_of
from kgmi.search.implied import implied_pools
from kgmi.search.own import ParentSet
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of
from kgmi.search.simplify import simplify
from kgmi.search.starts import grown, order_inside
from kgmi.search.tuples import best_tuple

__all__ = ["reopen", "unhappy"]

_MOST_SEEDS = 3  # nodes from which a new kernel is tried in one go
_MOST_TIMES = 6
_NOTICEABLE = 1.0  # nats; any other estimate of the same kernel suits some nodes a little better


def reopen(
    plan: Plan, state: State, sets: list[list[ParentSet | None]], hints: Sequence[Sequence[tuple[int, ...]]]
) -> State:
    """Try kernels grown from the unhappiest nodes, as long as the score rises.

    A kernel is estimated from all nodes of its in-degree. When these are a few nodes that follow it and a few that
    do not, it fits nobody, all leave it, and it is gone. Grown from one node, with only those added that it fits,
    it comes back.
    """
    for _ in range(_MOST_TIMES):
        seeded = (
            _seeded(plan, state, sets, child, ps) for _, child, ps in unhappy(plan, state, sets)[:_MOST_SEEDS]
        )
        for key, pool, promise in (*_implied(plan, state, hints), *seeded):
            if promise <= 0:
                continue
            start = replace(state, pools=state.pools | {key: pool}, score=-np.inf, _laws=[])
            found = simplify(plan, alternate(plan, start, hints, frozenset()), hints)
            if found.score > state.score + 1e-9:
                state = found
                break
        else:
            return state
    return state


def _implied(
    plan: Plan, state: State, hints: Sequence[Sequence[tuple[int, ...]]]
) -> Iterator[tuple[Key, Pool, float]]:
    """Kernels of fewer parents that the largest one implies, with what each promises."""
    for key, pools in implied_pools(plan, state.pools).items() if plan.price is not None else ():
        children = [child for child, alphabet in enumerate(plan.observed.alphabets) if alphabet == key[2]]
        for pool in pools:
            promise = -pool.cost(plan.penalty)
            for child in children:
                if len(key[1]) in plan.degrees_of(child):
                    found = best_tuple(plan, key, pool, child, hints[child], thorough=plan.is_small)
                    promise += _noticeable(-np.inf if found is None else found.worth - worth_of(plan, state, child))
            yield key, pool, promise


def _noticeable(better: float) -> float:
    """What a node gains by another kernel, unless it is next to nothing."""
    return better if better > _NOTICEABLE else 0.0


def unhappy(
    plan: Plan, state: State, sets: list[list[ParentSet | None]]
) -> list[tuple[float, int, tuple[int, ...]]]:
    """Nodes that a kernel of their own would explain better than the state does: (nats, node, parents).

    The unhappiest come first.
    """
    best: dict[int, tuple[float, int, tuple[int, ...]]] = {}
    for child, by_size in enumerate(sets):
        now = worth_of(plan, state, child)
        for one in by_size[1:]:
            if one is not None and len(one.parents) in plan.degrees_of(child):
                excess = one.value - plan.choice_cost(child, len(one.parents)) - now
                if excess > log(plan.observed.n_nodes):  # the best of so many has this much by chance
                    best[child] = max(best.get(child, (0.0, child, ())), (excess, child, one.parents))
    return sorted(best.values(), key=lambda item: (-item[0], item[1]))


def _seeded(
    plan: Plan, state: State, sets: list[list[ParentSet | None]], seed: int, parents: tuple[int, ...]
) -> tuple[Key, Pool, float]:
    """A kernel grown from one family, to which only families are added that it explains; and what it promises."""
    inside = order_inside(plan, parents)
    key = key_of(plan.observed, plan.labels, inside, seed)
    others = []
    for child, by_size in enumerate(sets):
        one = by_size[len(parents)] if len(parents) < len(by_size) else None
        if child != seed and one is not None and plan.labels[child] == plan.labels[seed]:
            same = order_inside(plan, one.parents)
            if key_of(plan.observed, plan.labels, same, child) == key:
                others.append((one.value, child, same))
    others.sort(key=lambda item: -item[0])
    families = [(seed, inside), *((child, same) for _, child, same in others)]
    pool, members = grown(plan, key, families, picky=True)
    promise = 0.0 if plan.price is None else -pool.cost(plan.price)
    for child, chosen in members.items():
        gains = gain_table(plan.observed, child, pool.seen)
        gain = family_gain(plan.family(child, chosen), gains)
        price = plan.choice_cost(child, len(chosen)) + plan.gap_cost(child, chosen)
        price += plan.order_cost(pool.order_cost)
        promise += _noticeable(gain - price - worth_of(plan, state, child))
    return key, pool, promise
