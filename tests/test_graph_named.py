import re

import numpy as np
import pytest

from kgmi import Dag
from kgmi.errors import GraphError

from .test_graph import MIXED, PAPER


def one_based(dag):
    return sorted((parent + 1, child + 1) for parent, child in dag.edges)


def test_the_papers_graphs_have_exactly_the_papers_edges():
    assert one_based(Dag.paper()) == sorted(PAPER)
    assert Dag.paper().n_nodes == 10
    assert one_based(Dag.paper(5)) == [(1, 3), (1, 4), (2, 3), (2, 5), (3, 4), (4, 5)]
    assert Dag.paper(5).n_nodes == 5
    assert one_based(Dag.paper_mixed()) == sorted(MIXED)
    assert [len(ps) for ps in Dag.paper().parents] == [0, 0] + [2] * 8
    assert [len(ps) for ps in Dag.paper_mixed().parents] == [0, 0, 1, 2, 2, 2, 1, 2, 1, 2]


def test_the_paper_has_no_graph_of_seven_nodes():
    with pytest.raises(GraphError, match=re.escape("graphs of 5 and 10 nodes, not 7; use copies(n)")):
        Dag.paper(7)


def test_a_chain_follows_the_nodes_just_before():
    assert Dag.chain(4).parents == ((), (0,), (1,), (2,))
    assert Dag.chain(5, 2).parents == ((), (), (0, 1), (1, 2), (2, 3))


@pytest.mark.parametrize("make", [Dag.chain, lambda *size: Dag.random(*size, rng=np.random.default_rng(0))])
def test_sizes_that_leave_no_child_are_errors(make):
    with pytest.raises(GraphError, match="2 parents need at least 3 nodes, got 2"):
        make(2, 2)
    with pytest.raises(GraphError, match="n_parents must be at least 1, got 0"):
        make(5, 0)


def test_a_random_graph_has_in_degree_zero_or_k():
    dag = Dag.random(200, 3, rng=np.random.default_rng(1))
    assert [len(ps) for ps in dag.parents] == [0] * 3 + [3] * 197
    assert all(list(ps) == sorted(ps) for ps in dag.parents)


def test_a_mixed_random_graph_has_every_in_degree():
    dag = Dag.random(300, 3, rng=np.random.default_rng(2), mixed=True)
    degrees = np.bincount([len(ps) for ps in dag.parents[3:]], minlength=4)
    assert np.all(np.abs(degrees - 297 / 4) < 5 * np.sqrt(297 * 3 / 16))


@pytest.mark.parametrize("mixed", [False, True])
def test_the_root_probability_makes_later_roots(mixed):
    dag = Dag.random(1_002, 2, rng=np.random.default_rng(3), mixed=mixed, root_probability=0.3)
    chance = 0.3 + 0.7 / 3 if mixed else 0.3
    assert abs(len(dag.roots) - 2 - 1_000 * chance) < 5 * np.sqrt(1_000 * chance * (1 - chance))
    assert len(Dag.random(50, 2, rng=np.random.default_rng(3), root_probability=1.0).roots) == 50
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(GraphError, match="root_probability must lie in"):
            Dag.random(5, 2, rng=np.random.default_rng(3), root_probability=bad)


def test_parents_are_drawn_uniformly_from_the_earlier_nodes():
    rng = np.random.default_rng(4)
    counts = np.zeros(3)
    for _ in range(3_000):
        counts[list(Dag.random(4, 2, rng=rng).parents[3])] += 1
    assert np.all(np.abs(counts - 2_000) < 5 * np.sqrt(3_000 * 2 / 9))


def test_the_same_generator_state_gives_the_same_graph_and_leaves_the_global_one_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002  (that is what is checked)
    first, second = (Dag.random(30, 2, rng=np.random.default_rng(5), mixed=True) for _ in range(2))
    assert first == second
    assert first != Dag.random(30, 2, rng=np.random.default_rng(6), mixed=True)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
