"""Sums over labelled rows for the χ² estimator of appendix B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.data import checked_codes
from kgmi.errors import DataError, SettingError
from kgmi.sampling import LabelledRows
from kgmi.types import Codes, Floats

__all__ = ["LabelledMoments", "count_labelled"]

_CHUNK_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class LabelledMoments:
    """Sums over sequences, additive over rows.

    Attributes
    ----------
    printed
        [head, i, j]: Σ_n S·1[S_i = label]·1[S_j = uniform_ℓ] / (μ̂_n(label) + κ), the estimator as printed.
    label
        [head, s', s]: Σ_n S·1[label = s']·1[uniform_ℓ = s].
    weighted
        [i, j, s', s]: Σ_n 1[S_i = s']·1[S_j = s] / (μ̂_n(s') + κ), with μ̂_n the state frequencies in row n.
    n_rows
        Number of sequences.
    """

    printed: Floats
    label: Floats
    weighted: Floats
    n_rows: int

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.weighted.shape[0])

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.weighted.shape[2])

    def __add__(self, other: LabelledMoments) -> LabelledMoments:
        return LabelledMoments(
            self.printed + other.printed,
            self.label + other.label,
            self.weighted + other.weighted,
            self.n_rows + other.n_rows,
        )


def count_labelled(labelled: LabelledRows, n_states: int, kappa: float = 0.0) -> LabelledMoments:
    """Sum up labelled rows; ``kappa`` > 0 keeps the denominator away from zero."""
    if not (np.isfinite(kappa) and kappa >= 0):
        raise SettingError(f"kappa must be ≥ 0, got {kappa}")
    rows, _ = checked_codes(labelled.rows, n_states)
    uniform, _ = checked_codes(labelled.uniform, n_states)
    label, _ = checked_codes(np.asarray(labelled.label)[:, None], n_states)
    if not len(rows) == len(uniform) == len(label):
        raise DataError("rows, uniform tokens and labels must have the same number of rows")
    parts = [
        _moments(rows[start:stop], uniform[start:stop], label[start:stop, 0], n_states, kappa)
        for start in range(0, len(rows), _CHUNK_ROWS)
        for stop in (start + _CHUNK_ROWS,)
    ]
    return sum(parts[1:], parts[0])


def _moments(rows: Codes, uniform: Codes, label: Codes, n_states: int, kappa: float) -> LabelledMoments:
    n_rows, n_nodes = rows.shape
    hot = rows[:, :, None] == np.arange(n_states)  # [row, node, state]
    # 1[S_i = s'] is 0 where the row's own frequency of s' is 0, so only states that occur are divided by.
    frequency = hot.mean(axis=1) + kappa
    share = np.divide(hot, frequency[:, None, :], out=np.zeros(hot.shape), where=hot)
    agree = np.take_along_axis(share, label[:, None, None].astype(np.intp), axis=2)[:, :, 0] * n_states
    printed = np.stack([agree.T @ (rows == uniform[:, [head]]).astype(float) for head in range(uniform.shape[1])])
    tail = np.zeros((uniform.shape[1], n_states, n_states))
    for head in range(uniform.shape[1]):
        np.add.at(tail[head], (label, uniform[:, head]), float(n_states))
    plain = hot.reshape(n_rows, -1).astype(float)
    weighted = share.reshape(n_rows, -1).T @ plain
    shape = (n_nodes, n_states, n_nodes, n_states)
    return LabelledMoments(printed, tail, weighted.reshape(shape).transpose(0, 2, 1, 3), n_rows)
