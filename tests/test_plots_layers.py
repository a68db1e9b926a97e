from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from kgmi import Dag
from kgmi.errors import DataError
from kgmi.graph.layout import layered
from kgmi.plots import draw_arcs, draw_layers, layers_figure
from kgmi.plots.nodes import wrapped
from kgmi.plots.strength import strengths_of
from tests.pictures import LEARNED, draw_figure, drawn, legend_texts


@pytest.fixture
def ax():
    return Figure(figsize=(9, 8)).subplots()


def boxes_of(ax):
    """(left, right, top, bottom) of the box of every node."""
    (boxes,) = [mark for mark in ax.collections if mark.get_zorder() == 3]
    extents = [path.get_extents() for path in boxes.get_paths()]
    return np.array([(box.x0, box.x1, box.y0, box.y1) for box in extents])


def curves_of(roles, dag):
    """The curve of every edge, in the order of ``dag.edges``."""
    left = [list(lines.get_paths()) for lines in roles]
    return [left[role].pop(0) for parents in dag.parents for role in range(len(parents))]


def test_curves_lead_from_the_lower_side_of_a_parent_to_the_upper_side_of_its_child(ax):
    dag = Dag.paper(10)
    roles = draw_layers(ax, dag)
    assert [len(lines.get_paths()) for lines in roles] == [8, 8]
    boxes = boxes_of(ax)
    for (parent, child), curve in zip(dag.edges, curves_of(roles, dag), strict=True):
        (x0, y0), (x1, y1) = curve.vertices[[0, -1]]
        assert boxes[parent, 0] < x0 < boxes[parent, 1]
        assert boxes[child, 0] < x1 < boxes[child, 1]
        assert np.isclose(y0, boxes[parent, 3])
        assert np.isclose(y1, boxes[child, 2])
    assert [text.get_text() for text in ax.texts] == [f"X{number}" for number in range(1, 11)]
    assert ax.yaxis_inverted(), "roots are at the top"
    assert legend_texts(ax.get_legend()) == ["parent 1", "parent 2", "root", "has parents"]
    drawn(ax)


@pytest.mark.parametrize("seed", [81, 82, 83])
def test_no_edge_runs_under_the_box_of_another_node(seed):
    dag = Dag.random(14, 2, rng=seed)
    ax = Figure(figsize=(16, 12)).subplots()
    roles = draw_layers(ax, dag)
    boxes = boxes_of(ax)
    for (parent, child), curve in zip(dag.edges, curves_of(roles, dag), strict=True):
        ways = curve.interpolated(1).to_polygons(closed_only=False)[0]
        for node in set(range(dag.n_nodes)) - {parent, child}:
            left, right, top, bottom = boxes[node]
            inside = (ways[:, 0] > left) & (ways[:, 0] < right) & (ways[:, 1] > top) & (ways[:, 1] < bottom)
            assert not inside.any(), (parent, child, node)


def test_strengths_are_widths_and_are_explained(ax):
    dag = Dag([(), (), (0, 1), (1, 2)])
    strengths = ["certain", "clear", "weak", "certain"]
    first, second = draw_layers(ax, dag, strengths=strengths)
    certain, weak = first.get_linewidths()
    clear, also_certain = second.get_linewidths()
    assert certain == also_certain
    assert certain > 1.4 * clear > 1.4 * 1.4 * weak
    assert legend_texts(ax.get_legend())[2:5] == ["certain edge", "clear edge", "weak edge"]
    other = Figure(figsize=(6, 4)).subplots()
    arcs, _ = draw_arcs(other, dag, strengths=strengths)
    assert list(arcs.get_linewidths()) == [certain, weak]
    assert "weak edge" in legend_texts(other.get_legend())
    for wrong in (strengths[:2], ["sure"] * 4):
        with pytest.raises(DataError, match="strengths must be 4 words, one per edge: certain, clear, weak"):
            draw_layers(ax, dag, strengths=wrong)


def test_the_figure_shows_how_sure_each_edge_of_the_result_is():
    told = LEARNED.trust.edges
    assert strengths_of(LEARNED) == [told[LEARNED.names[j], LEARNED.names[i]] for j, i in LEARNED.dag.edges]
    labels = legend_texts(layers_figure(LEARNED).axes[0].get_legend())
    assert {label.split()[0] for label in labels if label.endswith(" edge")} == set(told.values())


def test_names_that_do_not_fit_are_left_out_and_none_overlap():
    figure = Figure(figsize=(14, 12))
    ax = figure.subplots()
    dag = Dag.random(500, 2, rng=84)
    names = [f"gene {number}" for number in range(500)]
    draw_layers(ax, dag, names)
    draw_figure(figure)
    assert 30 < len(ax.texts) < 450
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    degree = np.bincount(np.array(dag.edges).ravel())
    named = [names.index(text.get_text()) for text in ax.texts]
    assert degree[named].mean() > 1.15 * np.delete(degree, named).mean(), "busy nodes come first"


def test_dots_stand_where_the_layout_says():
    dag = Dag.random(200, 2, rng=85)
    layout = layered(dag)
    ax = Figure(figsize=(6, 6)).subplots()
    draw_layers(ax, dag, layout=layout)
    (dots,) = [mark for mark in ax.collections if mark.get_zorder() == 3]
    assert np.allclose(dots.get_offsets(), np.column_stack([layout.x * layout.width, layout.y * layout.height]))


def test_undecided_nodes_are_hollow(ax):
    draw_layers(ax, Dag([(), (), (0, 1), ()]), undecided=(3,))
    (boxes,) = [mark for mark in ax.collections if mark.get_zorder() == 3]
    assert boxes.get_facecolor()[3].tolist() == [1, 1, 1, 1]
    assert boxes.get_edgecolor()[3, :3].max() < 0.2
    assert legend_texts(ax.get_legend())[-1] == "undecided"
    drawn(ax)


@pytest.mark.parametrize("dag", [Dag([()]), Dag([()] * 7), Dag.chain(40), Dag([(), *[(0,)] * 30])])
def test_extreme_graphs_can_be_drawn(ax, dag):
    layout = layered(dag)
    draw_layers(ax, dag, layout=layout)
    drawn(ax)
    (marks,) = [mark for mark in ax.collections if mark.get_zorder() == 3]
    assert len(marks.get_paths() if len(marks.get_offsets()) == 1 else marks.get_offsets()) == dag.n_nodes


def test_long_names_are_broken_in_two_lines():
    assert wrapped("short") == "short"
    assert wrapped("systolic pressure") == "systolic\npressure"
    assert wrapped("abcdefghijklmnop") == "abcdefgh\nijklmnop"
    figure = layers_figure(replace(LEARNED, names=tuple(f"a long name, number {k}" for k in range(10))))
    draw_figure(figure)
    boxes, texts = boxes_of(figure.axes[0]), figure.axes[0].texts
    for box, text in zip(boxes, texts, strict=True):
        extent = text.get_window_extent().transformed(figure.axes[0].transData.inverted())
        assert extent.x0 >= box[0]
        assert extent.x1 <= box[1]
