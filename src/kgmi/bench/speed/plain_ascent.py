"""Gradient ascent as one would write the paper's algorithm in NumPy: all columns at once, every epoch."""

from __future__ import annotations

import numpy as np

from kgmi.types import Attention, Bools, ScoreTable

__all__ = ["plain_ascent"]


def plain_ascent(
    scores: ScoreTable, rate: float, epochs: int, stop: float, wait_for: Bools
) -> tuple[Attention, int]:
    """Attention [head, child, candidate] after the ascent from Q = 0, and the epochs that it took.

    A column is left as it is once its largest attention exceeds 1 − ``stop`` (never, for 0), and all ends when
    those of ``wait_for`` are left.
    """
    n_heads, n_nodes, _ = scores.shape
    allowed = ~np.isnan(scores)
    information = np.where(allowed, scores, 0.0)
    weights = np.where(allowed, 0.0, -np.inf)  # Q, with its mask
    weights[~allowed.any(axis=-1)] = 0.0  # a child without candidates has nothing to learn: no NaN from it
    moving = np.ones((n_heads, n_nodes), dtype=bool)
    attention = _softmax(weights)
    for epoch in range(1, epochs + 1):
        mean = (attention * information).sum(axis=-1, keepdims=True)
        gradient = attention * (information - mean) / (n_heads * n_nodes)
        weights += np.where(moving[..., None], rate * gradient, 0.0)
        attention = _softmax(weights)
        if stop > 0:
            moving &= attention.max(axis=-1) <= 1.0 - stop
            if not (moving & wait_for).any():
                return np.where(allowed, attention, 0.0), epoch
    return np.where(allowed, attention, 0.0), epochs


def _softmax(weights: Attention) -> Attention:
    powers = np.exp(weights - weights.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
