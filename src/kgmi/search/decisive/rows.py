"""Counts of single columns and of pairs: what scans of families start from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.counts.base import Counts
from kgmi.types import Floats, Ints

__all__ = ["FewCounts", "listed_logs", "x_log_x"]

_MOST_LISTED = 100_000  # numbers whose x log x is kept: a larger table leaves the cache


@dataclass(frozen=True, eq=False)
class FewCounts:
    """Counts of columns over one alphabet, without gaps.

    Attributes
    ----------
    n_rows
        Number of rows N.
    pairs
        [i, j, s', s]: rows with these states.
    singles
        [i, s]: rows with this state.
    """

    n_rows: int
    pairs: NDArray[np.integer[Any]]
    singles: Ints

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.singles)

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.singles.shape[1])

    @cached_property
    def alone(self) -> Floats:
        """[i]: log-likelihood of a column under its own law."""
        return np.asarray(x_log_x(self.singles).sum(axis=1) - x_log_x(np.array(self.n_rows)))

    def pair_tables(self, firsts: Ints, seconds: Ints) -> Ints:
        """[pair, s', s] of all states."""
        return self.pairs[firsts, seconds].astype(np.int64)

    def tables_before(self, node: int) -> Ints:
        """[earlier node, cell]: counts of all earlier nodes with this one, as rows of S² numbers."""
        return self.pairs[node, :node].transpose(0, 2, 1).reshape(node, -1).astype(np.int64)


def few_counts(counts: Counts) -> FewCounts:
    """Return the counts of single columns and of pairs."""
    singles = np.stack(counts.marginals).astype(np.int64)
    return FewCounts(int(counts.n_rows), counts.pairs().counts, singles)


def x_log_x(counts: Ints) -> Floats:
    """x log x of whole numbers, 0 for 0; looked up where the numbers are small."""
    if counts.size > 1_000 and (largest := int(counts.max())) < _MOST_LISTED:
        return listed_logs(largest)[counts]
    return np.asarray(counts * np.log(np.maximum(counts, 1)))


def listed_logs(largest: int) -> Floats:
    """x log x for x = 0, 1, … at least up to the largest number, or as far as it is kept."""
    return _listed(min(1 << max(largest, 1).bit_length(), _MOST_LISTED))


@lru_cache(maxsize=8)
def _listed(n: int) -> Floats:
    numbers = np.arange(n + 1)
    return np.asarray(numbers * np.log(np.maximum(numbers, 1)))
