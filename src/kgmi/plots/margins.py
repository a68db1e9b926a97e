"""How clearly each head preferred its best candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.learning import Learned
from kgmi.plots.style import (
    FONT,
    INK,
    axes_inches,
    head_colour,
    head_marker,
    label_nodes,
    legend_above,
    log_scale,
    shown_names,
    tidy,
)
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["draw_margins"]

_BROAD = 3.2  # inches in which the label below fits on one line


def draw_margins(ax: Axes, learned: Learned) -> list[Line2D]:
    """Margin Δ^ℓ(i), best minus second best score, of every node with parents; one marker per head.

    The scale is logarithmic. A tie (margin 0) is an open marker on the left edge, a node with one candidate
    (nothing to compare with) an open marker on the right edge. Roots are left out.

    Returns
    -------
    list of Line2D
        The markers of each head, NaN where a margin stands on an edge.
    """
    children = [child for child, parents in enumerate(learned.dag.parents) if parents]
    margins = learned.margins[:, children]
    names = shown_names(learned.names, learned.n_nodes)
    inside = np.isfinite(margins) & (margins > 0)
    size = float(np.clip(180 / max(len(children), 1), 2, 6))
    drawn = []
    for head, values in enumerate(np.where(inside, margins, np.nan)):
        rows = np.arange(len(children)) + _shift(head, learned.n_heads)
        look: dict[str, Any] = {
            "linestyle": "none",
            "color": head_colour(head),
            "marker": head_marker(head),
            "markersize": size,
        }
        drawn += ax.plot(values, rows, label=f"head {head + 1}", **look)
        for edge, where in ((0.0, margins[head] == 0), (1.0, np.isposinf(margins[head]))):
            if where.any():
                place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "clip_on": False, "zorder": 3}
                ax.plot(np.full(where.sum(), edge), rows[where], markerfacecolor="white", **place, **look)
    _finish(ax, names, children, margins[inside], " (nats)" if learned.fit is not None else "")
    legend_above(ax, [*drawn, *_edge_handles(margins)] if children else [])
    return drawn


def _shift(head: int, n_heads: int) -> float:
    """Markers of one node stand a little above each other, so that equal margins are both seen."""
    return 0.0 if n_heads == 1 else 0.4 * (head / (n_heads - 1) - 0.5)


def _edge_handles(margins: Floats) -> list[Line2D]:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"linestyle": "none", "color": INK, "markerfacecolor": "white", "marker": "o"}
    handles = []
    if np.any(margins == 0):
        handles.append(Line2D([], [], label="tie (left edge)", **look))
    if np.any(np.isposinf(margins)):
        handles.append(Line2D([], [], label="one candidate (right edge)", **look))
    return handles


def _finish(ax: Axes, names: list[str], children: list[int], seen: Floats, unit: str) -> None:
    between = " " if axes_inches(ax)[0] > _BROAD else "\n"
    tidy(ax, f"margin: best minus{between}second best score{unit}", "child")
    if seen.size:
        log_scale(ax.xaxis, seen)
    else:
        ax.set_xticks([])
    if children:
        label_nodes(ax.yaxis, [names[child] for child in children], axes_inches(ax)[1], children)
        ax.set_ylim(len(children) - 0.4, -0.6)  # the first node at the top
    else:
        ax.set_yticks([])
        ax.text(0.5, 0.5, "no node has parents", ha="center", transform=ax.transAxes, fontsize=FONT)
