"""Counts of all pairs of columns: additive over rows, so batches and machines merge by a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data import checked_codes
from kgmi.errors import DataError, SettingError
from kgmi.joint import PairJoint, check_pair_size
from kgmi.statistics.engines import ENGINES, choose
from kgmi.statistics.observed import Observed
from kgmi.types import Codes, Floats, Ints, PairTable

__all__ = ["PairCounts", "count_checked", "count_pairs"]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """``counts[i, j, s', s]``: rows with S_i = s' and S_j = s.

    Where values are missing, every pair has its own number of rows: those in which both are there.
    """

    counts: Ints

    def __post_init__(self) -> None:
        counts = self.counts.view()
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.counts.shape[0])

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.counts.shape[2])

    @cached_property
    def pair_rows(self) -> Ints:
        """[i, j]: rows that were counted for each pair."""
        return np.asarray(self.counts.sum(axis=(2, 3)))

    @property
    def n_rows(self) -> int:
        """Rows that were counted for every pair; where values are missing, for the pair with the fewest."""
        return int(self.pair_rows.min())

    @cached_property
    def joint(self) -> PairTable:
        """Plug-in estimate of P_ij, without smoothing."""
        return self.pair_joint(smoothing=0.0).joint

    @property
    def marginal(self) -> Floats:
        """Plug-in estimate of P_i."""
        return np.asarray(np.einsum("iiss->is", self.joint))

    def pair_joint(self, smoothing: float) -> PairJoint:
        """Joint laws with ``smoothing`` pseudo-rows spread over the cells of each pair.

        Every pair of states gets ``smoothing`` / S² and so every state ``smoothing`` / S: the marginals of
        all pairs stay consistent.
        """
        if not (np.isfinite(smoothing) and smoothing >= 0):
            raise SettingError(f"smoothing must be a number of pseudo-rows ≥ 0, got {smoothing}")
        n_states = self.n_states
        table: Floats = self.counts + np.float64(smoothing / n_states**2)
        nodes = np.arange(self.n_nodes)
        table[nodes, nodes] = self.counts[nodes, nodes] + np.eye(n_states) * (smoothing / n_states)
        rows = self.pair_rows
        fewest = int(rows.min())
        if fewest == 0 and smoothing == 0:
            first, second = np.argwhere(rows == 0)[0]
            raise DataError(
                f"columns {first} and {second} never have a value in the same row; leave one of them out"
            )
        table /= fewest + smoothing if fewest == rows.max() else (rows + smoothing)[:, :, None, None]
        return PairJoint.by_construction(table, fewest)

    def __add__(self, other: PairCounts) -> PairCounts:
        if self.counts.shape != other.counts.shape:
            raise DataError(f"cannot add counts of shapes {self.counts.shape} and {other.counts.shape}")
        return PairCounts(self.counts + other.counts)


def count_pairs(rows: ArrayLike, n_states: int | None = None) -> PairCounts:
    """Count all pairs of columns.

    Parameters
    ----------
    rows
        ``rows[row, node]``, whole numbers 0..S-1.
    n_states
        S. A state that never occurs is still a state, so say it; by default the largest code + 1 (at least 2).
    """
    return count_checked(*checked_codes(rows, n_states))


def count_checked(codes: Codes, n_states: int, sizes: Sequence[int] | None = None) -> PairCounts:
    """Count codes that were checked before; a row drops out of the counts of a pair where one of the two is -1.

    Where columns have fewer than S states, ``sizes`` says how many, so that no others are looked for.
    """
    n_nodes = codes.shape[1]
    check_pair_size(n_nodes, n_states)
    rows = Observed(codes, (n_states,) * n_nodes if sizes is None else tuple(sizes))
    return PairCounts(ENGINES[choose(rows)](rows))
