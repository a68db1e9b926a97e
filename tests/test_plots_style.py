from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kgmi.plots import draw_arcs, draw_concentration, draw_layers, draw_margins, draw_two_heads
from kgmi.plots.style import (
    head_colour,
    head_line,
    head_marker,
    label_nodes,
    legend_above,
    legend_columns,
    shown_names,
    shown_texts,
    step_for,
)
from tests.pictures import LEARNED, drawn, empty_axes, labels


def test_importing_does_not_load_matplotlib():
    code = "import sys, kgmi, kgmi.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drawing_does_not_load_pyplot(tmp_path):
    code = (
        "import sys, kgmi\n"
        "from kgmi.plots import save_figures\n"
        "kernel = kgmi.Kernel.paper()\n"
        "joint = kgmi.exact_joint(kgmi.Process(kgmi.Dag.paper(5), kernel))\n"
        f"save_figures(kgmi.learn(joint, kernel=kernel, epochs=5), {str(tmp_path)!r})\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_steps_are_round():
    assert [step_for(n, 40) for n in (10, 40, 80, 150, 300, 500, 5000)] == [1, 1, 2, 5, 10, 20, 200]


def test_kept_labels_count_from_one():
    ax = empty_axes()
    kept = label_nodes(ax.yaxis, shown_names(None, 500), 4.0)
    assert kept[:2] == [19, 39]
    assert labels(ax.yaxis)[:2] == ["X20", "X40"]


def test_names_are_shortened_cleaned_and_replaced():
    names = ["systolic_blood_pressure_visit_1", "two\nlines", "血压", "", "Größe"]
    assert shown_names(names, 5) == ["systolic_b…e_visit_1", "two lines", "#3", "#4", "Größe"]
    assert shown_texts(["a"], ["0"]) == ["a"]


def test_legends_have_as_many_columns_as_fit():
    labels = ["a", "b", "a rather long entry", "c"]
    assert [legend_columns(labels, inches, 4) for inches in (0.5, 2.6, 5.0)] == [1, 2, 4]
    assert legend_columns(labels, 9.0, 3) == 3


@pytest.mark.parametrize("width", [1.5, 2.5, 4.0])
def test_a_legend_does_not_run_past_its_axes(width):
    ax = Figure(figsize=(width, 2)).subplots()
    handles = [Line2D([], [], label=label) for label in ("head 1", "head 2", "head 3", "roots")]
    legend_above(ax, handles)
    drawn(ax)
    assert ax.get_legend().get_window_extent().x1 <= ax.bbox.x1


# In grey


def lightness(colour):
    red, green, blue = to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def differ(a, b):
    """Whether two looks (colour, line, marker) are told apart in grey."""
    return abs(lightness(a[0]) - lightness(b[0])) > 0.25 or a[1:] != b[1:]


def looks(kind):
    """The look of each head in a picture."""
    ax = empty_axes()
    if kind == "margins":
        return [(to_hex(line.get_color()), line.get_marker()) for line in draw_margins(ax, LEARNED)]
    if kind == "training":
        lines = draw_concentration(ax, LEARNED.trace)
    else:
        lines = (draw_arcs if kind == "arcs" else draw_layers)(ax, LEARNED.dag)
    return [(to_hex(line.get_edgecolor()[0]), str(line.get_linestyle()[0])) for line in lines]


@pytest.mark.parametrize("kind", ["arcs", "layers", "training", "margins"])
def test_heads_are_told_apart_without_colour(kind):
    first, second = looks(kind)[:2]
    assert differ(first, second)
    assert not differ((first[0], "-"), (second[0], "-")), "their colours alone would not do: the line has to"


def test_the_first_seven_heads_all_look_different():
    heads = [(head_colour(h), head_line(h), head_marker(h)) for h in range(7)]
    assert all(differ(a, b) for a, b in combinations(heads, 2))


@pytest.mark.parametrize("n_nodes", [10, 40, 200])
def test_the_overlay_tells_its_heads_apart_in_grey(n_nodes):
    """As pixels: with the paper's colours both heads are nearly the same grey, so each has a mark besides."""
    attention = np.zeros((2, n_nodes, n_nodes))
    last, middle, size = n_nodes - 1, n_nodes // 2, -(-n_nodes // 125)
    attention[0, last, 0] = attention[1, last, middle] = 1.0
    ax = Figure(figsize=(6, 5), dpi=200).subplots()
    draw_two_heads(ax, attention)
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    grey = np.asarray(canvas.buffer_rgba())[::-1, :, :3] @ np.array([0.2126, 0.7152, 0.0722]) / 255
    cells = []
    for top in (0, middle):
        corners = [(last - size + 0.6, top + size - 0.6), (last + 0.4, top - 0.4)]
        (left, low), (right, high) = ax.transData.transform(corners).round().astype(int)
        cells.append(grey[low:high, left:right])
    n_lines, n_columns = np.min([cell.shape for cell in cells], axis=0)
    first, second = (cell[:n_lines, :n_columns] for cell in cells)
    assert abs(np.median(first) - np.median(second)) < 0.1
    assert (np.abs(first - second) > 0.25).sum() >= 8, "pixels of a digit or of a dot"
