"""Attention of one head as a heat map: candidate parents down, children across, as in the paper."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.plots.cells import checked_attention, draw_cells, draw_squares, mark_side
from kgmi.plots.style import FONT, checked_undecided, head_colour
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_attention"]

_TIED = 1e-9  # difference in attention below which two candidates are attended alike
_FAINT = "#B4B4B4"


def draw_attention(
    ax: Axes,
    attention_of_one_head: Floats,
    names: Names | None = None,
    title: str | None = None,
    dag: Dag | None = None,
    undecided: Collection[int] = (),
    above: float = 0.0,
    partly_used: bool = False,
) -> AxesImage:
    """Heat map of one head: row j is the candidate parent, column i the child, so that the upper triangle fills.

    With a graph, a square marks each of its edges: strong where this head attends to no candidate of the child
    more than to this parent, and gives it more than ``above``, faint elsewhere. The columns of roots are grey: they
    are not read; nor are those of nodes that do not use this head. All marks carry labels, so that ``ax.legend()``
    explains them.

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
        A true or learned graph, whose edges and roots are marked.
    undecided
        Nodes without parents that are no roots, for example ``learned.undecided``; their columns are not grey.
    above
        Attention that names an edge must be more than this: a head that is spread over its candidates, with no
        more than half on any, names none when it is 0.5.
    partly_used
        Whether the legend speaks of nodes without use for a head even where this head has none, as another one has.

    Returns
    -------
    AxesImage
        The image, from 0 to 1, for a colour bar; its data are the attention transposed, masked where j ≥ i.
    """
    table = checked_attention(attention_of_one_head, 2)
    roots: list[int] = []
    if dag is not None:
        if dag.n_nodes != len(table):
            raise DataError(f"the graph has {dag.n_nodes} nodes, the attention {len(table)}")
        open_nodes = checked_undecided(undecided, dag)
        roots = [node for node in dag.roots if node not in open_nodes]
    # A node with fewer parents than there are heads leaves some of them without candidates.
    unused = [] if dag is None else [n for n, parents in enumerate(dag.parents) if parents and not table[n].any()]
    image = draw_cells(ax, table, names, "Blues", 0.0, [*roots, *unused], partly_used or bool(unused))
    if title is not None:
        ax.set_title(title, fontsize=FONT + 2)
    if dag is not None:
        _mark_edges(ax, dag, table, above)
    return image


def _mark_edges(ax: Axes, dag: Dag, table: Floats, above: float) -> None:
    best = np.max(table, axis=1)
    named = [(j, i) for j, i in dag.edges if table[i, j] > above and table[i, j] >= best[i] - _TIED]
    others = sorted(set(dag.edges) - set(named))
    side = mark_side(dag.n_nodes)
    thick = 1.2 if side < 1 else 0.6
    if others:
        look = {"facecolor": "none", "edgecolor": _FAINT, "linewidth": thick / 2}
        draw_squares(ax, others, side, label="edge not named by this head", **look)
    if named:
        look = {"facecolor": "none", "edgecolor": head_colour(1), "linewidth": thick}
        draw_squares(ax, named, side, label="edge named by this head", **look)
