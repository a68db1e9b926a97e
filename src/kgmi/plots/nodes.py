"""Nodes of a layered drawing: boxes with their names, or dots and as many names as fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.graph import Dag
from kgmi.plots.style import FONT, INK, PLAIN, ROOT, label_inches
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

__all__ = ["NodeMarks", "box_inches", "draw_nodes", "node_handles", "node_marks", "wrapped"]

_LINE = FONT * 1.2 / 72  # height of a line of text, in inches
_LONG = 10  # letters from which a name is broken into two lines
_PAD = 0.12  # inches around a name in its box
_APART = 0.1  # inches between boxes
_GAP = 0.05  # inches beside a name that stands next to its dot


@dataclass(frozen=True)
class NodeMarks:
    """How nodes are drawn: as boxes, or as dots."""

    boxes: bool
    size: tuple[float, float]
    """Width and height of a node, in distances between nodes."""
    inch: tuple[float, float]
    """An inch across and down, in distances between nodes."""
    arrow: float
    """Size of arrow heads, in points."""


def wrapped(label: str) -> str:
    """A long name in two lines, broken near the middle, at a space or a dash where there is one."""
    if len(label) <= _LONG:
        return label
    middle = len(label) / 2
    breaks = [place + 1 for place, letter in enumerate(label[:-1]) if letter in " _-./…"]
    near = [place for place in breaks if abs(place - middle) <= len(label) / 4]
    best = min(near, key=lambda place: abs(place - middle)) if near else round(middle)
    return f"{label[:best].rstrip(' ')}\n{label[best:]}"


def box_inches(labels: Sequence[str]) -> tuple[float, float]:
    """Width and height of a box that holds any of the names."""
    lines = [wrapped(label).split("\n") for label in labels]
    return label_inches([line for parts in lines for line in parts]) + _PAD, max(map(len, lines)) * _LINE + _PAD


def node_marks(labels: Sequence[str], inch: Floats) -> NodeMarks:
    """Boxes where neighbours leave room for them, else dots."""
    across, down = map(float, inch)
    width, height = box_inches(labels)
    if (width + _APART) * across <= 1 and (height + 2 * _APART) * down <= 1:
        return NodeMarks(True, (width * across, height * down), (across, down), 5.0)
    dot = float(np.clip(0.35 * min(1 / across, 1 / down), 0.02, 0.1))
    return NodeMarks(False, (dot * across, dot * down), (across, down), float(np.clip(dot * 36, 0.8, 4.0)))


def node_handles(dag: Dag, open_nodes: Collection[int]) -> list[Patch]:
    """Entries of a legend for the kinds of nodes that there are."""
    from matplotlib.patches import Patch

    kinds = []
    if len(dag.roots) > len(open_nodes):
        kinds.append(Patch(color=ROOT, label="root"))
    if dag.n_edges:
        kinds.append(Patch(color=INK, label="has parents"))
    if open_nodes:
        kinds.append(Patch(facecolor="white", edgecolor=INK, label="undecided"))
    return kinds


def draw_nodes(
    ax: Axes, dag: Dag, points: Floats, labels: Sequence[str], marks: NodeMarks, open_nodes: Collection[int]
) -> None:
    """All nodes: dark with parents, grey for roots, hollow where undecided."""
    fills = ["white" if n in open_nodes else INK if ps else ROOT for n, ps in enumerate(dag.parents)]
    edges = [INK if n in open_nodes else fill for n, fill in enumerate(fills)]
    if marks.boxes:
        _draw_boxes(ax, points, labels, marks, fills, edges)
        return
    dot = marks.size[0] / marks.inch[0] * 72  # points
    line = float(np.clip(dot * 0.2, 0.3, 1.0))
    ax.scatter(points[:, 0], points[:, 1], s=dot**2, c=fills, edgecolors=edges, linewidths=line, zorder=3)
    degree = np.bincount(np.array(dag.edges, dtype=np.int64).reshape(-1), minlength=dag.n_nodes).tolist()
    beside = marks.size[0] / 2 + 0.02 * marks.inch[0]
    look: dict[str, Any] = {"fontsize": FONT - 2, "va": "center", "zorder": 4, **PLAIN}
    halo = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
    for node, side in _fitting(points, labels, marks, degree):
        place = points[node, 0] + side * beside, points[node, 1]
        ax.text(*place, labels[node], ha="left" if side > 0 else "right", color=INK, bbox=halo, **look)


def _draw_boxes(
    ax: Axes, points: Floats, labels: Sequence[str], marks: NodeMarks, fills: Sequence[str], edges: Sequence[str]
) -> None:
    from matplotlib.collections import PolyCollection

    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * np.array(marks.size)
    boxes = [point + corners for point in points]
    ax.add_collection(PolyCollection(boxes, facecolors=fills, edgecolors=edges, linewidths=1.0, zorder=3))
    look: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "fontsize": FONT,
        "zorder": 4,
        "linespacing": 1.1,
        **PLAIN,
    }
    for (x, y), label, fill in zip(points, labels, fills, strict=True):
        ax.text(x, y, wrapped(label), color="white" if fill == INK else INK, **look)


def _fitting(
    points: Floats, labels: Sequence[str], marks: NodeMarks, degree: Sequence[int]
) -> list[tuple[int, int]]:
    """Nodes, busiest first, whose names can be written right (1) or left (-1) of their dots and touch nothing."""
    places = points / np.array(marks.inch)  # inches
    dot, small = marks.size[0] / marks.inch[0], (FONT - 2) / FONT
    widths = [label_inches([label]) * small for label in labels]
    high = _LINE * small / 2
    border = 0.5 / marks.inch[0]  # of the picture, beyond the outermost dots
    least, most = places[:, 0].min() - border, places[:, 0].max() + border
    kept: list[tuple[int, int]] = []
    taken = np.zeros((0, 3))  # (left, right, middle) of the names so far
    for node in sorted(range(len(labels)), key=lambda node: (-degree[node], node)):
        level = np.abs(places[:, 1] - places[node, 1]) < high + dot / 2
        others = np.delete(places[:, 0], node)[np.delete(level, node)]
        for side in (1, -1):
            ends = sorted(places[node, 0] + side * (dot / 2 + length) for length in (0.0, widths[node] + _GAP))
            free = not ((others + dot / 2 > ends[0]) & (others - dot / 2 < ends[1])).any()
            near = np.abs(taken[:, 2] - places[node, 1]) < 2 * high
            clear = not (near & (taken[:, 0] < ends[1]) & (taken[:, 1] > ends[0])).any()
            if free and clear and ends[0] >= least and ends[1] <= most:
                kept.append((node, side))
                taken = np.vstack([taken, (*ends, places[node, 1])])
                break
    return kept
