"""f-mutual information and kernel-guided mutual information of all pairs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kgmi.divergence import Divergence
from kgmi.joint import PairJoint
from kgmi.types import Bools, Floats, Ints, ScoreTable

__all__ = ["candidate_pairs", "guided_information", "mutual_information"]


@lru_cache(maxsize=4)
def candidate_pairs(n_nodes: int) -> tuple[Ints, Ints]:
    """All (child, candidate) with candidate < child: the causal mask of the attention. Read-only, as it is kept."""
    children, candidates = np.tril_indices(n_nodes, k=-1)
    for array in (children, candidates):
        array.setflags(write=False)
    return children, candidates


def mutual_information(joint: PairJoint, divergence: Divergence, allowed: Bools | None = None) -> Floats:
    """I_f(S_i; S_j) = D_f(P_ij ‖ P_i ⊗ P_j) as [child, candidate]; NaN off the candidates."""
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
    """KG-MI Ĩ^ℓ_f(S_i; S_j) = Σ P_j(s) π^ℓ(s'|s) f(r)/r, with r = P_ij(s', s) / (P_i(s') P_j(s)).

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
