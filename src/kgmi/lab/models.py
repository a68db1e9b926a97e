"""Attention models that can be trained: the paper's layer, the disentangled transformer, and a small decoder.

A model is a plain ``torch.nn.Module``. It takes tokens [row, position] and returns an :class:`Output`. ``train``
runs many copies of a model side by side with ``torch.func.vmap``, so a model needs no axis for copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kgmi.errors import SettingError
from kgmi.types import Floats

__all__ = ["Decoder", "DisentangledTransformer", "Output", "PaperLayer", "masked_softmax"]

_MASKED = -1e30  # score of a masked key; finite, so that a query without keys gives no NaN


class Output(NamedTuple):
    """What a model computes from tokens [row, position].

    Attributes
    ----------
    logits
        [row, query, state]; the last axis is empty where the model does not predict.
    attention
        One tensor [row, head, query, key] for each layer.
    scores
        The same before the softmax.
    """

    logits: Tensor
    attention: tuple[Tensor, ...]
    scores: tuple[Tensor, ...]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the allowed keys (last axis); zeros where a query has none."""
    return torch.softmax(scores.masked_fill(~mask, _MASKED), dim=-1) * mask


def embed(tokens: Tensor, n_states: int, like: Tensor) -> Tensor:
    """E = [one-hot state; one-hot position], as [row, position, feature], in the number format of ``like``."""
    states = functional.one_hot(tokens, n_states).to(like.dtype)
    positions = torch.eye(tokens.shape[1], dtype=states.dtype, device=states.device)
    return torch.cat([states, positions.expand(len(tokens), -1, -1)], dim=-1)


class PaperLayer(nn.Module):
    """The paper's K-head attention layer on one-hot states and positions.

    Parameters
    ----------
    n_states, n_nodes, n_heads
        S, T and K.
    full
        Train all of W_KQ. By default only its position block Q is free, as in the paper.
    readout
        Predict states: logits = Σ_ℓ W_V^ℓ E attn^ℓ with W_V free. By default W_V E = I, and the output of a head is
        its attention.
    shift
        0: query i is the child i itself, as in the paper. 1: query i predicts token i + 1. A layer that is ``full``
        and predicts needs 1, or the query would see the token that is asked for.
    init
        Scale of random initial weights; 0 starts from zero, as in the paper.
    weights
        Initial position block Q [head, child, candidate].
    """

    def __init__(
        self,
        n_states: int,
        n_nodes: int,
        n_heads: int,
        *,
        full: bool = False,
        readout: bool = False,
        shift: int = 0,
        init: float = 0.0,
        weights: Floats | None = None,
    ) -> None:
        super().__init__()
        if full and readout and not shift:
            raise SettingError("a full W_KQ with a readout needs shift=1: query i would see the token it predicts")
        self.n_states, self.shift, self.position_only = n_states, shift if full else 0, not full
        size = n_states + n_nodes
        start = init * torch.randn(n_heads, *([size, size] if full else [n_nodes, n_nodes]))
        if weights is not None:
            start, given = start.double(), torch.as_tensor(np.array(weights, dtype=np.float64))
            if given.shape != (n_heads, n_nodes, n_nodes):
                raise SettingError(f"weights must be [head, child, candidate] = {(n_heads, n_nodes, n_nodes)}")
            start[:, -n_nodes:, -n_nodes:] = given
        self.weights = nn.Parameter(start)  # [head, query feature, key feature], the transpose of the paper's W_KQ
        if readout:
            self.values = nn.Parameter(init * torch.randn(n_heads, n_states, size))
        self.readout = readout
        self.register_buffer("mask", torch.ones(n_nodes, n_nodes, dtype=torch.bool).tril(self.shift - 1))

    def forward(self, tokens: Tensor) -> Output:
        """Attend; the rows share their attention unless W_KQ is full."""
        n_rows, n_nodes = tokens.shape
        embedded = embed(tokens, self.n_states, self.weights)
        if self.position_only:
            scores = self.weights.expand(n_rows, -1, -1, -1)
        else:
            scores = torch.einsum("bix,hxy,bjy->bhij", embedded, self.weights, embedded)
        attention = masked_softmax(scores, self.mask)
        logits = self.weights.new_zeros(n_rows, n_nodes, 0)
        if self.readout:
            logits = torch.einsum("hsx,bhij,bjx->bis", self.values, attention, embedded)
        return Output(logits, (attention,), (scores,))


class DisentangledTransformer(nn.Module):
    """The attention-only transformer of Nichani, Damian and Lee (2024), which appends the output of every head.

    Parameters
    ----------
    n_states, n_nodes
        Number of states, and length of the input.
    heads
        Number of heads of each layer.
    init
        Scale of the initial attention weights; the readout starts from zero.
    last_only
        Compute the last layer for the last position only, where the prediction is read.
    """

    shift = 1
    position_only = False

    def __init__(
        self,
        n_states: int,
        n_nodes: int,
        heads: Sequence[int] = (1, 1),
        *,
        init: float = 0.0,
        last_only: bool = True,
    ) -> None:
        super().__init__()
        self.n_states, self.last_only = n_states, last_only and len(heads) > 1
        size = n_states + n_nodes
        self.weights = nn.ParameterList()
        for n_heads in heads:
            self.weights.append(nn.Parameter(init * torch.randn(n_heads, size, size)))
            size *= 1 + n_heads
        self.readout = nn.Parameter(torch.zeros(n_states, size))
        self.register_buffer("mask", torch.ones(n_nodes, n_nodes, dtype=torch.bool).tril())

    def forward(self, tokens: Tensor) -> Output:
        """Attend layer after layer; every head appends to the features of a position."""
        hidden = embed(tokens, self.n_states, self.readout)
        attention, scores = [], []
        for layer, weights in enumerate(self.weights):
            last = self.last_only and layer == len(self.weights) - 1
            queries = hidden[:, -1:] if last else hidden
            score = torch.einsum("bix,hxy,bjy->bhij", queries, weights, hidden)
            attended = masked_softmax(score, self.mask[-1:] if last else self.mask)
            mixed = torch.einsum("bhij,bjx->bihx", attended, hidden).flatten(2)
            hidden = torch.cat([queries, mixed], dim=-1)
            attention.append(attended)
            scores.append(score)
        return Output(hidden @ self.readout.T, tuple(attention), tuple(scores))


class Decoder(nn.Module):
    """A standard small transformer: learned embeddings, pre-norm attention and MLP blocks, a linear readout.

    Parameters
    ----------
    n_states, n_nodes
        Number of states, and length of the input.
    n_layers, n_heads, width
        Size; ``width`` must be a multiple of ``n_heads``.
    causal
        False: every position sees all positions. This is for masked tokens, which have the state ``n_states``.
    init
        Scale of the initial weights.
    """

    position_only = False

    def __init__(
        self,
        n_states: int,
        n_nodes: int,
        *,
        n_layers: int = 1,
        n_heads: int = 2,
        width: int = 64,
        causal: bool = True,
        init: float = 0.1,
    ) -> None:
        super().__init__()
        if width % n_heads:
            raise SettingError(f"width {width} must be a multiple of the number of heads, {n_heads}")
        self.shift = int(causal)
        self.tokens = nn.Parameter(init * torch.randn(n_states + 1 - self.shift, width))
        self.positions = nn.Parameter(init * torch.randn(n_nodes, width))
        self.blocks = nn.ModuleList(_Block(width, n_heads, init) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)
        self.readout = nn.Linear(width, n_states)
        mask = torch.ones(n_nodes, n_nodes, dtype=torch.bool)
        self.register_buffer("mask", mask.tril() if causal else mask)

    def forward(self, tokens: Tensor) -> Output:
        """Predict at every position."""
        hidden = functional.embedding(tokens, self.tokens) + self.positions
        attention, scores = [], []
        for block in self.blocks:
            hidden, attended, score = block(hidden, self.mask)
            attention.append(attended)
            scores.append(score)
        return Output(self.readout(self.norm(hidden)), tuple(attention), tuple(scores))


class _Block(nn.Module):
    """Attention and an MLP, each added to the features of a position."""

    def __init__(self, width: int, n_heads: int, init: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        for linear in (self.mix, self.out, self.up, self.down):
            nn.init.normal_(linear.weight, std=init)
            nn.init.zeros_(linear.bias)

    def forward(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, length, width = hidden.shape
        query, key, value = (
            part.view(rows, length, self.n_heads, -1).transpose(1, 2)
            for part in self.mix(self.first(hidden)).chunk(3, dim=-1)
        )
        scores = query @ key.transpose(-1, -2) * (width // self.n_heads) ** -0.5
        attention = masked_softmax(scores, mask)
        hidden = hidden + self.out((attention @ value).transpose(1, 2).reshape(rows, length, width))
        return hidden + self.down(functional.gelu(self.up(self.second(hidden)))), attention, scores
