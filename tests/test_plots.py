from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from kgmi import Dag, FiniteKernels, Kernel, Process, exact_joint, learn
from kgmi.ascent import Trace
from kgmi.errors import DataError, SettingError
from kgmi.plots import (
    attention_figure,
    draw_arcs,
    draw_attention,
    draw_concentration,
    draw_kernel,
    draw_margins,
    draw_objective,
    draw_suboptimality,
    draw_two_heads,
    graph_figure,
    kernel_figure,
    margins_figure,
    save_figures,
    training_figure,
)
from kgmi.plots.style import head_colour, label_nodes, shown_names, shown_texts, step_for

KERNEL = Kernel.paper()


@pytest.fixture(scope="module")
def learned():
    """The paper's 10-node graph from the population: exact, so the pictures are the same everywhere."""
    return learn(exact_joint(Process(Dag.paper(10), KERNEL)), kernel=KERNEL)


@pytest.fixture(scope="module")
def short():
    """A small result with a short trace, for what does not depend on the numbers."""
    return learn(exact_joint(Process(Dag.paper(5), KERNEL)), kernel=KERNEL, epochs=50)


@pytest.fixture
def ax():
    return Figure(figsize=(6, 5), layout="constrained").subplots()


def drawn(ax):
    """Draw for real, so that warnings of layout and fonts are raised, and return the axes."""
    ax.figure.canvas.draw()
    return ax


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def overlaps(axis):
    boxes = [text.get_window_extent() for text in axis.get_ticklabels() if text.get_text()]
    return any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])


# Imports


def test_importing_does_not_load_matplotlib():
    code = "import sys, kgmi, kgmi.plots; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_drawing_does_not_load_pyplot(tmp_path):
    code = (
        "import sys, kgmi\n"
        "from kgmi.plots import save_figures\n"
        "kernel = kgmi.Kernel.paper()\n"
        "joint = kgmi.exact_joint(kgmi.Process(kgmi.Dag.paper(5), kernel))\n"
        f"save_figures(kgmi.learn(joint, kernel=kernel, epochs=5), {str(tmp_path)!r})\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# Attention


def test_attention_is_the_transpose_above_the_diagonal(ax, learned):
    image = draw_attention(ax, learned.attention[0], learned.names, "head 1", learned.dag)
    cells = image.get_array()
    upper = np.triu(np.ones((10, 10), dtype=bool), 1)
    assert np.array_equal(cells.mask, ~upper)
    assert np.array_equal(cells.data[upper], learned.attention[0].T[upper])
    assert image.get_clim() == (0, 1)
    assert image.axes is ax
    assert ax.get_title() == "head 1"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("child", "candidate parent")
    assert labels(ax.xaxis) == labels(ax.yaxis) == list(learned.names)
    drawn(ax)


def test_attention_marks_the_edges_of_the_graph(ax, learned):
    dag = Dag.paper(10)
    draw_attention(ax, learned.attention[0], dag=dag)
    (squares,) = ax.collections
    centres = [path.get_extents().get_points().mean(axis=0) for path in squares.get_paths()]
    assert np.allclose(centres, [(child, parent) for parent, child in dag.edges])


@pytest.mark.parametrize("dag", [None, Dag([()] * 5)])
def test_attention_without_edges_has_no_marks(ax, short, dag):
    draw_attention(ax, short.attention[0], dag=dag)
    assert not ax.collections


def test_strong_cells_of_a_large_graph_are_enlarged(ax):
    attention = np.zeros((200, 200))
    attention[150, 30], attention[80, 10], attention[90, 5] = 1.0, 0.5, 0.1
    image = draw_attention(ax, attention)
    (larger,) = ax.collections
    assert list(larger.get_array()) == [0.5, 1.0]
    assert [path.get_extents().width > 1 for path in larger.get_paths()] == [True, True]
    assert tuple(image.get_extent()) == (*ax.get_xlim(), *ax.get_ylim())
    drawn(ax)
    assert not overlaps(ax.xaxis)
    assert not overlaps(ax.yaxis)


def test_two_heads_show_the_difference(ax, learned):
    image = draw_two_heads(ax, learned.attention, learned.names)
    upper = np.triu(np.ones((10, 10), dtype=bool), 1)
    difference = (learned.attention[0] - learned.attention[1]).T
    assert np.allclose(image.get_array().data[upper], difference[upper])
    assert image.get_clim() == (-1, 1)
    assert "head 1 minus head 2" in image.colorbar.ax.get_ylabel()
    blue, orange = image.cmap(1.0), image.cmap(0.0)
    assert np.allclose(blue[:3], [0, 0x72 / 255, 0xB2 / 255])
    assert orange[0] > orange[2]
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
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["attention of both heads"]


def test_two_heads_apart_on_many_nodes_need_no_marks(ax):
    attention = np.zeros((2, 30, 30))
    attention[0, 20, 3] = attention[1, 20, 4] = 1.0
    draw_two_heads(ax, attention)
    assert not ax.collections
    assert not ax.texts
    assert ax.get_legend() is None


def test_wrong_attention_is_refused(ax, learned):
    with pytest.raises(DataError, match=r"\[child, candidate\], got \(2, 10, 10\)"):
        draw_attention(ax, learned.attention)
    with pytest.raises(DataError, match="two heads"):
        draw_two_heads(ax, learned.attention[:1])
    with pytest.raises(DataError, match="NaN"):
        draw_attention(ax, learned.scores[0])
    with pytest.raises(DataError, match="3 names do not fit 10 nodes"):
        draw_attention(ax, learned.attention[0], ["a", "b", "c"])
    with pytest.raises(DataError, match="5 nodes, the attention 10"):
        draw_attention(ax, learned.attention[0], dag=Dag.paper(5))


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
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "parent 1",
        "parent 2",
        "root",
        "has parents",
    ]


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


# Training


def test_objective_and_its_best_value(ax, learned):
    line, best = draw_objective(ax, learned.trace)
    assert np.array_equal(line.get_xdata(), learned.trace.epochs)
    assert np.array_equal(line.get_ydata(), learned.trace.objective)
    assert set(best.get_ydata()) == {learned.trace.best_objective}
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


def test_concentration_has_one_line_per_head_and_child(ax, learned):
    heads = draw_concentration(ax, learned.trace)
    assert [len(lines.get_segments()) for lines in heads] == [8, 8]
    largest = learned.trace.attention[:, 1, 4].max(axis=-1)
    assert np.allclose(heads[1].get_segments()[2], np.column_stack([learned.trace.epochs, largest]))
    drawn(ax)


def test_roots_are_told_apart_in_the_concentration(ax, learned):
    dag = Dag([(), (), (), *Dag.paper(10).parents[3:]])
    *heads, roots = draw_concentration(ax, learned.trace, dag)
    assert [len(lines.get_segments()) for lines in heads] == [7, 7]
    assert len(roots.get_segments()) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["head 1", "head 2", "roots"]
    drawn(ax)


def test_concentration_needs_the_attention_of_the_right_graph(ax, learned):
    with pytest.raises(SettingError, match="record_at"):
        draw_concentration(ax, replace(learned.trace, attention=None))
    with pytest.raises(DataError, match="5 nodes, the trace 10"):
        draw_concentration(ax, learned.trace, Dag.paper(5))


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


# Margins


def test_margins_of_the_nodes_with_parents(ax, learned):
    heads = draw_margins(ax, learned)
    assert len(heads) == 2
    for head, markers in enumerate(heads):
        assert np.array_equal(markers.get_xdata(), learned.margins[head, 2:])
        assert np.array_equal(np.round(markers.get_ydata()), np.arange(8))
    assert labels(ax.yaxis) == list(learned.names[2:])
    assert ax.yaxis_inverted()
    drawn(ax)
    assert not overlaps(ax.xaxis)


def test_ties_and_single_candidates_stand_on_the_edges(ax, short):
    scores = np.full((1, 4, 4), np.nan)
    scores[0, 1, :1] = 1.0
    scores[0, 2, :2] = 1.0
    scores[0, 3, :3] = 0.0, 1.0, 3.0
    result = replace(short, dag=Dag([(), (0,), (0,), (2,)]), scores=scores, attention=scores, names=tuple("abcd"))
    (markers,) = draw_margins(ax, result)
    assert np.array_equal(markers.get_xdata(), [np.nan, np.nan, 2.0], equal_nan=True)
    _, tie, single = ax.lines
    assert (list(tie.get_xdata()), list(tie.get_ydata())) == ([0.0], [1.0])
    assert (list(single.get_xdata()), list(single.get_ydata())) == ([1.0], [0.0])
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["head 1", "tie (left edge)", "one candidate (right edge)"]
    drawn(ax)


def test_margins_without_children_say_so(ax, short):
    draw_margins(ax, replace(short, dag=Dag([()] * 5)))
    assert [text.get_text() for text in ax.texts] == ["no node has parents"]
    drawn(ax)


# Names


def test_steps_are_round():
    assert [step_for(n, 40) for n in (10, 40, 80, 150, 300, 500, 5000)] == [1, 1, 2, 5, 10, 20, 200]


def test_kept_labels_count_from_one(ax):
    kept = label_nodes(ax.yaxis, shown_names(None, 500), 4.0)
    assert kept[:2] == [19, 39]
    assert labels(ax.yaxis)[:2] == ["X20", "X40"]


def test_names_are_shortened_cleaned_and_replaced():
    names = ["systolic_blood_pressure_visit_1", "two\nlines", "血压", "", "Größe"]
    assert shown_names(names, 5) == ["systolic_b…e_visit_1", "two lines", "#3", "#4", "Größe"]
    assert shown_texts(["a"], ["0"]) == ["a"]


@pytest.mark.parametrize(
    "name", ["$x_1$", "half $ a formula", r"\alpha_{", "血压", "a" * 200, "line\nbreak", "^%&#_"]
)
def test_any_name_can_be_drawn(learned, tmp_path, name):
    names = tuple(f"{name}{number}" for number in range(10))
    states = tuple(f"{name}{number}" for number in range(3))
    assert len(save_figures(replace(learned, names=names, states=states), tmp_path)) == 5


# Figures and files


def test_attention_figure_has_a_panel_per_head_and_one_colour_bar(learned):
    figure = attention_figure(learned)
    assert [ax.get_title() for ax in figure.axes] == ["head 1", "head 2", ""]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["edge of the learned graph"]
    assert attention_figure(replace(learned, dag=Dag([()] * 10))).axes[0].get_legend() is None
    four = replace(learned, attention=np.concatenate([learned.attention] * 2))
    assert [ax.get_title() for ax in attention_figure(four).axes] == ["head 1", "head 2", "head 3", "head 4", ""]


def test_figures_need_what_they_show(learned):
    with pytest.raises(SettingError, match="no trace"):
        training_figure(replace(learned, trace=None))
    for kernel in (None, FiniteKernels([KERNEL, Kernel.paper(0.05)])):
        with pytest.raises(SettingError, match="no fixed kernel"):
            kernel_figure(replace(learned, kernel=kernel))


def test_training_figure_without_attention_has_two_panels(learned):
    assert len(training_figure(learned).axes) == 3
    assert len(training_figure(replace(learned, trace=replace(learned.trace, attention=None))).axes) == 2


@pytest.mark.parametrize("name", ["X", "a rather long name of a column "])
def test_nothing_is_cut_off_at_the_border_of_a_figure(learned, name):
    long = replace(learned, names=tuple(f"{name}{number}" for number in range(1, 11)))
    for draw in (attention_figure, graph_figure, training_figure, kernel_figure, margins_figure):
        figure = draw(long)
        figure.canvas.draw()
        figure.draw_without_rendering()
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert box.x0 > -0.02, draw
        assert box.y0 > -0.02, draw
        assert box.x1 < width + 0.02, draw
        assert box.y1 < height + 0.02, draw


def test_figures_are_not_pyplots(learned):
    from matplotlib import pyplot

    for draw in (attention_figure, graph_figure, training_figure, kernel_figure, margins_figure):
        draw(learned).canvas.draw()
    assert pyplot.get_fignums() == []


def test_all_figures_are_written(learned, tmp_path):
    paths = save_figures(learned, tmp_path / "new" / "folder", ("png", "svg", "pdf"))
    stems = ["attention", "graph", "training", "kernel", "margins"]
    assert [path.name for path in paths] == [f"{stem}.{kind}" for stem in stems for kind in ("png", "svg", "pdf")]
    assert sorted(paths) == sorted((tmp_path / "new" / "folder").iterdir()), "no temporary file is left"
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
            assert content.endswith(b"IEND\xaeB`\x82")
        elif path.suffix == ".svg":
            assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")


def test_only_what_applies_is_written(learned, tmp_path):
    paths = save_figures(replace(learned, trace=None, kernel=None), str(tmp_path))
    assert [path.name for path in paths] == ["attention.png", "graph.png", "margins.png"]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_result_gives_the_same_bytes(short, tmp_path, kind):
    first = [path.read_bytes() for path in save_figures(short, tmp_path / "a", (kind,))]
    second = [path.read_bytes() for path in save_figures(short, tmp_path / "b", kind)]
    assert first == second


def test_an_unknown_format_is_refused_before_anything_is_written(short, tmp_path):
    with pytest.raises(SettingError, match="png, svg, pdf; got 'gif'"):
        save_figures(short, tmp_path, ("png", "gif"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("n_nodes", "n_heads"), [(2, 1), (3, 1), (4, 3), (60, 2), (500, 2)])
def test_figures_of_all_sizes(tmp_path, n_nodes, n_heads):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (200, n_nodes))
    kernel = Kernel.random(2, n_heads, rng=rng)
    roots = () if n_nodes < 10 else range(0, n_nodes, 3)
    result = learn(rows, kernel=kernel, solver="ascent" if n_nodes < 100 else "limit", epochs=10, roots=roots)
    assert all(path.stat().st_size > 1_000 for path in save_figures(result, tmp_path))
