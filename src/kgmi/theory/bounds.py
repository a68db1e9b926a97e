"""Theorems 1 and 2: how long training takes and where attention ends.

Positions in the paper's formulas count from 1; nodes here count from 0, so node ``i`` stands at i + 1.
"""

from __future__ import annotations

import numpy as np

from kgmi.ascent import survey
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.types import Floats, ScoreTable

__all__ = [
    "asymptotic_epochs",
    "column_epochs",
    "information_gap",
    "information_gaps",
    "root_bound",
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


def tau_star(
    *, gap: float, max_information: float, n_heads: int, n_nodes: int, eps_attn: float, rate: float = 10.0
) -> float:
    """Theorem 1: epochs τ* = 4KT I_max log(I_max/ε)/(ε η Δ) + 4KT² log T/(η Δ) until training is near optimal.

    ``gap`` is Δ, ``max_information`` the largest score I_max, ``eps_attn`` ε_attn, ``rate`` η. The bound needs an
    estimation error below Δ/4. A logarithm below zero (I_max < ε_attn) counts as zero.

    As printed it is safe for I_max ≥ 1 only: it does not scale with f as training does, so with weak
    dependence τ* is too few epochs for :func:`suboptimality_bound`. The epochs of Theorem 2 for the last node
    (:func:`column_epochs`) always suffice.
    """
    _check(gap, eps_attn, rate)
    log_term = max(np.log(max_information / eps_attn), 0.0) if max_information > 0 else 0.0
    first = 4 * n_heads * n_nodes * max_information * log_term / (eps_attn * rate * gap)
    return float(first + 4 * n_heads * n_nodes**2 * np.log(n_nodes) / (rate * gap))


def suboptimality_bound(*, max_information: float, eps_attn: float, estimation_error: float) -> float:
    """Theorem 1: from τ* on, L* − L(t) ≤ max(I_max ε_attn, ε)."""
    return max(max_information * eps_attn, estimation_error)


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

    It holds while training has run for as many epochs as a non-root column with gap ``gap`` needs
    (:func:`column_epochs`): a root has no gap of its own. It is safe where it is at most 1/(i−1); with a larger
    error a root with many candidates can concentrate on one of them in that time, past the bound.
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
