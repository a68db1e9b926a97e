"""The triangle of cells that all pictures of attention share: candidate parents down, children across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import DataError
from kgmi.plots.style import FONT, axes_inches, label_nodes, shown_names
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage

__all__ = ["checked_attention", "draw_cells", "draw_squares", "mark_side", "zoom"]

_STRONG = 0.25  # attention from which a cell too small to be seen is drawn larger
_MOST_SHARP = 1_000  # nodes up to which every cell has pixels of its own
_IDLE = "#DCDCDC"


def draw_cells(
    ax: Axes,
    table: Floats,
    names: Names | None,
    colours: str | Colormap,
    least: float,
    idle: Sequence[int] = (),
    unused: bool = False,
) -> AxesImage:
    """The upper triangle of ``table`` transposed, with named axes and the border of the mask.

    The columns of ``idle`` children lie under grey, so that their cells are still seen but do not stand out; these
    are roots, or, where ``unused``, also nodes that have no use for the head.
    """
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
    what = "root, or node without use for this head" if unused else "root (not read)"
    _grey_out(ax, [child for child in idle if child > 0], what)  # node 0 has no candidates
    if zoom(n_nodes) > 1:
        _enlarge(ax, cells, image, idle)
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


def draw_squares(ax: Axes, places: Sequence[tuple[int, int]], side: float, **look: Any) -> PolyCollection:
    """Squares around the cells (candidate, child)."""
    from matplotlib.collections import PolyCollection

    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * side
    squares = PolyCollection([corners + np.array([child, candidate]) for candidate, child in places], **look)
    ax.add_collection(squares)
    return squares


def zoom(n_nodes: int) -> float:
    """How much larger than a cell a mark is, so that it is seen on large graphs."""
    return max(1.0, n_nodes / 90)


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


def _grey_out(ax: Axes, children: Sequence[int], what: str) -> None:
    from matplotlib.collections import PolyCollection

    if children:
        left, right, top = -0.5, 0.5, -0.5
        columns = [[(i + left, top), (i + right, top), (i + right, i - 0.5), (i + left, i - 0.5)] for i in children]
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
