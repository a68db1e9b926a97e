"""The full embedded model agrees with the reparameterised attention, for any weights and any sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.attention import candidate_mask, gradient, masked_softmax, objective
from kgmi.errors import SettingError

from .embedded import EmbeddedHead, embed
from .strategies import seeds
from .test_attention import random_tables

cases = st.tuples(seeds, st.integers(1, 2), st.integers(1, 5), st.integers(2, 4))


def embedded_attention(weights, row, n_states):
    """[head, j, i] through the embedded model."""
    return np.stack([EmbeddedHead.from_positions(block, n_states)(embed(row, n_states)) for block in weights])


def test_embedding_by_hand():
    expected = [[0, 1, 0], [0, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(embed(np.array([2, 0, 2]), 3), expected)


@settings(max_examples=150, deadline=None)
@given(cases)
def test_a_head_is_the_transposed_masked_softmax_whatever_the_sequence(case):
    seed, n_heads, n_nodes, n_states = case
    scores, weights = random_tables(seed, n_heads, n_nodes)
    row = np.random.default_rng(seed).integers(n_states, size=n_nodes)
    found = embedded_attention(weights, row, n_states)
    expected = masked_softmax(weights, candidate_mask(scores)).transpose(0, 2, 1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert not found[:, :, 0].any()


@settings(max_examples=100, deadline=None)
@given(cases)
def test_objective_and_gradient_through_the_embedded_model(case):
    seed, n_heads, n_nodes, n_states = case
    scores, weights = random_tables(seed, n_heads, n_nodes)
    row = np.random.default_rng(seed).integers(n_states, size=n_nodes)
    known = np.nan_to_num(scores).transpose(0, 2, 1)  # [head, j, i], as the paper writes it

    def loss(moved):
        return (known * embedded_attention(moved, row, n_states)).sum() / (n_heads * n_nodes)

    attention = masked_softmax(weights, candidate_mask(scores))
    assert loss(weights) == pytest.approx(objective(scores, attention), abs=1e-12)
    written_out, step = gradient(scores, attention), 1e-5
    for index in np.ndindex(scores.shape):
        shift = np.zeros(scores.shape)
        shift[index] = step
        difference = (loss(weights + shift) - loss(weights - shift)) / (2 * step)
        assert written_out[index] == pytest.approx(difference, abs=1e-9)


def test_only_the_position_block_of_the_key_query_product_is_free():
    weights = np.arange(9.0).reshape(3, 3)
    head = EmbeddedHead.from_positions(weights, 2)
    product = head.w_key.T @ head.w_query
    np.testing.assert_array_equal(product[2:, 2:], weights.T)
    product[2:, 2:] = 0
    assert not product.any()
    np.testing.assert_array_equal(head.w_value @ embed(np.array([1, 0, 1]), 2), np.eye(3))


def test_position_weights_must_be_square():
    with pytest.raises(SettingError, match="must be T × T, got"):
        EmbeddedHead.from_positions(np.zeros((2, 3)), 2)
