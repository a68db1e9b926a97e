"""One kernel for all nodes with two parents: their roles aligned, and how well each node follows it."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from statistics import NormalDist

import numpy as np

from kgmi.guides.likelihood import IMPOSSIBLE
from kgmi.search.alternate import pools_of
from kgmi.search.decisive.evidence import Evidence
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of
from kgmi.types import Floats, Ints, Parents

__all__ = ["SharedKernel", "heaviest_tail", "share_kernel"]

_MOST_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class SharedKernel:
    """The kernel and its nodes.

    Attributes
    ----------
    parents, pools
        Of all nodes, in role order; all nodes but those with two parents are roots.
    pool
        The kernel of two parents.
    logs
        Its logarithms.
    families
        (first, second, child) in role order.
    gains
        [family]: gain of the child under the kernel.
    turn_margin
        The least by which a family is better with its parents in this order than the other way round.
    """

    parents: Parents
    pools: dict[Key, Pool]
    pool: Pool
    logs: Floats
    families: Ints
    gains: Floats
    turn_margin: float


def share_kernel(plan: Plan, evidence: Evidence) -> SharedKernel:
    """Learn one kernel from the families of all nodes with two parents."""
    children, rows = evidence.children, evidence.scan.rows
    tables = evidence.pair_tables[children]
    strength = evidence.values[children, 2]
    turned, margin = _aligned(tables, int(strength.argmax()))
    pairs = np.where(turned[:, None], evidence.pairs[children][:, ::-1], evidence.pairs[children])
    tables[turned] = tables[turned].transpose(0, 2, 1, 3)
    parents: list[tuple[int, ...]] = [()] * rows.n_nodes
    for child, pair in zip(children.tolist(), pairs.tolist(), strict=True):
        parents[child] = tuple(pair)
    _keep_counts(plan, parents, children, tables, rows.singles)
    pools = pools_of(plan, tuple(parents))
    child = int(children[0])
    pool = pools[key_of(plan.observed, plan.labels, parents[child], child)]
    logs = np.log(np.maximum(pool.seen, IMPOSSIBLE))
    gains = tables.reshape(len(children), -1) @ logs.ravel() - rows.alone[children]
    families = np.column_stack([pairs, children])
    return SharedKernel(tuple(parents), pools, pool, logs, families, gains, np.inf if pool.symmetric else margin)


def _keep_counts(plan: Plan, parents: list[tuple[int, ...]], children: Ints, tables: Ints, singles: Ints) -> None:
    """What was counted, where the search looks for it."""
    for child, table in zip(children.tolist(), tables.astype(np.float64), strict=True):
        plan.keep(child, parents[child], table)
    for node, counts in enumerate(singles.astype(np.float64)):
        plan.keep(node, (), counts)


def _aligned(tables: Ints, first: int) -> tuple[Ints, float]:
    """Which families have their parents the other way round than the first, and the least margin of that."""
    flat = tables.reshape(len(tables), -1)
    mirrored = tables.transpose(0, 2, 1, 3).reshape(len(tables), -1)
    size = tables.shape[-1]
    turned = np.zeros(len(tables), dtype=bool)
    total = flat[first]
    for _ in range(_MOST_ROUNDS):
        logs = _logs(total, size)
        better = mirrored @ logs - flat @ logs
        before, turned = turned, better > 0
        if (turned == before).all() and _ > 0:
            break
        total = np.where(turned[:, None], mirrored, flat).sum(axis=0)
    return turned, float(np.abs(better).min())


def _logs(counts: Ints, size: int) -> Floats:
    """Logarithms of the kernel that these counts suggest, a pseudo-case in every configuration."""
    table = counts.reshape(-1, size) + 1 / size
    return np.asarray(np.log(table / table.sum(axis=1, keepdims=True)).ravel())


def heaviest_tail(misfits: Floats, freedom: int, price: float, tries: Floats | float = 1.0) -> float:
    """By how much the largest misfits exceed half of what a kernel of their own would cost; negative if never.

    The misfit of a node is what a kernel of its own fits better than what it has. Where nothing is missed it is
    half a χ² of so many degrees of freedom, or the largest of as many ``tries`` [node] of it. For every number m of
    nodes the sum of the m largest is compared with what chance would give; that m of n nodes are another class
    costs the kernel and log C(n, m) besides, and as much as for half of the nodes where it is more of them.
    """
    n = len(misfits)
    many = np.broadcast_to(np.asarray(tries, dtype=np.float64), (n,))
    order = np.argsort(_usual(np.full(n, 0.5), freedom, many) - misfits, kind="stable")
    ranks = (n - np.arange(n) - 0.5) / n
    excess = np.cumsum(misfits[order] - _usual(ranks, freedom, many[order]))
    ways = np.array([lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1) for m in range(1, n + 1)])
    return float((excess - (price + np.maximum.accumulate(ways)) / 2).max())


def _usual(shares: Floats, freedom: int, tries: Floats) -> Floats:
    """Below what the largest of some tries of half a χ² is with this probability, after Wilson and Hilferty."""
    normal = NormalDist()
    each = np.minimum(shares ** (1 / tries), 1 - 1e-15)
    z = np.array([normal.inv_cdf(share) for share in each.tolist()])
    return np.asarray(freedom / 2 * np.maximum(1 - 2 / (9 * freedom) + z * np.sqrt(2 / (9 * freedom)), 0.0) ** 3)
