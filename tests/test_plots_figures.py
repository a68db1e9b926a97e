from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from kgmi import Dag, FiniteKernels, Kernel, Process, learn, sample
from kgmi.errors import DataError, SettingError
from kgmi.plots import (
    FIGURE_NAMES,
    attention_figure,
    draw_laws,
    figure_of,
    graph_figure,
    kernel_figure,
    marginals_figure,
    training_figure,
)
from kgmi.plots.canvas import write_figure
from tests.pictures import KERNEL, LEARNED, draw_figure, empty_axes, labelled, labels, legend_texts, spans


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
    for draw in FIGURE_NAMES:
        figure = figure_of(long, draw)
        draw_figure(figure)
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert box.x0 > -0.02, draw
        assert box.y0 > -0.02, draw
        assert box.x1 < width + 0.02, draw
        assert box.y1 < height + 0.02, draw


def test_titles_are_not_cut_off_where_the_legend_has_two_lines(tmp_path):
    rng = np.random.default_rng(96)
    sex, place, age = rng.integers(0, 2, 900), rng.integers(0, 3, 900), rng.integers(0, 3, 900)
    smoker = sex ^ (rng.random(900) < 0.2)
    survived = (sex + place > 1) ^ (rng.random(900) < 0.1)
    names = ("sex", "smoker", "class", "age-group", "survived")
    result = learn(np.column_stack([sex, smoker, place, age, survived]), names=names)
    assert [len(parents) for parents in result.dag.parents] == [0, 1, 0, 0, 2]
    figure = attention_figure(result)
    write_figure(figure, tmp_path / "attention.png")
    grey = np.asarray(Image.open(tmp_path / "attention.png").convert("L"))
    for border in (grey[0], grey[-1], grey[:, 0], grey[:, -1]):
        assert border.min() == 255


def test_figures_are_not_pyplots():
    from matplotlib import pyplot

    for name in FIGURE_NAMES:
        draw_figure(figure_of(LEARNED, name))
    assert pyplot.get_fignums() == []


# Kernels, marginals and laws


def test_marginals_are_those_of_each_head_and_of_each_node():
    result = learn(sample(Process(Dag.paper(5), KERNEL), 500, rng=94), kernel=KERNEL)
    figure = marginals_figure(result)
    kernels, laws = (ax.images[0].get_array() for ax in figure.axes[:2])
    assert np.allclose(kernels.compressed().reshape(7, 3)[:6], KERNEL.marginal_kernels.reshape(6, 3))
    assert np.allclose(kernels[-1], KERNEL.marginal)
    assert np.allclose(laws, result.model.marginals)
    assert labels(figure.axes[0].yaxis)[-1] == "any (stationary)"
    assert [ax.get_title() for ax in marginals_figure(LEARNED).axes] == ["marginal kernel of each head", ""]


def test_results_with_states_of_their_own_show_their_kernels_and_states():
    rows = sample(Process(Dag.paper(5), KERNEL), 3_000, rng=95)
    words = [["sun", "rain", "snow"], ["low", "mid", "high"], *[["no", "yes", "maybe"]] * 3]
    frame = pd.DataFrame({f"X{k}": np.array(own)[rows[:, k]] for k, own in enumerate(words)})
    result = learn(frame, alphabet="own")
    assert result.kernel is None
    figure = kernel_figure(result)
    panels = figure.axes[:-1]
    assert len(panels) == min(len(result.kernels), 4)
    for ax in panels:
        name = ax.get_title().split(" given ")[0]
        (one,) = [k for k in result.kernels if [result.names[child] for child in k.children] == [name]]
        assert np.allclose(ax.images[0].get_array(), one.table.reshape(-1, one.table.shape[-1]))
        assert labels(ax.xaxis) == list(result.alphabets[one.children[0]])
    written = {text.get_text().split()[0] for text in marginals_figure(result).axes[0].texts}
    assert {"sun", "rain", "snow", "low", "mid", "high"} <= written


def test_a_kernel_without_marginals_leaves_the_laws():
    table = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # states 1 and 2 never stay
    kernel = Kernel(np.stack([table] * 3))
    rows = sample(Process(Dag.paper(5), KERNEL), 500, rng=94)
    figure = marginals_figure(replace(learn(rows, kernel=KERNEL), kernel=kernel))
    assert [ax.get_title() for ax in figure.axes] == ["law of each node", ""]
    with pytest.raises(SettingError, match="neither a kernel with marginals nor laws"):
        marginals_figure(replace(LEARNED, kernel=kernel))


def test_laws_need_as_many_states_as_they_have_entries():
    laws = [np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5])]
    image = draw_laws(empty_axes(), laws, ["a", "b"], alphabets=[("x", "y"), ("p", "q", "r")])
    assert image.get_array().mask.tolist() == [[False, False, True], [False, False, False]]
    assert [text.get_text() for text in image.axes.texts] == ["x 0.5", "y 0.5", "p 0.2", "q 0.3", "r 0.5"]
    for wrong in ({"alphabets": [("x",), ("p", "q", "r")]}, {"states": ("a", "b")}):
        with pytest.raises(DataError, match="states"):
            draw_laws(empty_axes(), laws, **wrong)
    with pytest.raises(DataError, match="no law"):
        draw_laws(empty_axes(), [])
