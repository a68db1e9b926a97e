"""The guide ``likelihood``: against a loop over rows, for any number of parents, gaps and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.counts.bits import RowCounts
from kgmi.guides.likelihood import Likelihood, gain_table

from . import brute, plain_guides
from .search_drills import law_observed, observations, rows_observed
from .strategies import processes, seeds

some = settings(max_examples=40)
CLOSE = {"rtol": 1e-4, "atol": 1e-4}  # products of matrices are in float32


def random_kernel(rng, sizes):
    """A table [parents …, child] with some zeros."""
    table = rng.dirichlet(np.ones(sizes[-1]), size=sizes[:-1])
    table[rng.random(table.shape) < 0.1] = 0.0
    table[..., 0] += 1e-3
    return table / table.sum(axis=-1, keepdims=True)


@st.composite
def cases(draw, n_parents, min_nodes=2):
    """Rows, a child, parents, a kernel, and candidates, which may be among the parents."""
    observed = draw(observations(min_nodes=max(min_nodes, n_parents + 1), max_nodes=7, same_sizes=True))
    nodes = draw(st.permutations(range(observed.n_nodes)))
    child, parents = nodes[0], tuple(nodes[1 : n_parents + 1])
    rng = np.random.default_rng(draw(seeds))
    kernel = random_kernel(rng, (observed.sizes[0],) * (n_parents + 1))
    others = [node for node in range(observed.n_nodes) if node != child]
    return observed, child, parents, kernel, np.array(sorted(draw(st.sets(st.sampled_from(others), min_size=1))))


def plain(observed, kernel, parents, child):
    return plain_guides.gain(observed.codes, observed.sizes, observed.weights, kernel, parents, child)


@pytest.mark.parametrize("n_parents", [1, 2, 3, 4])
@some
@given(data=st.data())
def test_tuples_against_a_loop_over_rows(n_parents, data):
    observed, child, parents, kernel, candidates = data.draw(cases(n_parents))
    leads = parents[:-1]
    tuples = np.array([leads, leads[::-1]], dtype=np.int64)
    guide = Likelihood(observed)
    found = guide.joint(child, guide.prepare(child, kernel), tuples, candidates)
    assert found.shape == (2, len(candidates))
    for (row, column), value in np.ndenumerate(found):
        chosen = (*tuples[row].tolist(), int(candidates[column]))
        if len(set(chosen)) == len(chosen):
            np.testing.assert_allclose(value, plain(observed, kernel, chosen, child), **CLOSE)


@pytest.mark.parametrize("symmetric", [False, True])
@some
@given(case=cases(2))
def test_pairs_in_either_order_against_a_loop_over_rows(symmetric, case):
    observed, child, _, kernel, nodes = case
    kernel = (kernel + kernel.swapaxes(0, 1)) / 2 if symmetric else kernel
    guide = Likelihood(observed)
    found = guide.unordered(child, guide.prepare(child, kernel), nodes)
    assert found.shape[1:] == (len(nodes), len(nodes))
    assert len(found) == 1 or not symmetric
    for (turned, one, other), value in np.ndenumerate(found):
        pair = (int(nodes[one]), int(nodes[other]))[:: -1 if turned else 1]
        if one < other:
            np.testing.assert_allclose(value, plain(observed, kernel, pair, child), **CLOSE)
        else:
            assert value == -np.inf


@pytest.mark.parametrize("n_parents", [1, 2, 3, 4])
@some
@given(data=st.data())
def test_heads_against_a_loop_over_rows(n_parents, data):
    observed, child, parents, kernel, candidates = data.draw(cases(n_parents))
    guide = Likelihood(observed)
    head = data.draw(st.integers(0, n_parents - 1))
    found = guide.head(child, guide.prepare(child, kernel), parents, head, candidates)
    for j, value in zip(candidates.tolist(), found, strict=True):
        others = [parent for role, parent in enumerate(parents) if role != head]
        if j not in others:
            chosen = (*parents[:head], j, *parents[head + 1 :])
            np.testing.assert_allclose(value, plain(observed, kernel, chosen, child), **CLOSE)


@some
@given(cases(2))
def test_one_family_in_full_precision(case):
    observed, child, parents, kernel, _ = case
    guide = Likelihood(observed)
    found = guide.score(guide.prepare(child, kernel), observed.family(child, parents))
    assert found == pytest.approx(plain(observed, kernel, parents, child), rel=1e-9, abs=1e-9)


def test_parents_and_child_of_different_sizes():
    rng = np.random.default_rng(7001)
    sizes = (2, 4, 2, 3, 4, 3)
    codes = (rng.random((40, 6)) * sizes).astype(np.int8)
    codes[rng.random(codes.shape) < 0.1] = -1
    observed = RowCounts(codes, sizes)
    kernel = random_kernel(rng, (2, 4, 3))  # of parents with 2 and 4 states and a child with 3
    firsts, seconds = np.array([0, 2]), np.array([1, 4])
    guide = Likelihood(observed)
    found = guide.joint(5, guide.prepare(5, kernel), firsts[:, None], seconds)
    expected = [[plain(observed, kernel, (a, b), 5) for b in seconds] for a in firsts]
    np.testing.assert_allclose(found, expected, **CLOSE)
    np.testing.assert_allclose(guide.head(5, guide.prepare(5, kernel), (0, 4), 1, seconds), expected[0], **CLOSE)


def test_many_rows_keep_enough_digits_to_rank_candidates():
    dag, kernel = Dag.paper(10), Kernel.paper()
    observed = rows_observed(sample(Process(dag, kernel), 30_000, rng=7003))
    guide, gains = Likelihood(observed), gain_table(observed, 9, kernel.table)
    nodes = np.arange(9)
    found = guide.joint(9, gains, nodes[:, None], nodes)
    for first, second in [(0, 6), (6, 0), (0, 1), (3, 8)]:
        exact = guide.score(gains, observed.family(9, (first, second)))
        assert found[first, second] == pytest.approx(exact, rel=1e-5, abs=0.05)
    np.fill_diagonal(found, -np.inf)
    assert divmod(int(found.argmax()), 9) == dag.parents[9]


def test_states_that_the_child_never_takes_neither_gain_nor_lose():
    observed = RowCounts(np.array([[0, 0], [1, 0], [1, 1]]), (3, 3))
    gains = gain_table(observed, 1, np.full((3, 3), 1 / 3))
    np.testing.assert_array_equal(gains[:, 2], 0)
    np.testing.assert_allclose(gains[:, 0], np.log(1 / 3) - np.log(2 / 3))
    assert np.isfinite(gain_table(observed, 1, np.eye(3))).all()  # what a kernel rules out costs a lot, not all


def test_candidates_that_share_no_row_with_the_child_gain_nothing():
    observed = RowCounts(np.array([[0, -1, 1], [1, -1, 0], [-1, 1, -1]]), (2, 2, 2))
    guide = Likelihood(observed)
    found = guide.head(2, guide.prepare(2, np.array([[0.9, 0.1], [0.1, 0.9]])), (0,), 0, np.array([0, 1]))
    assert found[1] == 0
    assert np.isfinite(found).all()


@some
@given(processes(max_nodes=5))
def test_under_the_exact_law_no_earlier_node_gains_more_than_the_true_parents(process):
    """E log π(S_i | parents) = −H(S_i | all earlier nodes), which no other choice can exceed (Gibbs)."""
    guide = Likelihood(law_observed(brute.full_table(process)))
    for child, parents in enumerate(process.dag.parents):
        if parents:
            gains = guide.prepare(child, process.kernel_of_degree(len(parents)).table)
        for head, parent in enumerate(parents):
            scores = guide.head(child, gains, parents, head, np.arange(child))
            free = [j for j in range(child) if j == parent or j not in parents]
            assert scores[parent] >= -1e-5
            assert scores[free].max() <= scores[parent] + 1e-5
