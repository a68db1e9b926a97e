import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import PairCounts, count_pairs
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.statistics import blocks, engines

from . import brute

some = settings(max_examples=40, deadline=None)
ROWS = np.random.default_rng(0).integers(0, 3, (40, 4))


@st.composite
def tables(draw):
    """Random rows with their number of states, some of which may never occur."""
    n_states = draw(st.integers(2, 4))
    shape = (draw(st.integers(1, 30)), draw(st.integers(1, 5)))
    return np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, n_states, shape), n_states


@some
@given(tables())
def test_counts_are_those_of_a_plain_loop(table):
    rows, n_states = table
    found = count_pairs(rows, n_states)
    assert np.array_equal(found.counts, brute.count_pairs(rows, n_states))
    assert found.counts.dtype == np.int64
    assert (found.n_nodes, found.n_states, found.n_rows) == (rows.shape[1], n_states, len(rows))


@some
@given(tables(), st.integers(0, 30))
def test_counts_of_batches_add_up(table, cut):
    rows, n_states = table
    parts = [part for part in (rows[:cut], rows[cut:]) if len(part)]
    total = count_pairs(parts[0], n_states)
    for part in parts[1:]:
        total = total + count_pairs(part, n_states)
    assert np.array_equal(total.counts, count_pairs(rows, n_states).counts)


@pytest.mark.parametrize("cells", [1, 50, 10_000])
def test_the_size_of_the_chunks_does_not_matter(monkeypatch, cells):
    monkeypatch.setattr(blocks, "_CHUNK_CELLS", cells)
    assert np.array_equal(count_pairs(ROWS, 3).counts, brute.count_pairs(ROWS, 3))


def test_counts_of_different_shapes_do_not_add():
    with pytest.raises(DataError, match=re.escape("cannot add counts of shapes (4, 4, 3, 3) and (4, 4, 4, 4)")):
        count_pairs(ROWS, 3) + count_pairs(ROWS, 4)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS.astype(np.uint8),
        ROWS.astype(np.int8),
        ROWS.astype(np.uint64),
        ROWS.astype(np.float32),
        ROWS.astype(object),
        np.asfortranarray(ROWS),
        np.repeat(ROWS, 2, axis=1)[:, ::2],
        ROWS.tolist(),
    ],
)
def test_whole_numbers_of_any_type_count_the_same(rows):
    assert np.array_equal(count_pairs(rows).counts, brute.count_pairs(ROWS, 3))


def test_truth_values_are_two_states():
    rows = ROWS > 0
    assert np.array_equal(count_pairs(rows).counts, brute.count_pairs(rows.astype(int), 2))
    assert count_pairs(np.zeros((3, 2), dtype=bool)).n_states == 2


@some
@given(tables(), st.floats(0, 20))
def test_smoothing_keeps_all_pairs_consistent(table, smoothing):
    rows, n_states = table
    joint = count_pairs(rows, n_states).pair_joint(smoothing)
    assert joint.n_rows == len(rows)
    assert np.allclose(joint.joint.sum(axis=(2, 3)), 1)
    assert np.allclose(joint.joint.sum(axis=3), joint.marginal[:, None, :])
    assert np.allclose(joint.joint.sum(axis=2), joint.marginal[None, :, :])
    assert np.allclose(joint.joint, joint.joint.transpose(1, 0, 3, 2))
    ones = np.array([np.bincount(column, minlength=n_states) for column in rows.T])
    assert np.allclose(joint.marginal, (ones + smoothing / n_states) / (len(rows) + smoothing))
    assert np.allclose(joint.joint[0, 0], np.diag(joint.marginal[0]))


def test_one_smoothed_cell_by_hand():
    joint = count_pairs([[0, 1], [1, 1], [1, 0]], 2).pair_joint(1.0).joint
    assert joint[0, 1].tolist() == [[0.25 / 4, 1.25 / 4], [1.25 / 4, 1.25 / 4]]


def test_without_smoothing_the_joint_is_the_frequency():
    counts = count_pairs(ROWS, 3)
    assert np.allclose(counts.joint, brute.count_pairs(ROWS, 3) / 40)
    assert np.allclose(counts.marginal[1], np.bincount(ROWS[:, 1], minlength=3) / 40)


@pytest.mark.parametrize("smoothing", [-1.0, np.nan, np.inf])
def test_smoothing_is_a_number_of_rows(smoothing):
    with pytest.raises(SettingError, match="number of pseudo-rows ≥ 0"):
        count_pairs(ROWS, 3).pair_joint(smoothing)


def test_nothing_that_comes_in_is_changed():
    rows = ROWS.copy()
    counts = count_pairs(rows, 3)
    before = counts.counts.copy()
    counts.pair_joint(2.0)
    _ = counts + counts
    assert np.array_equal(rows, ROWS)
    assert np.array_equal(counts.counts, before)
    assert isinstance(counts + counts, PairCounts)


def test_a_table_of_pairs_that_would_not_fit_is_refused():
    with pytest.raises(TooLargeError, match="2 nodes with 1000000001 states"):
        count_pairs([[0, 10**9]])


@pytest.mark.parametrize("compiled", [True, False], ids=["numba", "NumPy"])
@pytest.mark.parametrize(("n_rows", "n_nodes", "n_states"), [(640, 3, 2), (2_001, 4, 3), (3_000, 5, 4), (50, 4, 3)])
def test_counts_are_the_same_whoever_counts(compiled, n_rows, n_nodes, n_states, monkeypatch):
    monkeypatch.setattr(engines, "is_worth_compiling", lambda _: compiled)
    rows = np.random.default_rng(n_rows).integers(0, n_states, (n_rows, n_nodes))
    counts = count_pairs(rows, n_states).counts
    for i, j in np.ndindex(n_nodes, n_nodes):
        expected = np.zeros((n_states, n_states), dtype=int)
        np.add.at(expected, (rows[:, i], rows[:, j]), 1)
        assert np.array_equal(counts[i, j], expected)
