"""The full embedded model of the paper in NumPy: the oracle of ``kgmi.attention`` and of ``kgmi.lab.PaperLayer``.

Embeddings are one-hot states above one-hot positions; a head is W_V E softmax(Mask((W_K E)ᵀ W_Q E)). Training
only moves the position block Q^ℓ of W_K^ᵀ W_Q, and W_V E is the identity, so the head's output *is* its
attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.errors import SettingError
from kgmi.types import Codes, Floats

__all__ = ["EmbeddedHead", "embed"]


def embed(row: Codes, n_states: int) -> Floats:
    """E = [one-hot state; one-hot position] ∈ R^((S+T)×T) of one sequence."""
    n_nodes = len(row)
    states = (np.arange(n_states)[:, None] == np.asarray(row)[None, :]).astype(float)
    return np.concatenate([states, np.eye(n_nodes)])


@dataclass(frozen=True, eq=False)
class EmbeddedHead:
    """One attention head with its full matrices, all [feature, feature]."""

    w_key: Floats
    w_query: Floats
    w_value: Floats

    @classmethod
    def from_positions(cls, weights: Floats, n_states: int) -> EmbeddedHead:
        """The paper's reparameterisation: W_K^ᵀ W_Q is zero but for the position block Q.

        ``weights`` is [child, candidate]; the paper's Q^ℓ[j, i] is its transpose.
        """
        n_nodes = len(weights)
        if weights.shape != (n_nodes, n_nodes):
            raise SettingError(f"position weights must be T × T, got {weights.shape}")
        size = n_states + n_nodes
        query = np.zeros((size, size))
        query[n_states:, n_states:] = weights.T
        value = np.concatenate([np.zeros((n_nodes, n_states)), np.eye(n_nodes)], axis=1)
        return cls(w_key=np.eye(size), w_query=query, w_value=value)

    def __call__(self, embedded: Floats) -> Floats:
        """attn[j, i] of one embedded sequence: child i attends to candidate j < i; column 0 is zero."""
        logits = (self.w_key @ embedded).T @ (self.w_query @ embedded)
        masked = np.where(np.triu(np.ones(logits.shape, dtype=bool), k=1), logits, -np.inf)
        top = masked.max(axis=0, keepdims=True)
        powers = np.exp(masked - np.where(np.isfinite(top), top, 0.0))
        total = powers.sum(axis=0, keepdims=True)
        weights = np.divide(powers, total, out=np.zeros(powers.shape), where=total > 0)
        return np.asarray(self.w_value @ embedded @ weights)
