"""The reparameterised attention: masked softmax, objective and its written-out gradient."""

from __future__ import annotations

import numpy as np

from kgmi.types import Attention, Bools, Floats, ScoreTable

__all__ = ["best_objective", "candidate_mask", "gradient", "masked_softmax", "objective"]


def candidate_mask(scores: ScoreTable) -> Bools:
    """Which (head, child, candidate) are allowed: where the score table has a number."""
    return ~np.isnan(scores)


def masked_softmax(weights: Floats, mask: Bools) -> Attention:
    """attn^ℓ = softmax(Mask(Q^ℓ)) over the candidates (last axis); a child without candidates gets zeros."""
    logits = np.where(mask, weights, -np.inf)
    top = logits.max(axis=-1, keepdims=True)
    powers = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(powers, total, out=np.zeros(powers.shape), where=total > 0))


def objective(scores: ScoreTable, attention: Attention) -> float:
    """L = 1/(KT) Σ_ℓ Σ_{i,j} Ĩ^ℓ(S_i; S_j) attn^ℓ[j, i]."""
    n_heads, n_nodes, _ = scores.shape
    known = np.where(candidate_mask(scores), scores, 0.0)
    return float((known * attention).sum() / (n_heads * n_nodes))


def best_objective(scores: ScoreTable) -> float:
    """Maximum of the objective: every column, those of roots too, has all its attention on its best candidate.

    The paper's L* sums over non-root nodes and their best parent only: :func:`kgmi.theory.paper_optimum`.
    """
    n_heads, n_nodes, _ = scores.shape
    best = np.where(candidate_mask(scores), scores, -np.inf).max(axis=-1)
    return float(np.where(np.isfinite(best), best, 0.0).sum() / (n_heads * n_nodes))


def gradient(scores: ScoreTable, attention: Attention) -> Floats:
    """∂L/∂Q^ℓ[j, i] = 1/(KT) attn[j, i] (Ĩ^ℓ(i; j) − Σ_k attn[k, i] Ĩ^ℓ(i; k)), as [head, child, candidate]."""
    n_heads, n_nodes, _ = scores.shape
    known = np.where(candidate_mask(scores), scores, 0.0)
    mean = (attention * known).sum(axis=-1, keepdims=True)
    return np.asarray(attention * (known - mean) / (n_heads * n_nodes))
