"""A graph in layers: parents above their children."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.graph import Dag
from kgmi.graph.layout import Layout, layered
from kgmi.plots.explained import explain_graph
from kgmi.plots.nodes import NodeMarks, draw_nodes, node_marks
from kgmi.plots.strength import checked_strengths, strength_widths
from kgmi.plots.style import (
    axes_inches,
    checked_undecided,
    head_colour,
    head_line,
    shown_names,
)
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["draw_layers"]

_PORTS = 0.6  # share of a node's width over which edges leave and land
_MARGIN = 0.6  # free space around all nodes, in distances between nodes


def draw_layers(
    ax: Axes,
    dag: Dag,
    names: Names | None = None,
    strengths: Sequence[str] | None = None,
    undecided: Collection[int] = (),
    layout: Layout | None = None,
) -> list[PathCollection]:
    """Layered drawing: every child below its parents, one curve with an arrow head from each parent to its child.

    Curves are coloured by the parent's role, its place among the parents of the child. Where the axes have room for
    them, nodes are boxes with their names; else they are dots, and as many names as fit are written beside them,
    those of the nodes with most edges first.

    Parameters
    ----------
    ax
        Axes to draw on.
    dag
        The graph.
    names
        Names of the nodes; X1, X2, … by default.
    strengths
        How sure each edge is, in the order of ``dag.edges``: ``certain``, ``clear`` or ``weak``, drawn bold, plain
        and thin.
    undecided
        Nodes without parents that are no roots, for example ``learned.undecided``; they are hollow.
    layout
        Positions, where they are already there (:func:`kgmi.graph.layout.layered`).

    Returns
    -------
    list of PathCollection
        The curves of each role, in the order of ``dag.edges``.
    """
    labels = shown_names(names, dag.n_nodes)
    told = checked_strengths(strengths, dag)
    open_nodes = checked_undecided(undecided, dag)
    places = layered(dag) if layout is None else layout
    points = np.column_stack([places.x * places.width, places.y * places.height])
    # What has no extent stands in the middle of the unit square.
    points -= points.min(axis=0)
    ax.set_xlim(-_MARGIN, places.width + _MARGIN)
    ax.set_ylim(places.height + _MARGIN, -_MARGIN)
    ax.set_axis_off()
    width, height = axes_inches(ax)
    inch = np.array([(places.width + 2 * _MARGIN) / width, (places.height + 2 * _MARGIN) / height])
    marks = node_marks(labels, inch)
    drawn = _draw_edges(ax, dag, places, points, marks, strength_widths(told, dag.n_edges))
    draw_nodes(ax, dag, points, labels, marks, open_nodes)
    explain_graph(ax, dag, open_nodes, told)
    return drawn


def _draw_edges(
    ax: Axes, dag: Dag, layout: Layout, points: Floats, marks: NodeMarks, widths: Floats
) -> list[PathCollection]:
    from matplotlib.collections import PathCollection
    from matplotlib.markers import CARETDOWN
    from matplotlib.path import Path

    bends = [line * (layout.width, layout.height) for line in layout.bends]
    starts, ends = _ports(dag, points, bends, marks)
    half = marks.size[1] / 2 if marks.boxes else 0.0
    curves = [_curve(start, line, end, half) for start, line, end in zip(starts, bends, ends, strict=True)]
    roles = np.array([role for parents in dag.parents for role in range(len(parents))], dtype=np.int64)
    drawn = []
    for role in range(dag.max_in_degree):
        mine = np.flatnonzero(roles == role)
        paths = [Path(curves[k], [Path.MOVETO, *[Path.CURVE4] * (len(curves[k]) - 1)]) for k in mine]
        look: dict[str, Any] = {
            "edgecolors": head_colour(role),
            "linestyles": head_line(role),
            "facecolors": "none",
        }
        lines = PathCollection(paths, linewidths=widths[mine], alpha=0.9 if dag.n_nodes < 100 else 0.6, **look)
        ax.add_collection(lines, autolim=False)
        tips = ends[mine]
        arrows: dict[str, Any] = {"marker": CARETDOWN, "markersize": marks.arrow, "linestyle": "none"}
        ax.plot(*tips.T, color=head_colour(role), zorder=2.5, **arrows)
        drawn.append(lines)
    return drawn


def _ports(dag: Dag, points: Floats, bends: Sequence[Floats], marks: NodeMarks) -> tuple[Floats, Floats]:
    """Where edges leave and land: side by side on their nodes, in the order of what they lead to next."""
    starts, ends = np.zeros((dag.n_edges, 2)), np.zeros((dag.n_edges, 2))
    leaving: list[list[int]] = [[] for _ in dag.parents]
    landing: list[list[int]] = [[] for _ in dag.parents]
    for edge, (parent, child) in enumerate(dag.edges):
        leaving[parent].append(edge)
        landing[child].append(edge)
    half = np.array(marks.size) / 2
    stops = [[points[j, 0], *line[:, 0], points[i, 0]] for (j, i), line in zip(dag.edges, bends, strict=True)]
    for node in range(dag.n_nodes):
        for places, edges, next_stop, side in ((starts, leaving[node], 1, 1), (ends, landing[node], -2, -1)):
            ordered = sorted(edges, key=lambda edge: float(stops[edge][next_stop]))
            share = (np.arange(len(edges)) + 0.5) / max(len(edges), 1) - 0.5
            places[ordered, 0] = points[node, 0] + share * 2 * half[0] * _PORTS
            places[ordered, 1] = points[node, 1] + side * half[1]
    return starts, ends


def _curve(start: Floats, bends: Floats, end: Floats, half: float) -> Floats:
    """Control points of cubic curves through all bends, upright at both ends and, for ``half``, beside boxes.

    Ends are left and reached upright, so that arrow heads point down. Boxes are ``half`` high above and below the
    middle of their layer: an edge passes between two of them upright, so that it runs under none.
    """
    if half:
        bends = np.repeat(bends, 2, axis=0) + np.tile([(0.0, -half), (0.0, half)], (len(bends), 1))
    stops = np.vstack([start, bends, end])
    slopes = np.zeros(len(stops))
    if len(stops) > 2 and not half:
        slopes[1:-1] = (stops[2:, 0] - stops[:-2, 0]) / (stops[2:, 1] - stops[:-2, 1])
    reach = np.diff(stops[:, 1]) * (0.5 if half or len(stops) == 2 else 1 / 3)
    first = np.column_stack([stops[:-1, 0] + slopes[:-1] * reach, stops[:-1, 1] + reach])
    second = np.column_stack([stops[1:, 0] - slopes[1:] * reach, stops[1:, 1] - reach])
    return np.vstack([stops[:1], np.stack([first, second, stops[1:]], axis=1).reshape(-1, 2)])
