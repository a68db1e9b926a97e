"""The labelled χ² estimator of appendix C-B: as printed, factorised, and reweighted so that it is consistent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from kgmi.counts.labelled import LabelledMoments
from kgmi.errors import KernelError, SettingError
from kgmi.exact import exact_joint, exact_pair_share
from kgmi.guides.scores import scores
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.process import Process
from kgmi.types import Bools, Floats, ScoreTable

__all__ = ["LabelledForm", "expected_labelled_scores", "labelled_scores"]

LabelledForm = Literal["printed", "factorised", "reweighted"]


def labelled_scores(moments: LabelledMoments, form: LabelledForm = "printed") -> ScoreTable:
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
    return np.where(_candidates(moments.n_nodes), values - 1.0, np.nan)


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
