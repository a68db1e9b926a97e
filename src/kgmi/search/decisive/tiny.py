"""Few columns: the counts of all families of two parents are there at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kgmi.search.decisive.rows import x_log_x
from kgmi.search.decisive.scan import Scan
from kgmi.types import Floats, Ints

__all__ = ["TinyScan"]


@dataclass(frozen=True, eq=False)
class TinyScan(Scan):
    """All families (first, second, child) of increasing numbers: those of child c follow those of c - 1.

    ``every`` [family, s_first, s_second, s_child] are their counts; family (a, b, c) is number C(c, 3) + C(b, 2) +
    a.
    """

    every: Ints

    @cached_property
    def _fits(self) -> Floats:
        """[child, pair]: log-likelihood of the child with a kernel of its own; -inf where there is no such pair."""
        return self._by_child(_own_fits(self.every))

    def _by_child(self, values: Floats) -> Floats:
        pair, child = _families(self.rows.n_nodes)
        out = np.full((self.rows.n_nodes, len(_pairs(self.rows.n_nodes)[0])), -np.inf)
        out[child, pair] = values
        return out

    def best_singles(self) -> tuple[Ints, Floats]:
        """[child]: the best single parent, -1 where there is none, and its fit with a kernel of its own."""
        first, second = _pairs(self.rows.n_nodes)
        fits = np.full((self.rows.n_nodes,) * 2, -np.inf)
        tables = self.rows.pair_tables(first, second)
        fits[second, first] = x_log_x(tables).sum(axis=(1, 2)) - x_log_x(self.rows.singles).sum(axis=1)[first]
        top = fits.max(axis=1)
        return np.where(np.isfinite(top), fits.argmax(axis=1), -1), top

    def best_pairs(self, leads: Ints) -> tuple[Ints, Floats]:
        """[child, 2]: the best two parents of all, -1 where there are none, and fits of the best and next pair."""
        best = self._fits.argmax(axis=1)
        two = np.partition(self._fits, -2, axis=1)[:, :-3:-1]
        found = np.column_stack([one[best] for one in _pairs(self.rows.n_nodes)])
        found[~np.isfinite(two[:, 0])] = -1
        return found, two

    def tables(self, families: Ints) -> Ints:
        """[family, s_first, s_second, s_child] of families (first, second, child), the parents in any order."""
        low, high, child = families[:, :2].min(axis=1), families[:, :2].max(axis=1), families[:, 2]
        number = child * (child - 1) * (child - 2) // 6 + high * (high - 1) // 2 + low
        tables: Ints = self.every[number]
        turned = families[:, 0] > families[:, 1]
        tables[turned] = tables[turned].transpose(0, 2, 1, 3)
        return tables

    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """[head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""
        n_nodes = self.rows.n_nodes
        out = np.full((2, n_nodes, n_nodes), np.nan)
        for head in (0, 1):
            wide = np.repeat(families, n_nodes, axis=0)
            wide[:, head] = np.tile(np.arange(n_nodes), len(families))
            wide = wide[(wide[:, head] < wide[:, 2]) & (wide[:, 0] != wide[:, 1])]
            sums = self.tables(wide).reshape(len(wide), -1) @ logs.ravel()
            out[head, wide[:, 2], wide[:, head]] = sums
        return out

    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """[child, 2]: the best fit of any pair under a shared kernel, and its own; whatever the leads are."""
        flat = self.every.reshape(len(self.every), -1)
        sums = np.maximum(flat @ logs.ravel(), flat @ logs.transpose(1, 0, 2).ravel())
        return np.column_stack([fits[children].max(axis=1) for fits in (self._by_child(sums), self._fits)])


def _own_fits(tables: Ints) -> Floats:
    """[family]: log-likelihood of the child with a kernel of its own."""
    seen = tables.sum(axis=3)
    return np.asarray(x_log_x(tables).sum(axis=(1, 2, 3)) - x_log_x(seen).sum(axis=(1, 2)))


@lru_cache(maxsize=4)
def _pairs(n_nodes: int) -> tuple[Ints, Ints]:
    """All (a, b) with a < b, by b."""
    second, first = np.tril_indices(n_nodes, -1)
    return first, second


@lru_cache(maxsize=4)
def _families(n_nodes: int) -> tuple[Ints, Ints]:
    """(number of the pair, child) of all families, by child; the pairs before a child are the first ones."""
    sizes = [child * (child - 1) // 2 for child in range(n_nodes)]
    return np.concatenate([np.arange(size) for size in sizes]), np.repeat(np.arange(n_nodes), sizes)
