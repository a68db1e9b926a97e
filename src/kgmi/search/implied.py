"""What the kernel of the most parents says about nodes with fewer: kernels that cost no parameters.

A node that lacks some of the K parents follows the kernel with the missing ones averaged out (appendix A,
docs/method.md). Where that holds, the cases of all nodes count for one kernel.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, permutations
from math import log

import numpy as np

from kgmi.errors import KernelError
from kgmi.kernel import Kernel
from kgmi.penalty import Penalty
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, fit_of, is_symmetric
from kgmi.types import Floats

__all__ = ["FEWEST_NODES", "IMPLIED_PRICE", "implied_pools", "largest_tables", "with_fewer_parents", "with_implied"]

IMPLIED_PRICE = 3.0  # nats for saying that one is implied, about one in twenty
FEWEST_NODES = 2  # that follow one: two roots drawn together look much like parent and child under it
_MOST_HEADS = 3  # of more heads there are too many choices of those that stay
_MOST_TUPLES = 2_000  # states of K parents for which a stationary law is found in no time
_MOST_ORDERS = 6  # orders of the parents that are tried: all of them up to three parents


def largest_tables(plan: Plan, pools: dict[Key, Pool]) -> dict[Key, list[Floats]]:
    """Return the kernel of K parents of each alphabet, with the parents in every order.

    Parents and child of such a kernel have the same alphabet. There is none where nodes are in several classes.
    The stationary law depends on which parent comes first, and a learned kernel knows its roles up to their order.
    """
    if plan.n_heads < 2 or len(set(plan.labels)) > 1:
        return {}
    found = {}
    for key, pool in pools.items():
        if pool.n_parents == plan.n_heads and {*key[1]} == {key[2]} and pool.table[..., 0].size <= _MOST_TUPLES:
            n_orders = 1 if pool.symmetric or pool.known else _MOST_ORDERS
            orders = islice(permutations(range(plan.n_heads)), n_orders)
            found[key] = [pool.table.transpose(*order, plan.n_heads) for order in orders]
    return found


def with_fewer_parents(key: Key, n_parents: int) -> Key:
    """Return the key of the same nodes with the first parents only."""
    label, alphabets, alphabet = key
    return label, alphabets[:n_parents], alphabet


def implied_pools(plan: Plan, pools: dict[Key, Pool]) -> dict[Key, list[Pool]]:
    """Return the kernels of fewer parents that the largest imply, for every choice of the parents that stay."""
    if plan.n_heads > _MOST_HEADS:
        return {}
    tables: dict[Key, list[Floats]] = {}
    for key, orders in largest_tables(plan, pools).items():
        for kernel in map(Kernel, orders):
            for degree in plan.degrees:
                if 0 < degree < plan.n_heads:
                    tables.setdefault(with_fewer_parents(key, degree), []).extend(_averaged(kernel, degree))
    return {key: [_as_pool(plan, one, len(some)) for one in some] for key, some in tables.items()}


def _averaged(kernel: Kernel, degree: int) -> list[Floats]:
    """For every choice of the parents that stay; where they have no order, one choice is as good as another."""
    kept = islice(combinations(range(kernel.n_parents), degree), 1 if is_symmetric(kernel.table) else None)
    try:
        return [kernel.marginalise(degree, keep).table for keep in kept]
    except KernelError:  # zeros in the kernel trap the chain: no law to average with
        return []


def _as_pool(plan: Plan, table: Floats, n_options: int) -> Pool:
    price = IMPLIED_PRICE + log(n_options)
    return Pool(np.zeros(table.shape), table, 0, is_symmetric(table), False, plan.error or 0.0, implied=price)


def with_implied(plan: Plan, pools: dict[Key, Pool]) -> dict[Key, Pool]:
    """Kernels of fewer parents as the largest one implies them, wherever that describes their cases better."""
    fewer = [k for k, pool in pools.items() if 0 < pool.n_parents < plan.n_heads and pool.n_nodes >= FEWEST_NODES]
    if plan.price is None or not fewer:
        return pools
    implied = implied_pools(plan, pools)
    return pools | {key: _shorter(plan.price, pools[key], implied.get(key, [])) for key in fewer}


def _shorter(penalty: Penalty, learned: Pool, implied: list[Pool]) -> Pool:
    """Of a learned kernel and those implied the one with the shorter description of the same cases."""
    same = [replace(one, counts=learned.counts, n_nodes=learned.n_nodes) for one in implied]
    return max((learned, *same), key=lambda one: fit_of(one) - one.cost(penalty) - one.n_nodes * one.order_cost)
