from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag
from kgmi.errors import DataError
from kgmi.plots import draw_attention, draw_two_heads
from tests.pictures import (
    LEARNED,
    SHORT,
    centres,
    drawn,
    empty_axes,
    labelled,
    labels,
    legend_texts,
    overlaps,
    spans,
)

NAMED, NOT_NAMED, ROOT = "edge named by this head", "edge not named by this head", "root (not read)"


@pytest.fixture
def ax():
    return empty_axes()


def test_attention_is_the_transpose_above_the_diagonal(ax):
    image = draw_attention(ax, LEARNED.attention[0], LEARNED.names, "head 1", LEARNED.dag)
    cells = image.get_array()
    upper = np.triu(np.ones((10, 10), dtype=bool), 1)
    assert np.array_equal(cells.mask, ~upper)
    assert np.array_equal(cells.data[upper], LEARNED.attention[0].T[upper])
    assert image.get_clim() == (0, 1)
    assert image.axes is ax
    assert ax.get_title() == "head 1"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("child", "candidate parent")
    assert labels(ax.xaxis) == labels(ax.yaxis) == list(LEARNED.names)
    drawn(ax)


@pytest.mark.parametrize("head", [0, 1])
def test_only_the_edges_that_the_head_names_are_outlined_strongly(ax, head):
    draw_attention(ax, LEARNED.attention[head], dag=LEARNED.dag)
    strong, faint = labelled(ax, NAMED), labelled(ax, NOT_NAMED)
    assert centres(strong) == {(i, LEARNED.dag.parents[i][head]) for i in range(2, 10)}
    assert centres(faint) == {(i, LEARNED.dag.parents[i][1 - head]) for i in range(2, 10)}
    assert strong.get_linewidths()[0] > faint.get_linewidths()[0]
    assert np.ptp(faint.get_edgecolor()[0, :3]) == 0, "grey"
    assert np.ptp(strong.get_edgecolor()[0, :3]) > 0.3
    drawn(ax)


def test_edges_of_another_graph_are_told_apart(ax):
    attention = np.zeros((5, 5))
    attention[2, :2] = 0.5  # tied: the head names both
    attention[3, :3] = 0.2, 0.7, 0.1
    draw_attention(ax, attention, dag=Dag([(), (), (1, 0), (0, 2), (3, 1)]))
    assert centres(labelled(ax, NAMED)) == {(2, 0), (2, 1)}
    assert centres(labelled(ax, NOT_NAMED)) == {(3, 0), (3, 2), (4, 1), (4, 3)}, "node 4 has no attention"


def test_an_edge_is_named_only_above_the_threshold(ax):
    attention = np.zeros((4, 4))
    attention[2, :2] = 0.4, 0.6
    attention[3, :3] = 0.5, 0.3, 0.2  # spread: half on the best, and no more
    draw_attention(ax, attention, dag=Dag([(), (), (0, 1), (0, 1)]), above=0.5)
    assert centres(labelled(ax, NAMED)) == {(2, 1)}
    assert centres(labelled(ax, NOT_NAMED)) == {(2, 0), (3, 0), (3, 1)}


def test_columns_of_roots_are_grey(ax):
    draw_attention(ax, SHORT.attention[0], dag=Dag([(), (), (0, 1), (), (0, 1)]))
    assert spans(labelled(ax, ROOT)) == {(0.5, 1.5, -0.5, 0.5), (2.5, 3.5, -0.5, 2.5)}
    assert labelled(ax, ROOT).get_zorder() > ax.images[0].get_zorder()
    assert legend_texts(ax.legend()) == [ROOT, NOT_NAMED, NAMED]
    drawn(ax)


def test_undecided_nodes_are_no_roots(ax):
    dag = Dag([(), (), (0, 1), (), ()])
    draw_attention(ax, SHORT.attention[0], dag=dag, undecided=(3,))
    assert spans(labelled(ax, ROOT)) == {(0.5, 1.5, -0.5, 0.5), (3.5, 4.5, -0.5, 3.5)}
    with pytest.raises(DataError, match=r"without parents, got \[2\]"):
        draw_attention(ax, SHORT.attention[0], dag=dag, undecided=(2, 3))


def test_attention_without_a_graph_has_no_marks(ax):
    draw_attention(ax, SHORT.attention[0])
    assert not ax.collections


def test_roots_of_a_large_graph_are_grey_but_not_enlarged(ax):
    attention = np.zeros((120, 120))
    attention[110, 30] = attention[80, 10] = 1.0
    parents = [()] * 120
    parents[80] = (10,)
    draw_attention(ax, attention, dag=Dag(parents))
    larger = [mark for mark in ax.collections if mark.get_array() is not None]
    assert [centres(mark) for mark in larger] == [{(80, 10)}]
    assert (109.5, 110.5, -0.5, 109.5) in spans(labelled(ax, ROOT))
    assert labelled(ax, ROOT).get_zorder() < larger[0].get_zorder()
    drawn(ax)


def test_strong_cells_of_a_large_graph_are_enlarged(ax):
    attention = np.zeros((120, 120))
    attention[110, 30], attention[80, 10], attention[90, 5] = 1.0, 0.5, 0.1
    image = draw_attention(ax, attention)
    (larger,) = ax.collections
    assert list(larger.get_array()) == [0.5, 1.0]
    assert [path.get_extents().width > 0.7 for path in larger.get_paths()] == [True, True]
    assert tuple(image.get_extent()) == (*ax.get_xlim(), *ax.get_ylim())
    drawn(ax)
    assert not overlaps(ax.xaxis)
    assert not overlaps(ax.yaxis)


def test_two_heads_show_the_difference(ax):
    image = draw_two_heads(ax, LEARNED.attention, LEARNED.names)
    upper = np.triu(np.ones((10, 10), dtype=bool), 1)
    difference = (LEARNED.attention[0] - LEARNED.attention[1]).T
    assert np.allclose(image.get_array().data[upper], difference[upper])
    assert image.get_clim() == (-1, 1)
    assert "head 1 minus head 2" in image.colorbar.ax.get_ylabel()
    blue, orange = image.cmap(1.0), image.cmap(0.0)
    assert np.allclose(blue[:3], [0, 0x72 / 255, 0xB2 / 255])
    assert orange[0] > orange[2]
    drawn(ax)


def test_attention_to_later_nodes_is_drawn(ax):
    attention = np.zeros((2, 4, 4))
    attention[0, 0, 3] = attention[1, 0, 3] = attention[1, 2, 1] = 1.0
    for image in (draw_attention(ax, attention[0], dag=Dag([(3,), (), (1,), ()])), draw_two_heads(ax, attention)):
        assert np.array_equal(image.get_array().mask, np.eye(4, dtype=bool))
    assert centres(labelled(ax, NAMED)) == {(0, 3)}
    assert spans(labelled(ax, "root, or node without use for this head")) == {
        (left - 0.5, left + 0.5, -0.5, 3.5) for left in (1, 2, 3)
    }
    drawn(ax)


def test_two_collapsed_heads_are_still_seen(ax):
    attention = np.zeros((2, 4, 4))
    attention[:, 3, 1] = 1.0
    attention[0, 2, 0] = attention[1, 2, 1] = 1.0
    draw_two_heads(ax, attention)
    (discs,) = ax.collections
    (disc,) = discs.get_paths()
    assert np.allclose(disc.get_extents().get_points().mean(axis=0), (3, 1))
    assert {(text.get_position(), text.get_text()) for text in ax.texts} == {
        ((3, 1), "1+2"),
        ((2, 0), "1"),
        ((2, 1), "2"),
    }
    assert legend_texts(ax.get_legend()) == ["attention of both heads"]


def test_on_many_nodes_a_dot_marks_the_second_head(ax):
    attention = np.zeros((2, 30, 30))
    attention[0, 20, 3] = attention[1, 20, 4] = attention[1, 25, 7] = 1.0
    draw_two_heads(ax, attention)
    assert not ax.collections
    assert not ax.texts
    dots = ax.lines[-1]
    assert sorted(zip(*dots.get_data(), strict=True)) == [(20, 4), (25, 7)]
    assert dots.get_color() == "white"
    assert legend_texts(ax.get_legend()) == ["head 2 (dot)"]


def test_wrong_attention_is_refused(ax):
    with pytest.raises(DataError, match=r"\[child, candidate\], got \(2, 10, 10\)"):
        draw_attention(ax, LEARNED.attention)
    with pytest.raises(DataError, match="two heads"):
        draw_two_heads(ax, LEARNED.attention[:1])
    with pytest.raises(DataError, match="NaN"):
        draw_attention(ax, LEARNED.scores[0])
    with pytest.raises(DataError, match="3 names do not fit 10 nodes"):
        draw_attention(ax, LEARNED.attention[0], ["a", "b", "c"])
    with pytest.raises(DataError, match="5 nodes, the attention 10"):
        draw_attention(ax, LEARNED.attention[0], dag=Dag.paper(5))
