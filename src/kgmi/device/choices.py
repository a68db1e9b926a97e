"""What parents are worth on a device: gains less prices, as :mod:`kgmi.search.tuples` and ``plan`` have them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import log

import numpy as np

from kgmi.device.heads import log_table
from kgmi.device.rows import DeviceRows
from kgmi.penalty import Penalty
from kgmi.search.pools import Pool
from kgmi.types import Floats, Ints

__all__ = ["Prices", "Task", "own_fits"]

_HALF = 0.5  # pseudo-nodes of every in-degree (Krichevsky and Trofimov)


@dataclass(frozen=True)
class Task:
    """What a search on a device may do; see :class:`kgmi.search.plan.Plan`."""

    n_heads: int
    degrees: tuple[int, ...]
    penalty: Penalty
    smoothing: float = 1.0
    known: dict[int, Floats] = field(default_factory=dict)
    rounds: int = 50


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices and own laws of all nodes."""

    rows: DeviceRows
    task: Task

    @cached_property
    def margins(self) -> Floats:
        """[node, state]: counts."""
        return np.asarray(self.rows.margins.cpu().numpy())

    @cached_property
    def own_fit(self) -> Floats:
        """[node]: log-likelihood of its own law, which gains are over."""
        return own_fits(self.rows)

    @cached_property
    def of_roots(self) -> Floats:
        """[node]: price of its own law, or, for no parameters, what even odds fit worse."""
        total = float(self.rows.n_rows)
        occurring = (self.margins > 0).sum(axis=1)
        prices = np.zeros(self.rows.n_states + 1)
        for n in range(2, self.rows.n_states + 1):
            prices[n] = self.task.penalty.cost(np.array([total]), n, total)[0]
        even = total * np.log(np.maximum(occurring, 1)) + self.own_fit
        return np.asarray(np.minimum(prices[occurring], np.maximum(even, 0.0)))

    def choices(self, degree: int) -> Floats:
        """[child]: log of the number of its parent sets of this size; infinite where it has fewer candidates."""
        from scipy.special import gammaln

        n = np.arange(self.rows.n_nodes, dtype=np.float64)
        many = gammaln(n + 1) - gammaln(degree + 1) - gammaln(np.maximum(n - degree, 0) + 1)
        return np.where(n >= degree, many, np.inf)

    @cached_property
    def free(self) -> Ints:
        """Nodes that can have any of the in-degrees."""
        return np.arange(max(self.task.degrees), self.rows.n_nodes)

    def of_degrees(self, degrees: Ints | None) -> dict[int, float]:
        """Price of saying that a node has this in-degree, given those of all nodes."""
        seen = [] if degrees is None else degrees[self.free].tolist()
        total = len(seen) + _HALF * len(self.task.degrees)
        return {degree: -log((seen.count(degree) + _HALF) / total) for degree in self.task.degrees}

    def as_roots(self, shared: Pool | None) -> Floats:
        """[node]: worth of no parents: a law of its own, which costs parameters, or that of all roots."""
        own = -self.of_roots
        if shared is None:
            return own
        return np.maximum(own, self.margins @ log_table(shared.seen) - self.own_fit)

    def of_families(self, pool: Pool, children: Ints, counts: Floats) -> Floats:
        """[item]: worth of the parents behind ``counts`` [item, states of the parents …, state of the child]."""
        gains = counts.reshape(len(counts), -1) @ log_table(pool.seen).ravel() - self.own_fit[children]
        return np.asarray(gains - self.choices(pool.n_parents)[children] - pool.order_cost)


def own_fits(rows: DeviceRows) -> Floats:
    """[node]: log-likelihood of the node's own law."""
    margins = rows.margins.cpu().numpy()
    share = margins / rows.n_rows
    return np.asarray((margins * np.log(np.where(share > 0, share, 1.0))).sum(axis=1))
