"""Theorems 1 and 2: the optimum, how long training takes, and where attention ends; as printed and repaired.

Positions in the paper's formulas count from 1; nodes here count from 0, parents first, so ``i`` stands at i + 1.
"""

from __future__ import annotations

import numpy as np

from kgmi.attention import candidate_mask, survey
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.types import Attention, Floats, ScoreTable

__all__ = [
    "asymptotic_epochs",
    "column_epochs",
    "information_gap",
    "information_gaps",
    "paper_optimum",
    "repaired_suboptimality_bound",
    "root_bound",
    "suboptimality",
    "suboptimality_bound",
    "tau_star",
]

_LEAST = 1e-100  # of ε_attn and η, so that no bound overflows


def information_gaps(scores: ScoreTable) -> Floats:
    """Δ^ℓ(i) as [head, child]: best minus second best score; inf with one candidate, NaN with none."""
    return survey(scores).gaps


def information_gap(scores: ScoreTable, dag: Dag) -> float:
    """Δ: the smallest Δ^ℓ(i) over heads and non-root nodes; inf when there is nothing to choose."""
    children = [i for i, parents in enumerate(dag.parents) if parents]
    return float(information_gaps(scores)[:, children].min(initial=np.inf))


def paper_optimum(scores: ScoreTable, dag: Dag) -> float:
    """L* as printed: 1/(KT) Σ over heads and non-root nodes of the score of the best *parent*.

    It is the maximum of the objective only where the columns of roots score 0 and the best candidate of every head
    is a parent. The maximum itself is :func:`kgmi.attention.best_objective`, which sums over all columns.
    """
    n_heads, n_nodes, _ = scores.shape
    best = [
        scores[:, child, list(parents)].max(axis=-1).sum() for child, parents in enumerate(dag.parents) if parents
    ]
    return float(sum(best) / (n_heads * n_nodes))


def suboptimality(scores: ScoreTable, attention: Attention, dag: Dag) -> float:
    """Loss of the non-root columns: 1/(KT) Σ (best score − Σ_j attn_j score_j), which is never negative."""
    n_heads, n_nodes, _ = scores.shape
    children = [child for child, parents in enumerate(dag.parents) if parents]
    known = np.where(candidate_mask(scores), scores, -np.inf)[:, children]
    best = known.max(axis=-1, keepdims=True)
    lost = np.where(np.isfinite(known), best - known, 0.0) * attention[:, children]
    return float(lost.sum() / (n_heads * n_nodes))


def tau_star(
    *, gap: float, max_information: float, n_heads: int, n_nodes: int, eps_attn: float, rate: float = 10.0
) -> float:
    """Theorem 1 as printed: epochs τ* = 4KT I_max log(I_max/ε)/(ε η Δ) + 4KT² log T/(η Δ).

    ``gap`` is Δ, ``max_information`` the largest score I_max, ``eps_attn`` ε_attn, ``rate`` η. The theorem asks for
    an estimation error below Δ/4. A logarithm below zero (I_max < ε_attn) counts as zero.

    These epochs do not ensure :func:`suboptimality_bound`: with I_max < 1 they are too few, and with negative
    scores the bound itself is too small. :func:`repaired_suboptimality_bound` holds after the epochs of theorem 2.
    """
    _check(gap, eps_attn, rate)
    log_term = max(np.log(max_information / eps_attn), 0.0) if max_information > 0 else 0.0
    first = 4 * n_heads * n_nodes * max_information * log_term / (eps_attn * rate * gap)
    return float(first + 4 * n_heads * n_nodes**2 * np.log(n_nodes) / (rate * gap))


def suboptimality_bound(*, max_information: float, eps_attn: float, estimation_error: float) -> float:
    """Theorem 1 as printed: from τ* on, L* − L(t) ≤ max(I_max ε_attn, ε). It can fail; see the ledger."""
    return max(max_information * eps_attn, estimation_error)


def repaired_suboptimality_bound(scores: ScoreTable, dag: Dag, eps_attn: float) -> float:
    """Theorem 1 repaired: :func:`suboptimality` is at most (n/T) D ε_attn after the epochs of theorem 2.

    ``scores`` are the true scores. The heads may be trained on estimates that are off by less than Δ/4.

    n is the number of nodes with parents, D the largest range (best minus worst score) of their columns, and the
    epochs are those of :func:`column_epochs` for the last node with the gap Δ.

    Proof: by theorem 2 every column of a non-root node has at most ε_attn of its attention off its best candidate.
    What a column loses is Σ_j attn_j (best − score_j), at most D times that attention. There are K n such columns,
    and L divides by K T. The scores may be negative; the estimation error enters through ε < Δ/4 only.
    """
    children = [child for child, parents in enumerate(dag.parents) if parents]
    columns = scores[:, children]
    ranges = np.nanmax(columns, axis=-1) - np.nanmin(columns, axis=-1) if children else np.zeros(1)
    return float(len(children) / dag.n_nodes * ranges.max() * eps_attn)


def column_epochs(
    node: int, *, gap: float, n_heads: int, n_nodes: int, eps_attn: float, rate: float = 10.0
) -> float:
    """Theorem 2, non-root: epochs τ^(ℓ,i) after which head ℓ has over 1 − ε_attn of its attention on the best j.

    τ = 4KT log(1/ε)/(ε η Δ^ℓ(i)) + 4KT i log i/(η Δ^ℓ(i)), with ``gap`` = Δ^ℓ(i) and i = ``node`` + 1.
    """
    _check(gap, eps_attn, rate)
    return float(4 * n_heads * n_nodes * _growth(node, eps_attn) / (rate * gap))


def asymptotic_epochs(scores: ScoreTable, *, eps_attn: float, rate: float = 10.0) -> Floats:
    """Epochs [head, child] at which a column passes 1 − ε_attn on its best candidate, to first order in ε_attn.

    Not in the paper. Near the end a column with n candidates, the others Δ_j below the best, loses the
    attention δ_j = KT/(n η Δ_j t) of each of them, so that t = KT/(n η ε) Σ_j 1/Δ_j: the *sum* of 1/Δ_j counts, not
    the smallest Δ_j alone. 0 with one candidate, NaN with none, inf where the best is tied.

    With r = η/(KT), the weights move by dQ_j/dt = r δ_j (s_j − mean), hence to first order in δ
    d(1/δ_j)/dt = r (Δ_j + Σ_k δ_k Δ_k / δ_j), which δ_j = c_j/(r t) solves with c_j Δ_j = 1 − Σ_k c_k Δ_k = 1/n.
    """
    _check(1.0, eps_attn, rate)
    n_heads, n_nodes, _ = scores.shape
    n_candidates = (~np.isnan(scores)).sum(axis=-1)
    falling = -np.sort(-np.where(np.isnan(scores), -np.inf, scores), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):  # no candidate: NaN; a tie: inf
        inverse = (1.0 / (falling[..., :1] - falling[..., 1:])).sum(axis=-1)
    return np.asarray(n_heads * n_nodes * inverse / (rate * eps_attn * np.maximum(n_candidates, 1)))


def root_bound(node: int, *, gap: float, estimation_error: float, eps_attn: float) -> float:
    """Theorem 2, root: |attn − 1/(i−1)| ≤ 64 (log(1/ε)/ε + i log i) ε_est / ((i−1)² Δ), i = ``node`` + 1.

    The paper states it for as many epochs as a non-root column with gap ``gap`` needs (:func:`column_epochs`): a
    root has no gap of its own. Its proof takes w = (i − 1) times the bound to be below 1, and the scores of a root
    to be 0. It holds under both conditions; a root that is drawn together with an earlier one has other scores, and
    with a larger error a root with many candidates can concentrate on one of them in that time, past the bound.
    """
    _check(gap, eps_attn, 1.0)
    return float(64 * _growth(node, eps_attn) * estimation_error / (node**2 * gap))


def _growth(node: int, eps_attn: float) -> float:
    if node < 1:
        raise SettingError("the first node has no candidates, so there is nothing to bound")
    position = node + 1
    return float(np.log(1 / eps_attn) / eps_attn + position * np.log(position))


def _check(gap: float, eps_attn: float, rate: float) -> None:
    if not gap > 0:
        raise SettingError(f"the information gap must be positive for the bound to mean anything, got {gap}")
    if not _LEAST <= eps_attn < 1:
        raise SettingError(f"eps_attn must be at least {_LEAST:g} and below 1, got {eps_attn}")
    if not _LEAST <= rate <= 1 / _LEAST:
        raise SettingError(f"the rate η must be from {_LEAST:g} to {1 / _LEAST:g}, got {rate}")
