"""How clear a case is: by how many nats the least clear node is better off than with anything else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.guides.likelihood import IMPOSSIBLE
from kgmi.search.decisive.evidence import Evidence
from kgmi.search.decisive.roots import Roots, hide_kernel
from kgmi.search.decisive.shared import SharedKernel
from kgmi.search.implied import FEWEST_NODES, IMPLIED_PRICE, implied_pools
from kgmi.search.plan import Plan
from kgmi.search.pools import Pool
from kgmi.types import Floats, Ints

__all__ = ["least_margin"]

_MOST_STEPS = 12
_SURE = 2.0  # nats by which roots must be better without a parent: here scores are compared, not bounds


def least_margin(plan: Plan, evidence: Evidence, shared: SharedKernel, roots: Roots, enough: float) -> float:
    """The least margin of all nodes; once it is below ``enough`` no more is looked at."""
    found = _of_children(evidence, shared)
    if found >= enough and _single_parents(plan, evidence, shared, roots) < _SURE:
        return -np.inf
    return found if found < enough else min(found, _two_parents(plan, evidence, shared, roots))


def _of_children(evidence: Evidence, shared: SharedKernel) -> float:
    """Of nodes with two parents: against one parent, none, and any other two with a kernel of their own.

    What other parents gain under the shared kernel, or under any other one, is no more than that.
    """
    children, choices = evidence.children, evidence.choices[evidence.children]
    order_cost = shared.pool.order_cost
    worth = shared.gains - choices[:, 2] - order_cost
    another = evidence.next_gains[children] - choices[:, 2] - order_cost
    single = evidence.single_gains[children] - choices[:, 1]
    return float((worth - np.max([another, single, np.zeros(len(children))], axis=0)).min())


def _two_parents(plan: Plan, evidence: Evidence, shared: SharedKernel, roots: Roots) -> float:
    """Of roots: against two parents under the shared kernel; all of them where a search would look at all.

    No margin where another kernel of two parents could pay for itself.
    """
    wide = evidence.rest[evidence.rest >= 2]
    if not len(wide):
        return np.inf
    leads = np.where(plan.is_exhaustive, -1, evidence.leads[wide])
    fits = evidence.scan.best_fits(wide, leads, shared.logs) - evidence.scan.rows.alone[wide, None]
    if hide_kernel(evidence, roots, wide, np.maximum(fits[:, 1], evidence.pair_gains[wide]), 2):
        return -np.inf
    gains = fits[:, 0] - evidence.choices[wide, 2] - shared.pool.order_cost
    return float((roots.worth[wide] - gains).min())


def _single_parents(plan: Plan, evidence: Evidence, shared: SharedKernel, roots: Roots) -> float:
    """Of roots: against one parent, for any number of them at once, as they would share a kernel.

    It may be implied by that of two parents and cost next to nothing, or be learned from those roots that would
    pay for a parent even by themselves.
    """
    rest = evidence.rest[evidence.rest >= 1]
    if 1 not in plan.degrees or not len(rest):
        return np.inf
    alone = rest[evidence.degrees[rest] == 1]
    if not all(roots.together[node] for node in alone.tolist()):
        return -np.inf  # parents that are no root block: a kernel of one parent is needed
    if hide_kernel(evidence, roots, rest, evidence.single_gains[rest], 1):
        return -np.inf
    worth = roots.worth[rest] + evidence.choices[rest, 1]
    most = evidence.single_gains[rest] - worth  # no kernel gives more
    found = -_best_sum(plan, evidence, most) + IMPLIED_PRICE
    if found < _SURE:
        implied: list[Pool] = []
        if len(rest) >= FEWEST_NODES:
            implied = [pool for pools in implied_pools(plan, shared.pools).values() for pool in pools]
        gains = _gains_under(evidence, rest, implied) if implied else np.empty((0, len(rest)))
        found = min((-_best_sum(plan, evidence, one - worth) for one in gains), default=np.inf) + IMPLIED_PRICE
    if len(alone):
        found = min(found, _learned_singles(plan, evidence, roots, alone))
    return found


def _best_sum(plan: Plan, evidence: Evidence, advantages: Floats) -> float:
    """The most that any number of roots would gain by having one parent, less what their in-degrees cost more."""
    n_roots, n_nodes = len(evidence.rest), len(evidence.degrees)
    sums = np.cumsum(-np.sort(-advantages))
    steps = np.arange(1, len(sums) + 1)
    if len(steps) > _MOST_STEPS:  # a few numbers of nodes show the course
        steps = np.unique(np.geomspace(1, len(sums), num=_MOST_STEPS).astype(int))
    start = plan.degrees_cost([0] * n_roots + [2] * (n_nodes - n_roots))
    costs = [plan.degrees_cost([0] * (n_roots - k) + [1] * k + [2] * (n_nodes - n_roots)) for k in steps.tolist()]
    return float((sums[steps - 1] - np.array(costs)).max() + start)


def _gains_under(evidence: Evidence, nodes: Ints, pools: Sequence[Pool]) -> Floats:
    """[kernel, node]: what the best single parent gains under each of some kernels of one parent."""
    rows = evidence.scan.rows
    logs = np.column_stack([np.log(np.maximum(pool.seen, IMPOSSIBLE)).ravel() for pool in pools])
    sums = np.array([(rows.tables_before(node) @ logs).max(axis=0) for node in nodes.tolist()])
    return np.asarray((sums - rows.alone[nodes, None]).T)


def _learned_singles(plan: Plan, evidence: Evidence, roots: Roots, nodes: Ints) -> float:
    """How much better these roots are drawn together than followed, each, under one kernel learned from them."""
    rows = evidence.scan.rows
    counts = rows.pair_tables(evidence.leads[nodes], nodes).sum(axis=0).astype(np.float64)
    logs = np.log(np.maximum(counts, 1e-300) / counts.sum(axis=1, keepdims=True))
    said = float(rows.alone[nodes].sum() + evidence.choices[nodes, 1].sum())
    followed = float((counts * logs).sum()) - said - plan.penalty.of(counts)
    degrees = np.where(evidence.degrees == 2, 2, 0)
    more = plan.degrees_cost(evidence.degrees.tolist()) - plan.degrees_cost(degrees.tolist())
    return float(roots.worth[nodes].sum()) - followed + more
