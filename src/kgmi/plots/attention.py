"""Attention of one head as a heat map: candidate parents down, children across, as in the paper."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kgmi.graph import Dag
from kgmi.plots.bins import binned, is_triangle
from kgmi.plots.cells import checked_attention, checked_nodes, draw_cells, mark_edges
from kgmi.plots.style import FONT, shown_names
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_attention"]


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
    """Heat map of one head: row j is the candidate parent, column i the child.

    Where no candidate comes after its child, only the upper triangle is drawn.

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
        The image, from 0 to 1, for a colour bar; its data are the attention transposed, masked where nothing is
        drawn. With more than 125 nodes a cell is the largest attention among several, which the picture says.
    """
    table = checked_attention(attention_of_one_head, 2)
    roots = [] if dag is None else checked_nodes(dag, len(table), "attention", undecided)
    # A node with fewer parents than there are heads leaves some of them without candidates.
    unused = [] if dag is None else [n for n, parents in enumerate(dag.parents) if parents and not table[n].any()]
    labels = shown_names(names, len(table))
    idle, triangle = [*roots, *unused], is_triangle(table)
    cells = binned(table, triangle)
    image = draw_cells(ax, cells, labels, "Blues", (0.0, 1.0), idle, partly_used or bool(unused), triangle)
    if title is not None:
        ax.set_title(title, fontsize=FONT + 2)
    if dag is not None:
        mark_edges(ax, dag, table, above)
    return image
