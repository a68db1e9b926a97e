"""The cells that all pictures of attention share: candidate parents down, children across."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.plots.bins import bin_centres, bin_size
from kgmi.plots.style import FONT, axes_inches, checked_undecided, head_colour, label_inches, label_nodes
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage

__all__ = [
    "checked_attention",
    "checked_nodes",
    "draw_cells",
    "draw_squares",
    "mark_edges",
    "mark_side",
    "outline",
    "zoom",
]

_STRONG = 0.25  # attention from which a cell too small to be seen is drawn larger
_TIED = 1e-9  # difference below which two candidates are preferred alike
_IDLE = "#DCDCDC"
_FAINT = "#B4B4B4"


def draw_cells(
    ax: Axes,
    cells: Floats,
    labels: Sequence[str],
    colours: str | Colormap,
    limits: tuple[float, float],
    idle: Sequence[int] = (),
    unused: bool = False,
    triangle: bool = True,
) -> AxesImage:
    """``cells`` transposed, or the upper triangle of them, with named axes and the border of the mask.

    ``cells`` [child, candidate] has one cell for each pair of nodes, or for each pair of bins of nodes
    (:func:`kgmi.plots.bins.binned`); ``labels`` has one for each node. The columns of ``idle`` children lie under
    grey, so that their cells are still seen but do not stand out; these are roots, or, where ``unused``, also
    nodes that have no use for the head.
    """
    n_nodes, size = len(labels), bin_size(len(labels))
    hidden = np.eye(len(cells), dtype=bool) & (size == 1)  # a bin has pairs of different nodes
    if triangle:
        hidden |= np.tri(len(cells), k=-1, dtype=bool)
    shown = np.ma.masked_array(cells.T, mask=hidden | np.isnan(cells.T))
    right = len(cells) * size - 0.5
    image = ax.imshow(
        shown,
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        extent=(-0.5, right, right, -0.5),
        interpolation="nearest",
    )
    what = "root, or node without use for this head" if unused else "root (not read)"
    columns = {child: child if triangle else n_nodes for child in idle}
    _grey_out(ax, {child: low for child, low in columns.items() if low}, what)  # node 0 may have no candidates
    if size == 1 and zoom(n_nodes) > 1:
        _enlarge(ax, shown, image, idle)
    ax.plot(*outline(n_nodes, triangle).T, color="#999999", linewidth=0.6)
    ax.set_xlim(-0.5, n_nodes - 0.5)
    ax.set_ylim(n_nodes - 0.5, -0.5)
    now = min(axes_inches(ax))  # names and a colour bar take some of it later
    side = max(min(now * 0.85, now * 1.3 - label_inches(labels) - 0.55), 0.1)
    label_nodes(ax.xaxis, labels, side)
    label_nodes(ax.yaxis, labels, side)
    ax.set_xlabel("child", fontsize=FONT + 1)
    ax.set_ylabel("candidate parent", fontsize=FONT + 1)
    if size > 1:
        note = f"each cell: the largest\nof {size} × {size} pairs of nodes"
        if triangle:
            ax.text(0.04, 0.04, note, transform=ax.transAxes, fontsize=FONT, color="#555555")
        else:
            ax.set_xlabel(f"child ({note})", fontsize=FONT + 1)
    return image


def outline(n_nodes: int, triangle: bool) -> Floats:
    """Points (x, y) along the lower left border of the cells."""
    stairs = np.repeat(np.arange(n_nodes + 1) - 0.5, 2)
    if triangle:
        return np.column_stack([stairs[1:-1], stairs[:-2]])
    return np.array([(-0.5, -0.5), (-0.5, n_nodes - 0.5), (n_nodes - 0.5, n_nodes - 0.5)])


def mark_edges(ax: Axes, dag: Dag, table: Floats, above: float = -np.inf) -> None:
    """Squares around the edges of a graph: strong where no candidate of the child has more, else faint."""
    best = np.max(np.where(np.isnan(table), -np.inf, table), axis=1)
    named = [(j, i) for j, i in dag.edges if table[i, j] > above and table[i, j] >= best[i] - _TIED]
    strong = bin_centres(named, dag.n_nodes)
    faint = sorted(set(bin_centres(sorted(set(dag.edges) - set(named)), dag.n_nodes)) - set(strong))
    side = mark_side(dag.n_nodes)
    thick = 1.2 if side < 1 else 0.6 if bin_size(dag.n_nodes) == 1 else 0.4
    if faint:
        look = {"facecolor": "none", "edgecolor": _FAINT, "linewidth": thick / 2}
        draw_squares(ax, faint, side, label="edge not named by this head", **look)
    if strong:
        look = {"facecolor": "none", "edgecolor": head_colour(1), "linewidth": thick}
        draw_squares(ax, strong, side, label="edge named by this head", **look)


def draw_squares(ax: Axes, places: Sequence[tuple[float, float]], side: float, **look: Any) -> PolyCollection:
    """Squares around the cells (candidate, child)."""
    from matplotlib.collections import PolyCollection

    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * side
    squares = PolyCollection([corners + np.array([child, candidate]) for candidate, child in places], **look)
    ax.add_collection(squares)
    return squares


def zoom(n_nodes: int) -> float:
    """How much larger than a cell a mark is, so that it is seen on large graphs."""
    return max(1.0, n_nodes / 90) if bin_size(n_nodes) == 1 else float(bin_size(n_nodes))


def mark_side(n_nodes: int) -> float:
    """Side of the square that marks a cell."""
    return 0.84 * zoom(n_nodes)


def checked_attention(attention: Floats, n_axes: int) -> Floats:
    """The attention of one head (2 axes) or of two (3 axes), as numbers that can be drawn."""
    table = np.asarray(attention, dtype=np.float64)
    if table.ndim != n_axes or table.shape[-1] != table.shape[-2] or (n_axes == 3 and len(table) != 2):
        wanted = "[child, candidate]" if n_axes == 2 else "[head, child, candidate] with two heads"
        raise DataError(f"the attention must have shape {wanted}, got {table.shape}")
    if not np.all(np.isfinite(table)):
        raise DataError("the attention has NaN or infinite entries, so it cannot be drawn")
    return table


def checked_nodes(dag: Dag, n_nodes: int, what: str, undecided: Collection[int]) -> list[int]:
    """The roots of a graph that has as many nodes as there are children in a table."""
    if dag.n_nodes != n_nodes:
        raise DataError(f"the graph has {dag.n_nodes} nodes, the {what} {n_nodes}")
    open_nodes = checked_undecided(undecided, dag)
    return [node for node in dag.roots if node not in open_nodes]


def _grey_out(ax: Axes, children: Mapping[int, int], what: str) -> None:
    """Cover as many cells of these columns as the mapping says."""
    from matplotlib.collections import PolyCollection

    if children:
        ends = [(i - 0.5, i + 0.5, n - 0.5) for i, n in children.items()]
        columns = [[(left, -0.5), (right, -0.5), (right, low), (left, low)] for left, right, low in ends]
        look: dict[str, Any] = {"facecolor": _IDLE, "alpha": 0.85, "linewidth": 0, "antialiased": False}
        ax.add_collection(PolyCollection(columns, label=what, zorder=0.5, **look))


def _enlarge(ax: Axes, cells: Any, image: AxesImage, idle: Sequence[int]) -> None:
    """Draw strong cells once more, larger, where a cell of the image is too small to be seen."""
    values = np.abs(cells.filled(0.0))
    values[:, list(idle)] = 0.0
    strong = np.argwhere(values > _STRONG)
    if len(strong):
        look: dict[str, Any] = {"cmap": image.cmap, "norm": image.norm, "linewidth": 0}
        larger = draw_squares(ax, [(j, i) for j, i in strong], 0.6 * zoom(len(cells)), **look)
        larger.set_array(cells[strong[:, 0], strong[:, 1]])
