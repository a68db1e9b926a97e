"""Attention of two heads in one heat map, as in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.plots.cells import checked_attention, draw_cells, zoom
from kgmi.plots.style import FONT, head_colour, legend_above
from kgmi.types import Attention, Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_two_heads"]

_SHARED = 0.15  # attention of both heads on one cell from which it is marked
_MOST_DIGITS = 20  # nodes up to which the heads are also named in their cells


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

    first, second = checked_attention(attention, 3)
    colours = LinearSegmentedColormap.from_list("two heads", [head_colour(1), "#FFFFFF", head_colour(0)])
    image = draw_cells(ax, first - second, names, colours, -1.0)
    both = np.minimum(first, second)
    shared = [(i, j) for i, j in np.argwhere(both > _SHARED)]
    if shared:
        discs = [Circle((i, j), 0.45 * np.sqrt(both[i, j]) * zoom(len(first))) for i, j in shared]
        ax.add_collection(PatchCollection(discs, facecolor="#777777", edgecolor="none"))
        disc = Line2D([], [], color="#777777", marker="o", linestyle="none", label="attention of both heads")
        legend_above(ax, [disc])
    if len(first) <= _MOST_DIGITS:
        _name_heads(ax, first, second)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["head 2: 1", "0.5", "0", "0.5", "head 1: 1"], fontsize=FONT)
    bar.set_label("attention of head 1 minus head 2", fontsize=FONT)
    return image


def _name_heads(ax: Axes, first: Floats, second: Floats) -> None:
    for i, j in np.argwhere(np.maximum(first, second) > 0.5):
        heads = [str(head + 1) for head, table in enumerate((first, second)) if table[i, j] > 0.5]
        ax.text(i, j, "+".join(heads), ha="center", va="center", color="white", fontsize=FONT - 2)
