from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel
from kgmi.errors import SettingError
from kgmi.plots import attention_figure, graph_figure, kernel_figure, margins_figure, training_figure
from tests.pictures import KERNEL, LEARNED, draw_figure, labelled, legend_texts, spans


def test_attention_figure_has_a_panel_per_head_and_one_colour_bar():
    assert [ax.get_title() for ax in attention_figure(LEARNED).axes] == ["head 1", "head 2", ""]
    four = replace(LEARNED, attention=np.concatenate([LEARNED.attention] * 2))
    assert [ax.get_title() for ax in attention_figure(four).axes] == ["head 1", "head 2", "head 3", "head 4", ""]


def test_one_legend_explains_the_marks_of_all_heads():
    (legend,) = attention_figure(LEARNED).legends
    assert legend_texts(legend) == ["edge named by this head", "edge not named by this head", "root (not read)"]
    (legend,) = attention_figure(replace(LEARNED, dag=Dag([()] * 10))).legends
    assert legend_texts(legend) == ["root (not read)"]
    nodes = tuple(range(10))
    assert attention_figure(replace(LEARNED, dag=Dag([()] * 10), undecided=nodes)).legends == []


def test_undecided_nodes_reach_the_figures():
    result = replace(LEARNED, dag=Dag([(), (), (), *LEARNED.dag.parents[3:]]), undecided=(2,))
    assert "undecided" in legend_texts(graph_figure(result).axes[0].get_legend())
    assert "undecided" not in legend_texts(graph_figure(LEARNED).axes[0].get_legend())
    assert spans(labelled(attention_figure(result).axes[0], "root (not read)")) == {(0.5, 1.5, -0.5, 0.5)}
    assert "roots" not in legend_texts(training_figure(result).axes[2].get_legend())


def test_panels_of_training_and_their_legends_stand_apart():
    trace = replace(LEARNED.trace, attention=np.repeat(LEARNED.trace.attention, [1, 2], axis=1))
    figure = training_figure(
        replace(LEARNED, retrace=lambda: trace, dag=Dag([(), (), (), *LEARNED.dag.parents[3:]]))
    )
    draw_figure(figure)
    assert legend_texts(figure.axes[2].get_legend()) == ["head 1", "head 2", "head 3", "roots"]
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    gaps = [(right.x0 - left.x1) / figure.dpi for left, right in pairwise(boxes)]
    assert min(gaps) > 0.2, "inches"
    for ax in (figure.axes[0], figure.axes[2]):
        assert ax.get_legend().get_window_extent().x1 <= ax.bbox.x1


def test_figures_need_what_they_show():
    with pytest.raises(SettingError, match="no trace"):
        training_figure(replace(LEARNED, retrace=lambda: None))
    for kernel in (None, FiniteKernels([KERNEL, Kernel.paper(0.05)])):
        with pytest.raises(SettingError, match="no fixed kernel"):
            kernel_figure(replace(LEARNED, kernel=kernel))


def test_training_figure_without_attention_has_two_panels():
    assert len(training_figure(LEARNED).axes) == 3
    assert len(training_figure(replace(LEARNED, retrace=lambda: replace(LEARNED.trace, attention=None))).axes) == 2


@pytest.mark.parametrize("name", ["X", "a rather long name of a column "])
def test_nothing_is_cut_off_at_the_border_of_a_figure(name):
    long = replace(LEARNED, names=tuple(f"{name}{number}" for number in range(1, 11)))
    for draw in (attention_figure, graph_figure, training_figure, kernel_figure, margins_figure):
        figure = draw(long)
        draw_figure(figure)
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert box.x0 > -0.02, draw
        assert box.y0 > -0.02, draw
        assert box.x1 < width + 0.02, draw
        assert box.y1 < height + 0.02, draw


def test_figures_are_not_pyplots():
    from matplotlib import pyplot

    for draw in (attention_figure, graph_figure, training_figure, kernel_figure, margins_figure):
        draw_figure(draw(LEARNED))
    assert pyplot.get_fignums() == []
