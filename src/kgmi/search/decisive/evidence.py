"""What every node says by itself: its best parents with a kernel of its own, for every in-degree up to two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log

import numpy as np

from kgmi.penalty import Penalty, log_choices
from kgmi.search.decisive.rows import FewCounts
from kgmi.search.decisive.scan import Scan
from kgmi.search.plan import Plan
from kgmi.types import Floats, Ints

__all__ = ["Evidence", "gather_evidence", "root_prices"]

_CHOOSING_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Evidence:
    """Gains are over the child's own law, in nats, before prices.

    Attributes
    ----------
    leads, single_gains
        [child]: the best single parent, and what it gains.
    pairs, pair_gains, next_gains
        [child, 2]: the best two parents, in increasing order; what they gain; and what the next pair gains.
    pair_tables
        [child, s_first, s_second, s_child] of the best two; 0 where there are none.
    choices
        [child, degree]: price of having chosen so many parents; infinite where there are too few candidates.
    values
        [child, degree]: gain less the prices of the kernel and of the choice; -inf where that is no choice.
    degrees
        [child]: the in-degree with which it is described best.
    """

    scan: Scan
    leads: Ints
    single_gains: Floats
    pairs: Ints
    pair_gains: Floats
    next_gains: Floats
    pair_tables: Ints
    choices: Floats
    values: Floats
    degrees: Ints

    @cached_property
    def children(self) -> Ints:
        """Nodes with two parents."""
        return np.flatnonzero(self.degrees == 2)

    @cached_property
    def rest(self) -> Ints:
        """Nodes with fewer."""
        return np.flatnonzero(self.degrees < 2)


def gather_evidence(plan: Plan, scan: Scan) -> Evidence:
    """Look at every node by itself."""
    rows, penalty = scan.rows, plan.penalty
    n_nodes, n_states = rows.n_nodes, rows.n_states
    leads, single_fits = scan.best_singles()
    pairs, pair_fits = scan.best_pairs(leads)
    pairs.sort(axis=1)
    there = np.flatnonzero(pairs[:, 0] >= 0)
    tables = np.zeros((n_nodes, n_states, n_states, n_states), dtype=np.int64)
    tables[there] = scan.tables(np.column_stack([pairs[there], there]))
    single_prices = penalty.cost(rows.singles[leads].astype(float), n_states, rows.n_rows).sum(axis=1)
    pair_prices = penalty.cost(tables.sum(axis=3).astype(float), n_states, rows.n_rows).sum(axis=(1, 2))
    choices = _choices(n_nodes)
    gains = np.column_stack([single_fits, pair_fits]) - rows.alone[:, None]
    values = np.column_stack([-root_prices(rows, penalty), gains[:, 0] - single_prices, gains[:, 1] - pair_prices])
    values -= np.where(np.isfinite(choices), choices, np.inf)
    values[:, [degree for degree in range(3) if degree not in plan.degrees]] = -np.inf
    return Evidence(
        scan, leads, gains[:, 0], pairs, gains[:, 1], gains[:, 2], tables, choices, values, _degrees(plan, values)
    )


@lru_cache(maxsize=4)
def _choices(n_nodes: int) -> Floats:
    """[child, degree]: as :meth:`kgmi.search.plan.Plan.choice_cost`, where all earlier nodes are candidates."""
    return np.array([[log_choices(child, degree) for degree in range(3)] for child in range(n_nodes)])


def root_prices(rows: FewCounts, penalty: Penalty) -> Floats:
    """[node]: as :func:`kgmi.search.plan.root_price`, for all at once."""
    price = float(penalty.cost(np.array([float(rows.n_rows)]), rows.n_states, rows.n_rows)[0])
    even = np.maximum(rows.n_rows * log(rows.n_states) + rows.alone, 0.0)
    return np.minimum(price, even)


def _degrees(plan: Plan, values: Floats) -> Ints:
    """What an in-degree costs depends on how many nodes have it, so they choose a few times."""
    free = np.array(sorted(plan.free), dtype=np.intp)
    degrees: Ints = values.argmax(axis=1)
    for _ in range(_CHOOSING_ROUNDS):
        costs = plan.degree_costs(degrees.tolist())
        priced = values.copy()
        priced[free] -= np.array([costs.get(degree, 0.0) for degree in range(3)])
        before, degrees = degrees, priced.argmax(axis=1)
        if (degrees == before).all():
            break
    return degrees
