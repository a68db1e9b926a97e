"""Looking through families: the best parents of every node with a kernel of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kgmi.search.decisive.rows import FewCounts, x_log_x
from kgmi.types import Floats, Ints

__all__ = ["LeadScan", "Scan"]

_MOST_PASSES = 8  # of one child


@dataclass(frozen=True, eq=False)
class Scan(ABC):
    """Who looks through families, in NumPy or compiled. The candidates of a node are all nodes before it.

    A fit is the log-likelihood of the child.
    """

    rows: FewCounts

    @abstractmethod
    def best_pairs(self, leads: Ints) -> tuple[Ints, Floats]:
        """[child, 2]: the best two parents, -1 where there are none; [child, 2]: fits of the best and next pair.

        ``leads`` are the best single parents, to start from where not all pairs are looked at.
        """

    @abstractmethod
    def tables(self, families: Ints) -> Ints:
        """[family, s_first, s_second, s_child] of families (first, second, child), the parents in any order."""

    @abstractmethod
    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """[head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""

    @abstractmethod
    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """[child, 2]: the largest Σ counts · logs over pairs in either order, with the child's lead in them.

        Where the lead is -1, over all pairs. And the best fit of these pairs with a kernel of their own.
        """

    def best_singles(self) -> tuple[Ints, Floats]:
        """[child]: the best single parent, -1 where there is none, and its fit with a kernel of its own."""
        rows = self.rows
        best, fits = np.full(rows.n_nodes, -1), np.full(rows.n_nodes, -np.inf)
        alone = x_log_x(rows.singles).sum(axis=1)
        for child in range(1, rows.n_nodes):
            here = x_log_x(rows.tables_before(child)).sum(axis=1) - alone[:child]
            best[child] = here.argmax()
            fits[child] = here[best[child]]
        return best, fits


class LeadScan(Scan):
    """From a lead to its best partner, to the best partner of that, until a pair is stable."""

    @abstractmethod
    def scan(self, children: Ints, leads: Ints, best: Ints, fits: Floats) -> Ints:
        """The best partner of the lead of each child, with a kernel of their own.

        ``best`` and ``fits`` [child, 2] keep the best pair that any scan saw, its fit, and that of the best other.
        """

    def best_pairs(self, leads: Ints) -> tuple[Ints, Floats]:
        """[child, 2]: the best two parents, and fits of the best and the next pair that was looked at."""
        n_nodes = self.rows.n_nodes
        best, fits = np.full((n_nodes, 2), -1), np.full((n_nodes, 2), -np.inf)
        active = np.arange(2, n_nodes)
        now, before = leads[active], np.full(len(active), -1)
        for _ in range(_MOST_PASSES):
            if not len(active):
                break
            pairs, two = best[active], fits[active]
            partners = self.scan(active, now, pairs, two)
            best[active], fits[active] = pairs, two
            moving = partners != before
            active, before, now = active[moving], now[moving], partners[moving]
        return best, fits
