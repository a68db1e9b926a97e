"""What all pictures share: colours, marks, names that fit, and how large a figure is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.table import default_names
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = [
    "FONT",
    "INK",
    "PLAIN",
    "ROOT",
    "axes_inches",
    "checked_undecided",
    "head_colour",
    "head_line",
    "head_marker",
    "label_inches",
    "label_nodes",
    "legend_above",
    "legend_columns",
    "log_scale",
    "shown_names",
    "shown_texts",
    "step_for",
    "tidy",
]

FONT = 9  # points
INK = "#222222"
ROOT = "#AAAAAA"  # of nodes and curves that belong to roots
_LONGEST = 20  # letters of a name that are shown
PLAIN = {"parse_math": False, "usetex": False}  # a name may hold $, _ or \\ and is not a formula

# Okabe and Ito's colours, told apart by colour-blind readers; line and marker tell them apart in grey.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def head_colour(head: int) -> str:
    """Colour of a head, the same in every picture."""
    return _COLOURS[head % len(_COLOURS)]


def head_line(head: int) -> str:
    """Line style of a head."""
    return _LINES[head % len(_LINES)]


def head_marker(head: int) -> str:
    """Marker of a head."""
    return _MARKERS[head % len(_MARKERS)]


def step_for(count: int, most: float) -> int:
    """Smallest of 1, 2, 5, 10, 20, 50, … such that every step-th of ``count`` labels are at most ``most``."""
    step = 1
    while count // step > max(most, 1):
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def shown_texts(texts: Sequence[str], instead: Sequence[str]) -> list[str]:
    """Texts on one line, long ones shortened in the middle; ``instead`` where the font lacks a letter."""
    clean = ["".join(c if c.isprintable() else " " for c in text).strip() for text in texts]
    half = _LONGEST // 2
    short = [text if len(text) <= _LONGEST else f"{text[:half]}…{text[1 - half :]}" for text in clean]
    missing = _missing_letters({letter for text in short for letter in text})
    return [other if not text or missing & set(text) else text for text, other in zip(short, instead, strict=True)]


def shown_names(names: Names | None, n_nodes: int) -> list[str]:
    """Names of the nodes as they are drawn: X1, X2, … by default, #3 for a name the font cannot show."""
    if names is None:
        return list(default_names(n_nodes))
    if len(names) != n_nodes:
        raise DataError(f"{len(names)} names do not fit {n_nodes} nodes")
    return shown_texts(names, [f"#{number}" for number in range(1, n_nodes + 1)])


def label_nodes(axis: Axis, labels: Sequence[str], inches: float, nodes: Sequence[int] | None = None) -> list[int]:
    """Write a label at 0, 1, … along an axis, as many as ``inches`` hold; return which were written.

    Labels below an x axis that has no room for them side by side are turned by 90°. Where they still do not
    fit, every 2nd, 5th, 10th … is kept, counted from 1; ``nodes`` are the numbers to count by, if some are
    left out.
    """
    turned = axis is axis.axes.xaxis and len(labels) * _letters_inches(labels, 1.5) > inches
    step = step_for(len(labels), inches * 72 / (FONT * 1.25))
    numbers = range(len(labels)) if nodes is None else nodes
    kept = [k for k, number in enumerate(numbers) if (number + 1) % step == 0]
    look: dict[str, Any] = {"fontsize": FONT, "rotation": 90 if turned else 0, **PLAIN}
    axis.set_ticks(kept, labels=[labels[k] for k in kept], **look)
    axis.set_tick_params(length=2)
    return kept


def tidy(ax: Axes, x_label: str, y_label: str) -> None:
    """Labels, a faint grid and no box, for pictures with numbers on their axes."""
    ax.set_xlabel(x_label, fontsize=FONT + 1)
    ax.set_ylabel(y_label, fontsize=FONT + 1)
    ax.tick_params(labelsize=FONT, which="both")
    ax.grid(color="#DDDDDD", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def log_scale(axis: Axis, values: Floats) -> None:
    """Log scale around positive values, with plain numbers that do not run into each other."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    pad = max((high / low) ** 0.06, 1.1)
    x_axis = axis is axis.axes.xaxis
    (axis.axes.set_xscale if x_axis else axis.axes.set_yscale)("log")
    (axis.axes.set_xlim if x_axis else axis.axes.set_ylim)(low / pad, high * pad)
    decades = np.log10(high / low)
    steps = (1.0, 2.0, 5.0) if decades < 2 else (1.0, 3.0) if decades < 3 else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def axes_inches(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes as they stand now."""
    return ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi


def label_inches(labels: Sequence[str]) -> float:
    """How long the longest of the labels is."""
    return _letters_inches(labels, 0.0)


def _letters_inches(labels: Sequence[str], more: float) -> float:
    return (max(map(len, labels), default=0) + more) * FONT * 0.62 / 72


def legend_columns(labels: Sequence[str], inches: float, most: int) -> int:
    """How many columns a legend may have so that it is at most ``inches`` wide; at least one."""
    for columns in range(min(len(labels), most), 1, -1):
        parts = np.array_split(np.arange(len(labels)), columns)  # as Matplotlib fills them
        marks = (2.8 * columns + 1.4 * (columns - 1) + 0.8) * FONT / 72  # with the gaps around them
        if sum(label_inches([labels[k] for k in part]) for part in parts) + marks <= inches:
            return columns
    return 1


def legend_above(ax: Axes, handles: Sequence[Any], columns: int = 4) -> None:
    """A legend above the axes, where it covers nothing, in as many columns as fit."""
    if handles:
        ax.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=legend_columns([handle.get_label() for handle in handles], axes_inches(ax)[0], columns),
            frameon=False,
            fontsize=FONT,
            borderaxespad=0.2,
            columnspacing=1.4,
        )


def checked_undecided(undecided: Collection[int], dag: Dag) -> frozenset[int]:
    """The undecided nodes, all of which have no parents."""
    wrong = sorted(set(undecided) - set(dag.roots))
    if wrong:
        raise DataError(f"undecided nodes must be nodes of the graph without parents, got {wrong}")
    return frozenset(undecided)


def _missing_letters(letters: set[str]) -> set[str]:
    """Letters for which none of the fonts in use has a glyph."""
    if all(letter.isascii() for letter in letters):
        return set()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    left = {letter for letter in letters if not letter.isascii()}
    for family in FontProperties().get_family():
        font = get_font(findfont(FontProperties(family=[family])))
        left = {letter for letter in left if not font.get_char_index(ord(letter))}
    return left
