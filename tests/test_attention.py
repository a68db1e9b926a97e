"""Masked softmax, objective and gradient of the reparameterised attention."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.attention import best_objective, candidate_mask, gradient, masked_softmax, objective

from .strategies import seeds


def random_tables(seed, n_heads, n_nodes):
    """Scores with the causal mask, and weights with junk where the mask is."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_heads, n_nodes, n_nodes))
    scores[:, *np.triu_indices(n_nodes)] = np.nan
    return scores, rng.normal(scale=2, size=scores.shape)


tables = st.builds(random_tables, seeds, st.integers(1, 3), st.integers(1, 5))


@settings(max_examples=150, deadline=None)
@given(tables)
def test_masked_softmax_is_the_softmax_over_earlier_nodes(both):
    scores, weights = both
    attention = masked_softmax(weights, candidate_mask(scores))
    n_heads, n_nodes, _ = scores.shape
    for head in range(n_heads):
        for child in range(n_nodes):
            total = sum(math.exp(weights[head, child, k]) for k in range(child))
            for j in range(n_nodes):
                expected = math.exp(weights[head, child, j]) / total if j < child else 0.0
                assert attention[head, child, j] == pytest.approx(expected, abs=1e-14)


def test_softmax_survives_enormous_weights():
    mask = np.array([[True, True, True], [True, True, False]])
    attention = masked_softmax(np.array([[1e4, -1e4, 1e4], [-1e5, -1e5, 1e9]]), mask)
    np.testing.assert_allclose(attention, [[0.5, 0, 0.5], [0.5, 0.5, 0]])


def test_a_child_without_candidates_gets_zeros():
    assert not masked_softmax(np.ones((2, 1, 3)), np.zeros((2, 1, 3), dtype=bool)).any()


def test_objective_by_hand():
    scores = np.full((1, 3, 3), np.nan)
    scores[0, 1, 0], scores[0, 2, 0], scores[0, 2, 1] = 0.2, 0.5, -0.1
    attention = np.zeros((1, 3, 3))
    attention[0, 1, 0], attention[0, 2, 0], attention[0, 2, 1] = 1.0, 0.25, 0.75
    assert objective(scores, attention) == pytest.approx((0.2 + 0.125 - 0.075) / 3)
    assert best_objective(scores) == pytest.approx((0.2 + 0.5) / 3)
    two = np.concatenate([scores, scores])
    assert objective(two, np.concatenate([attention, attention])) == pytest.approx(0.25 / 3)
    assert best_objective(two) == pytest.approx(0.7 / 3)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_no_attention_beats_the_best_objective(both):
    scores, weights = both
    mask = candidate_mask(scores)
    assert objective(scores, masked_softmax(weights, mask)) <= best_objective(scores) + 1e-12
    sharp = masked_softmax(1e6 * np.where(mask, scores, 0.0), mask)
    assert objective(scores, sharp) == pytest.approx(best_objective(scores), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_gradient_is_the_finite_difference_of_the_objective(both):
    scores, weights = both
    mask, step = candidate_mask(scores), 1e-5
    found = gradient(scores, masked_softmax(weights, mask))
    for index in np.ndindex(scores.shape):
        values = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[index] += sign * step
            values.append(objective(scores, masked_softmax(moved, mask)))
        assert found[index] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-9)
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-14)
