"""The table as a figure, and accuracy beside time."""

from __future__ import annotations

from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.paper.experiment import Numbers
from kgmi.paper.table.rows import complete, label_of
from kgmi.paper.table.text import NONE
from kgmi.plots.style import FONT, INK, head_colour, head_marker, log_scale, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["draw"]

# Left edge of every column of the table, in inches; the last is its right edge.
_EDGES = (0.1, 1.95, 3.55, 4.35, 5.65, 6.75, 8.4, 9.25, 10.1, 10.95)
_ROW_INCHES = 0.26
_NOTE_LETTERS = 206


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Figures ``table`` and ``time``."""
    return {"table": _table(numbers), "time": _time(numbers)}


def _table(numbers: Numbers) -> Figure:
    """Rows and columns as text; our rows in bold."""
    from matplotlib.figure import Figure

    content = numbers["tables"][0]
    note = fill(content["note"], _NOTE_LETTERS)
    n_lines, n_notes = len(content["rows"]) + 1, note.count("\n") + 1
    height = _ROW_INCHES * (n_lines + 1.6) + 0.135 * n_notes + 0.16
    figure = Figure(figsize=(_EDGES[-1] + 0.1, height))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(0, _EDGES[-1] + 0.1)
    ax.set_ylim(height, 0)  # inches from the top
    look: dict[str, Any] = {"fontsize": FONT, "color": INK, "va": "center", "parse_math": False}
    ax.text(_EDGES[0], 0.7 * _ROW_INCHES, content["title"], **look | {"fontsize": FONT + 2})
    top = 1.4 * _ROW_INCHES
    for line, cells in enumerate([content["columns"], *content["rows"]]):
        ours = line > 0 and numbers["rows"][line - 1]["library"] == "kgmi"
        bold = {"fontweight": "bold"} if ours or line == 0 else {}
        _line(ax, cells, top + (line + 0.5) * _ROW_INCHES, look | bold)
    for line, width in ((0, 1.2), (1, 0.8), (n_lines, 1.2)):
        ax.plot([_EDGES[0], _EDGES[-1]], [top + line * _ROW_INCHES] * 2, color=INK, linewidth=width)
    ax.text(_EDGES[0], top + n_lines * _ROW_INCHES + 0.08, note, **look | {"va": "top", "fontsize": FONT - 2})
    return figure


def _line(ax: Axes, cells: list[str], y: float, look: dict[str, Any]) -> None:
    """Texts to the left, numbers to the right; why a learner did not run takes the place of its numbers."""
    failed = cells[3] == NONE
    for column, cell in enumerate(cells):
        if failed and column in (3, 4):
            continue
        if failed and column == 5:
            reason = cell if len(cell) <= 62 else f"{cell[:60]}…"
            ax.text(_EDGES[3] + 0.1, y, reason, **look | {"fontstyle": "italic", "fontsize": FONT - 1})
        elif column < 3:
            ax.text(_EDGES[column], y, cell, ha="left", **look)
        else:
            ax.text(_EDGES[column + 1] - 0.1, y, cell, ha="right", **look)


def _time(numbers: Numbers) -> Figure:
    """Seconds and F1 of every learner that ran, the fastest at the top, with the paper's own numbers."""
    from kgmi.plots.canvas import new_figure

    rows = sorted((row for row in numbers["rows"] if complete(row, numbers)), key=lambda row: fmean(row["seconds"]))
    figure = new_figure(8.6, 1.4 + 0.27 * max(len(rows), 3), gap=0.06)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    if not rows:
        left.text(0.5, 0.5, "no learner ran", ha="center", transform=left.transAxes, fontsize=FONT)
        return figure
    handles = _dots(left, rows, "seconds", numbers, 2)
    _dots(right, rows, "f1", numbers, 0)
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False, fontsize=FONT)
    seconds = [value for row in rows for value in row["seconds"]]
    log_scale(left.xaxis, np.array(seconds + [values[2] for values in numbers["paper"].values()]))
    right.set_xlim(0, 1.05)
    tidy(left, "seconds for one data set", "")
    tidy(right, "F1", "")
    names = [label_of(row) for row in rows]
    left.set_yticks(range(len(rows)), labels=names, fontsize=FONT, parse_math=False)
    for label, row in zip(left.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row["library"] == "kgmi" else "normal")
    left.set_ylim(len(rows) - 0.4, -0.6)
    return figure


def _dots(ax: Axes, rows: list[dict[str, Any]], what: str, numbers: Numbers, place: int) -> list[Line2D]:
    """The mean of every learner, its range as a line, and hollow the paper's number where it has one."""
    handles: list[Line2D] = []
    for ordered in (True, False):
        chosen = [line for line, row in enumerate(rows) if row["ordered"] is ordered]
        style = 0 if ordered else 1
        for line in chosen:
            ax.plot(
                [min(rows[line][what]), max(rows[line][what])], [line, line], color=head_colour(style), linewidth=1
            )
        means = [fmean(rows[line][what]) for line in chosen]
        label = "order given" if ordered else "order unknown"
        handles += ax.plot(means, chosen, head_marker(style), color=head_colour(style), markersize=6, label=label)
    theirs = [(numbers["paper"][row["paper"]][place], line) for line, row in enumerate(rows) if row["paper"]]
    places = np.array(theirs).reshape(-1, 2)
    x, y = places[:, 0], places[:, 1]
    handles += ax.plot(x, y, "D", color=INK, markersize=9, fillstyle="none", label="in the paper")
    return handles
