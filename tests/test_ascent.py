"""Gradient ascent: against a plain loop, its stopping rule, its trace and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import ascend, limit
from kgmi.attention import best_objective, candidate_mask, gradient, masked_softmax, objective

from . import brute
from .strategies import seeds
from .test_attention import random_tables

tables = st.builds(lambda *a: random_tables(*a)[0], seeds, st.integers(1, 3), st.integers(2, 5))


def table_of(*rows):
    """One head; each row lists the scores of a child's candidates, the first child first."""
    scores = np.full((1, len(rows) + 1, len(rows) + 1), np.nan)
    for child, row in enumerate(rows, start=1):
        scores[0, child, :child] = row
    return scores


@settings(max_examples=100, deadline=None)
@given(tables, st.integers(0, 60), st.floats(0.1, 20))
def test_ascent_is_a_plain_loop_over_columns(scores, epochs, rate):
    run = ascend(scores, rate=rate, epochs=epochs, stop=0)
    np.testing.assert_allclose(run.attention, brute.ascend(scores, rate, epochs), atol=1e-10)
    assert run.epochs == (epochs if scores.shape[1] > 2 else 0)  # with two nodes nothing can move


@settings(max_examples=100, deadline=None)
@given(tables)
def test_one_step_from_zero_is_rate_times_the_gradient(scores):
    mask = candidate_mask(scores)
    start = masked_softmax(np.zeros(scores.shape), mask)
    expected = masked_softmax(7.0 * gradient(scores, start), mask)
    np.testing.assert_allclose(ascend(scores, rate=7.0, epochs=1, stop=0).attention, expected, atol=1e-13)


@settings(max_examples=100, deadline=None)
@given(tables)
def test_the_objective_rises_at_every_epoch(scores):
    trace = ascend(scores, rate=1.0, epochs=80, stop=0, record_at=range(81)).trace
    assert np.all(np.diff(trace.objective) >= -1e-15)
    assert trace.objective[0] == pytest.approx(objective(scores, brute.ascend(scores, 1.0, 0)))
    assert trace.best_objective == best_objective(scores) >= trace.objective[-1]


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from([0.5, 0.3, 0.1]))
def test_a_column_stops_at_its_first_epoch_above_the_mark_and_stays_there(scores, eps):
    epochs = 300
    run = ascend(scores, rate=20.0, epochs=epochs, stop=eps)
    free = ascend(scores, rate=20.0, epochs=epochs, stop=0, record_at=range(epochs + 1))
    path = free.trace.attention
    for head, child in np.ndindex(run.stopped.shape):
        above = np.flatnonzero(path[:, head, child].max(axis=-1) > 1 - eps)
        if child == 1:
            assert run.stopped[head, child] == 0
        elif above.size:
            assert run.stopped[head, child] == above[0]
            np.testing.assert_allclose(run.attention[head, child], path[above[0], head, child], atol=1e-12)
        else:
            assert run.stopped[head, child] == -1
            last = min(run.epochs, epochs)
            np.testing.assert_allclose(run.attention[head, child], path[last, head, child], atol=1e-12)
    if (run.stopped[:, 1:] >= 0).all():
        assert run.epochs == run.stopped.max()


def test_the_run_ends_with_the_columns_it_waits_for():
    scores = table_of([1.0], [1.0, 0.0], [0.0, 0.01, 0.0])
    quick, slow = np.zeros((1, 4), dtype=bool), np.ones((1, 4), dtype=bool)
    quick[0, 2] = True
    first, second = (ascend(scores, stop=0.1, wait_for=wait, epochs=5_000) for wait in (quick, slow))
    assert first.epochs == first.stopped[0, 2] < second.epochs
    assert first.stopped[0, 3] == -1
    assert second.epochs == second.stopped[0, 3]
    assert ascend(scores, wait_for=np.zeros((1, 4), dtype=bool)).epochs == 0


def test_tied_columns_stay_uniform_and_do_not_hold_up_the_run():
    scores = table_of([1.0], [0.3, 0.3], [0.0, 0.0, 0.0], [0.1, 0.1, 0.5, 0.1])
    run = ascend(scores, stop=0.1, epochs=10_000)
    np.testing.assert_array_equal(run.attention[0, 2, :2], 0.5)
    np.testing.assert_array_equal(run.attention[0, 3, :3], 1 / 3)
    assert list(run.stopped[0]) == [-1, 0, -1, -1, run.epochs]
    assert run.epochs < 10_000


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 2), st.integers(2, 5))
def test_the_limit_is_where_a_long_ascent_goes(seed, n_heads, n_nodes):
    rng = np.random.default_rng(seed)
    scores = np.full((n_heads, n_nodes, n_nodes), np.nan)
    for child in range(1, n_nodes):  # scores 0.3 apart, so that 5,000 epochs are long
        scores[:, child, :child] = rng.permuted(np.tile(0.3 * np.arange(child), (n_heads, 1)), axis=1)
    end, run = limit(scores), ascend(scores, rate=10.0, epochs=5_000, stop=0)
    assert end.trace is None
    np.testing.assert_allclose(run.attention, end.attention, atol=0.02)
    assert np.all(end.attention[:, 1:].max(axis=-1) == 1)
    assert objective(scores, end.attention) == pytest.approx(best_objective(scores))
    assert np.all(end.stopped[:, 1:] == 0)


def test_ties_share_the_attention_of_the_limit():
    end = limit(table_of([1.0], [0.2, 0.2], [-1.0, 0.7, 0.7 + 1e-15]))
    np.testing.assert_array_equal(end.attention[0, 1], [1, 0, 0, 0])
    np.testing.assert_array_equal(end.attention[0, 2], [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(end.attention[0, 3], [0, 0.5, 0.5, 0])
    assert list(end.stopped[0]) == [-1, 0, -1, -1]
