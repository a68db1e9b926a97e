"""Laws without parents that several roots share.

A root has a law of its own, which costs parameters, or shares one with other roots, which is paid for once. There
may be several shared laws, so that no edge is needed to give a column another law than the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.guides.likelihood import gain_table
from kgmi.search.partition import root_partition_cost
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of, make_pool
from kgmi.search.values import table_values, x_log_x
from kgmi.types import Floats

__all__ = ["RootLaws", "roots_score", "shared_root_laws"]

_MOST_ROOTS = 300  # more are offered one law for all: comparing all pairs of them takes long


@dataclass(frozen=True, eq=False)
class RootLaws(Pool):
    """Shared laws of roots over one alphabet.

    Attributes
    ----------
    counts, table
        [law, state]: the cases of the roots that share each law, and the law.
    """

    @property
    def n_parents(self) -> int:
        """None: these are laws of roots."""
        return 0

    def gains(self, plan: Plan, child: int) -> Floats:
        """[law]: gain of a root over its own law, in nats; never positive."""
        return np.asarray((plan.family(child, ()) * gain_table(plan.observed, child, self.seen)).sum(axis=-1))


def shared_root_laws(plan: Plan, roots: Sequence[int]) -> RootLaws | None:
    """Find the laws that roots of one label and alphabet should share; None where each is better off alone."""
    if plan.price is None or len(roots) < 2:  # an exact law pays nothing for parameters
        return None
    known = plan.observed.kept.setdefault(("root laws", plan.penalty, plan.smoothing, plan.error), {})
    name = tuple(roots)
    if name not in known:
        counts = np.array([plan.family(root, ()) for root in roots])
        options = [np.zeros(len(roots), dtype=np.int64)]
        if len(roots) <= _MOST_ROOTS:
            options.append(_agglomerated(plan, counts, roots))
        made = [_laws_of(plan, counts, groups) for groups in options]
        best = max((laws for laws in made if laws is not None), key=lambda laws: _saving(plan, laws, roots))
        known[name] = best if _saving(plan, best, roots) > 0 else None
    found: RootLaws | None = known[name]
    return found


def _agglomerated(plan: Plan, counts: Floats, roots: Sequence[int]) -> np.ndarray:
    """[root]: number of its group, after joining the two groups that gain most by it for as long as any do."""
    groups = np.arange(len(roots))
    tables = counts.copy()
    sizes = np.ones(len(roots), dtype=np.int64)
    values = x_log_x(counts).sum(axis=1) - x_log_x(counts.sum(axis=1)) - [plan.root_cost(root) for root in roots]
    gains = np.full((len(roots), len(roots)), -np.inf)
    for place in range(1, len(roots)):
        both = table_values(plan.price, tables[:place] + tables[place], sizes[:place] + 1, ())
        gains[place, :place] = both - values[:place] - values[place]
    while gains.max() > 0:
        gone, kept = divmod(int(gains.argmax()), len(roots))
        groups[groups == gone] = kept
        values[kept] += gains[gone, kept] + values[gone]
        tables[kept] += tables[gone]
        sizes[kept] += sizes[gone]
        gains[gone], gains[:, gone] = -np.inf, -np.inf
        left = np.array([one for one in np.unique(groups) if one != kept], dtype=np.int64)
        if not len(left):
            break
        both = table_values(plan.price, tables[left] + tables[kept], sizes[left] + sizes[kept], ())
        gains[np.maximum(left, kept), np.minimum(left, kept)] = both - values[left] - values[kept]
    return groups


def _laws_of(plan: Plan, counts: Floats, groups: np.ndarray) -> RootLaws | None:
    """The laws of the groups with more than one root; None where there is no such group."""
    numbers, sizes = np.unique(groups, return_counts=True)
    tables = [counts[groups == number].sum(axis=0) for number in numbers[sizes > 1]]
    if not tables:
        return None
    pools = [
        make_pool(one, 2, plan.price, smoothing=plan.smoothing, error=plan.error or 0.0, exchangeable=False)
        for one in tables
    ]
    laws, n_nodes = np.array([pool.table for pool in pools]), int(sizes[sizes > 1].sum())
    return RootLaws(np.array(tables), laws, n_nodes, symmetric=True, known=False, error=plan.error or 0.0)


def _saving(plan: Plan, laws: RootLaws, roots: Sequence[int]) -> float:
    """What sharing these laws saves over a law for each root; laws that do not pay for themselves are not used."""
    own = np.array([-plan.root_cost(root) for root in roots])
    gains = np.array([laws.gains(plan, root) for root in roots])
    chosen = np.where(gains.max(axis=1) > own, gains.argmax(axis=1), -1)
    saved, sizes = 0.0, []
    for law, counts in enumerate(laws.counts):
        users = chosen == law
        better = float((gains[users, law] - own[users]).sum()) - plan.penalty.of(counts)
        if better > 0:
            saved += better
            sizes.append(int(users.sum()))
    return max(saved - root_partition_cost(sizes), 0.0)


def roots_score(plan: Plan, pools: dict[Key, Pool], roots: Sequence[int]) -> float:
    """What the roots that are drawn alone add to the score: minus the price of their laws, own or shared."""
    by_key: dict[Key, list[int]] = {}
    for root in roots:
        by_key.setdefault(key_of(plan.observed, plan.labels, (), root), []).append(root)
    score = -sum(plan.root_cost(root) for root in roots)
    for key, some in by_key.items():
        laws = pools.get(key)
        if isinstance(laws, RootLaws):
            score += _saving(plan, laws, some)
    return score
