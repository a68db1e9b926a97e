"""The ascent over its epochs: objective, suboptimality, and how attention concentrates."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from kgmi.attention import Trace
from kgmi.errors import DataError, SettingError
from kgmi.graph import Dag
from kgmi.plots.style import (
    FONT,
    INK,
    ROOT,
    checked_undecided,
    head_colour,
    head_line,
    legend_above,
    log_scale,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

__all__ = ["draw_concentration", "draw_objective", "draw_suboptimality"]


def draw_objective(ax: Axes, trace: Trace) -> tuple[Line2D, Line2D]:
    """Objective L against the epoch, and its best value L* as a dashed line.

    The epochs are on a log scale from 1 on; epoch 0, the uniform attention, stands left of 1.

    Returns
    -------
    tuple of Line2D
        The line of L and that of L*.
    """
    (line,) = ax.plot(trace.epochs, trace.objective, color=head_colour(0), marker=".", markersize=4, label="L")
    best = ax.axhline(trace.best_objective, color=INK, linestyle="--", linewidth=1, label="L*, the best possible")
    _finish(ax, trace, "objective L")
    legend_above(ax, [line, best])
    return line, best


def draw_suboptimality(ax: Axes, trace: Trace) -> Line2D:
    """L* − L against the epoch, both on log scales; epoch 0 stands left of 1.

    Values that are not positive (L* reached, up to rounding) have no place on a log scale and are left out.

    Returns
    -------
    Line2D
        The line, NaN where a value was left out.
    """
    gap = trace.best_objective - trace.objective
    gap = np.where(gap > 0, gap, np.nan)
    (line,) = ax.plot(trace.epochs, gap, color=head_colour(0), marker=".", markersize=4)
    _finish(ax, trace, "suboptimality L* − L")
    if np.isnan(gap).all():
        ax.set_yticks([])
        ax.text(0.5, 0.5, "L = L* from the start", ha="center", transform=ax.transAxes, fontsize=FONT)
    else:
        log_scale(ax.yaxis, gap)
    return line


def draw_concentration(
    ax: Axes, trace: Trace, dag: Dag | None = None, undecided: Collection[int] = ()
) -> list[LineCollection]:
    """Largest attention of each column (head, child) against the epoch, one thin line each, coloured by head.

    Children with fewer than two candidates have nothing to choose and are left out. Where no child is left, a
    sentence says so.

    Parameters
    ----------
    ax
        Axes to draw on.
    trace
        A trace that kept the attention.
    dag
        With a graph, the columns of its roots, which have no parent to find, are grey.
    undecided
        Nodes without parents that are no roots, for example ``learned.undecided``; their columns are not grey.

    Returns
    -------
    list of LineCollection
        The lines of each head; with a graph, those of its roots come last.
    """
    from matplotlib.collections import LineCollection

    if trace.attention is None:
        raise SettingError(
            "this trace did not keep the attention (it would take over 64 MB); "
            "learn with record_at=… set to fewer epochs"
        )
    _, n_heads, n_nodes, _ = trace.attention.shape
    if dag is not None and dag.n_nodes != n_nodes:
        raise DataError(f"the graph has {dag.n_nodes} nodes, the trace {n_nodes}")
    largest = trace.attention.max(axis=-1)  # [epoch, head, child]
    roots: set[int] = set() if dag is None else set(dag.roots) - checked_undecided(undecided, dag)
    children = [child for child in range(2, n_nodes) if child not in roots]
    groups = [(f"head {h + 1}", head_colour(h), head_line(h), largest[:, h, children]) for h in range(n_heads)]
    if dag is not None:
        idle = largest[:, :, sorted(roots - {0, 1}) if children else []]
        groups.append(("roots", ROOT, "-", idle.reshape(len(trace.epochs), -1)))
    drawn = []
    for label, colour, style, columns in groups:
        lines = [np.column_stack([trace.epochs, column]) for column in columns.T]
        width = np.clip(4 / np.sqrt(max(len(lines), 1)), 0.4, 1.4)
        drawn.append(
            LineCollection(lines, colors=colour, linestyles=style, linewidths=width, alpha=0.75, label=label)
        )
        ax.add_collection(drawn[-1])
    _finish(ax, trace, "largest attention")
    ax.set_ylim(0, 1.03)
    if not children:
        ax.set_yticks([])
        none = "no node has parents" if len(roots) == n_nodes else "no child has two candidates"
        ax.text(0.5, 0.5, none, ha="center", transform=ax.transAxes, fontsize=FONT)
    legend_above(ax, [lines for lines in drawn if len(lines.get_segments())])
    return drawn


def _finish(ax: Axes, trace: Trace, y_label: str) -> None:
    """Epochs on a log scale that still has a place for 0."""
    tidy(ax, "epoch", y_label)
    ax.set_xscale("symlog", linthresh=1, linscale=0.3)
    ax.set_xlim(-0.1, max(int(trace.epochs[-1]), 1) * 1.2)
    ax.xaxis.set_major_formatter("{x:,.0f}")
