"""The paper's guides: f-mutual information, guided by the kernel or not, from the distributions of pairs.

KG-MI:  Ĩ^ℓ_f(S_i; S_j) = Σ_{s, s'} P_j(s) π^ℓ(s'|s) f(r)/r  with  r = P_ij(s', s) / (P_i(s') P_j(s)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.divergence import Divergence, divergence_named
from kgmi.errors import KernelError, SettingError
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, FiniteKernels, Kernel, KernelDistribution, check_kernel
from kgmi.types import Bools, Floats, Ints, ScoreTable

__all__ = [
    "GUIDES",
    "Guide",
    "Pairs",
    "candidate_pairs",
    "dependent_pairs",
    "find_roots",
    "guided_information",
    "mutual_information",
    "scores",
]

Pairs: TypeAlias = PairJoint | PairCounts | PairMixture
"""Anything that tells the distribution of pairs."""
Guide: TypeAlias = Callable[[PairJoint, Kernel | None, Divergence, int, Bools | None], ScoreTable]

_EXACT_ZERO = 1e-12  # mutual information of independent nodes in exact arithmetic


@lru_cache(maxsize=4)
def candidate_pairs(n_nodes: int) -> tuple[Ints, Ints]:
    """Return all (child, candidate) with candidate < child, the causal mask of the attention; read-only."""
    children, candidates = np.tril_indices(n_nodes, k=-1)
    for array in (children, candidates):
        array.setflags(write=False)
    return children, candidates


def mutual_information(joint: PairJoint, divergence: Divergence, allowed: Bools | None = None) -> Floats:
    """Return I_f(S_i; S_j) = D_f(P_ij ‖ P_i ⊗ P_j) as [child, candidate]; NaN off the candidates."""
    children, candidates = candidate_pairs(joint.n_nodes) if allowed is None else np.nonzero(allowed)
    product = joint.marginal[children][:, :, None] * joint.marginal[candidates][:, None, :]
    together = joint.joint[children, candidates]
    flat = (len(children), -1)
    table = np.full((joint.n_nodes, joint.n_nodes), np.nan)
    table[children, candidates] = divergence.between(together.reshape(flat), product.reshape(flat))
    return table


def guided_information(
    joint: PairJoint, kernels: Floats, divergence: Divergence, allowed: Bools | None = None
) -> ScoreTable:
    """Return KG-MI [head, child, candidate]; NaN off the candidates.

    Parameters
    ----------
    joint
        Pair joints, exact or estimated.
    kernels
        Marginal kernels π^ℓ as [head, s, s'].
    divergence
        f. Where a pair of states never occurs, f(r)/r takes its limit, which may be infinite; a state that
        a node never takes adds nothing.
    allowed
        [child, candidate]: the pairs to score; by default all in which the candidate comes first.
    """
    children, candidates = candidate_pairs(joint.n_nodes) if allowed is None else np.nonzero(allowed)
    weight = joint.marginal[candidates][:, None, :]
    product = joint.marginal[children][:, :, None] * weight
    ratio = np.divide(joint.joint[children, candidates], product, out=np.ones(product.shape), where=product > 0)
    gain = divergence.per_ratio(ratio)
    finite = np.isfinite(gain)
    values = np.einsum("lst,pts->lp", kernels, np.where(finite, gain, 0.0) * weight)
    if not finite.all():
        support = (kernels > 0).astype(float)
        for sign in (np.inf, -np.inf):
            hit = np.einsum("lst,pts->lp", support, (gain == sign).astype(float))
            values = np.where(hit > 0, sign, values)
    table = np.full((len(kernels), joint.n_nodes, joint.n_nodes), np.nan)
    table[:, children, candidates] = values
    return table


def stationary(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """Return the paper's KG-MI: the kernel of each head is marginalised under M_π."""
    return guided_information(joint, _needed(kernel, "stationary", n_heads).marginal_kernels, divergence, allowed)


def uniform(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """Return KG-MI with the other parents uniform: what the labelled estimator of appendix C-B estimates."""
    return guided_information(
        joint, _needed(kernel, "uniform", n_heads).uniform_marginal_kernels, divergence, allowed
    )


def plain(
    joint: PairJoint, kernel: Kernel | None, divergence: Divergence, n_heads: int, allowed: Bools | None = None
) -> ScoreTable:
    """Return plain f-MI for every head: all heads share one objective and collapse onto one parent."""
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
    """Return scores [head, child, candidate]; NaN where the candidate does not come before the child.

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
    """Return the kernel of each joint of a mixture."""
    if kernel is None and guide == "plain":
        return [None] * len(joint.joints)
    if not isinstance(kernel, FiniteKernels) or kernel.weights != tuple(joint.weights):
        raise KernelError("joints of a random kernel are scored with the finite kernel law that they came from")
    return kernel.kernels


@lru_cache(maxsize=256)
def _quantile(degrees: int, level: float) -> float:
    """Return where the tail of the chi-square law has mass ``level``."""
    from scipy.special import chdtri  # scipy.stats is slow to load

    return float(chdtri(degrees, level))


def find_roots(
    joint: PairJoint | PairMixture, level: float = 0.01, allowed: Bools | None = None
) -> tuple[int, ...]:
    """Return the nodes that are independent of every earlier node, or of all that are ``allowed`` as parents.

    Exact joints: no mutual information. Counted joints: no candidate passes the G-test of independence at
    ``level``, divided by the number of pairs of nodes tested; states that a node never takes do not count.
    Joints of a random kernel: independent under each of its kernels, since the average of independent
    distributions may be dependent.
    """
    if isinstance(joint, PairMixture):
        return tuple(sorted(set.intersection(*({*find_roots(one, level, allowed)} for one in joint.joints))))
    if not 0 < level < 1:
        raise SettingError(f"the level of the root test must lie between 0 and 1, got {level}")
    children, candidates = candidate_pairs(joint.n_nodes) if allowed is None else np.nonzero(allowed)
    dependent = set(children[dependent_pairs(joint, children, candidates, level)].tolist())
    return tuple(node for node in range(joint.n_nodes) if node not in dependent)


def dependent_pairs(joint: PairJoint, children: Ints, candidates: Ints, level: float = 0.01) -> Bools:
    """Return [pair] whether the two nodes depend on each other; the level is divided by the number of pairs."""
    information = _kl_information(joint.joint[children, candidates], joint.marginal, children, candidates)
    bound: float | Floats = _EXACT_ZERO
    if joint.n_rows is not None:
        free = (joint.marginal > 0).sum(axis=1) - 1
        bound = _bounds(np.maximum(free[children] * free[candidates], 1), level) / (2 * joint.n_rows)
    return np.asarray(information > bound)


def _kl_information(together: Floats, marginal: Floats, children: Ints, candidates: Ints) -> Floats:
    """Return the mutual information of every pair, with 0 log 0 = 0; the general f-MI takes three times as long."""
    product = marginal[children][:, :, None] * marginal[candidates][:, None, :]
    ratio = np.divide(together, product, out=np.ones(product.shape), where=together > 0)
    return np.asarray((together * np.log(ratio)).sum(axis=(1, 2)))


def _bounds(degrees: Ints, level: float) -> Floats:
    """Return the quantile of the G statistic of every pair at ``level`` over their number; few degrees differ."""
    out = np.empty(degrees.shape)
    for degree in set(degrees.tolist()):
        out[degrees == degree] = _quantile(degree, level / max(len(degrees), 1))
    return out
