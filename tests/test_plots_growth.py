"""Times against sizes on log scales."""

import pytest

from kgmi.errors import DataError
from kgmi.plots.growth import Curve, draw_growth, growth_figure
from tests.pictures import draw_figure, drawn, empty_axes, legend_texts


def test_a_picture_has_log_scales_and_says_how_each_method_grows():
    curves = [
        Curve("ours", (10, 100), (0.01, 0.1), "T^1.00"),
        Curve("other", (10, 50), (1.0, 9.0), full=(True, False)),
    ]
    figure = growth_figure(curves, "nodes T", "seconds", "a note")
    draw_figure(figure)
    (ax,) = figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    texts = legend_texts(figure.legends[0])
    assert texts[0] == "other"  # from the slowest
    assert texts[1].startswith("ours: ")
    assert "1.00" in texts[1]
    assert figure.get_supxlabel() == "a note"


def test_open_marks_and_ten_methods_that_differ():
    ax = empty_axes()
    curves = [Curve(str(k), (1.0, 2.0), (1.0, 1.0 + k), full=(k > 0, True)) for k in range(10)]
    lines = draw_growth(ax, curves, "x", "y")
    drawn(ax)
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == 10
    opened = [line for line in ax.lines if line.get_markerfacecolor() == "#FFFFFF"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in opened] == [(1.0, 1.0)]


def test_curves_that_cannot_be_drawn():
    with pytest.raises(DataError, match="as many sizes as values"):
        Curve("a", (1.0,), (1.0, 2.0))
    with pytest.raises(DataError, match="as many sizes as values"):
        Curve("a", (), ())
    with pytest.raises(DataError, match="not positive"):
        Curve("a", (1.0,), (0.0,))
    with pytest.raises(DataError, match="at least one curve"):
        growth_figure([], "x", "y")


def test_memory_has_a_panel_of_its_own_in_the_same_colours():
    curves = [
        Curve("ours", (10, 100), (0.01, 0.1), "N^1.00", memory=(2e8, 3e8)),
        Curve("unknown", (10, 100), (0.02, 0.3)),
        Curve("other", (10, 50), (1.0, 9.0), memory=(1e8, 4e9)),
    ]
    figure = growth_figure(curves, "rows N", "seconds")
    draw_figure(figure)
    times, memory = figure.axes
    assert (memory.get_xscale(), memory.get_yscale()) == ("log", "log")
    shown = [line for line in memory.lines if line.get_visible()]
    assert [list(line.get_ydata()) for line in shown] == [[200, 300], [100, 4000]]
    assert [line.get_color() for line in shown] == [times.lines[0].get_color(), times.lines[2].get_color()]
    assert memory.get_ylim()[0] > 50, "what has no memory leaves the axis alone"
    with pytest.raises(DataError, match="as many sizes as values"):
        Curve("a", (1.0,), (1.0,), memory=(1.0, 2.0))
