from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample
from kgmi.bench import PEERS, Edges, Problem, peer_named, run_peer, score_edges
from kgmi.bench.libraries import LIBRARIES
from kgmi.bench.libraries.frames import backward, node_edges
from kgmi.paper.table import TUNABLES

PROCESS = Process(Dag.paper(5), Kernel.paper(TUNABLES))

# These score discrete data properly and know the order, so on enough rows they find the graph.
EXACT = ("pgmpy-hc", "pomegranate-exact", "pybnesian-hc-order", "pyagrum-k2")


# Reading answers, with stand-ins for what the libraries return


def test_marks_of_causal_learn_become_edges():
    marks = np.zeros((4, 4), dtype=int)
    marks[0, 1], marks[1, 0] = -1, 1  # 0 → 1
    marks[3, 1], marks[1, 3] = -1, 1  # 3 → 1
    marks[0, 2] = marks[2, 0] = -1  # 0 – 2
    marks[2, 3] = marks[3, 2] = 1  # 2 ↔ 3, no direction
    for key in ("causal-learn-pc", "causal-learn-ges", "causal-learn-boss"):
        assert peer_named(key).read(SimpleNamespace(graph=marks)) == Edges(((0, 1), (3, 1)), ((0, 2), (2, 3)))


def test_matrices_are_parent_by_child():
    matrix = np.zeros((3, 3))
    matrix[0, 2] = 1
    assert peer_named("causal-learn-exact").read(matrix) == Edges(((0, 2),))


def test_backward_edges_of_notears_are_dropped():
    matrix = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0]])
    assert peer_named("gcastle-notears").read(SimpleNamespace(causal_matrix=matrix)) == Edges(((0, 1),))


def test_structures_of_pomegranate_list_parents():
    network = SimpleNamespace(structure=((), (0,), (0, 1)))
    assert peer_named("pomegranate-exact").read(network) == Edges(((0, 1), (0, 2), (1, 2)))


def test_graphs_of_named_nodes():
    arcs = [("n0", "n2"), ("n1", "n2"), ("n2", "n10")]
    model = SimpleNamespace(arcs=lambda: arcs, edges=lambda: arcs)
    for key in ("pybnesian-hc-order", "pgmpy-hc"):
        assert peer_named(key).read(model) == Edges(((0, 2), (1, 2), (2, 10)))
    chain = [("n0", "n1"), ("n1", "n2")]  # equivalent to 0 ← 1 → 2 and 0 ← 1 ← 2
    model = SimpleNamespace(arcs=lambda: chain, edges=lambda: chain)
    for key in ("pybnesian-hc", "pybnesian-mmhc", "pgmpy-mmhc"):
        assert peer_named(key).read(model) == Edges((), ((0, 1), (1, 2)))


def test_graphs_of_numbered_nodes():
    dag = SimpleNamespace(arcs=lambda: {(1, 2), (0, 1)})
    assert peer_named("pyagrum-k2").read(dag) == Edges(((0, 1), (1, 2)))
    assert peer_named("pyagrum-greedy").read(dag) == Edges((), ((0, 1), (1, 2)))


def test_backward_edges_are_those_against_the_order():
    assert sorted(node_edges(backward(3))) == [(1, 0), (2, 0), (2, 1)]


def test_all_peers_are_listed():
    assert len(LIBRARIES) == 13
    assert PEERS[3:] == LIBRARIES


# The libraries themselves: make test-bench installs them


@pytest.mark.peers
@pytest.mark.parametrize("key", [peer.key for peer in LIBRARIES])
def test_an_installed_library_learns(key):
    peer = peer_named(key)
    problem, warm_up = (Problem(sample(PROCESS, n, rng=5), PROCESS.kernel) for n in (5_000, 500))
    trial = run_peer(peer, [problem], warm_up)
    assert trial.trouble is None
    edges = trial.answers[0].edges
    links = {frozenset(pair) for pair in (*edges.directed, *edges.undirected)}
    assert len(links & set(map(frozenset, PROCESS.dag.edges))) >= 3, "half of the links, whatever their direction"
    if key in EXACT:
        assert score_edges(edges, PROCESS.dag).shd == 0
