import re

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag
from kgmi.errors import GraphError

from . import strategies as own

PAPER = (
    *((1, 3), (1, 4), (1, 10), (2, 3), (2, 5), (2, 6), (2, 7), (3, 4)),
    *((3, 8), (4, 5), (4, 7), (5, 6), (6, 9), (7, 8), (7, 10), (8, 9)),
)
MIXED = (
    *((1, 3), (2, 4), (3, 4), (1, 5), (4, 5), (3, 6), (4, 6)),
    *((5, 7), (6, 8), (7, 8), (8, 9), (6, 10), (9, 10)),
)
DIAMOND = Dag([(), (), (1, 0), (), (2,)])


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([], "at least one node"),
        (3, "sequence of sequences of node numbers"),
        ([(), 0], "sequence of sequences of node numbers"),
        ([(), (0.0,)], "sequence of sequences of node numbers"),
        ([(), ("0",)], "sequence of sequences of node numbers"),
        ([(), (), (0, 1, 0)], "node 2 lists a parent twice: (0, 1, 0)"),
        ([(), (0, 2)], "node 1 has parent 2, but nodes are numbered 0..1"),
        ([(), (-1,)], "node 1 has parent -1, but nodes are numbered 0..1"),
        ([(), (1,)], "the graph has a cycle: 1 → 1; leave out one of these edges, or turn it"),
        ([(1,), (0,), (1,)], "the graph has a cycle: 0 → 1 → 0;"),
        ([(), (0, 3), (1,), (2,), (3,)], "the graph has a cycle: 1 → 2 → 3 → 1;"),
    ],
)
def test_bad_parents_are_named(parents, message):
    with pytest.raises(GraphError, match=re.escape(message)):
        Dag(parents)


def test_a_graph_says_what_it_holds():
    assert (DIAMOND.n_nodes, DIAMOND.n_edges, DIAMOND.max_in_degree) == (5, 3, 2)
    assert DIAMOND.edges == ((1, 2), (0, 2), (2, 4))
    assert DIAMOND.roots == (0, 1, 3)
    assert DIAMOND.components == ((0, 1, 2, 4), (3,))
    assert Dag([()]).max_in_degree == 0
    assert Dag([()]).edges == ()


def test_numpy_numbers_are_kept_as_plain_integers():
    dag = Dag([(), np.array([0], dtype=np.uint8)])
    assert dag.parents == ((), (0,))
    assert type(dag.parents[1][0]) is int


def test_the_matrices_say_their_direction():
    parent_child = DIAMOND.matrix_parent_child()
    assert sorted(zip(*map(list, np.nonzero(parent_child)), strict=True)) == [(0, 2), (1, 2), (2, 4)]
    assert parent_child[0, 2] == 1
    assert parent_child[2, 0] == 0
    assert np.array_equal(DIAMOND.matrix_child_parent(), parent_child.T)
    assert np.array_equal(np.triu(parent_child, 1), parent_child)


@settings(max_examples=50, deadline=None)
@given(own.dags(max_nodes=9))
def test_components_are_those_of_the_undirected_graph(dag):
    reach = np.eye(dag.n_nodes) + dag.matrix_parent_child() + dag.matrix_child_parent()
    reach = np.linalg.matrix_power(reach, dag.n_nodes) > 0
    expected = {tuple(int(v) for v in np.flatnonzero(row)) for row in reach}
    assert dag.components == tuple(sorted(expected))


def test_default_root_blocks_are_the_roots_that_start_a_component():
    assert Dag.paper().root_blocks == ((0, 1),)
    assert Dag.chain(6, 3).root_blocks == ((0, 1, 2),)
    assert DIAMOND.root_blocks == ((0, 1), (3,))
    # Node 3 joins the component of its child late: it is drawn alone. So are nodes without any edge.
    assert Dag([(), (), (0, 1), (), (2, 3)]).root_blocks == ((0, 1), (3,))
    assert Dag([(), (), ()]).root_blocks == ((0,), (1,), (2,))
    # No more roots than the kernel has parents.
    assert Dag([(), (), (), (0, 1), (2, 3)]).root_blocks == ((0, 1), (2,))


def test_given_root_blocks_keep_their_order_inside_and_do_not_change_equality():
    dag = Dag([(), (), (0, 1)], root_blocks=[(1, 0)])
    assert dag.root_blocks == ((1, 0),)
    assert dag == Dag([(), (), (0, 1)], root_blocks=[(1,), (0,)])
    assert hash(dag) == hash(Dag([(), (), (0, 1)]))
    assert dag != Dag([(), (), (1, 0)])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(0,)], "every root once: roots are (0, 1), got ((0,),)"),
        ([(0, 1), (1,)], "every root once"),
        ([(0, 1, 2)], "every root once"),
        ([(0, 1), ()], "empty block"),
        ([("a", 1)], "sequence of sequences of node numbers"),
        (7, "sequence of sequences of node numbers"),
    ],
)
def test_bad_root_blocks_are_named(blocks, message):
    with pytest.raises(GraphError, match=re.escape(message)):
        Dag([(), (), (0, 1)], root_blocks=blocks)


def test_a_graph_cannot_be_changed():
    with pytest.raises(AttributeError):
        DIAMOND.parents = ()
    with pytest.raises(TypeError):
        DIAMOND.parents[0] = (1,)


def test_copies_shift_edges_and_root_blocks():
    dag = Dag([(), (), (1, 0)], root_blocks=[(0,), (1,)]).copies(3)
    assert dag.parents == ((), (), (1, 0), (), (), (4, 3), (), (), (7, 6))
    assert dag.root_blocks == ((0,), (1,), (3,), (4,), (6,), (7,))
    assert Dag.paper().copies(2).root_blocks == ((0, 1), (10, 11))
    assert Dag.paper().copies(1) == Dag.paper()
    with pytest.raises(GraphError, match="copies needs n ≥ 1, got 0"):
        Dag.paper().copies(0)


def test_restrict_keeps_the_first_nodes_and_their_blocks():
    dag = Dag.paper().restrict(5)
    assert dag == Dag.paper(5)
    assert dag.root_blocks == ((0, 1),)
    assert Dag.paper().restrict(1).root_blocks == ((0,),)
    for n_nodes in (0, 11):
        with pytest.raises(GraphError, match=f"cannot keep the first {n_nodes} of 10 nodes"):
            Dag.paper().restrict(n_nodes)
    with pytest.raises(GraphError, match=re.escape("node 0 has parent 2, but nodes are numbered 0..1")):
        Dag([(2,), (), ()]).restrict(2)
