"""A graph as arcs along its order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.plots.explained import explain_graph
from kgmi.plots.strength import checked_strengths, line_width, strength_widths
from kgmi.plots.style import (
    FONT,
    INK,
    ROOT,
    axes_inches,
    checked_undecided,
    head_colour,
    head_line,
    label_nodes,
    shown_names,
)
from kgmi.types import Floats, Ints, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["draw_arcs"]

_PORTS = 0.34  # share of a node's place on the line where arcs land, and the same again where they leave
_BEND = 0.5523  # of a cubic curve that is a quarter of a circle


def draw_arcs(
    ax: Axes,
    dag: Dag,
    names: Names | None = None,
    widths: Sequence[float] | None = None,
    undecided: Collection[int] = (),
    strengths: Sequence[str] | None = None,
) -> list[PathCollection]:
    """Arc diagram: nodes on a line, parents first, and one arc with an arrow head from each parent to its child.

    Arcs are coloured by the parent's role, its place among the parents of the child.

    Parameters
    ----------
    ax
        Axes to draw on.
    dag
        The graph.
    names
        Names of the nodes; X1, X2, … by default.
    widths
        Line widths in points, one per edge in the order of ``dag.edges``; thinner on larger graphs by default.
    undecided
        Nodes without parents that are no roots, for example ``learned.undecided``; their boxes are hollow.
    strengths
        How sure each edge is, in the order of ``dag.edges``: ``certain``, ``clear`` or ``weak``, drawn bold, plain
        and thin where no ``widths`` are given.

    Returns
    -------
    list of PathCollection
        The arcs of each role, in the order of ``dag.edges``.
    """
    labels = shown_names(names, dag.n_nodes)
    told = checked_strengths(strengths, dag) if widths is None else None
    lines = _checked_widths(widths, dag) if told is None else strength_widths(told, dag.n_edges)
    open_nodes = checked_undecided(undecided, dag)
    place = np.argsort(dag.order)
    starts, ends = _ports(dag, place)
    roles = np.array([role for parents in dag.parents for role in range(len(parents))], dtype=np.int64)
    top = float(np.max(ends - starts, initial=1.0)) / 2
    room = axes_inches(ax)[0] * 72 / dag.n_nodes * _PORTS / max(dag.max_in_degree, 1)
    arrow = float(np.clip(room, 1.0, 6.0))
    drawn = [
        _draw_role(ax, role, starts[roles == role], ends[roles == role], lines[roles == role], arrow)
        for role in range(dag.max_in_degree)
    ]
    _draw_nodes(ax, dag, place, open_nodes, 0.025 * top)
    ax.set_xlim(-0.8, dag.n_nodes - 0.2)
    ax.set_ylim(-0.04 * top, 1.04 * top)
    _label(ax, [labels[node] for node in dag.order])
    if not dag.n_edges:
        ax.text(0.5, 0.5, "no edges", ha="center", transform=ax.transAxes, fontsize=FONT)
    explain_graph(ax, dag, open_nodes, told)
    return drawn


def _draw_nodes(ax: Axes, dag: Dag, place: Ints, open_nodes: frozenset[int], height: float) -> None:
    """A box per node: dark with parents, grey for roots, hollow where undecided."""
    decided = [node for node in range(dag.n_nodes) if node not in open_nodes]
    colours = [INK if dag.parents[node] else ROOT for node in decided]
    ax.broken_barh([(place[node] - 0.4, 0.8) for node in decided], (-height, height), facecolors=colours)
    if open_nodes:
        line = float(np.clip(axes_inches(ax)[0] * 72 / dag.n_nodes * 0.2, 0.3, 1.0))  # leaves the middle open
        boxes = [(place[node] - 0.4, 0.8) for node in sorted(open_nodes)]
        ax.broken_barh(boxes, (-height, height), facecolors="white", edgecolors=INK, linewidths=line)


def _draw_role(ax: Axes, role: int, starts: Floats, ends: Floats, lines: Floats, arrow: float) -> PathCollection:
    from matplotlib.collections import PathCollection
    from matplotlib.markers import CARETDOWN
    from matplotlib.path import Path

    codes = [Path.MOVETO, *[Path.CURVE4] * 6]
    arcs = [Path(_arc(start, end), codes) for start, end in zip(starts, ends, strict=True)]
    drawn = PathCollection(
        arcs,
        facecolors="none",
        edgecolors=head_colour(role),
        linewidths=lines,
        linestyles=head_line(role),
        alpha=0.9 if lines.max() > 0.5 else 0.7,
        zorder=2,
    )
    ax.add_collection(drawn, autolim=False)
    ax.plot(
        ends, np.zeros(len(ends)), linestyle="none", marker=CARETDOWN, color=head_colour(role), markersize=arrow
    )
    return drawn


def _arc(start: float, end: float) -> list[tuple[float, float]]:
    """Half a circle in two cubic curves."""
    radius = (end - start) / 2
    middle, bend = start + radius, _BEND * radius
    return [
        (start, 0.0),
        *((start, bend), (middle - bend, radius), (middle, radius)),
        *((middle + bend, radius), (end, bend), (end, 0.0)),
    ]


def _ports(dag: Dag, place: Ints) -> tuple[Floats, Floats]:
    """Where arcs leave and land: side by side on their nodes, nested so that arcs of one node do not cross."""
    starts, ends = np.zeros(dag.n_edges), np.zeros(dag.n_edges)
    leaving: list[list[int]] = [[] for _ in dag.parents]
    landing: list[list[int]] = [[] for _ in dag.parents]
    for edge, (parent, child) in enumerate(dag.edges):
        leaving[parent].append(edge)
        landing[child].append(edge)
    for node in range(dag.n_nodes):
        for places, edges, side, end in (
            (starts, leaving[node], 0.04, 1),
            (ends, landing[node], -0.04 - _PORTS, 0),
        ):
            ordered = sorted(edges, key=lambda edge: -place[dag.edges[edge][end]])  # the longest arc lies outside
            places[ordered] = place[node] + side + _PORTS * (np.arange(len(edges)) + 0.5) / max(len(edges), 1)
    return starts, ends


def _checked_widths(widths: Sequence[float] | None, dag: Dag) -> Floats:
    if widths is None:
        return np.full(dag.n_edges, line_width(dag.n_edges))
    lines = np.asarray(widths, dtype=np.float64)
    if lines.shape != (dag.n_edges,) or not np.all(np.isfinite(lines) & (lines >= 0)):
        raise DataError(f"widths must be {dag.n_edges} numbers of zero or more, one per edge")
    return lines


def _label(ax: Axes, labels: Sequence[str]) -> None:
    label_nodes(ax.xaxis, labels, axes_inches(ax)[0])
    ax.tick_params(axis="x", length=0)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.set_xlabel("nodes, parents before children", fontsize=FONT + 1)
