"""``scores``: one door to every guide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.divergence import Divergence, divergence_named
from kgmi.errors import KernelError, SettingError
from kgmi.guides.information import guided_information, mutual_information
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, FiniteKernels, Kernel, KernelDistribution, check_kernel
from kgmi.types import Bools, ScoreTable

__all__ = ["GUIDES", "Guide", "Pairs", "scores"]

Pairs: TypeAlias = PairJoint | PairCounts | PairMixture
"""Anything that tells the law of pairs."""
Guide: TypeAlias = Callable[[PairJoint, Kernel | None, Divergence, int, Bools | None], ScoreTable]


def stationary(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """The paper's KG-MI: the kernel of each head is marginalised under M_π."""
    return guided_information(joint, _needed(kernel, "stationary", n_heads).marginal_kernels, divergence, allowed)


def uniform(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """KG-MI with the other parents uniform: what the labelled estimator of appendix C-B estimates."""
    return guided_information(
        joint, _needed(kernel, "uniform", n_heads).uniform_marginal_kernels, divergence, allowed
    )


def plain(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """Plain f-MI for every head: all heads share one objective and collapse onto one parent."""
    return np.repeat(mutual_information(joint, divergence, allowed)[None], n_heads, axis=0)


def _needed(kernel: Kernel | None, guide: str, n_heads: int) -> Kernel:
    if kernel is None:
        raise KernelError(f"the guide '{guide}' needs the kernel; without one use guide='plain'")
    if kernel.n_parents != n_heads:
        raise SettingError(f"{n_heads} heads were asked for, but the kernel has {kernel.n_parents} parents")
    return kernel


GUIDES: dict[str, Guide] = {"stationary": stationary, "uniform": uniform, "plain": plain}
"""Guides by name; each turns a pair joint, a kernel and a divergence into a score table."""


def scores(
    joint: Pairs,
    kernel: AnyKernel | None = None,
    divergence: str | Divergence = "kl",
    guide: str = "stationary",
    *,
    smoothing: float = 0.0,
    n_heads: int | None = None,
    allowed: Bools | None = None,
) -> ScoreTable:
    """Score table [head, child, candidate]; NaN where the candidate does not come before the child.

    Parameters
    ----------
    joint
        Pair joints from :func:`kgmi.exact_joint` or counts from :func:`kgmi.count_pairs`.
    kernel
        The kernel whose heads are scored. For the joints of a random kernel, the same finite P_Π: the
        score is then the average over Π. The guide ``plain`` does without.
    divergence
        A name (see :data:`kgmi.DIVERGENCES`; ``-matched`` for the matched form) or a Divergence.
    guide
        ``stationary`` (the paper's KG-MI), ``uniform`` (other parents uniform) or ``plain`` (f-MI).
    smoothing
        Pseudo-rows spread over the cells of each pair when ``joint`` is counted. With 0 the score is the
        plug-in estimate, which is infinite where a pair of states that the kernel allows was never seen.
    n_heads
        Number of heads, by default one for each parent of the kernel.
    allowed
        [child, candidate]: the pairs to score; by default all in which the candidate comes first.
    """
    if guide not in GUIDES:
        raise SettingError(f"there is no guide '{guide}'; choose one of {', '.join(GUIDES)}")
    check_kernel(kernel)
    f = divergence_named(divergence)
    heads = (1 if kernel is None else kernel.n_parents) if n_heads is None else n_heads
    if heads < 1:
        raise SettingError(f"n_heads must be at least 1, got {heads}")
    if kernel is not None and joint.n_states != kernel.n_states:
        raise KernelError(f"the data have {joint.n_states} states, the kernel {kernel.n_states}")
    if isinstance(joint, PairMixture):
        parts = zip(joint.weights, joint.joints, _kernels_behind(joint, kernel, guide), strict=True)
        return np.asarray(sum(w * GUIDES[guide](j, k, f, heads, allowed) for w, j, k in parts))
    if isinstance(kernel, KernelDistribution):
        raise KernelError(
            "a random kernel needs the joints under each of its kernels (exact_joint of the process), "
            "or labelled rows (kgmi.labelled_scores); pooled counts have lost which row had which kernel"
        )
    if isinstance(joint, PairCounts):
        joint = joint.pair_joint(smoothing)
    return GUIDES[guide](joint, kernel, f, heads, allowed)


def _kernels_behind(joint: PairMixture, kernel: AnyKernel | None, guide: str) -> Sequence[Kernel | None]:
    """The kernel of each joint of a mixture."""
    if kernel is None and guide == "plain":
        return [None] * len(joint.joints)
    if not isinstance(kernel, FiniteKernels) or kernel.weights != tuple(joint.weights):
        raise KernelError("joints of a random kernel are scored with the finite kernel law that they came from")
    return kernel.kernels
