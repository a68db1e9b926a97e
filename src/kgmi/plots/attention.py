"""Attention as heat maps: candidate parents down, children across, as in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.plots.style import (
    FONT,
    axes_inches,
    head_colour,
    label_nodes,
    legend_above,
    shown_names,
)
from kgmi.types import Attention, Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

__all__ = ["draw_attention", "draw_two_heads", "edge_handle"]

_SHARED = 0.15  # attention of both heads on one cell from which it is marked
_STRONG = 0.25  # attention from which a cell too small to be seen is drawn larger
_MOST_DIGITS = 20  # nodes up to which the heads are also named in their cells
_MOST_SHARP = 1_000  # nodes up to which every cell has pixels of its own


def draw_attention(
    ax: Axes,
    attention_of_one_head: Floats,
    names: Names | None = None,
    title: str | None = None,
    dag: Dag | None = None,
) -> AxesImage:
    """Heat map of one head: row j is the candidate parent, column i the child, so that the upper triangle fills.

    Parameters
    ----------
    ax
        Axes to draw on.
    attention_of_one_head
        [child, candidate], for example ``learned.attention[0]``.
    names
        Names of the nodes; X1, X2, … by default.
    title
        Title of the axes.
    dag
        A true or learned graph whose edges are marked with outlined squares.

    Returns
    -------
    AxesImage
        The image, from 0 to 1, for a colour bar; its data are the attention transposed, masked where j ≥ i.
    """
    table = _checked(attention_of_one_head, 2)
    if dag is not None and dag.n_nodes != len(table):
        raise DataError(f"the graph has {dag.n_nodes} nodes, the attention {len(table)}")
    image = _draw_cells(ax, table, names, "Blues", 0.0)
    if title is not None:
        ax.set_title(title, fontsize=FONT + 2)
    if dag is not None and dag.n_edges:
        _mark_edges(ax, dag)
    return image


def draw_two_heads(ax: Axes, attention: Attention, names: Names | None = None) -> AxesImage:
    """The paper's overlay of two heads: head 1 in one colour, head 2 in another, with a colour bar.

    A cell shows the attention of head 1 minus that of head 2. Where both attend, which the difference alone
    would hide, stands a disc; its area grows with the smaller of the two attentions. Up to 20 nodes, the
    heads with most of their attention on a cell are also named in it.

    Parameters
    ----------
    ax
        Axes to draw on.
    attention
        [head, child, candidate] with two heads.
    names
        Names of the nodes; X1, X2, … by default.

    Returns
    -------
    AxesImage
        The image, from -1 to 1; ``image.colorbar`` is its colour bar.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle

    first, second = _checked(attention, 3)
    colours = LinearSegmentedColormap.from_list("two heads", [head_colour(1), "#FFFFFF", head_colour(0)])
    image = _draw_cells(ax, first - second, names, colours, -1.0)
    both = np.minimum(first, second)
    shared = [(i, j) for i, j in np.argwhere(both > _SHARED)]
    if shared:
        discs = [Circle((i, j), 0.45 * np.sqrt(both[i, j]) * _zoom(len(first))) for i, j in shared]
        ax.add_collection(PatchCollection(discs, facecolor="#777777", edgecolor="none"))
        disc = Line2D([], [], color="#777777", marker="o", linestyle="none", label="attention of both heads")
        legend_above(ax, [disc])
    if len(first) <= _MOST_DIGITS:
        _name_heads(ax, first, second)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["head 2: 1", "0.5", "0", "0.5", "head 1: 1"], fontsize=FONT)
    bar.set_label("attention of head 1 minus head 2", fontsize=FONT)
    return image


def edge_handle(label: str) -> Line2D:
    """The mark of an edge, for a legend."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": "s", "markersize": 8, "markerfacecolor": "none", "linestyle": "none"}
    return Line2D([], [], color=head_colour(1), label=label, **look)


def _draw_cells(ax: Axes, table: Floats, names: Names | None, colours: str | Colormap, least: float) -> AxesImage:
    """The upper triangle of ``table`` transposed, with named axes and the border of the mask."""
    n_nodes = len(table)
    labels = shown_names(names, n_nodes)
    cells = np.ma.masked_array(table.T, mask=np.tril(np.ones((n_nodes, n_nodes), dtype=bool)))
    image = ax.imshow(
        cells,
        cmap=colours,
        vmin=least,
        vmax=1.0,
        interpolation="nearest" if n_nodes <= _MOST_SHARP else "antialiased",
    )
    if _zoom(n_nodes) > 1:
        _enlarge(ax, cells, image)
    stairs = np.repeat(np.arange(n_nodes + 1) - 0.5, 2)
    ax.plot(stairs[1:-1], stairs[:-2], color="#999999", linewidth=0.6)
    ax.set_xlim(-0.5, n_nodes - 0.5)
    ax.set_ylim(n_nodes - 0.5, -0.5)
    side = min(axes_inches(ax)) * 0.85  # long names and a colour bar take some of it later
    label_nodes(ax.xaxis, labels, side)
    label_nodes(ax.yaxis, labels, side)
    ax.set_xlabel("child", fontsize=FONT + 1)
    ax.set_ylabel("candidate parent", fontsize=FONT + 1)
    return image


def _enlarge(ax: Axes, cells: Any, image: AxesImage) -> None:
    """Draw strong cells once more, larger, where a cell of the image is too small to be seen."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    strong = np.argwhere(np.abs(cells.filled(0.0)) > _STRONG)
    side = 0.6 * _zoom(len(cells))
    squares = [Rectangle((i - side / 2, j - side / 2), side, side) for j, i in strong]
    if squares:
        larger = PatchCollection(squares, cmap=image.cmap, norm=image.norm, linewidth=0)
        larger.set_array(cells[strong[:, 0], strong[:, 1]])
        ax.add_collection(larger)


def _mark_edges(ax: Axes, dag: Dag) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    side = 0.84 * _zoom(dag.n_nodes)
    squares = [Rectangle((i - side / 2, j - side / 2), side, side) for j, i in dag.edges]
    ax.add_collection(
        PatchCollection(squares, facecolor="none", edgecolor=head_colour(1), linewidth=1.2 if side < 1 else 0.6)
    )


def _name_heads(ax: Axes, first: Floats, second: Floats) -> None:
    for i, j in np.argwhere(np.maximum(first, second) > 0.5):
        heads = [str(head + 1) for head, table in enumerate((first, second)) if table[i, j] > 0.5]
        ax.text(i, j, "+".join(heads), ha="center", va="center", color="white", fontsize=FONT - 2)


def _zoom(n_nodes: int) -> float:
    """How much larger than a cell a mark is, so that it is seen on large graphs."""
    return max(1.0, n_nodes / 90)


def _checked(attention: Floats, n_axes: int) -> Floats:
    table = np.asarray(attention, dtype=np.float64)
    if table.ndim != n_axes or table.shape[-1] != table.shape[-2] or (n_axes == 3 and len(table) != 2):
        wanted = "[child, candidate]" if n_axes == 2 else "[head, child, candidate] with two heads"
        raise DataError(f"the attention must have shape {wanted}, got {table.shape}")
    if not np.all(np.isfinite(table)):
        raise DataError("the attention has NaN or infinite entries, so it cannot be drawn")
    return table
