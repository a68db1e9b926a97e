"""Figures of the experiment on theorem 3's condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.paper.assumptions.families import CONTROL
from kgmi.paper.experiment import Numbers
from kgmi.plots.style import FONT, INK, head_colour, head_marker, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_FEW = 10  # a share of fewer than this, or in a quick run of half as many, is not drawn: its interval is too wide

_ERRORS = (
    ("swapped", "heads swapped: the set of parents is right"),
    ("collapsed", "heads collapsed: both on one parent"),
    ("astray", "at least one head on a node that is no parent"),
)


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Share right against distance, graphs all right per family, and how the wrong children are wrong."""
    families = numbers["families"]
    return {"distance": _distance(families), "families": _families(families)}


def _distance(families: list[Numbers]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    for ax, part, x_label, y_label in (
        (panels[0], "bins", r"distance of the child's parents from $M_\pi$ (total variation)", "heads right, %"),
        (panels[1], "graph_bins", "largest such distance in the graph", "graphs with every head right, %"),
    ):
        for number, family in enumerate(families):
            few = min(_FEW, family["graphs"]["n"] // 2)
            _series(ax, number, family, [b for b in family[part] if b["n"] >= few])
        tidy(ax, x_label, y_label)
        ax.set_ylim(0, 103)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=FONT)
    return figure


def _series(ax: Axes, number: int, family: Numbers, bins: list[Numbers]) -> None:
    shares = 100 * np.array([b["share"] for b in bins])
    low, high = (100 * np.array([b[end] for b in bins]) for end in ("low", "high"))
    look: dict[str, Any] = {"color": head_colour(number), "marker": head_marker(number), "markersize": 5}
    if family["name"] == CONTROL:  # one point at 0, around those of the others
        look |= {"markersize": 11, "markerfacecolor": "none"}
    spread = np.abs(np.array([shares - low, high - shares]))  # rounding may leave −0
    x = [b["distance"] for b in bins]
    ax.errorbar(x, shares, yerr=spread, linewidth=1, elinewidth=0.9, capsize=2, label=family["label"], **look)


def _families(families: list[Numbers]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 0.42 * len(families) + 1.7), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.1, 1))
    rows = np.arange(len(families))
    _graph_bars(left, rows, families)
    _error_bars(right, rows, families)
    left.set_yticks(rows, labels=[family["label"] for family in families], fontsize=FONT)
    left.set_ylim(len(families) - 0.45, -0.55)  # the control at the top
    return figure


def _graph_bars(ax: Axes, rows: np.ndarray, families: list[Numbers]) -> None:
    colours = [head_colour(2 if family["name"] == CONTROL else 0) for family in families]
    shares = 100 * np.array([family["graphs"]["share"] for family in families])
    ends = 100 * np.array([[family["graphs"][end] for family in families] for end in ("low", "high")])
    ax.barh(rows, shares, color=colours, height=0.6, alpha=0.85)
    spread = np.abs(ends - shares)
    ax.errorbar(shares, rows, xerr=spread, fmt="none", ecolor=INK, elinewidth=1, capsize=3)
    for row, end, family in zip(rows, ends[1], families, strict=True):
        count = family["graphs"]
        ax.text(end + 1.5, row, f"{count['hits']} of {count['n']}", va="center", color=INK, fontsize=FONT)
    tidy(ax, "graphs with every head right, %", "")
    ax.set_xlim(0, 124)
    ax.set_xticks(range(0, 101, 20))


def _error_bars(ax: Axes, rows: np.ndarray, families: list[Numbers]) -> None:
    start = np.zeros(len(families))
    for number, (kind, label) in enumerate(_ERRORS):
        n = [sum(family["children"].values()) for family in families]
        part = 100 * np.array([family["children"][kind] for family in families]) / n
        ax.barh(rows, part, left=start, height=0.6, color=head_colour((4, 5, 1)[number]), label=label)
        start += part
    tidy(ax, "children with a wrong head, % of all children", "")
    ax.set_xlim(0, max(float(start.max()) * 1.08, 1.0))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False, fontsize=FONT, borderaxespad=0.2)
