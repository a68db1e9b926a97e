"""Kernels and blocks of roots that do not pay for themselves are given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgmi.search.alternate import State, alternate, open_blocks, state_of, worth_of
from kgmi.search.blocks import best_block, block_laws
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of
from kgmi.search.tuples import as_root, choose

__all__ = ["simplify", "without_idle_blocks"]


def simplify(plan: Plan, state: State, hints: Sequence[Sequence[tuple[int, ...]]]) -> State:
    """Do without one kernel after the other, the one with the fewest nodes first, as long as the score rises.

    A kernel that a few nodes have to themselves is fitted to their noise; node by node nobody would leave it.
    """
    banned: frozenset[Key] = frozenset()
    while True:
        used = sorted((pool.n_nodes, key) for key, pool in state.pools.items() if key[1] and not pool.known)
        for _, key in used[:-1]:  # without the kernel of most nodes there would be nothing left to learn
            without = banned | {key}
            kept = {k: pool for k, pool in state.pools.items() if k not in without}
            if _saving(plan, state, key, kept, hints) <= 0:
                continue
            start = replace(state, pools=kept, score=-np.inf, _laws=[])
            found = alternate(plan, start, hints, without)
            if found.score > state.score + 1e-9:
                state, banned = found, without
                break
        else:
            return state


def without_idle_blocks(plan: Plan, state: State) -> State:
    """Roots taken apart again where drawing them together explains hardly more: it may be the law of a product."""
    together = list(state.together)
    for last in range(len(together) - 1, -1, -1):
        members = (*together[last], last)
        if len(members) > 1:
            joint = sum(worth_of(plan, state, node) for node in members)
            alone = sum(as_root(plan, state.pools, node).worth for node in members)
            if joint - alone <= plan.block_margin:
                for node in members:
                    together[node] = ()
    if tuple(together) == state.together:
        return state
    return replace(
        state_of(plan, state.parents, state.pools, tuple(together)), rounds=state.rounds, settled=state.settled
    )


def _saving(
    plan: Plan, state: State, key: Key, kept: dict[Key, Pool], hints: Sequence[Sequence[tuple[int, ...]]]
) -> float:
    """What giving up a kernel saves if its nodes move to the best that is left and nothing else changes."""
    costs = plan.degree_costs([len(ps) for ps in state.parents])
    saved = state.pools[key].cost(plan.penalty) + plan.degrees_cost([len(ps) for ps in state.parents])
    degrees = [len(ps) for ps in state.parents]
    for child, parents in enumerate(state.parents):
        if parents and key_of(plan.observed, plan.labels, parents, child) == key:
            other = choose(plan, kept, costs, child, hints[child], thorough=plan.is_small)
            worth = other.worth + (costs.get(len(other.parents), 0.0) if child in plan.free else 0.0)
            joined = best_block(plan, block_laws(plan, kept), child, open_blocks(plan, state, child))
            if joined is not None and joined[0] > worth and 0 in plan.degrees_of(child):
                worth, other = joined[0], replace(other, parents=())
            degrees[child] = len(other.parents)
            saved += worth - worth_of(plan, state, child)
    return saved - plan.degrees_cost(degrees)
