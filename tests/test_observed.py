"""Counts of families: against loops, with gaps, weights and alphabets of several sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.errors import TooLargeError
from kgmi.statistics import observed as module
from kgmi.statistics.observed import Observed

from . import plain_guides
from .search_drills import observations

some = settings(max_examples=60, deadline=None)
CODES = np.random.default_rng(0).integers(-1, 3, (23, 4))


@st.composite
def families(draw):
    """Rows, a child and parents in any order."""
    observed = draw(observations())
    nodes = draw(st.permutations(range(observed.n_nodes)))
    n_parents = draw(st.integers(0, min(3, len(nodes) - 1)))
    return observed, tuple(nodes[:n_parents]), nodes[n_parents]


@some
@given(families())
def test_families_are_those_of_a_plain_loop(case):
    observed, parents, child = case
    expected = plain_guides.family(observed.codes, observed.sizes, observed.weights, parents, child)
    found = observed.family(parents, child)
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    if observed.weights is None:  # counts are whole numbers, to the last bit
        np.testing.assert_array_equal(found, expected)


@some
@given(observations())
def test_marginals_count_the_rows_that_have_the_node(observed):
    assert len(observed.marginals) == observed.n_nodes
    for node, counts in enumerate(observed.marginals):
        has = observed.codes[:, node] >= 0
        expected = has.sum() if observed.weights is None else observed.weights[has].sum()
        assert len(counts) == observed.sizes[node]
        assert counts.sum() == pytest.approx(expected)


@some
@given(families())
def test_configurations_name_every_joint_state_once(case):
    observed, parents, child = case
    nodes = (*parents, child)
    index, complete = observed.configuration(nodes)
    assert (complete is None) == (not observed.has_gaps)
    shape = [observed.sizes[node] for node in nodes]
    for row, states in enumerate(observed.codes):
        whole = all(states[node] >= 0 for node in nodes)
        assert complete is None or complete[row] == whole
        if whole:
            assert index[row] == np.ravel_multi_index([int(states[node]) for node in nodes], shape)


@pytest.mark.parametrize("cells", [1, 13, 64, 10_000])
def test_indicators_of_blocks_are_those_of_all_rows(monkeypatch, cells):
    monkeypatch.setattr(module, "_BLOCK_CELLS", cells)
    observed = Observed(CODES, (3, 3, 3, 3))
    covered = np.concatenate([np.arange(len(CODES))[block] for block in observed.blocks])
    np.testing.assert_array_equal(covered, np.arange(len(CODES)))
    together = np.concatenate([observed.indicators(block) for block in observed.blocks], axis=2)
    assert together.shape == (3, 4, 23)
    for (row, node), state in np.ndenumerate(CODES):
        np.testing.assert_array_equal(together[:, node, row], [state == s for s in range(3)])


def test_a_law_is_rows_with_weights():
    law = Observed(np.array([[0, 1], [1, 0]]), (2, 2), np.array([0.25, 0.75]), is_exact=True)
    rows = Observed(np.array([[0, 1], [1, 0]]), (2, 2))
    assert (law.is_exact, law.n_rows, law.has_gaps) == (True, 1.0, False)
    assert (rows.is_exact, rows.n_rows, rows.has_gaps) == (False, 2.0, False)
    assert Observed(CODES, (3,) * 4).has_gaps


def test_nodes_of_one_size_share_an_alphabet_unless_told_otherwise():
    codes = np.zeros((1, 3), dtype=np.int8)
    assert Observed(codes, (2, 3, 2)).alphabets == (2, 3, 2)
    assert Observed(codes, (2, 3, 2), alphabets=(0, 1, 5)).alphabets == (0, 1, 5)


def test_narrow_codes_do_not_overflow_when_they_are_joined():
    codes = np.full((2, 3), 99, dtype=np.int8)
    counts = Observed(codes, (100, 100, 100)).family((0, 1), 2)
    assert counts[99, 99, 99] == counts.sum() == 2


def test_the_codes_are_not_changed():
    before = CODES.copy()
    observed = Observed(CODES, (3, 3, 3, 3))
    observed.family((0, 1), 2)
    observed.indicators(observed.blocks[0])
    np.testing.assert_array_equal(CODES, before)


def test_families_too_large_to_count_are_refused_with_a_way_out():
    observed = Observed(np.zeros((1, 4), dtype=np.int8), (100, 100, 100, 100))
    with pytest.raises(TooLargeError, match=r"3 parents .* use fewer parents or fewer states"):
        observed.family((0, 1, 2), 3)
