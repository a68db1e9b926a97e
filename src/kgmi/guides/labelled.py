"""The labelled χ² estimator of appendix B, as printed and factorised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kgmi.errors import KernelError, SettingError
from kgmi.exact import exact_pair_share
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.process import Process
from kgmi.statistics import LabelledMoments
from kgmi.types import Bools, ScoreTable

__all__ = ["LabelledForm", "expected_labelled_scores", "labelled_scores"]

LabelledForm = Literal["printed", "factorised"]


def labelled_scores(moments: LabelledMoments, form: LabelledForm = "printed") -> ScoreTable:
    """Estimate of Pearson-χ² KG-MI from labelled sequences, as [head, child, candidate].

    ``printed`` averages the product of the label factor and the pair factor over sequences, which is right for
    any law of the kernel. ``factorised`` multiplies the two averages, which has far lower variance but is right
    only when all sequences share one kernel. Both see the other parents *uniform*, not under M_π.
    """
    if form == "printed":
        values = moments.printed / moments.n_rows
    elif form == "factorised":
        label, weighted = moments.label / moments.n_rows, moments.weighted / moments.n_rows
        values = np.einsum("lts,ijts->lij", label, weighted)
    else:
        raise SettingError(f"form must be 'printed' or 'factorised', got {form!r}")
    return np.where(_candidates(moments.n_nodes), values - 1.0, np.nan)


def expected_labelled_scores(process: Process, kappa: float = 0.0, form: LabelledForm = "printed") -> ScoreTable:
    """Population version of :func:`labelled_scores`: what either form converges to, in exact arithmetic.

    It differs from Pearson-χ² KG-MI by the uniform co-parents and by the frequencies of the short sequence itself
    in the denominator. The two forms differ only where the kernel is random (a finite P_Π).
    """
    if form not in ("printed", "factorised"):
        raise SettingError(f"form must be 'printed' or 'factorised', got {form!r}")
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


def _candidates(n_nodes: int) -> Bools:
    return np.tril(np.ones((n_nodes, n_nodes), dtype=bool), k=-1)
