from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag
from kgmi.graph.crossings import _crossings, fewest_crossings
from kgmi.graph.layers import Pieces
from kgmi.graph.layout import layered


@st.composite
def dags(draw, most=14):
    n_nodes = draw(st.integers(1, most))
    dag = Dag([draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else () for i in range(n_nodes)])
    return dag.renumbered(draw(st.permutations(range(n_nodes))))


def points(layout):
    return np.column_stack([layout.x * layout.width, layout.y * layout.height])


def brute_crossings(pieces, order):
    place = {point: rank for points in order for rank, point in enumerate(points.tolist())}
    edges = zip(pieces.up.tolist(), pieces.down.tolist(), strict=True)
    ends = [(int(pieces.layer[a]), place[a], place[b]) for a, b in edges]
    return sum(a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for a, b in combinations(ends, 2))


def total_crossings(pieces, order):
    place = np.zeros(len(pieces.layer))
    for layer in order:
        place[layer] = np.arange(len(layer))
    return _crossings(pieces, place)


@settings(max_examples=60, deadline=None)
@given(dags())
def test_children_lie_below_their_parents_and_nodes_stand_apart(dag):
    layout = layered(dag)
    assert ((layout.x >= 0) & (layout.x <= 1) & (layout.y >= 0) & (layout.y <= 1)).all()
    for parent, child in dag.edges:
        assert layout.layer[child] > layout.layer[parent]
        steps = (layout.y[child] - layout.y[parent]) * layout.height
        assert np.isclose(steps, layout.layer[child] - layout.layer[parent]), "layers are 1 apart"
    for a, b in combinations(points(layout) if dag.n_nodes > 1 else [], 2):
        assert abs(a[1] - b[1]) > 0.5 or abs(a[0] - b[0]) >= 1 - 1e-9
    for child, parents in enumerate(dag.parents):
        if parents:
            assert layout.layer[child] == 1 + max(layout.layer[parent] for parent in parents)


@settings(max_examples=60, deadline=None)
@given(dags())
def test_edges_pass_the_layers_between_their_ends(dag):
    layout = layered(dag)
    size = np.array([layout.width, layout.height])
    for (parent, child), line in zip(dag.edges, layout.bends, strict=True):
        between = np.arange(layout.layer[parent] + 1, layout.layer[child]) - layout.layer[parent]
        assert np.allclose(line[:, 1] * size[1] - layout.y[parent] * size[1], between)
        for bend in line * size:
            gap = np.abs(points(layout) - bend)
            assert not ((gap[:, 1] < 0.5) & (gap[:, 0] < 0.7 - 1e-9)).any(), "no bend lies under a node"


@settings(max_examples=60, deadline=None)
@given(dags(10))
def test_crossings_are_counted_right(dag):
    for component in dag.components:
        local = {node: place for place, node in enumerate(component)}
        pieces = Pieces.of(tuple(tuple(local[p] for p in dag.parents[node]) for node in component))
        found = fewest_crossings(pieces)
        by_number = [np.flatnonzero(pieces.layer == layer) for layer in range(int(pieces.layer.max()) + 1)]
        for order in (found, by_number):
            assert sorted(np.concatenate(order)) == list(range(len(pieces.layer)))
            assert total_crossings(pieces, order) == brute_crossings(pieces, order)


def test_trees_have_no_crossings():
    dag = Dag.random(60, 1, rng=71)
    pieces = Pieces.of(dag.parents)
    assert brute_crossings(pieces, fewest_crossings(pieces)) == 0


def test_sweeps_leave_far_fewer_crossings_than_the_order_of_the_nodes():
    pieces = Pieces.of(Dag.random(80, 2, rng=72).parents)
    by_number = [np.flatnonzero(pieces.layer == layer) for layer in range(int(pieces.layer.max()) + 1)]
    assert brute_crossings(pieces, fewest_crossings(pieces)) < 0.5 * brute_crossings(pieces, by_number)


def test_a_root_stands_just_above_its_first_child():
    layout = layered(Dag([(), (0,), (1,), (), (2, 3)]))
    assert layout.layer.tolist() == [0, 1, 2, 2, 3]
    assert layout.n_layers == 4


def test_copies_have_the_same_shape_and_do_not_overlap():
    one = layered(Dag.paper(10))
    layout = layered(Dag.paper(10).copies(6))
    places = points(layout).reshape(6, 10, 2)
    shapes = places - places[:, :1]
    alone = points(one)
    assert np.allclose(shapes, alone - alone[0])
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in places]
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        assert (low > other_high).any() or (high < other_low).any()


def test_nodes_without_edges_fill_a_grid():
    layout = layered(Dag([()] * 100))
    assert len(np.unique(points(layout).round(6), axis=0)) == 100
    assert 0.5 < layout.width / layout.height < 3
    assert layout.n_layers == 1
    assert (layered(Dag([()])).x.tolist(), layered(Dag([()])).y.tolist()) == ([0.5], [0.5])


@pytest.mark.parametrize("dag", [Dag.random(300, 2, rng=73), Dag.chain(400, 3)])
def test_large_graphs_are_laid_out_the_same_every_time(dag):
    first, second = layered(dag), layered(dag)
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.y, second.y)
    assert np.isfinite(first.x).all()


def test_edges_over_very_many_layers_have_no_bends():
    n_nodes = 300
    dag = Dag([(), *((i - 1,) if i < 2 else (0, i - 1) for i in range(1, n_nodes))])
    layout = layered(dag)
    assert layout.n_layers == n_nodes
    bends = sum(map(len, layout.bends))
    assert 0 < bends <= 8 * (n_nodes + dag.n_edges)
    assert len(layout.bends[-2]) == 0, "the longest edge, from the first node to the last"
