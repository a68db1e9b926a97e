"""Masked softmax, objective and gradient, the ascent that follows them, its limit, and surveys of score tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, ascend, exact_joint, limit, scores
from kgmi.attention import (
    ascend_columns,
    best_objective,
    candidate_mask,
    gradient,
    has_tie,
    masked_softmax,
    objective,
    survey,
)
from kgmi.errors import DataError, SettingError
from kgmi.theory import information_gaps

from . import brute
from .strategies import seeds

COPIES = scores(exact_joint(Process(Dag.paper(10).copies(4), Kernel.paper())), Kernel.paper())


def random_tables(seed, n_heads, n_nodes):
    """Scores with the causal mask, and weights with junk where the mask is."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_heads, n_nodes, n_nodes))
    table[:, *np.triu_indices(n_nodes)] = np.nan
    return table, rng.normal(scale=2, size=table.shape)


both = st.builds(random_tables, seeds, st.integers(1, 3), st.integers(1, 5))
tables = st.builds(lambda *a: random_tables(*a)[0], seeds, st.integers(1, 3), st.integers(2, 6))


def table_of(*rows):
    """One head; each row lists the scores of a child's candidates, the first child first."""
    table = np.full((1, len(rows) + 1, len(rows) + 1), np.nan)
    for child, row in enumerate(rows, start=1):
        table[0, child, :child] = row
    return table


def paper_path(table, rate, epochs):
    """Attention at every epoch of algorithm 1, from the formulas: Q ← Q + η ∂L/∂Q from Q = 0."""
    mask, weights = candidate_mask(table), np.zeros(table.shape)
    path = [masked_softmax(weights, mask)]
    for _ in range(epochs):
        weights = weights + rate * gradient(table, path[-1])
        path.append(masked_softmax(weights, mask))
    return np.array(path)


# The formulas


@given(both)
def test_masked_softmax_is_the_softmax_over_earlier_nodes(both):
    table, weights = both
    attention = masked_softmax(weights, candidate_mask(table))
    for head, child in np.ndindex(table.shape[:2]):
        total = sum(math.exp(weights[head, child, k]) for k in range(child))
        expected = [math.exp(weights[head, child, j]) / total if j < child else 0 for j in range(table.shape[2])]
        np.testing.assert_allclose(attention[head, child], expected, atol=1e-14)


def test_softmax_survives_enormous_weights_and_children_without_candidates():
    mask = np.array([[True, True, True], [True, True, False], [False, False, False]])
    attention = masked_softmax(np.array([[1e4, -1e4, 1e4], [-1e5, -1e5, 1e9], [1, 2, 3]]), mask)
    np.testing.assert_allclose(attention, [[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0, 0]])


def test_objective_by_hand():
    table = table_of([0.2], [0.5, -0.1])
    attention = np.zeros((1, 3, 3))
    attention[0, 1, 0], attention[0, 2, 0], attention[0, 2, 1] = 1.0, 0.25, 0.75
    assert objective(table, attention) == pytest.approx((0.2 + 0.125 - 0.075) / 3)
    assert best_objective(table) == pytest.approx((0.2 + 0.5) / 3)
    two = np.concatenate([table, table])
    assert objective(two, np.concatenate([attention, attention])) == pytest.approx(0.25 / 3)
    assert best_objective(two) == pytest.approx(0.7 / 3)


@given(both)
def test_no_attention_beats_the_best_objective(both):
    table, weights = both
    mask = candidate_mask(table)
    assert objective(table, masked_softmax(weights, mask)) <= best_objective(table) + 1e-12
    sharp = masked_softmax(1e6 * np.where(mask, table, 0.0), mask)
    assert objective(table, sharp) == pytest.approx(best_objective(table), abs=1e-9)


@given(both)
def test_gradient_is_the_finite_difference_of_the_objective(both):
    table, weights = both
    mask, step = candidate_mask(table), 1e-5
    found = gradient(table, masked_softmax(weights, mask))
    for index in np.ndindex(table.shape):
        values = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[index] += sign * step
            values.append(objective(table, masked_softmax(moved, mask)))
        assert found[index] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-9)
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-14)


# The ascent


@settings(max_examples=60)
@given(tables, st.integers(0, 60), st.sampled_from([0.1, 1.0, 10.0, 20.0, 3_000.0]))
def test_ascent_is_a_plain_loop_over_columns(table, epochs, rate):
    run = ascend(table, rate=rate, epochs=epochs, stop=0)
    np.testing.assert_allclose(run.attention, brute.ascend(table, rate, epochs), atol=1e-10)
    assert run.epochs == (epochs if table.shape[1] > 2 else 0)  # with two nodes nothing can move


@given(tables, st.sampled_from([0.5, 7.0, 100.0]))
def test_every_epoch_is_the_rate_times_the_gradient(table, rate):
    trace = ascend(table, rate=rate, epochs=80, stop=0, record_at=range(81)).trace
    path = paper_path(table, rate, int(trace.epochs[-1]))
    np.testing.assert_allclose(trace.attention, path, atol=1e-11)
    np.testing.assert_allclose(trace.objective, [objective(table, one) for one in path], atol=1e-12)
    assert trace.best_objective == best_objective(table) >= trace.objective[-1] - 1e-12
    if rate < 1:
        assert np.all(np.diff(trace.objective) >= -1e-15)


@pytest.mark.parametrize("freeze", [True, False])
@given(tables, st.sampled_from([0.5, 0.3, 0.1]), st.data())
def test_a_column_stops_at_its_first_epoch_above_the_mark(freeze, table, eps, data):
    path = paper_path(table, 20.0, 300)
    waited = np.array(data.draw(st.lists(st.booleans(), min_size=(n := table[..., 0].size), max_size=n)))
    waited = waited.reshape(table.shape[:2])
    keep = [0, 3, 7, 40, 250]
    run = ascend(table, rate=20.0, epochs=300, stop=eps, wait_for=waited, record_at=keep, freeze=freeze)
    first = (path.max(axis=-1) > 1 - eps).argmax(axis=0)  # 0 where it never is, or is from the start
    last = first[waited].max(initial=0)
    if (waited & (first == 0))[:, 2:].any():
        last = 300
    assert run.epochs == last
    expected = np.where((first > 0) & (first <= last), first, -1)
    expected[:, 1] = 0
    np.testing.assert_array_equal(run.stopped, expected)
    for epoch, attention in zip(run.trace.epochs, run.trace.attention, strict=True):
        seen = (
            np.minimum(epoch, np.where(run.stopped > 0, run.stopped, epoch))
            if freeze
            else np.full_like(first, epoch)
        )
        wanted = np.take_along_axis(path, seen[None, ..., None], axis=0)[0]
        np.testing.assert_allclose(attention, wanted, atol=1e-10)
    np.testing.assert_array_equal(run.trace.attention[-1], run.attention)


def test_tied_columns_stay_uniform_and_do_not_hold_up_the_run():
    run = ascend(table_of([1.0], [0.3, 0.3], [0.0, 0.0, 0.0], [0.1, 0.1, 0.5, 0.1]), epochs=10_000)
    np.testing.assert_array_equal(run.attention[0, 2, :2], 0.5)
    np.testing.assert_array_equal(run.attention[0, 3, :3], 1 / 3)
    assert list(run.stopped[0]) == [-1, 0, -1, -1, run.epochs]
    assert run.epochs < 10_000


@settings(max_examples=40)
@given(seeds, st.integers(1, 2), st.integers(2, 5))
def test_the_limit_is_where_a_long_ascent_goes(seed, n_heads, n_nodes):
    rng = np.random.default_rng(seed)
    table = np.full((n_heads, n_nodes, n_nodes), np.nan)
    for child in range(1, n_nodes):  # scores 0.3 apart, so that 5,000 epochs are long
        table[:, child, :child] = rng.permuted(np.tile(0.3 * np.arange(child), (n_heads, 1)), axis=1)
    end, run = limit(table), ascend(table, rate=10.0, epochs=5_000, stop=0)
    assert end.trace is None
    np.testing.assert_allclose(run.attention, end.attention, atol=0.02)
    assert np.all(end.attention[:, 1:].max(axis=-1) == 1)
    assert objective(table, end.attention) == pytest.approx(best_objective(table))
    assert np.all(end.stopped[:, 1:] == 0)


def test_ties_share_the_attention_of_the_limit():
    end = limit(table_of([1.0], [0.2, 0.2], [-1.0, 0.7, 0.7 + 1e-15]))
    np.testing.assert_array_equal(end.attention[0], [[0] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]])
    assert list(end.stopped[0]) == [-1, 0, -1, -1]


@pytest.fixture(scope="module")
def wide():
    """Scores of 300 nodes, many of them equal, some children with few candidates and some with none."""
    rng = np.random.default_rng(77)
    unit = 10.0 ** -rng.integers(-1, 7, size=(1, 300, 1))
    table = np.round(rng.gamma(2.0, 300.0, size=(2, 300, 300)) / unit) * unit
    table[:, *np.triu_indices(300)] = np.nan
    table[:, ::7][rng.random((2, 43, 300)) < 0.9] = np.nan
    table[:, 250] = np.where(np.isnan(table[:, 250]), np.nan, 5.0)  # tied: it never moves
    table[0, 200:220, :100], table[1, 5] = 0.0, np.nan
    return table


@pytest.mark.parametrize("name", ["copies", "wide"])
def test_threads_chunks_and_room_for_the_trace_change_nothing(name, wide, monkeypatch):
    table, rate, epochs = (COPIES, 10.0, 900) if name == "copies" else (wide, 40.0, 60)
    options = {"rate": rate, "epochs": epochs, "stop": 0.3, "record_at": [1, 50, 400, 700]}
    whole, path = ascend(table, **options), paper_path(table, rate, epochs)
    above = path.max(axis=-1) > 0.7
    stopped = np.where(above.any(axis=0), above.argmax(axis=0), -1)
    np.testing.assert_array_equal(whole.stopped, stopped)
    assert {-1, 0} < set(stopped.ravel().tolist())
    for epoch, attention, value in zip(
        whole.trace.epochs, whole.trace.attention, whole.trace.objective, strict=True
    ):
        until = np.where(stopped < 0, epoch, np.minimum(stopped, epoch))
        expected = np.take_along_axis(path, until[None, ..., None], axis=0)[0]
        np.testing.assert_allclose(attention, expected, atol=1e-10)
        assert value == pytest.approx(objective(table, attention), rel=1e-12)
    for threads_from, workers, chunk, room in ((0, 3, 10**9, 10**8), (10**9, 1, 100, 10**8), (0, 2, 10**9, 0)):
        monkeypatch.setattr("kgmi.threads.n_workers", lambda workers=workers: workers)
        monkeypatch.setattr("kgmi.attention._THREADS_FROM", threads_from)
        monkeypatch.setattr("kgmi.attention._EPOCH_THREADS_FROM", threads_from)
        monkeypatch.setattr("kgmi.attention._FIRST", max(chunk // 10, 7))
        monkeypatch.setattr("kgmi.attention._CHUNK", chunk)
        monkeypatch.setattr("kgmi.attention._TRACE_BYTES", room)
        cut = ascend(table, **options)
        np.testing.assert_array_equal(cut.stopped, whole.stopped)
        np.testing.assert_allclose(cut.attention, whole.attention, atol=1e-12)
        np.testing.assert_allclose(cut.trace.objective, whole.trace.objective, rtol=1e-12)
        assert (cut.trace.attention is None) == (room == 0)


def test_equal_candidates_come_out_equal():
    found = ascend(COPIES, epochs=200, stop=0).attention
    assert np.ptp(found[0, 39, :30]) == 0
    np.testing.assert_allclose(found, brute.ascend(COPIES, rate=10.0, epochs=200), atol=1e-12)


def test_tables_that_are_cut_out_or_locked_are_read_as_they_are(wide):
    expected = ascend(wide[:, :260, :260].copy(), rate=40.0, epochs=20)
    locked = wide[:, :260, :260]
    locked.setflags(write=False)
    np.testing.assert_array_equal(ascend(locked, rate=40.0, epochs=20).attention, expected.attention)


@pytest.mark.parametrize("rate", [1e30, 1e100])
def test_no_rate_is_too_large(rate):
    found = ascend(COPIES, rate=rate, epochs=5).attention
    assert np.all(np.isfinite(found))
    np.testing.assert_array_equal(found.argmax(axis=-1), limit(COPIES).attention.argmax(axis=-1))


def test_blocks_of_columns_are_trained_as_in_the_table(wide):
    flat, step = wide.reshape(-1, 300), 40.0 / 600
    expected = ascend(wide, rate=40.0, epochs=60)
    attention, stopped = ascend_columns(flat[100:400], end=25, step=step, stop=0.1)
    attention, stopped = ascend_columns(flat[100:400], attention, stopped, start=25, end=60, step=step, stop=0.1)
    np.testing.assert_array_equal(stopped, expected.stopped.ravel()[100:400])
    np.testing.assert_allclose(attention, expected.attention.reshape(flat.shape)[100:400], atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("stop", [0.1, 0.0])
def test_tensors_are_trained_as_arrays_are(wide, stop, monkeypatch):
    import torch

    from kgmi import attention_torch

    flat, step, seen = wide.reshape(-1, 300), 40.0 / 600, survey(wide)
    expected = ascend_columns(flat, end=60, step=step, stop=stop)
    for fill in (np.nan, -np.inf):
        tensor = torch.as_tensor(np.where(np.isnan(wide), fill, wide))
        found = ascend_columns(tensor.reshape(-1, 300), end=20, step=step, stop=stop)
        found = ascend_columns(tensor.reshape(-1, 300), *found, start=20, end=60, step=step, stop=stop)
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_allclose(found[0], expected[0], atol=1e-9)
    scored, wanted = lambda start, end: tensor[:, start:end, :end], np.ones(wide.shape[:2], dtype=bool)
    wanted[1, 40:60] = False
    tiles = [(start, start + 50) for start in range(0, 300, 50)]
    ranked = attention_torch.rank_tiles(scored, tiles, wanted)
    chosen = wanted & (seen.n_candidates > 0)
    np.testing.assert_array_equal(ranked.tied, seen.tied & chosen)
    np.testing.assert_array_equal(ranked.n_best > 0, chosen)
    np.testing.assert_allclose(ranked.margins, np.where(chosen, seen.gaps, np.nan))
    np.testing.assert_array_equal(
        np.take_along_axis(wide, ranked.best[..., None], -1)[chosen, 0], seen.best[chosen]
    )
    np.testing.assert_array_equal(ranked.attention[chosen], limit(wide).attention.max(axis=-1)[chosen])
    chosen &= ~seen.tied
    for early, later in ((64, 10**9), (5, 10**9), (5, 0)):
        monkeypatch.setattr(attention_torch, "_EARLY", early)
        monkeypatch.setattr(attention_torch, "_MOST_LATER", later)
        trained = attention_torch.ascend_tiles(scored, tiles, ranked, epochs=60, step=step, stop=stop)
        np.testing.assert_array_equal(trained.stopped[chosen], expected[1].reshape(wanted.shape)[chosen])
        top = expected[0].max(axis=-1).reshape(wanted.shape)
        np.testing.assert_allclose(trained.attention[chosen], top[chosen], atol=1e-9)
        np.testing.assert_array_equal(trained.stopped[~chosen], -1)


# Traces and surveys


def test_the_trace_holds_the_epochs_that_were_asked_for():
    table, _ = random_tables(0, 2, 4)
    trace = ascend(table, rate=1.0, epochs=50, stop=0, record_at=[3, 10, 99]).trace
    assert list(trace.epochs) == [0, 3, 10, 50]
    assert trace.attention.shape == (4, 2, 4, 4)
    run = ascend(table, rate=20.0, epochs=100_000, record_at=[1])
    assert list(run.trace.epochs) == [0, 1, run.epochs]
    run = ascend(table, epochs=0)
    np.testing.assert_allclose(run.attention[0, 3], [1 / 3, 1 / 3, 1 / 3, 0])
    assert list(run.trace.epochs) == [0]
    epochs = ascend(table, rate=0.1, epochs=2_000, stop=0).trace.epochs
    assert (epochs[0], epochs[-1]) == (0, 2_000)
    assert 40 < len(epochs) <= 61
    assert np.all(np.diff(epochs) > 0)


def test_inputs_are_not_modified_and_progress_is_called_now_and_then():
    table, _ = random_tables(5, 2, 4)
    before, wait, seen = table.copy(), np.ones((2, 4), dtype=bool), []
    ascend(table, rate=0.01, epochs=2_500, stop=0, wait_for=wait, progress=lambda *a: seen.append(a))
    limit(table)
    np.testing.assert_array_equal(table, before)
    assert wait.all()
    assert seen == sorted(set(seen))
    assert seen[-1] == (2_500, 2_500)


def table_with_everything():
    """Columns with no, one, two and many candidates, ties for the best, negative scores and zeros."""
    rng = np.random.default_rng(41)
    table = rng.normal(size=(2, 120, 120))
    table[:, *np.triu_indices(120)] = np.nan
    table[0, 20:30, :20] = 9.0
    table[1, 40, :40] = -3.0
    table[1, 50, 5:] = np.nan
    table[0, 60] = np.nan
    table[0, 70, 3] = table[0, 70, 8] = 8.0 + 1e-13
    table[0, 71, 3], table[0, 71, 8] = 8.0, 8.0 + 1e-13
    return table


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 120])
def test_a_survey_says_what_is_defined(n_nodes):
    table = table_with_everything()[:, :n_nodes, :n_nodes]
    seen = survey(table)
    for head, child in np.ndindex(table.shape[:2]):
        known = sorted(table[head, child][~np.isnan(table[head, child])].tolist(), reverse=True)
        expected = (len(known), *[*known, -np.inf, -np.inf][:2], min(known, default=np.inf))
        found = (getattr(seen, name)[head, child] for name in ("n_candidates", "best", "second", "least"))
        assert tuple(found) == expected


def test_ties_and_gaps_follow_from_a_survey():
    table = table_with_everything()
    tied, gaps = has_tie(table), information_gaps(table)
    assert all(tied[place] for place in [(0, 21), (1, 40), (0, 60), (0, 0), (0, 70), (0, 71)])
    assert not tied[0, 1]
    assert not tied[1, 71]
    assert np.isnan(gaps[0, 60])
    assert (gaps[0, 1], gaps[0, 21]) == (np.inf, 0)
    assert gaps[0, 2] == abs(table[0, 2, 0] - table[0, 2, 1])


@pytest.mark.parametrize("solve", [ascend, limit])
def test_scores_that_cannot_be_trained_on_are_errors(solve):
    table, _ = random_tables(7, 2, 4)
    table[1, 3, 2] = -np.inf
    for bad in (
        table,
        np.full((1, 3, 3), np.nan),
        *(np.zeros(shape) for shape in [(3, 3), (1, 3, 4), (1, 1, 3, 3)]),
    ):
        with pytest.raises(DataError):
            solve(bad)


@pytest.mark.parametrize(
    "options",
    [
        *({"rate": value} for value in (0, -1, np.nan, np.inf)),
        *({"epochs": value} for value in (-1, 1.5, np.inf)),
        *({"stop": value} for value in (1, -0.1, np.nan)),
        {"record_at": [3, -1]},
        {"wait_for": np.ones((4, 2))},
    ],
)
def test_settings_that_make_no_sense_are_errors(options):
    with pytest.raises(SettingError):
        ascend(random_tables(8, 2, 4)[0], **options)
