from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kgmi.plots.style import label_nodes, legend_above, legend_columns, shown_names, shown_texts, step_for
from tests.pictures import drawn, empty_axes, labels


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
