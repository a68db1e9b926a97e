from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kgmi import Dag
from kgmi.attention import Trace
from kgmi.errors import DataError, SettingError
from kgmi.plots import draw_concentration, draw_margins, draw_objective, draw_suboptimality
from tests.pictures import LEARNED, SHORT, drawn, empty_axes, labels, legend_texts, overlaps


@pytest.fixture
def ax():
    return empty_axes()


# Training


def test_objective_and_its_best_value(ax):
    line, best = draw_objective(ax, LEARNED.trace)
    assert np.array_equal(line.get_xdata(), LEARNED.trace.epochs)
    assert np.array_equal(line.get_ydata(), LEARNED.trace.objective)
    assert set(best.get_ydata()) == {LEARNED.trace.best_objective}
    assert best.get_linestyle() == "--"
    drawn(ax)
    left, right = (ax.transData.transform((x, 0))[0] for x in (0, 1))
    low, high = (ax.transData.transform((x, 0))[0] for x in (10, 100))
    assert ax.bbox.x0 <= left < right < low < high <= ax.bbox.x1, "epoch 0 stands left of 1"
    assert "0" in labels(ax.xaxis)


def test_suboptimality_leaves_out_what_a_log_scale_cannot_show(ax):
    trace = Trace(np.array([0, 1, 10, 100]), np.array([0.0, 0.5, 1.0, 1.0 + 1e-16]), 1.0, None)
    line = draw_suboptimality(ax, trace)
    assert ax.get_yscale() == "log"
    assert np.array_equal(line.get_ydata(), [1.0, 0.5, np.nan, np.nan], equal_nan=True)
    drawn(ax)


def test_suboptimality_with_nothing_to_gain(ax):
    draw_suboptimality(ax, Trace(np.array([0]), np.array([1.0]), 1.0, None))
    assert [text.get_text() for text in ax.texts] == ["L = L* from the start"]
    drawn(ax)


def test_concentration_has_one_line_per_head_and_child(ax):
    heads = draw_concentration(ax, LEARNED.trace)
    assert [len(lines.get_segments()) for lines in heads] == [8, 8]
    largest = LEARNED.trace.attention[:, 1, 4].max(axis=-1)
    assert np.allclose(heads[1].get_segments()[2], np.column_stack([LEARNED.trace.epochs, largest]))
    drawn(ax)


def test_roots_are_told_apart_in_the_concentration(ax):
    dag = Dag([(), (), (), *Dag.paper(10).parents[3:]])
    *heads, roots = draw_concentration(ax, LEARNED.trace, dag)
    assert [len(lines.get_segments()) for lines in heads] == [7, 7]
    assert len(roots.get_segments()) == 2
    assert legend_texts(ax.get_legend()) == ["head 1", "head 2", "roots"]
    drawn(ax)


def test_concentration_needs_the_attention_of_the_right_graph(ax):
    with pytest.raises(SettingError, match="record_at"):
        draw_concentration(ax, replace(LEARNED.trace, attention=None))
    with pytest.raises(DataError, match="5 nodes, the trace 10"):
        draw_concentration(ax, LEARNED.trace, Dag.paper(5))


def test_undecided_nodes_are_no_roots_in_the_concentration(ax):
    dag = Dag([(), (), (), (), *Dag.paper(10).parents[4:]])
    *heads, roots = draw_concentration(ax, LEARNED.trace, dag, undecided=(3,))
    assert [len(lines.get_segments()) for lines in heads] == [7, 7]
    assert len(roots.get_segments()) == 2
    with pytest.raises(DataError, match=r"without parents, got \[5\]"):
        draw_concentration(ax, LEARNED.trace, dag, undecided=(5,))


@pytest.mark.parametrize(
    ("n_nodes", "dag", "sentence"),
    [
        (5, Dag([()] * 5), "no node has parents"),
        (2, Dag([(), (0,)]), "no child has two candidates"),
        (2, None, "no child has two candidates"),
    ],
)
def test_concentration_without_children_says_so(ax, n_nodes, dag, sentence):
    attention = np.tril(np.ones((2, 1, n_nodes, n_nodes)), -1) / n_nodes
    lines = draw_concentration(ax, Trace(np.array([0, 1]), np.zeros(2), 1.0, attention), dag)
    assert [text.get_text() for text in ax.texts] == [sentence]
    assert not any(len(group.get_segments()) for group in lines)
    assert ax.get_legend() is None
    drawn(ax)


# Margins


def test_margins_of_the_nodes_with_parents(ax):
    heads = draw_margins(ax, LEARNED)
    assert len(heads) == 2
    for head, markers in enumerate(heads):
        assert np.array_equal(markers.get_xdata(), LEARNED.margins[head, 2:])
        assert np.array_equal(np.round(markers.get_ydata()), np.arange(8))
    assert labels(ax.yaxis) == list(LEARNED.names[2:])
    assert ax.yaxis_inverted()
    drawn(ax)
    assert not overlaps(ax.xaxis)


def test_ties_and_single_candidates_stand_on_the_edges(ax):
    scores = np.full((1, 4, 4), np.nan)
    scores[0, 1, :1] = 1.0
    scores[0, 2, :2] = 1.0
    scores[0, 3, :3] = 0.0, 1.0, 3.0
    result = replace(SHORT, dag=Dag([(), (0,), (0,), (2,)]), scores=scores, attention=scores, names=tuple("abcd"))
    (markers,) = draw_margins(ax, result)
    assert np.array_equal(markers.get_xdata(), [np.nan, np.nan, 2.0], equal_nan=True)
    _, tie, single = ax.lines
    assert (list(tie.get_xdata()), list(tie.get_ydata())) == ([0.0], [1.0])
    assert (list(single.get_xdata()), list(single.get_ydata())) == ([1.0], [0.0])
    told = legend_texts(ax.get_legend())
    assert told == ["head 1", "tie (left edge)", "one candidate (right edge)"]
    drawn(ax)


def test_margins_without_children_say_so(ax):
    draw_margins(ax, replace(SHORT, dag=Dag([()] * 5)))
    assert [text.get_text() for text in ax.texts] == ["no node has parents"]
    drawn(ax)
