"""The roles of parents: a node whose parents are the wrong way round has bent the kernel that holds it there."""

from __future__ import annotations

import numpy as np

from kgmi.search.alternate import State, pools_of, state_of
from kgmi.search.plan import Plan
from kgmi.search.pools import key_of, role_orders
from kgmi.types import Floats, Parents

__all__ = ["reorient"]

_MOST_SWEEPS = 5
_MOST_NODES = 200  # that share a kernel; where there are more, none of them can bend it


def reorient(plan: Plan, state: State) -> State:
    """Turn the parents of single nodes wherever the kernel, estimated anew without and with them, fits better."""
    parents = list(state.parents)
    for key, pool in state.pools.items():
        if pool.n_parents < 2 or pool.known or not 2 <= pool.n_nodes <= _MOST_NODES:
            continue
        members = [c for c, ps in enumerate(parents) if ps and key_of(plan.observed, plan.labels, ps, c) == key]
        total = np.sum([plan.family(child, parents[child]) for child in members], axis=0)
        for _ in range(_MOST_SWEEPS):
            moved = False
            for child in members:
                rest = total - plan.family(child, parents[child])
                orders = [
                    order
                    for order in role_orders(plan.observed, parents[child])
                    if key_of(plan.observed, plan.labels, order, child) == key
                ]
                best = max(orders, key=lambda order: _fit(rest + plan.family(child, order)))
                if _fit(rest + plan.family(child, best)) > _fit(total) + 1e-9:
                    parents[child], moved = best, True
                    total = rest + plan.family(child, best)
            if not moved:
                break
    turned: Parents = tuple(parents)
    if turned == state.parents:
        return state
    found = state_of(plan, turned, pools_of(plan, turned), state.together)
    return found if found.score > state.score else state


def _fit(counts: Floats) -> float:
    """Log-likelihood of the best kernel for these counts."""
    seen = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, seen, out=np.ones(counts.shape), where=counts > 0)
    return float((counts * np.log(share)).sum())
