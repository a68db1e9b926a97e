"""One parent per node: the likelihood chooses what Chow and Liu's tree does, where the order allows it."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.search.own import OwnSets
from kgmi.search.starts import own_parents

from . import plain_guides
from .search_drills import problem_for, rows_observed
from .strategies import seeds


def information_graph(rows, n_states):
    """All pairs, weighted by their mutual information, from a plain loop."""
    n_nodes = rows.shape[1]
    graph = networkx.Graph()
    for i in range(n_nodes):
        for j in range(i):
            graph.add_edge(j, i, weight=plain_guides.mutual_information(rows, (n_states,) * n_nodes, j, i))
    return graph


def chosen_parents(rows, n_states):
    """The parent of every node but the first, each with a kernel of its own and at no price, and the total gain."""
    sets = OwnSets(problem_for(rows_observed(rows, n_states), 1, penalty="none")).every()
    found = [by_size[1] for by_size in sets[1:]]
    return [one.parents[0] for one in found], sum(one.value for one in found)


@st.composite
def trees(draw, max_nodes=8):
    """A random tree along which the nodes are ordered, and rows from it."""
    rng = np.random.default_rng(draw(seeds))
    n_nodes, n_states = draw(st.integers(3, max_nodes)), draw(st.integers(2, 3))
    dag = Dag([() if i == 0 else (int(rng.integers(0, i)),) for i in range(n_nodes)])
    kernel = Kernel.random(n_states, 1, rng=rng)
    return sample(Process(dag, kernel), draw(st.integers(20, 200)), rng=rng), n_states


@settings(max_examples=25, deadline=None)
@given(trees())
def test_each_node_takes_the_earlier_node_of_most_information(case):
    rows, n_states = case
    information = information_graph(rows, n_states)
    parents, total = chosen_parents(rows, n_states)
    best = [max(information.edges[j, i]["weight"] for j in range(i)) for i in range(1, rows.shape[1])]
    found = [information.edges[parent, child]["weight"] for child, parent in enumerate(parents, start=1)]
    np.testing.assert_allclose(found, best, atol=1e-9)
    assert total == pytest.approx(len(rows) * sum(best), abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(trees(max_nodes=6))
def test_the_total_is_that_of_the_maximum_branching_that_keeps_the_order(case):
    rows, n_states = case
    information = information_graph(rows, n_states)
    forward = networkx.DiGraph()
    for j, i, weight in information.edges(data="weight"):
        forward.add_edge(min(i, j), max(i, j), weight=weight + 1.0)  # above zero, so that all nodes get a parent
    branching = networkx.maximum_spanning_arborescence(forward, attr="weight")
    weight = sum(w - 1.0 for _, _, w in branching.edges(data="weight"))
    assert chosen_parents(rows, n_states)[1] == pytest.approx(len(rows) * weight, abs=1e-6)


def sharp_kernel(rng, n_states):
    """A kernel whose neighbours tell clearly more of each other than those two steps apart."""
    mixing = rng.uniform(0.15, 0.35)
    table = (1 - mixing) * np.eye(n_states)[rng.permutation(n_states)] + mixing / n_states
    return Kernel(table)


@pytest.mark.parametrize("seed", range(7801, 7811))
@pytest.mark.parametrize("n_states", [2, 3])
def test_on_rows_from_a_tree_the_edges_are_those_of_chow_and_liu(seed, n_states):
    rng = np.random.default_rng(seed)
    dag = Dag([() if i == 0 else (int(rng.integers(0, i)),) for i in range(10)])
    rows = sample(Process(dag, sharp_kernel(rng, n_states)), 1000, rng=rng)
    tree = networkx.maximum_spanning_tree(information_graph(rows, n_states))
    parents, total = chosen_parents(rows, n_states)
    assert {frozenset(edge) for edge in enumerate(parents, start=1)} == {frozenset(edge) for edge in tree.edges}
    assert total == pytest.approx(len(rows) * tree.size(weight="weight"))
    assert tuple((p,) for p in parents) == dag.parents[1:]


def test_a_search_with_one_parent_for_every_node_starts_from_that_tree():
    rng = np.random.default_rng(7811)
    dag = Dag([() if i == 0 else (int(rng.integers(0, i)),) for i in range(12)])
    rows = sample(Process(dag, sharp_kernel(rng, 3)), 1000, rng=rng)
    problem = problem_for(rows_observed(rows), 1, degrees=(1,), penalty="none")
    tree = networkx.maximum_spanning_tree(information_graph(rows, 3))
    found = own_parents(problem, OwnSets(problem).every())
    assert found[0] == ()
    assert {frozenset((*ps, i)) for i, ps in enumerate(found) if ps} == {frozenset(edge) for edge in tree.edges}


def test_where_the_order_forbids_an_edge_of_the_tree_the_total_is_smaller():
    """0 → 2 ← 1: Chow and Liu link 2 with both; in this order 1 can only take 0, which tells it nothing."""
    rng = np.random.default_rng(7812)
    rows = rng.integers(0, 2, (500, 3))
    rows[:, 2] = rows[:, 0] | rows[:, 1]
    tree = networkx.maximum_spanning_tree(information_graph(rows, 2))
    assert {frozenset(edge) for edge in tree.edges} == {frozenset((0, 2)), frozenset((1, 2))}
    parents, total = chosen_parents(rows, 2)
    assert parents[0] == 0
    assert total < len(rows) * tree.size(weight="weight") - 50
