"""The table of all pairs of columns, and the sums over labelled rows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgmi import Dag, Kernel, LabelledRows, Process, count_labelled, count_pairs, sample
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.memory import within
from tests import brute

ROWS = np.random.default_rng(0).integers(0, 3, (40, 4))


@pytest.mark.parametrize(
    "rows",
    [
        *(ROWS.astype(dtype) for dtype in (np.uint8, np.int8, np.uint64, np.float32)),
        np.asfortranarray(ROWS),
        np.repeat(ROWS, 2, axis=1)[:, ::2],
        ROWS.tolist(),
    ],
)
def test_whole_numbers_of_any_type_count_the_same(rows):
    found = count_pairs(rows)
    assert np.array_equal(found.counts, brute.count_pairs(ROWS, 3))
    assert (found.n_nodes, found.n_states, found.n_rows) == (4, 3, 40)
    assert np.array_equal(count_pairs(rows, 5).counts[:, :, :3, :3], found.counts)


def test_truth_values_are_two_states():
    assert np.array_equal(count_pairs(ROWS > 0).counts, brute.count_pairs((ROWS > 0).astype(int), 2))
    assert count_pairs(np.zeros((3, 2), dtype=bool)).n_states == 2


def test_counts_of_batches_add_up():
    parts = count_pairs(ROWS[:15], 3), count_pairs(ROWS[15:], 3)
    assert np.array_equal((parts[0] + parts[1]).counts, count_pairs(ROWS).counts)
    with pytest.raises(DataError, match="shapes"):
        parts[0] + count_pairs(ROWS, 4)


@given(st.floats(0, 20), st.integers(2, 4), st.integers(0, 99))
def test_smoothing_keeps_all_pairs_consistent(smoothing, n_states, seed):
    rows = np.random.default_rng(seed).integers(0, n_states, (30, 4))
    joint = count_pairs(rows, n_states).pair_joint(smoothing)
    assert joint.n_rows == 30
    assert np.allclose(joint.joint.sum(axis=3), joint.marginal[:, None, :])
    assert np.allclose(joint.joint, joint.joint.transpose(1, 0, 3, 2))
    ones = np.array([np.bincount(column, minlength=n_states) for column in rows.T])
    assert np.allclose(joint.marginal, (ones + smoothing / n_states) / (30 + smoothing))
    assert np.allclose(joint.joint[0, 0], np.diag(joint.marginal[0]))


def test_small_joints_by_hand():
    counts = count_pairs([[0, 1], [1, 1], [1, 0]], 2)
    assert counts.pair_joint(1.0).joint[0, 1].tolist() == [[0.25 / 4, 1.25 / 4], [1.25 / 4, 1.25 / 4]]
    assert np.allclose(counts.joint[0, 1], [[0, 1 / 3], [1 / 3, 1 / 3]])
    assert np.allclose(counts.marginal, [[1 / 3, 2 / 3], [1 / 3, 2 / 3]])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_smoothing_and_kappa_are_numbers_that_are_not_negative(value):
    with pytest.raises(SettingError, match="smoothing"):
        count_pairs(ROWS, 3).pair_joint(value)
    with pytest.raises(SettingError, match="kappa"):
        count_labelled(LABELLED, 3, value)


def test_tables_that_would_not_fit_are_refused():
    with pytest.raises(TooLargeError, match="2 nodes with 1000000001 states"):
        count_pairs([[0, 10**9]])
    with pytest.raises(TooLargeError, match="pair table"):
        count_labelled(LABELLED, 10**6)


# Labelled rows

LABELLED = sample(Process(Dag.paper(5), Kernel.paper()), 60, rng=np.random.default_rng(0), labelled=True)


def literal(labelled, kappa):
    """Appendix C-B term by term: the printed estimator, and its two factors, summed over rows."""
    n_nodes, n_states = 5, 3
    printed, label = np.zeros((2, n_nodes, n_nodes)), np.zeros((2, n_states, n_states))
    weighted = np.zeros((n_nodes, n_nodes, n_states, n_states))
    for row, uniform, token in zip(labelled.rows, labelled.uniform, labelled.label, strict=True):
        for s, t in product(range(n_states), repeat=2):  # s of the candidate, t of the child
            share = 1 / (np.mean(row == t) + kappa) if t in row else 0.0
            tail = n_states * (token == t) * (uniform == s)
            label[:, t, s] += tail
            hit = np.outer(row == t, row == s) * share
            weighted[:, :, t, s] += hit
            printed += tail[:, None, None] * hit
    return printed, label, weighted


@pytest.mark.parametrize("kappa", [0.0, 0.3])
def test_labelled_moments_are_those_of_the_formula_however_rows_are_cut(kappa):
    first, rest = (
        LabelledRows(LABELLED.rows[r], LABELLED.uniform[r], LABELLED.label[r])
        for r in np.split(np.arange(60), [25])
    )
    before = LABELLED.rows.copy()
    with within(None, 1):
        pieces = count_labelled(LABELLED, 3, kappa)
    for found in (
        count_labelled(LABELLED, 3, kappa),
        count_labelled(first, 3, kappa) + count_labelled(rest, 3, kappa),
        pieces,
    ):
        assert (found.n_rows, found.n_nodes, found.n_states) == (60, 5, 3)
        for one, other in zip((found.printed, found.label, found.weighted), literal(LABELLED, kappa), strict=True):
            assert np.allclose(one, other)
        assert np.array_equal(found.pairs, brute.count_pairs(LABELLED.rows, 3))
    assert np.array_equal(LABELLED.rows, before)


def test_labelled_moments_of_other_sizes_do_not_add():
    other = LabelledRows(LABELLED.rows[:, :1], LABELLED.uniform[:, :1], LABELLED.label)
    for one in (count_labelled(other, 3), count_labelled(LABELLED, 3, 0.5)):
        with pytest.raises(DataError, match="cannot add"):
            count_labelled(LABELLED, 3) + one


@pytest.mark.parametrize(
    ("uniform", "label", "says"),
    [
        ([[0, 1]], [0, 1], "equal length"),
        ([[0, 1], [1, 1]], [0], "equal length"),
        ([[0, 1], [1, 1]], [[0], [1]], "equal length"),
        ([0, 1], [0, 1], "uniform tokens"),
        ([[0, 1], [1, 2]], [0, 1], "row 1, column 'uniform2'"),
        ([[0, 1], [1, 1]], [0, 2], "row 1, column 'label'"),
    ],
)
def test_a_bad_tail_is_named(uniform, label, says):
    with pytest.raises(DataError, match=says):
        count_labelled(LabelledRows(np.eye(2, dtype=int), np.array(uniform), np.array(label)), 2)
