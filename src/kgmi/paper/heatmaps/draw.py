"""Trained attention in two colours; how many sequences the labelled estimator needs, and its bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.paper.experiment import Numbers
from kgmi.paper.heatmaps.sequences import FORMS, SURE, size_text
from kgmi.paper.setting import NAMES
from kgmi.plots import draw_two_heads
from kgmi.plots.canvas import new_figure
from kgmi.plots.style import FONT, INK, head_colour, head_line, head_marker, legend_above, log_scale, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_TABLES = {
    "stationary": "χ²-KG-MI",
    "uniform": "with uniform co-parents",
    "expected": "expected labelled estimate",
}


def draw(numbers: Numbers) -> dict[str, Figure]:
    """The trained attention in two colours, and what the labelled estimator needs and how it is biased."""
    labels = new_figure(12.0, 4.0, 0.06, 0.04)
    first, second, third = labels.subplots(1, 3)
    _draw_needed(first, numbers["labels"])
    _draw_bias(second, numbers["bias"])
    _draw_margins(third, numbers["bias"])
    return {"heatmaps": _draw_maps(numbers["maps"]), "labels": labels}


def _draw_maps(maps: Numbers) -> Figure:
    figure = new_figure(12.0, 4.3, 0.06, 0.04)
    axes = figure.subplots(1, len(maps))
    for ax, found in zip(axes, maps.values(), strict=True):
        image = draw_two_heads(ax, np.array(found["attention"]), NAMES)
        if image.colorbar is not None:  # one for all stands beside the last
            image.colorbar.remove()
        ax.tick_params(axis="x", labelrotation=0)
        ax.set_xlabel("child (1 and 2 are roots: not read)", fontsize=FONT + 1)
        ax.set_title(found["title"], fontsize=FONT + 1, pad=20)
    bar = figure.colorbar(image, ax=list(axes), shrink=0.8, pad=0.02, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["head 2: 1", "0.5", "0", "0.5", "head 1: 1"], fontsize=FONT)
    bar.set_label("attention of head 1 minus head 2", fontsize=FONT)
    return figure


def _draw_needed(ax: Axes, numbers: Numbers) -> None:
    """Share of streams with every head right, against the number of labelled sequences."""
    grid = np.array(numbers["grid"], dtype=float)
    lines = []
    for place, form in enumerate(FORMS):
        look: dict[str, Any] = {
            "color": head_colour(place),
            "linestyle": head_line(place),
            "marker": head_marker(place),
        }
        need = numbers["needed"][form]
        label = f"{form} form: needs {size_text(numbers, form)}"
        lines += ax.plot(grid, numbers["share"][form], markersize=4, label=label, **look)
        if need is not None:
            ax.axvline(need, color=head_colour(place), linewidth=0.8, linestyle=":")
    ax.axhline(SURE, color=INK, linewidth=0.6)
    middle = float(np.sqrt(grid[0] * grid[-1]))
    ax.text(middle, SURE - 0.015, f"{SURE:.0%}", fontsize=FONT - 1, va="top", ha="right", color=INK)
    tidy(ax, "labelled sequences", f"streams with all heads right, of {numbers['streams']} (share)")
    log_scale(ax.xaxis, grid)
    ax.xaxis.set_major_formatter(lambda size, _: f"{size / 1e6:g} M" if size >= 1e6 else f"{size / 1e3:g} k")
    ax.set_ylim(-0.04, 1.04)
    legend_above(ax, lines, 1)


def _draw_bias(ax: Axes, bias: Numbers) -> None:
    """Scores with uniform co-parents against χ²-KG-MI, for every candidate of every child."""
    x, y = np.array(bias["scores"]["stationary"]), np.array(bias["scores"]["uniform"])
    parent = np.array(bias["is_parent"], dtype=bool)
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    ax.plot([low, high], [low, high], color="#999999", linewidth=0.8)
    points = []
    for place, (chosen, label) in enumerate(((parent, "the head's parent"), (~parent, "other candidates"))):
        look: dict[str, Any] = {
            "color": head_colour(place),
            "marker": head_marker(place),
            "linestyle": "none",
            "markersize": 4,
        }
        points += ax.plot(x[chosen], y[chosen], label=label, markerfacecolor="none" if place else None, **look)
    tidy(ax, "χ²-KG-MI (co-parents stationary)", "the same with uniform co-parents")
    ax.locator_params(nbins=5)
    legend_above(ax, points, 2)


def _draw_margins(ax: Axes, bias: Numbers) -> None:
    """Margin of the true parent for every head and child, under the three tables; below 0 a head would be wrong."""
    order = np.argsort(bias["margins"]["stationary"])
    places = np.arange(len(order)) + 1
    points = []
    for place, (name, label) in enumerate(_TABLES.items()):
        look: dict[str, Any] = {
            "color": head_colour(place),
            "marker": head_marker(place),
            "linestyle": "none",
            "markersize": 4,
        }
        points += ax.plot(places, np.array(bias["margins"][name])[order], label=label, **look)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    tidy(ax, "heads and children, by their margin", "parent minus best other candidate")
    ax.set_xticks([1, 4, 8, 12, 16])
    ax.set_ylim(bottom=min(-0.002, *(1.1 * min(values) for values in bias["margins"].values())))
    legend_above(ax, points, 1)
