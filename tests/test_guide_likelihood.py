"""The guide ``likelihood``: against a loop over rows, for any number of parents, gaps and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.counts.bits import RowCounts
from kgmi.guides.likelihood import Likelihood, family_gain, gain_table

from . import brute, plain_guides
from .search_drills import law_observed, observations, rows_observed
from .strategies import processes, seeds

some = settings(max_examples=40, deadline=None)
CLOSE = {"rtol": 1e-4, "atol": 1e-4}  # products of matrices are in float32


def random_kernel(rng, sizes):
    """A table [parents …, child] with some zeros."""
    table = rng.dirichlet(np.ones(sizes[-1]), size=sizes[:-1])
    table[rng.random(table.shape) < 0.1] = 0.0
    table[..., 0] += 1e-3
    return table / table.sum(axis=-1, keepdims=True)


@st.composite
def cases(draw, n_parents, min_nodes=2):
    """Rows, a child, parents, a kernel, and lists of candidates with and without holes."""
    observed = draw(observations(min_nodes=max(min_nodes, n_parents + 1), max_nodes=7, same_sizes=True))
    nodes = draw(st.permutations(range(observed.n_nodes)))
    child, parents = nodes[0], tuple(nodes[1 : n_parents + 1])
    rng = np.random.default_rng(draw(seeds))
    kernel = random_kernel(rng, (observed.sizes[0],) * (n_parents + 1))
    others = [node for node in range(observed.n_nodes) if node != child]
    lists = [np.array(sorted(draw(st.sets(st.sampled_from(others), min_size=1)))) for _ in range(2)]
    return observed, child, parents, kernel, lists


def plain(observed, kernel, parents, child):
    return plain_guides.gain(observed.codes, observed.sizes, observed.weights, kernel, parents, child)


@some
@given(cases(1))
def test_single_parents_against_a_loop_over_rows(case):
    observed, child, _, kernel, (candidates, _) = case
    guide = Likelihood(observed)
    found = guide.singles(child, guide.prepare(child, kernel), candidates)
    assert found.shape == candidates.shape
    np.testing.assert_allclose(found, [plain(observed, kernel, (j,), child) for j in candidates], **CLOSE)


@pytest.mark.parametrize("n_leads", [0, 1, 2])
@some
@given(data=st.data())
def test_pairs_against_a_loop_over_rows(n_leads, data):
    observed, child, parents, kernel, (firsts, seconds) = data.draw(cases(n_leads + 2))
    leads = parents[:n_leads]
    guide = Likelihood(observed)
    found = guide.pairs(child, guide.prepare(child, kernel), leads, firsts, seconds)
    assert found.shape == (len(firsts), len(seconds))
    for (row, column), value in np.ndenumerate(found):
        chosen = (*leads, int(firsts[row]), int(seconds[column]))
        if len(set(chosen)) == len(chosen):
            np.testing.assert_allclose(value, plain(observed, kernel, chosen, child), **CLOSE)


@pytest.mark.parametrize("n_parents", [1, 2, 3, 4])
@some
@given(data=st.data())
def test_heads_against_a_loop_over_rows(n_parents, data):
    observed, child, parents, kernel, (candidates, _) = data.draw(cases(n_parents))
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
    counts, gains = observed.family(child, parents), gain_table(observed, child, kernel)
    found = family_gain(counts, gains)
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
    found = guide.pairs(5, guide.prepare(5, kernel), (), firsts, seconds)
    expected = [[plain(observed, kernel, (a, b), 5) for b in seconds] for a in firsts]
    np.testing.assert_allclose(found, expected, **CLOSE)
    np.testing.assert_allclose(guide.head(5, guide.prepare(5, kernel), (0, 4), 1, seconds), expected[0], **CLOSE)


def test_many_rows_keep_enough_digits_to_rank_candidates():
    dag, kernel = Dag.paper(10), Kernel.paper()
    observed = rows_observed(sample(Process(dag, kernel), 30_000, rng=7003))
    guide, gains = Likelihood(observed), gain_table(observed, 9, kernel.table)
    nodes = np.arange(9)
    found = guide.pairs(9, gains, (), nodes, nodes)
    for first, second in [(0, 6), (6, 0), (0, 1), (3, 8)]:
        exact = family_gain(observed.family(9, (first, second)), gains)
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
    found = guide.singles(2, guide.prepare(2, np.array([[0.9, 0.1], [0.1, 0.9]])), np.array([0, 1]))
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
