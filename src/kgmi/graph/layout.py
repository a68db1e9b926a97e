"""Where the nodes of a graph stand in a layered drawing: parents above children, few crossings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.graph.crossings import fewest_crossings
from kgmi.graph.dag import Dag
from kgmi.graph.layers import Pieces
from kgmi.graph.positions import straightened
from kgmi.types import Floats, Ints

__all__ = ["Layout", "layered"]

_ASPECT = 1.5  # width over height that many small components are packed into, in distances between nodes
_APART = 1.0  # free space between components


@dataclass(frozen=True)
class Layout:
    """Positions of a layered drawing, in unit coordinates: x from left to right, y from the top (0) down (1).

    Parameters
    ----------
    x, y
        [node], from 0 to 1. Children lie below their parents.
    layer
        [node], from 0 in each connected component: one more than the lowest of the parents; a root stands just
        above the first of its children.
    n_layers
        Layers of the deepest component.
    width, height
        Size of the drawing in distances between neighbouring nodes, so that ``x * width`` and ``y * height`` keep
        nodes of a layer at least 1 apart, and layers exactly 1.
    bends
        For each edge of ``dag.edges`` the points [point, (x, y)] that it passes on its way down, from the parent
        to the child, without the ends: between the nodes of the layers that it crosses. Empty for an edge
        that needs none, or that crosses very many layers.
    """

    x: Floats
    y: Floats
    layer: Ints
    n_layers: int
    width: float
    height: float
    bends: tuple[Floats, ...]


def layered(dag: Dag) -> Layout:
    """Layered drawing of a graph: each connected component by itself, then all of them side by side.

    Layers are longest paths from the roots, orders within a layer come from sweeps of barycentres, and
    positions from least squares that keep long edges straight. Nothing is random: the same graph always gets
    the same layout.

    Parameters
    ----------
    dag
        The graph.

    Returns
    -------
    Layout
        Positions, layers and the size of the drawing.

    Examples
    --------
    >>> from kgmi import Dag
    >>> layout = layered(Dag([(), (), (0, 1)]))
    >>> layout.layer.tolist(), layout.y.tolist(), layout.x.tolist()
    ([0, 0, 1], [0.0, 0.0, 1.0], [0.0, 1.0, 0.5])
    """
    components = dag.components
    placed = _placed(dag, components)
    corners = _packed(placed)
    points = np.zeros((dag.n_nodes, 2))
    layer = np.zeros(dag.n_nodes, dtype=np.int64)
    bends: dict[tuple[int, int], Floats] = {}
    for component, part, corner in zip(components, placed, corners, strict=True):
        points[list(component)] = part.points + corner
        layer[list(component)] = part.layer
        bends |= {(component[j], component[i]): line + corner for (j, i), line in part.bends.items()}
    every = np.vstack([points, *bends.values()])
    low, size = every.min(axis=0), np.ptp(every, axis=0)
    # What has no extent stands in the middle.
    scale, shift = np.where(size > 0, size, 1.0), np.where(size > 0, 0.0, 0.5)
    unit = (points - low) / scale + shift
    none = np.zeros((0, 2))
    lines = tuple((bends[edge] - low) / scale + shift if edge in bends else none for edge in dag.edges)
    width, height = map(float, size)
    return Layout(unit[:, 0], unit[:, 1], layer, int(layer.max()) + 1, width, height, lines)


@dataclass(frozen=True)
class _Placed:
    """A connected graph in distances between nodes: layer k has y = k, the least x is 0."""

    points: Floats
    """[node of the component, (x, y)]."""
    layer: Ints
    """[node of the component]."""
    size: Floats
    """(width, height)."""
    bends: dict[tuple[int, int], Floats]
    """For edges that cross layers (numbered within the component) the points [point, (x, y)] in which they do."""


def _placed(dag: Dag, components: tuple[tuple[int, ...], ...]) -> list[_Placed]:
    """Each component by itself; those of the same shape only once."""
    known: dict[tuple[tuple[int, ...], ...], _Placed] = {}
    shapes = []
    for component in components:
        local = {node: position for position, node in enumerate(component)}
        shapes.append(tuple(tuple(local[parent] for parent in dag.parents[node]) for node in component))
        if shapes[-1] not in known:
            known[shapes[-1]] = _place(shapes[-1])
    return [known[shape] for shape in shapes]


def _place(parents: tuple[tuple[int, ...], ...]) -> _Placed:
    """Layers, orders and positions of a connected graph."""
    if len(parents) == 1:
        return _Placed(np.zeros((1, 2)), np.zeros(1, dtype=np.int64), np.zeros(2), {})
    pieces = Pieces.of(parents)
    x = straightened(pieces, fewest_crossings(pieces))
    points = np.column_stack([x - x.min(), pieces.layer])
    bends = {(parent, child): points[first:last] for parent, child, first, last in pieces.passing}
    return _Placed(points[: len(parents)], pieces.layer[: len(parents)], np.ptp(points, axis=0), bends)


def _packed(placed: list[_Placed]) -> list[Floats]:
    """Upper left corner of each component: large ones first, each as high, then as far left, as it fits."""
    sizes = [np.ceil(part.size + _APART).astype(int) if len(part.layer) > 1 else np.ones(2, int) for part in placed]
    area = sum(int(size.prod()) for size in sizes)
    n_columns = max(*(int(size[0]) for size in sizes), int(np.ceil(np.sqrt(area * _ASPECT))), 1)
    filled = np.zeros(n_columns, dtype=np.int64)  # how far down each column is taken
    corners = [np.zeros(2) for _ in placed]
    for part in sorted(range(len(placed)), key=lambda part: (-sizes[part][1], -sizes[part][0], part)):
        wide, high = sizes[part]
        tops = np.lib.stride_tricks.sliding_window_view(filled, wide).max(axis=1)
        left = int(np.argmin(tops))
        corners[part] = np.array([left, tops[left]], dtype=np.float64)
        filled[left : left + wide] = tops[left] + high
    return corners
