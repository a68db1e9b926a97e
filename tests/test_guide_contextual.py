"""The guide ``contextual``: against full tables, and exact at the true parents of any graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, PairJoint, Process, count_pairs, exact_joint, sample
from kgmi.errors import DataError
from kgmi.guides.contextual import Contextual

from . import brute, plain_guides
from .search_drills import law_observed, paper_kernel, rows_observed
from .strategies import kernels, processes, role_dags, seeds

some = settings(max_examples=25)


@st.composite
def laws(draw, max_nodes=5, max_states=3, min_nodes=2):
    """A random law of all nodes, as a full table; no graph behind it."""
    n_nodes, n_states = draw(st.integers(min_nodes, max_nodes)), draw(st.integers(2, max_states))
    rng = np.random.default_rng(draw(seeds))
    full = rng.dirichlet(np.full(n_states**n_nodes, 0.7))
    return full.reshape((n_states,) * n_nodes)


def guide_of(full):
    return Contextual(PairJoint(brute.pair_joint(full)), law_observed(full))


def kernel_for(full, n_parents, seed):
    return Kernel.random(full.shape[0], n_parents, rng=seed).table


@some
@given(full=laws(), seed=seeds)
def test_single_parents_against_the_full_table(full, seed):
    child, kernel = full.ndim - 1, kernel_for(full, 1, seed)
    guide = guide_of(full)
    found = guide.head(child, guide.prepare(child, kernel), (0,), 0, np.arange(child))
    expected = [plain_guides.contextual(full, kernel, (j,), 0, child) for j in range(child)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@some
@given(full=laws(min_nodes=3, max_nodes=4), seed=seeds)
def test_pairs_are_the_sum_of_both_heads(full, seed):
    child, kernel = full.ndim - 1, kernel_for(full, 2, seed)
    firsts, seconds = np.arange(child), np.array([0, child - 1])
    found = guide_of(full).joint_scores(child, kernel, firsts, seconds)
    for (row, column), value in np.ndenumerate(found):
        parents = (int(firsts[row]), int(seconds[column]))
        if parents[0] != parents[1]:
            expected = sum(plain_guides.contextual(full, kernel, parents, head, child) for head in (0, 1))
            assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_parents", [1, 2, 3])
@some
@given(full=laws(min_nodes=4, max_nodes=5, max_states=2), seed=seeds, data=st.data())
def test_heads_against_the_full_table(n_parents, full, seed, data):
    *earlier, child = range(full.ndim)
    kernel = kernel_for(full, n_parents, seed)
    parents = tuple(data.draw(st.permutations(earlier))[:n_parents])
    for head in range(n_parents):
        free = np.array([j for j in earlier if j == parents[head] or j not in parents])
        found = guide_of(full).head(child, kernel, parents, head, free)
        for j, value in zip(free.tolist(), found, strict=True):
            chosen = (*parents[:head], j, *parents[head + 1 :])
            expected = plain_guides.contextual(full, kernel, chosen, head, child)
            assert value == pytest.approx(expected, abs=1e-9)


@some
@given(kernel=kernels(max_parents=3), data=st.data())
def test_exact_at_the_true_parents_and_never_positive(kernel, data):
    """Where ``stationary`` needs parents that follow M_π, this one is exact for any graph and any root blocks."""
    dag = data.draw(role_dags(n_parents=kernel.n_parents, max_nodes=5))
    process = Process(dag, kernel)
    guide = Contextual(exact_joint(process), law_observed(brute.full_table(process)))
    for child, parents in enumerate(dag.parents):
        if not parents:
            continue
        table = process.kernel_of_degree(len(parents)).table
        for head, parent in enumerate(parents):
            free = np.array([j for j in range(child) if j == parent or j not in parents])
            scores = guide.head(child, table, parents, head, free)
            assert scores.max() <= 1e-12
            assert scores[free == parent] == pytest.approx(0, abs=1e-12)


@some
@given(process=processes(max_nodes=5, max_parents=2))
def test_pairs_of_true_parents_are_exact_too(process):
    guide = Contextual(exact_joint(process))
    for child, parents in enumerate(process.dag.parents):
        if len(parents) == 2:
            scores = guide.joint_scores(child, process.kernel.table, np.arange(child), np.arange(child))
            off = scores[~np.eye(child, dtype=bool)]
            assert off.max() <= 1e-12
            assert scores[parents] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", [7101, 7102, 7103])
def test_a_joint_look_finds_the_papers_graph_in_exact_arithmetic(seed):
    dag, kernel = Dag.paper(10), paper_kernel(np.random.default_rng(seed))
    guide = Contextual(exact_joint(Process(dag, kernel)))
    for child in range(2, 10):
        scores = guide.joint_scores(child, kernel.table, np.arange(child), np.arange(child))
        np.fill_diagonal(scores, -np.inf)
        assert divmod(int(scores.argmax()), child) == dag.parents[child]


def test_counts_lead_to_the_exact_scores():
    process = Process(Dag.paper(5), Kernel.paper())
    rows = sample(process, 200_000, rng=7104)
    exact = Contextual(exact_joint(process))
    counted = Contextual(count_pairs(rows, 3).pair_joint(0.0), rows_observed(rows))
    nodes = np.arange(4)
    args = (4, Kernel.paper().table, nodes, nodes)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(counted.joint_scores(*args)[off], exact.joint_scores(*args)[off], atol=5e-3)


def test_pairs_of_states_that_never_occur_but_should_score_very_low():
    rows = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    guide = Contextual(count_pairs(rows, 2).pair_joint(0.0))
    found = guide.head(1, np.full((2, 2), 0.5), (0,), 0, np.array([0]))
    assert np.isfinite(found).all()
    assert found[0] < -100


def test_more_than_two_heads_say_what_they_need():
    process = Process(Dag.chain(5, 3), Kernel.random(2, 3, rng=7105))
    guide, table = Contextual(exact_joint(process)), process.kernel.table
    with pytest.raises(DataError, match="needs the rows for three or more parents"):
        guide.head(4, table, (1, 2, 3), 0, np.array([0, 1]))
