"""Sums over labelled rows for the χ² estimator of appendix C-B."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from kgmi.errors import DataError, SettingError
from kgmi.joint import check_pair_size
from kgmi.kernel import Kernel
from kgmi.memory import at_most
from kgmi.sampling import LabelledRows
from kgmi.table import checked_codes, tail_names
from kgmi.types import Codes, Floats

__all__ = ["LabelledMoments", "count_labelled", "tail_kernel"]

_CHUNK_CELLS = 4_000_000  # one-hot cells at a time; a few arrays of this size in float64
_CELL_BYTES = 32
_SUMS = "printed", "tail", "weighted", "pairs"


@dataclass(frozen=True, eq=False)
class LabelledMoments:
    """Sums over sequences, additive over rows.

    Attributes
    ----------
    printed
        [head, i, j]: Σ_n S·1[S_i = label]·1[S_j = uniform_ℓ] / (μ̂_n(label) + κ), the estimator as printed.
    tail
        [s_1, …, s_K, s']: number of sequences with these uniform tokens and this label.
    weighted
        [i, j, s', s]: Σ_n 1[S_i = s']·1[S_j = s] / (μ̂_n(s') + κ), with μ̂_n the state frequencies in row n.
    pairs
        [i, j, s', s]: number of sequences with S_i = s' and S_j = s.
    n_rows
        Number of sequences.
    kappa
        κ, which is part of the sums.
    """

    printed: Floats
    tail: Floats
    weighted: Floats
    pairs: Floats
    n_rows: int
    kappa: float

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.weighted.shape[0])

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.weighted.shape[2])

    @property
    def label(self) -> Floats:
        """[head, s', s]: Σ_n S·1[label = s']·1[uniform_ℓ = s]."""
        heads = range(self.tail.ndim - 1)
        sums = [self.tail.sum(axis=tuple(other for other in heads if other != head)) for head in heads]
        return self.n_states * np.stack(sums).transpose(0, 2, 1)

    def __add__(self, other: LabelledMoments) -> LabelledMoments:
        mine, theirs = ((len(one.printed), *one.weighted.shape[1:3]) for one in (self, other))
        if mine != theirs:
            raise DataError(f"cannot add moments of other heads, nodes or states: {mine} and {theirs}")
        if self.kappa != other.kappa:
            raise DataError(f"cannot add moments with κ = {self.kappa} and κ = {other.kappa}")
        sums = {key: getattr(self, key) + getattr(other, key) for key in (*_SUMS, "n_rows")}
        return replace(self, **sums)


def tail_kernel(rows: LabelledRows, n_states: int | None = None) -> Kernel:
    """The kernel that the labelled tail shows: frequencies of the label given the tokens, one pseudo-case each."""
    tail = np.column_stack([rows.uniform, rows.label])
    tail, largest = checked_codes(tail, n_states, tail_names(rows.uniform.shape[1]))
    size = max(largest, int(np.max(rows.rows)) + 1) if n_states is None else n_states
    return Kernel.from_counts(_tail_counts(tail, size), smoothing=1.0 / size)


def count_labelled(labelled: LabelledRows, n_states: int, kappa: float = 0.0) -> LabelledMoments:
    """Sum up labelled rows; ``kappa`` > 0 keeps the denominator away from zero."""
    if not (np.isfinite(kappa) and kappa >= 0):
        raise SettingError(f"kappa must be a finite number ≥ 0, got {kappa}")
    rows, _ = checked_codes(labelled.rows, n_states)
    tokens, label = np.asarray(labelled.uniform), np.asarray(labelled.label)
    if label.ndim != 1 or tokens.ndim != 2 or not len(rows) == len(tokens) == len(label):
        raise DataError(
            "labelled rows need rows [row, node], uniform tokens [row, head] and labels [row] of equal length, "
            f"got {rows.shape}, {tokens.shape} and {label.shape}"
        )
    uniform, _ = checked_codes(tokens, n_states, tail_names(tokens.shape[1])[:-1])
    label = checked_codes(label[:, None], n_states, ["label"])[0][:, 0]
    check_pair_size(rows.shape[1], n_states)
    chunk = max(1, at_most(_CHUNK_CELLS, _CELL_BYTES) // (rows.shape[1] * n_states))
    pieces = (slice(start, start + chunk) for start in range(0, len(rows), chunk))
    parts = (_moments(rows[some], uniform[some], label[some], n_states, kappa) for some in pieces)
    return reduce(add, parts)


def _moments(rows: Codes, uniform: Codes, label: Codes, n_states: int, kappa: float) -> LabelledMoments:
    n_rows, n_nodes = rows.shape
    hot = rows[:, :, None] == np.arange(n_states)  # [row, node, state]
    # 1[S_i = s'] is 0 where the row's own frequency of s' is 0, so only states that occur are divided by.
    frequency = hot.mean(axis=1) + kappa
    share = np.divide(hot, frequency[:, None, :], out=np.zeros(hot.shape), where=hot)
    agree = np.take_along_axis(share, label[:, None, None].astype(np.intp), axis=2)[:, :, 0] * n_states
    printed = np.stack([agree.T @ (rows == token[:, None]).astype(float) for token in uniform.T])
    tail = _tail_counts(np.column_stack([uniform, label]), n_states)
    plain = hot.reshape(n_rows, -1).astype(float)
    weighted = share.reshape(n_rows, -1).T @ plain
    shape = (n_nodes, n_states, n_nodes, n_states)
    weighted, pairs = (table.reshape(shape).transpose(0, 2, 1, 3) for table in (weighted, plain.T @ plain))
    return LabelledMoments(printed, tail, weighted, pairs, n_rows, kappa)


def _tail_counts(tail: Codes, n_states: int) -> Floats:
    """Counts [s_1, …, s_K, s'] of the tokens and labels of rows."""
    counts = np.zeros((n_states,) * tail.shape[1])
    np.add.at(counts, tuple(tail.T.astype(np.intp)), 1.0)
    return counts
