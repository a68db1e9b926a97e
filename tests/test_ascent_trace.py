"""What an ascent keeps, leaves alone and refuses."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import ascend, limit
from kgmi.attention import objective
from kgmi.errors import DataError, SettingError

from .test_attention import random_tables


def test_the_trace_holds_the_epochs_that_were_asked_for():
    scores, _ = random_tables(0, 2, 4)
    trace = ascend(scores, rate=1.0, epochs=50, stop=0, record_at=[3, 10, 99]).trace
    assert list(trace.epochs) == [0, 3, 10, 50]
    assert trace.attention.shape == (4, 2, 4, 4)
    assert trace.objective.shape == (4,)
    for epoch, attention, value in zip(trace.epochs, trace.attention, trace.objective, strict=True):
        expected = ascend(scores, rate=1.0, epochs=int(epoch), stop=0).attention
        np.testing.assert_allclose(attention, expected, rtol=0, atol=1e-14)  # where to look changes the last bit
        assert value == pytest.approx(objective(scores, expected), abs=1e-14)


def test_by_default_about_sixty_epochs_are_kept_from_first_to_last():
    scores, _ = random_tables(1, 1, 4)
    run = ascend(scores, rate=0.1, epochs=2_000, stop=0)
    assert run.trace.epochs[0] == 0
    assert run.trace.epochs[-1] == 2_000
    assert 40 < len(run.trace.epochs) <= 61
    assert np.all(np.diff(run.trace.epochs) > 0)
    np.testing.assert_array_equal(run.trace.attention[-1], run.attention)


def test_the_trace_of_a_run_that_ends_early_ends_with_it():
    scores, _ = random_tables(2, 1, 4)
    run = ascend(scores, rate=20.0, epochs=100_000, stop=0.1, record_at=[1])
    assert list(run.trace.epochs) == [0, 1, run.epochs]
    np.testing.assert_array_equal(run.trace.attention[-1], run.attention)


def test_attention_is_left_out_of_a_trace_that_would_be_too_large(monkeypatch):
    scores, _ = random_tables(3, 1, 4)
    monkeypatch.setattr("kgmi.ascent.trace._TRACE_BYTES", 100)
    trace = ascend(scores, epochs=5, stop=0).trace
    assert trace.attention is None
    assert len(trace.objective) == len(trace.epochs) == 6


def test_zero_epochs_leave_attention_uniform():
    scores, _ = random_tables(4, 1, 4)
    run = ascend(scores, epochs=0)
    np.testing.assert_allclose(run.attention[0, 3], [1 / 3, 1 / 3, 1 / 3, 0])
    assert list(run.trace.epochs) == [0]


def test_inputs_are_not_modified():
    scores, _ = random_tables(5, 2, 4)
    before, wait = scores.copy(), np.ones((2, 4), dtype=bool)
    ascend(scores, epochs=20, wait_for=wait)
    limit(scores)
    np.testing.assert_array_equal(scores, before)
    assert wait.all()


def test_progress_is_called_now_and_then():
    scores, _ = random_tables(6, 1, 4)
    seen = []
    ascend(scores, rate=0.01, epochs=2_500, stop=0, progress=lambda *a: seen.append(a))
    reached = [epoch for epoch, _ in seen]
    assert reached == sorted(set(reached))
    assert reached[-1] == 2_500
    assert {of for _, of in seen} == {2_500}


@pytest.mark.parametrize("solve", [ascend, limit])
def test_an_infinite_score_is_an_error_that_names_it(solve):
    scores, _ = random_tables(7, 2, 4)
    scores[1, 3, 2] = -np.inf
    with pytest.raises(DataError, match=r"head 2, child 3, candidate 2 is infinite.*smoothing > 0"):
        solve(scores)


@pytest.mark.parametrize("solve", [ascend, limit])
@pytest.mark.parametrize("shape", [(3, 3), (1, 3, 4), (1, 1, 3, 3)])
def test_scores_of_another_shape_are_an_error(solve, shape):
    with pytest.raises(DataError, match=r"shape \[head, child, candidate\]"):
        solve(np.zeros(shape))


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("rate η must be positive and at most .*, got 0", {"rate": 0}),
        ("rate η must be positive and at most .*, got -1", {"rate": -1}),
        ("rate η must be positive and at most .*, got nan", {"rate": np.nan}),
        ("rate η must be positive and at most .*, got inf", {"rate": np.inf}),
        ("epochs must be a whole number, zero or more, got -1", {"epochs": -1}),
        ("epochs must be a whole number, zero or more, got 1.5", {"epochs": 1.5}),
        ("epochs must be a whole number, zero or more, got inf", {"epochs": np.inf}),
        (r"stop \(ε_attn\) must lie in \[0, 1\), got 1", {"stop": 1}),
        (r"stop \(ε_attn\) must lie in \[0, 1\), got -0.1", {"stop": -0.1}),
        (r"stop \(ε_attn\) must lie in \[0, 1\), got nan", {"stop": np.nan}),
        ("record_at lists epochs", {"record_at": [3, -1]}),
        (r"wait_for must have shape \[head, child\] = \(2, 4\), got \(4, 2\)", {"wait_for": np.ones((4, 2))}),
    ],
)
def test_settings_that_make_no_sense_are_errors(match, options):
    with pytest.raises(SettingError, match=match):
        ascend(random_tables(8, 2, 4)[0], **options)
