"""Attention of two heads in one heat map, as in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.plots.bins import bin_size, binned, is_triangle
from kgmi.plots.cells import checked_attention, draw_cells, zoom
from kgmi.plots.style import FONT, axes_inches, head_colour, legend_above, shown_names
from kgmi.types import Attention, Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

__all__ = ["draw_two_heads"]

_SHARED = 0.15  # attention of both heads on one cell from which it is marked
_MOSTLY = 0.5  # difference from which a cell is mostly one head's
_BOTH = "#777777"
_MOST_DIGITS = 20  # nodes up to which the heads are also named in their cells


def draw_two_heads(ax: Axes, attention: Attention, names: Names | None = None) -> AxesImage:
    """The paper's overlay of two heads: head 1 in one colour, head 2 in another, with a colour bar.

    A cell shows the attention of head 1 minus that of head 2. Where both attend, which the difference alone
    would hide, stands a disc; its area grows with the smaller of the two attentions. Up to 20 nodes, the
    heads with most of their attention on a cell are also named in it; with more, a white dot marks those of head 2,
    so that the heads are told apart in grey. With more than 125 nodes several share a cell, which shows the largest
    attention of each head.

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

    one, two = checked_attention(attention, 3)
    triangle = is_triangle(np.stack([one, two]))
    first, second = binned(one, triangle), binned(two, triangle)
    colours = LinearSegmentedColormap.from_list("two heads", [head_colour(1), "#FFFFFF", head_colour(0)])
    labels = shown_names(names, len(one))
    image = draw_cells(ax, first - second, labels, colours, (-1.0, 1.0), triangle=triangle)
    size = bin_size(len(one))
    legend = []
    shared = np.argwhere(np.minimum(first, second) > _SHARED)
    if len(shared):
        both = np.minimum(first, second)[shared[:, 0], shared[:, 1]]
        middles = shared * size + (size - 1) / 2
        radii = 0.45 * np.sqrt(both) * zoom(len(one))
        discs = [Circle((i, j), radius) for (i, j), radius in zip(middles, radii, strict=True)]
        ax.add_collection(PatchCollection(discs, facecolor=_BOTH, edgecolor="none"))
        legend.append(Line2D([], [], color=_BOTH, marker="o", linestyle="none", label="attention of both heads"))
    if len(one) <= _MOST_DIGITS:
        _name_heads(ax, first, second)
    else:
        legend += _dot_second(ax, first - second, size)
    legend_above(ax, legend)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["head 2: 1", "0.5", "0", "0.5", "head 1: 1"], fontsize=FONT)
    bar.set_label("attention:\nhead 1 minus head 2", fontsize=FONT)
    return image


def _dot_second(ax: Axes, difference: Floats, size: int) -> list[Line2D]:
    """A white dot where head 2 attends: in grey its colour looks like that of head 1."""
    from matplotlib.lines import Line2D

    places = np.argwhere(difference < -_MOSTLY) * size + (size - 1) / 2
    if not len(places):
        return []
    cell = min(axes_inches(ax)) * 72 * 0.85 / len(difference)  # points
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0}
    ax.plot(*places.T, color="white", markersize=float(np.clip(cell * 0.45, 0.8, 4)), **look)
    outlined = {"markerfacecolor": "white", "markeredgecolor": head_colour(1), "markeredgewidth": 2.5}
    return [Line2D([], [], **(look | outlined), label="head 2 (dot)")]


def _name_heads(ax: Axes, first: Floats, second: Floats) -> None:
    for i, j in np.argwhere(np.maximum(first, second) > 0.5):
        heads = [str(head + 1) for head, table in enumerate((first, second)) if table[i, j] > 0.5]
        ax.text(i, j, "+".join(heads), ha="center", va="center", color="white", fontsize=FONT - 2)
