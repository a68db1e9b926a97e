"""Times against sizes on log scales, one line for each method, with the exponent by which it grows; and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.plots.canvas import new_figure
from kgmi.plots.style import FONT, head_colour, head_line, head_marker, log_scale, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["Curve", "draw_growth", "growth_figure"]

_OPEN = "#FFFFFF"


@dataclass(frozen=True)
class Curve:
    """One method: its sizes and times, and what the legend says of it.

    Attributes
    ----------
    label
        Who.
    sizes, values
        All positive, in the order of the sizes.
    law
        How it grows, for example ``T^1.9``; left out where empty.
    full
        False where a mark is drawn open; by default all are full.
    memory
        Bytes at each size, for a panel below; left out where empty.
    """

    label: str
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    law: str = ""
    full: tuple[bool, ...] | None = None
    memory: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(self.sizes), len(self.values), len(self.sizes if self.full is None else self.full)}
        if len(lengths | {len(self.memory or self.sizes)}) > 1 or not self.sizes:
            raise DataError(f"the curve {self.label!r} needs as many sizes as values and marks, and one at least")
        if min(*self.sizes, *self.values, *self.memory) <= 0:
            raise DataError(f"the curve {self.label!r} has values that are not positive, which log scales lack")


def draw_growth(ax: Axes, curves: Sequence[Curve], x_label: str, y_label: str) -> list[Line2D]:
    """Every curve on log scales; the first is drawn boldest. Colours, lines and marks differ, so grey will do."""
    lines = []
    for number, curve in enumerate(curves):
        look: dict[str, Any] = {
            "color": head_colour(number),
            "linestyle": head_line(number),
            "linewidth": 2.2 if number == 0 else 1.2,
            "zorder": 3 if number == 0 else 2,
        }
        label = f"{curve.label}: {_raised(curve.law)}" if curve.law else curve.label
        # Colours come round after seven; then the mark is another one than before.
        mark: dict[str, Any] = {"marker": head_marker(number + number // 7), "markersize": 5}
        lines += ax.plot(curve.sizes, curve.values, label=label, **look, **mark)
        for size, value, full in zip(curve.sizes, curve.values, curve.full or (), strict=False):
            if not full:
                ax.plot(size, value, color=look["color"], markerfacecolor=_OPEN, zorder=4, **mark)
    tidy(ax, x_label, y_label)
    log_scale(ax.xaxis, np.array([size for curve in curves for size in curve.sizes]))
    log_scale(ax.yaxis, np.array([value for curve in curves for value in curve.values]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda number, place: f"{number:,.0f}" if number >= 1 else f"{number:g}")
    return lines


def growth_figure(curves: Sequence[Curve], x_label: str, y_label: str, note: str = "") -> Figure:
    """A whole figure: the legend stands to the right, from the slowest to the fastest at its largest size.

    Where curves have memory, a panel below shows it, with the same colours.
    """
    if not curves:
        raise DataError("a picture of growth needs at least one curve")
    both = any(curve.memory for curve in curves)
    figure = new_figure(8.0, 7.0 if both else 4.2)
    ax = figure.add_subplot(2 if both else 1, 1, 1)
    lines = draw_growth(ax, curves, x_label, y_label)
    if both:
        _draw_memory(figure.add_subplot(2, 1, 2, sharex=ax), curves, x_label)
    order = sorted(range(len(curves)), key=lambda number: -_reach(curves[number], curves))
    figure.legend(
        handles=[lines[number] for number in order],
        loc="outside right upper",
        frameon=False,
        fontsize=FONT,
        handlelength=3.2,
        labelspacing=0.7,
    )
    if note:
        figure.supxlabel(note, fontsize=FONT - 1, x=0.01, ha="left", color="#555555")
    return figure


def _draw_memory(ax: Axes, curves: Sequence[Curve], x_label: str) -> None:
    """Megabytes of every curve that has them, in its own look; the legend is that of the times."""
    megabytes = [tuple(value / 1e6 for value in curve.memory) for curve in curves]
    shown = [replace(c, values=m or c.values, law="") for c, m in zip(curves, megabytes, strict=True)]
    lines = draw_growth(ax, shown, x_label, "most memory, MB")
    for line, values in zip(lines, megabytes, strict=True):
        line.set_visible(bool(values))
    log_scale(ax.yaxis, np.array([value for values in megabytes for value in values]))
    ax.yaxis.set_major_formatter("{x:,.0f}")


def _reach(curve: Curve, curves: Sequence[Curve]) -> float:
    """Its value at the largest size of all, along its last step where it ends before; the order of the legend."""
    largest = max(size for one in curves for size in one.sizes)
    (size, value), *before = sorted(zip(curve.sizes, curve.values, strict=True), reverse=True)
    slope = np.log(value / before[0][1]) / np.log(size / before[0][0]) if before and before[0][0] < size else 1.0
    return float(np.log(value) + slope * np.log(largest / size))


def _raised(law: str) -> str:
    """``T^1.92 · N^1.0`` with its powers raised, as Matplotlib writes formulas."""
    parts = [part.partition("^") for part in law.split(" · ")]
    return " ".join(f"$\\mathregular{{{base}^{{{power}}}}}$" for base, _, power in parts)
