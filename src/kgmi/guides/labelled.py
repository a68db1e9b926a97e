"""The labelled χ² estimator of appendix C-B: sums over labelled rows, and the scores that they give.

Scores are as printed, factorised, or reweighted so that they are consistent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal, get_args

import numpy as np

from kgmi.errors import DataError, KernelError, SettingError
from kgmi.exact import exact_joint, exact_pair_share
from kgmi.guides.stationary import scores
from kgmi.joint import check_pair_size
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.memory import at_most
from kgmi.process import Process
from kgmi.sampling import LabelledRows
from kgmi.table import Table, checked_codes
from kgmi.types import Bools, Codes, Floats, ScoreTable

LabelledForm = Literal["printed", "factorised", "reweighted"]
_CHUNK_CELLS = 4_000_000  # one-hot cells at a time; a few arrays of this size in float64
_CELL_BYTES = 32
_SUMS = "printed", "tail", "weighted", "pairs"


def tail_names(n_parents: int) -> tuple[str, ...]:
    """Return the names of the labelled tail (appendix C-B): uniform1, …, uniformK, label."""
    return (*(f"uniform{head}" for head in range(1, n_parents + 1)), "label")


def tail_length(names: Sequence[str]) -> int:
    """Return the length K + 1 of the labelled tail that the last names spell, or 0."""
    start = max((place for place, name in enumerate(names) if name == "uniform1"), default=len(names))
    tail = tuple(names[start:])
    return len(tail) if len(tail) > 1 and tail == tail_names(len(tail) - 1) else 0


def split_tail(table: Table, n_parents: int) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows with their labelled tail, and the names of the columns before it."""
    tail = n_parents + 1
    if table.codes.shape[1] <= tail:
        raise DataError(
            f"a labelled table for {n_parents} parents ends with {tail} columns "
            f"({', '.join(tail_names(n_parents))}) behind those of the nodes; this one has {table.codes.shape[1]} "
            "columns in all"
        )
    return LabelledRows(table.codes[:, :-tail], table.codes[:, -tail:-1], table.codes[:, -1]), table.names[:-tail]


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


def labelled_scores(
    moments: LabelledMoments, form: LabelledForm = "printed", allowed: Bools | None = None
) -> ScoreTable:
    """Estimate of Pearson-χ² KG-MI from labelled sequences, as [head, child, candidate].

    ``printed`` (appendix C-B of the paper) averages the product of the label factor and the pair factor over
    sequences. ``factorised`` multiplies the two averages, which has far lower variance but needs one kernel for all
    sequences. Both see the other parents *uniform*, not under M_π, and divide by the frequencies of each short
    sequence, so that neither converges to χ²-KG-MI. ``reweighted`` does, for one kernel: it estimates the kernel
    from the labels, weights its parents with the stationary law M_π of that estimate, and divides by the
    frequencies of the node over all sequences.
    """
    _check_form(form)
    if form == "printed":
        values = moments.printed / moments.n_rows
    elif form == "factorised":
        values = np.einsum("lts,ijts->lij", moments.label, moments.weighted) / moments.n_rows**2
    else:
        kernel = Kernel.from_counts(moments.tail, smoothing=1.0 / moments.n_states)
        values = np.einsum("lst,ijts->lij", kernel.marginal_kernels, _conditional(moments.pairs))
    return np.where(_candidates(moments.n_nodes) if allowed is None else allowed, values - 1.0, np.nan)


def expected_labelled_scores(process: Process, kappa: float = 0.0, form: LabelledForm = "printed") -> ScoreTable:
    """Population version of :func:`labelled_scores`: what each form converges to, in exact arithmetic.

    ``printed`` differs from Pearson-χ² KG-MI by the uniform co-parents and by the frequencies of the short sequence
    itself in the denominator. ``factorised`` differs from it only where the kernel is random (a finite P_Π);
    ``reweighted`` needs a fixed kernel, and is χ²-KG-MI.
    """
    _check_form(form)
    if form == "reweighted":
        return scores(exact_joint(process), process.fixed_kernel(), "pearson")
    kernels: Sequence[Kernel] = (process.kernel,) if isinstance(process.kernel, Kernel) else ()
    weights: Sequence[float] = (1.0,)
    if isinstance(process.kernel, FiniteKernels):
        kernels, weights = process.kernel.kernels, process.kernel.weights
    if not kernels:
        raise KernelError("the expectation needs a finite kernel law: use sampler.finite(n_kernels, rng)")
    labels = [kernel.uniform_marginal_kernels for kernel in kernels]
    shares = [exact_pair_share(process.with_kernel(kernel), kappa) for kernel in kernels]
    if form == "factorised":
        labels = [np.einsum("k,klst->lst", weights, np.stack(labels))]
        shares = [np.einsum("k,kijts->ijts", weights, np.stack(shares))]
        weights = (1.0,)
    values = sum(
        w * np.einsum("lst,ijts->lij", label, share)
        for w, label, share in zip(weights, labels, shares, strict=True)
    )
    return np.where(_candidates(process.n_nodes), values - 1.0, np.nan)


def _check_form(form: str) -> None:
    if form not in get_args(LabelledForm):
        raise SettingError(f"form must be one of {', '.join(get_args(LabelledForm))}, got {form!r}")


def _conditional(pairs: Floats) -> Floats:
    """P(S_j = s | S_i = s') as [i, j, s', s]; 0 where s' was not seen."""
    seen = pairs.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(pairs, seen, out=np.zeros(pairs.shape), where=seen > 0))


def _candidates(n_nodes: int) -> Bools:
    return np.tril(np.ones((n_nodes, n_nodes), dtype=bool), k=-1)
