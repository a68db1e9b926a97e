"""Completed partially directed graphs, against enumeration of the Markov equivalence class."""

from __future__ import annotations

from itertools import combinations, product

import networkx
import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag
from kgmi.bench.equivalence import equivalence_class
from kgmi.graph.cpdag import Cpdag

from . import strategies as own


def signature(edges):
    """Links and colliders, which is all that the data can show of a graph."""
    links = frozenset(map(frozenset, edges))
    colliders = frozenset(
        (frozenset((a, c)), b)
        for (a, b), (c, d) in combinations(edges, 2)
        if b == d and frozenset((a, c)) not in links
    )
    return links, colliders


def acyclic(edges):
    return networkx.is_directed_acyclic_graph(networkx.DiGraph(edges))


def members(edges):
    """All graphs of the class."""
    turned = product(*[((a, b), (b, a)) for a, b in edges])
    return [{*one} for one in turned if acyclic(one) and signature(one) == signature(edges)]


def by_hand(n_nodes, edges, graphs, known=()):
    """What is the same in all graphs of the class that have the known edges."""
    fixed = set.intersection(*(graph for graph in graphs if graph >= {*known})) if edges else set()
    rest = sorted((min(edge), max(edge)) for edge in {*edges} - fixed)
    return Cpdag(n_nodes, tuple(sorted(fixed)), tuple(rest))


def all_graphs(n_nodes):
    pairs = list(combinations(range(n_nodes), 2))
    for choice in product((None, 0, 1), repeat=len(pairs)):
        edges = [pair[:: 1 if turn else -1] for pair, turn in zip(pairs, choice, strict=True) if turn is not None]
        if acyclic(edges):
            yield edges


@pytest.mark.parametrize(("n_nodes", "n_graphs"), [(1, 1), (2, 3), (3, 25), (4, 543)])
def test_classes_of_all_small_graphs_with_any_evidence(n_nodes, n_graphs):
    found = list(all_graphs(n_nodes))
    assert len(found) == n_graphs
    for edges in found:
        graphs = members(edges)
        for known in (one for size in range(len(edges) + 1) for one in combinations(edges, size)):
            evidence = {edge: 3.0 if edge in known else 2.9 for edge in edges}
            cpdag = Dag.from_edges(edges, n_nodes).cpdag(evidence)
            assert cpdag == by_hand(n_nodes, edges, graphs, known)


def test_classes_of_larger_graphs():
    rng = np.random.default_rng(3)
    for _ in range(25):
        order = rng.permutation(6)
        edges = [(int(order[a]), int(order[b])) for a, b in combinations(range(6), 2) if rng.random() < 0.45]
        expected = by_hand(6, edges, members(edges))
        assert Dag.from_edges(edges, 6).cpdag() == expected
        answered = equivalence_class(edges)
        assert (answered.directed, answered.undirected) == (expected.directed, expected.undirected)


@settings(max_examples=50, deadline=None)
@given(own.renumbered(own.role_dags(max_nodes=9)))
def test_a_class_is_renumbered_with_its_graph(found):
    dag, numbers, shuffled = found
    known = dict.fromkeys(dag.edges[::3], 5.0)
    there = shuffled.cpdag({(numbers[parent], numbers[child]): nats for (parent, child), nats in known.items()})
    here = dag.cpdag(known)
    assert {*there.directed} == {(numbers[parent], numbers[child]) for parent, child in here.directed}
    assert np.array_equal(there.matrix()[np.ix_(numbers, numbers)], here.matrix())
    assert there.n_edges == here.n_edges == dag.n_edges


def test_the_matrix_has_both_directions_of_an_open_edge():
    found = Dag([(), (), (0, 1), (2,), (), (4,)]).cpdag({(5, 4): 9.0, (0, 5): 9.0, (4, 5): 2.0})
    assert found.directed == ((0, 2), (1, 2), (2, 3))
    assert found.undirected == ((4, 5),)
    assert sorted(zip(*np.nonzero(found.matrix()), strict=True)) == [(0, 2), (1, 2), (2, 3), (4, 5), (5, 4)]
    assert Dag([(), (0,)]).cpdag({(0, 1): 2.0}, least=1.0).directed == ((0, 1),)
