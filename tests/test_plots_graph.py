from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from kgmi import Dag, Kernel
from kgmi.errors import DataError
from kgmi.plots import draw_arcs, draw_kernel
from kgmi.plots.style import head_colour
from tests.pictures import KERNEL, centres, drawn, empty_axes, labels, legend_texts, overlaps


@pytest.fixture
def ax():
    return empty_axes()


# Graph


def test_one_arc_per_edge_from_parent_to_child(ax):
    dag = Dag.paper(10)
    roles = draw_arcs(ax, dag)
    assert [len(arcs.get_paths()) for arcs in roles] == [8, 8]
    seen = {
        (round(path.vertices[0, 0]), round(path.vertices[-1, 0])) for arcs in roles for path in arcs.get_paths()
    }
    assert seen == set(dag.edges)
    for role, arcs in enumerate(roles):
        assert [round(path.vertices[-1, 0]) for path in arcs.get_paths()] == list(range(2, 10))
        assert np.allclose(
            arcs.get_edgecolor()[0, :3], [int(head_colour(role)[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        )
    drawn(ax)
    assert not overlaps(ax.xaxis)
    assert legend_texts(ax.get_legend()) == [
        "parent 1",
        "parent 2",
        "root",
        "has parents",
    ]


def test_nodes_stand_on_the_line_with_parents_first(ax):
    dag = Dag([(3, 2), (0,), (), (), (1,)])
    draw_arcs(ax, dag, list("abcde"), undecided=(3,))
    roles = [mark for mark in ax.collections if mark.get_zorder() == 2]
    seen = {tuple(np.rint(path.vertices[[0, -1], 0])) for arcs in roles for path in arcs.get_paths()}
    assert dag.order == (2, 3, 0, 1, 4)
    assert seen == {(1, 2), (0, 2), (2, 3), (3, 4)}
    assert labels(ax.xaxis) == list("cdabe")
    assert [{x for x, _ in centres(boxes)} for boxes in ax.collections[-2:]] == [{0, 2, 3, 4}, {1}]
    drawn(ax)


def test_arcs_of_one_node_do_not_touch(ax):
    roles = draw_arcs(ax, Dag.random(30, 3, rng=np.random.default_rng(0)))
    ends = [x for arcs in roles for path in arcs.get_paths() for x in path.vertices[[0, -1], 0]]
    assert len(np.unique(np.round(ends, 9))) == len(ends)


def test_widths_go_to_their_edges(ax):
    dag = Dag([(), (), (0, 1), (1, 2)])
    first, second = draw_arcs(ax, dag, widths=[1, 2, 3, 4])
    assert list(first.get_linewidths()) == [1, 3]
    assert list(second.get_linewidths()) == [2, 4]
    with pytest.raises(DataError, match="widths must be 4 numbers"):
        draw_arcs(ax, dag, widths=[1, 2])


def test_a_graph_without_edges_is_drawn(ax):
    assert draw_arcs(ax, Dag([(), ()])) == []
    drawn(ax)


def test_labels_thin_out_on_a_large_graph():
    figure = Figure(figsize=(12, 6), layout="constrained")
    ax = figure.subplots()
    dag = Dag.random(500, 2, rng=np.random.default_rng(1))
    roles = draw_arcs(ax, dag)
    assert sum(len(arcs.get_paths()) for arcs in roles) == dag.n_edges == 996
    drawn(ax)
    shown = labels(ax.xaxis)
    assert 10 <= len(shown) <= 80
    assert not overlaps(ax.xaxis)
    assert roles[0].get_linewidths()[0] < 0.5


def test_undecided_nodes_are_hollow(ax):
    dag = Dag([(), (), (0, 1), (), (0, 2)])
    draw_arcs(ax, dag, undecided=(3,))
    assert legend_texts(ax.get_legend())[-3:] == ["root", "has parents", "undecided"]
    filled, hollow = ax.collections[-2:]
    assert {x for x, _ in centres(filled)} == {0, 1, 2, 4}
    assert {x for x, _ in centres(hollow)} == {3}
    assert hollow.get_facecolor().tolist() == [[1, 1, 1, 1]]
    assert hollow.get_edgecolor()[0, :3].max() < 0.2
    drawn(ax)


def test_undecided_nodes_of_a_large_graph_stay_hollow():
    ax = Figure(figsize=(12, 6)).subplots()
    draw_arcs(ax, Dag([()] * 300), undecided=range(1, 300, 2))
    hollow = ax.collections[-1]
    width = 0.8 * ax.bbox.width / 300 * 72 / ax.figure.dpi
    assert 0 < hollow.get_linewidths()[0] < width / 2


def test_undecided_nodes_have_no_parents(ax):
    for wrong in (2, 7, -1):
        with pytest.raises(DataError, match=rf"without parents, got \[{wrong}\]"):
            draw_arcs(ax, Dag([(), (), (0, 1)]), undecided=(0, wrong))


# Kernel


def test_kernel_is_drawn_row_by_row(ax):
    image = draw_kernel(ax, KERNEL, ["low", "mid", "high"])
    assert np.array_equal(image.get_array(), KERNEL.table.reshape(9, 3))
    assert labels(ax.xaxis) == ["low", "mid", "high"]
    assert labels(ax.yaxis)[:4] == ["low, low", "low, mid", "low, high", "mid, low"]
    assert [text.get_text() for text in ax.texts][:3] == ["0.1", "0.5", "0.4"]
    assert ax.get_ylabel() == "state of parent 1, parent 2"
    drawn(ax)


def test_large_kernels_have_no_numbers(ax):
    draw_kernel(ax, Kernel.random(6, 3, rng=np.random.default_rng(0)))
    assert not ax.texts
    drawn(ax)
    assert not overlaps(ax.yaxis)


def test_numbers_that_do_not_fit_are_not_written():
    ax = Figure(figsize=(0.8, 3)).subplots()
    draw_kernel(ax, KERNEL)
    assert not ax.texts


def test_kernel_needs_a_name_per_state(ax):
    with pytest.raises(DataError, match="2 names do not fit the 3 states"):
        draw_kernel(ax, KERNEL, ["a", "b"])
