"""Grids of heat maps with one colour bar, and recovered graphs, as several experiments show them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgmi.graph import Dag
from kgmi.paper.setting import NAMES
from kgmi.plots import draw_arcs, draw_attention
from kgmi.plots.canvas import legend_below, new_figure, shared_colour_bar
from kgmi.plots.style import FONT, head_colour, head_line, legend_above
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_recovered", "grid_of_maps"]

_SIDE = 2.9  # inches of a heat map with its labels


def grid_of_maps(panels: Sequence[Sequence[tuple[str, Floats]]], dag: Dag, above: float = 0.0) -> Figure:
    """Rows of (title, attention of one head), the edges of the true graph marked, and the legend below.

    A head names an edge only with more than ``above`` of its attention.
    """
    n_columns = max(map(len, panels))
    n_lines = max(title.count("\n") + 1 for line in panels for title, _ in line)
    figure = new_figure(_SIDE * n_columns + 1.0, (_SIDE + 0.15 * n_lines) * len(panels) + 0.7, 0.06, 0.04)
    axes = figure.subplots(len(panels), n_columns, squeeze=False)
    for row, line in zip(axes, panels, strict=True):
        for ax, (title, table) in zip(row, line, strict=True):
            image = draw_attention(ax, table, NAMES[: dag.n_nodes], title, dag, above=above)
            ax.title.set_fontsize(FONT + 1)
            ax.tick_params(axis="x", labelrotation=0)  # numbers up to 10 have room
    every = list(axes.ravel())
    shared_colour_bar(figure, image, every, "attention")
    legend_below(figure, every)
    return figure


def draw_recovered(ax: Axes, recovered: Dag, true: Dag, title: str) -> None:
    """The recovered graph as arcs: true edges, edges besides, and edges that were missed, told apart."""
    from matplotlib.lines import Line2D

    looks = (
        ("true edge, found", head_colour(0), head_line(0)),
        ("edge besides", head_colour(1), head_line(1)),
        ("true edge, missed", "#888888", ":"),
    )
    everything = Dag([sorted({*a, *b}) for a, b in zip(recovered.parents, true.parents, strict=True)])
    kinds = [_kind(edge, recovered.edges, true.edges) for edge in everything.edges]
    arcs = draw_arcs(ax, everything, NAMES[: true.n_nodes])
    roles = [role for parents in everything.parents for role in range(len(parents))]
    for role, drawn in enumerate(arcs):
        own = [looks[kind] for kind, of in zip(kinds, roles, strict=True) if of == role]
        drawn.set_edgecolor([colour for _, colour, _ in own])
        drawn.set_linestyle([line for _, _, line in own])
        drawn.set_linewidth([1.3] * len(own))
        _arrow_heads(
            ax, np.array([np.asarray(path.vertices)[-1] for path in drawn.get_paths()]), [c for _, c, _ in own]
        )
    seen = [looks[kind] for kind in sorted(set(kinds))]
    legend_above(ax, [Line2D([], [], color=c, linestyle=line, label=label) for label, c, line in seen])
    ax.set_title(title, fontsize=FONT + 1, loc="left", pad=22)


def _kind(edge: tuple[int, int], found: Collection[tuple[int, int]], true: Collection[tuple[int, int]]) -> int:
    return 2 if edge not in found else 0 if edge in true else 1


def _arrow_heads(ax: Axes, ends: Floats, colours: Sequence[str]) -> None:
    """Arrow heads in the colour of their arcs, over those that are coloured by the parent's role."""
    from matplotlib.markers import CARETDOWN

    size = float(ax.lines[0].get_markersize())
    for (x, y), colour in zip(ends, colours, strict=True):
        ax.plot([x], [y], linestyle="none", marker=CARETDOWN, color=colour, markersize=size)
