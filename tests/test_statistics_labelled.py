import itertools
import re

import numpy as np
import pytest

from kgmi import Dag, Kernel, LabelledRows, Process, count_labelled, sample
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.statistics import labelled as module

N_ROWS, N_NODES, N_STATES, N_HEADS = 60, 4, 3, 2
LABELLED = sample(
    Process(Dag.paper().restrict(N_NODES), Kernel.paper()), N_ROWS, rng=np.random.default_rng(0), labelled=True
)


def literal(labelled, kappa):
    """Appendix C-B term by term: the printed estimator, and its two factors, summed over rows."""
    printed = np.zeros((N_HEADS, N_NODES, N_NODES))
    label = np.zeros((N_HEADS, N_STATES, N_STATES))
    weighted = np.zeros((N_NODES, N_NODES, N_STATES, N_STATES))
    for row, uniform, token in zip(labelled.rows, labelled.uniform, labelled.label, strict=True):
        frequency = [sum(cell == s for cell in row) / N_NODES for s in range(N_STATES)]
        for s, t in itertools.product(range(N_STATES), repeat=2):  # s of the candidate, t of the child
            for i, j in itertools.product(range(N_NODES), repeat=2):
                hit = (row[i] == t) * (row[j] == s)
                if hit:
                    weighted[i, j, t, s] += 1 / (frequency[t] + kappa)
                    for head in range(N_HEADS):
                        tail = N_STATES * (token == t) * (uniform[head] == s)
                        printed[head, i, j] += tail / (frequency[t] + kappa)
            for head in range(N_HEADS):
                label[head, t, s] += N_STATES * (token == t) * (uniform[head] == s)
    return printed, label, weighted


@pytest.mark.parametrize("kappa", [0.0, 0.3])
def test_the_moments_are_those_of_the_formula(kappa):
    found = count_labelled(LABELLED, N_STATES, kappa)
    printed, label, weighted = literal(LABELLED, kappa)
    assert (found.n_rows, found.n_nodes, found.n_states) == (N_ROWS, N_NODES, N_STATES)
    assert np.allclose(found.printed, printed)
    assert np.allclose(found.label, label)
    assert np.allclose(found.weighted, weighted)


@pytest.mark.parametrize("cells", [1, 100])
def test_chunks_and_batches_add_up(monkeypatch, cells):
    whole = count_labelled(LABELLED, N_STATES, 0.1)
    monkeypatch.setattr(module, "_CHUNK_CELLS", cells)
    first = LabelledRows(LABELLED.rows[:25], LABELLED.uniform[:25], LABELLED.label[:25])
    rest = LabelledRows(LABELLED.rows[25:], LABELLED.uniform[25:], LABELLED.label[25:])
    for found in (
        count_labelled(LABELLED, N_STATES, 0.1),
        count_labelled(first, N_STATES, 0.1) + count_labelled(rest, N_STATES, 0.1),
    ):
        assert found.n_rows == N_ROWS
        assert np.allclose(found.printed, whole.printed)
        assert np.allclose(found.label, whole.label)
        assert np.allclose(found.weighted, whole.weighted)


def test_moments_of_other_sizes_do_not_add():
    other = LabelledRows(LABELLED.rows[:, :1], LABELLED.uniform[:, :1], LABELLED.label)
    with pytest.raises(DataError, match="cannot add moments of 4 and 1 nodes, 3 and 3 states, 2 and 1 heads"):
        count_labelled(LABELLED, N_STATES) + count_labelled(other, N_STATES)


def test_nothing_that_comes_in_is_changed():
    rows, uniform, label = LABELLED.rows.copy(), LABELLED.uniform.copy(), LABELLED.label.copy()
    count_labelled(LabelledRows(rows, uniform, label), N_STATES, 0.1)
    assert np.array_equal(rows, LABELLED.rows)
    assert np.array_equal(uniform, LABELLED.uniform)
    assert np.array_equal(label, LABELLED.label)


@pytest.mark.parametrize(
    ("uniform", "label", "message"),
    [
        ([[0, 1]], [0, 1], "of equal length, got (2, 2), (1, 2) and (2,)"),
        ([[0, 1], [1, 1]], [0], "of equal length, got (2, 2), (2, 2) and (1,)"),
        ([[0, 1], [1, 1]], [[0], [1]], "labels [row] of equal length, got (2, 2), (2, 2) and (2, 1)"),
        ([0, 1], [0, 1], "uniform tokens [row, head]"),
        ([[0, 1], [1, 2]], [0, 1], "row 1, column 'uniform2' is 2, outside the alphabet 0..1"),
        ([[0, 1], [1, 1]], [0, 2], "row 1, column 'label' is 2, outside the alphabet 0..1"),
    ],
)
def test_a_bad_tail_is_named(uniform, label, message):
    with pytest.raises(DataError, match=re.escape(message)):
        count_labelled(LabelledRows(np.eye(2, dtype=int), np.array(uniform), np.array(label)), 2)


@pytest.mark.parametrize("kappa", [-0.1, np.nan, np.inf])
def test_kappa_is_a_number_that_is_not_negative(kappa):
    with pytest.raises(SettingError, match="kappa must be a finite number ≥ 0"):
        count_labelled(LABELLED, N_STATES, kappa)


def test_moments_that_would_not_fit_are_refused():
    with pytest.raises(TooLargeError, match="pair table"):
        count_labelled(LABELLED, 10**6)
