import json
import re

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag
from kgmi.errors import GraphError

from . import strategies as own

SWAPPED = Dag([(), (), (1, 0), (2, 0)])
some = settings(max_examples=40, deadline=None)


@some
@given(own.renumbered(own.role_dags()).map(lambda found: found[-1]))
def test_every_format_gives_the_graph_back_with_its_roles(dag):
    assert Dag.from_networkx(dag.to_networkx()) == dag
    assert Dag.from_dot(dag.to_dot()) == dag
    assert Dag.from_dict(json.loads(json.dumps(dag.to_dict()))) == dag
    names = [f"node {i}" for i in range(dag.n_nodes)]
    for order in (names, None):
        assert Dag.from_networkx(dag.to_networkx(names), order=order) == dag


@some
@given(own.renumbered(own.dags(max_nodes=8)).map(lambda found: Dag(map(sorted, found[-1].parents))))
def test_edges_give_a_graph_with_increasing_roles_back(dag):
    assert Dag.from_edges(dag.edges, dag.n_nodes) == dag
    assert Dag.from_edges(list(reversed(dag.edges)), np.int64(dag.n_nodes)) == dag
    assert Dag.from_edges(np.argwhere(dag.matrix_parent_child()), dag.n_nodes) == dag
    assert Dag.from_dict(json.loads(json.dumps({"edges": dag.edges, "n_nodes": dag.n_nodes}))) == dag


@some
@given(own.dags(), st.data())
def test_any_name_survives_in_dot(dag, data):
    names = data.draw(st.lists(st.text(max_size=5), min_size=dag.n_nodes, max_size=dag.n_nodes, unique=True))
    assert Dag.from_dot(dag.to_dot(names)) == dag


def test_root_blocks_survive_in_json():
    dag = Dag(SWAPPED.parents, root_blocks=[(1,), (0,)])
    assert Dag.from_dict(json.loads(json.dumps(dag.to_dict()))).root_blocks == ((0,), (1,))
    assert Dag.from_dict({"parents": SWAPPED.parents}).root_blocks == ((0, 1),)


def test_networkx_edges_point_from_parent_to_child_and_carry_the_role():
    graph = SWAPPED.to_networkx(["a", "b", "c", "d"])
    assert set(graph.edges) == {("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")}
    assert graph.edges["b", "c"]["head"] == 0
    assert graph.edges["a", "c"]["head"] == 1
    assert networkx.is_directed_acyclic_graph(graph)


def test_a_networkx_graph_without_roles_takes_them_in_order():
    graph = networkx.DiGraph([("late", "end"), ("early", "end")])
    assert Dag.from_networkx(graph, ["early", "late", "end"]).parents == ((), (), (0, 1))
    assert Dag.from_networkx(graph).parents == ((), (0, 2), ())
    assert Dag.from_networkx(networkx.DiGraph([(2, 0), (1, 0)])).parents == ((1, 2), (), ())  # numbers stay


def test_networkx_graphs_that_do_not_fit_are_errors():
    graph = networkx.DiGraph([("a", "b")])
    for order in (["a"], ["a", "b", "b"], ["a", "c"]):
        with pytest.raises(GraphError, match="order must list every node of the graph once"):
            Dag.from_networkx(graph, order)
    with pytest.raises(GraphError, match="cycle: 0 → 1 → 0"):
        Dag.from_networkx(networkx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(GraphError, match=r"must be a networkx\.DiGraph, got Graph"):
        Dag.from_networkx(networkx.Graph([(0, 1)]))
    with pytest.raises(GraphError, match=r"must be a networkx\.DiGraph, got MultiDiGraph"):
        Dag.from_networkx(networkx.MultiDiGraph([(0, 1)]))


@pytest.mark.parametrize(
    ("edges", "n_nodes", "message"),
    [
        ([(0, 1, 2)], 3, "an edge is a pair (parent, child) of node numbers, got (0, 1, 2)"),
        ([("a", "b")], 3, "an edge is a pair (parent, child) of node numbers, got ('a', 'b')"),
        ([(0.5, 1)], 3, "an edge is a pair"),
        ([3], 3, "an edge is a pair"),
        ([(0, 3)], 3, "edge 0 → 3 leaves the nodes 0..2"),
        ([(-1, 2)], 3, "edge -1 → 2 leaves the nodes 0..2"),
        ([(0, 1), (0, 1)], 3, "node 1 lists a parent twice"),
        ([(2, 1), (1, 2)], 3, "cycle: 1 → 2 → 1"),
        ([], 0, "n_nodes must be a whole number from 1 to 10,000,000, got 0"),
        ([], 10**12, "n_nodes must be a whole number"),
        ([], "3", "n_nodes must be a whole number from 1 to 10,000,000, got '3'"),
    ],
)
def test_bad_edges_are_named(edges, n_nodes, message):
    with pytest.raises(GraphError, match=re.escape(message)):
        Dag.from_edges(edges, n_nodes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([[0]], "a graph in JSON is an object"),
        ({"edges": [[0, 1]]}, "needs 'parents', or 'edges' and 'n_nodes'"),
        ({"parents": "abc"}, "sequence of sequences of node numbers"),
        ({"parents": None}, "sequence of sequences of node numbers"),
        ({"parents": [[], [0]], "root_blocks": [[1]]}, "every root once"),
    ],
)
def test_bad_json_is_named(content, message):
    with pytest.raises(GraphError, match=message):
        Dag.from_dict(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a DOT digraph"),
        ("graph g {\n0 -- 1\n}", "not a DOT digraph"),
        ("digraph g {\n0 -> 1;\n", "not a DOT digraph"),
        ("digraph g\n0 -> 1;\n}", "not a DOT digraph"),
        ("digraph g {\n}", "at least one node"),
        ("digraph g {\n0;\na -> b;\n}", "line 3 of the DOT text is not a numbered node or edge: 'a -> b;'"),
        ("\n\ndigraph g {\n\n0;\nrankdir=LR\n}\n", "line 6 of the DOT text is not a numbered node or edge"),
        ("digraph g {\n0 -> 2;\n}", "DOT nodes must be numbered 0..1"),
        ("digraph g {\n1 -> 0;\n0 -> 1;\n}", "cycle: 0 → 1 → 0"),
        ("digraph g {\n0 -> 1;\n0 -> 1;\n}", "node 1 lists a parent twice"),
    ],
)
def test_bad_dot_is_named(text, message):
    with pytest.raises(GraphError, match=re.escape(message)):
        Dag.from_dot(text)


def test_dot_is_read_with_windows_line_ends_and_without_semicolons():
    assert Dag.from_dot("digraph {\r\n 0 -> 2 [head = 1]\r\n 1 -> 2 [head=0]\r\n}\r\n").parents == ((), (), (1, 0))


def test_dot_writes_labels_and_roles():
    text = SWAPPED.to_dot(['say "hi"', "back\\slash", "two\nlines", "d"])
    assert '0 [label="say \\"hi\\""];' in text
    assert '1 [label="back\\\\slash"];' in text
    assert '2 [label="two\\nlines"];' in text
    assert "1 -> 2 [head=1];" in text
    assert "0 -> 2 [head=2];" in text


@pytest.mark.parametrize("write", [Dag.to_dot, Dag.to_networkx])
def test_names_must_fit_the_nodes(write):
    with pytest.raises(GraphError, match="4 nodes need 4 names, got 2"):
        write(SWAPPED, ["a", "b"])
    with pytest.raises(GraphError, match="two nodes are named 'b'"):
        write(SWAPPED, ["a", "b", "c", "b"])
