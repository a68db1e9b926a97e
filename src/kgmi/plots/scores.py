"""Scores of one head as a heat map: candidate parents down, children across."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.plots.bins import binned, is_triangle
from kgmi.plots.cells import checked_nodes, draw_cells, mark_edges, outline
from kgmi.plots.style import FONT, shown_names
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_scores", "score_limits"]

_NO_CANDIDATE = "#EFEFEF"


def draw_scores(
    ax: Axes,
    scores_of_one_head: Floats,
    names: Names | None = None,
    title: str | None = None,
    dag: Dag | None = None,
    undecided: Collection[int] = (),
    limits: tuple[float, float] | None = None,
) -> AxesImage:
    """Heat map of the scores of one head: row j is the candidate parent, column i the child; darker is better.

    With a graph, a square marks each of its edges: strong where no candidate of the child has a better score from
    this head, faint elsewhere; and the columns of roots are grey. Pairs without a score (not allowed, not looked
    at, or taken by another head) have the palest grey. All marks carry labels, so that ``ax.legend()`` explains
    them.

    Parameters
    ----------
    ax
        Axes to draw on.
    scores_of_one_head
        [child, candidate], NaN where there is no score, for example ``learned.scores[0]``.
    names
        Names of the nodes; X1, X2, … by default.
    title
        Title of the axes.
    dag
        A true or learned graph, whose edges and roots are marked.
    undecided
        Nodes without parents that are no roots, for example ``learned.undecided``; their columns are not grey.
    limits
        The scores with the lightest and the darkest colour, so that several heads can share a colour bar; by
        default the least and the largest here.

    Returns
    -------
    AxesImage
        The image, for a colour bar; its data are the scores transposed, masked where there are none. With more than
        125 nodes a cell is the largest score among several of them, which the picture says.
    """
    table = np.asarray(scores_of_one_head, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"the scores must have shape [child, candidate], got {table.shape}")
    roots = [] if dag is None else checked_nodes(dag, len(table), "scores", undecided)
    least, most = score_limits(table) if limits is None else limits
    labels = shown_names(names, len(table))
    triangle = is_triangle(table)
    _shade(ax, len(table), triangle)
    cells = binned(np.maximum(table, least), triangle)  # minus infinity (impossible) is drawn as the least
    image = draw_cells(ax, cells, labels, "Greens", (least, most), roots, triangle=triangle)
    if title is not None:
        ax.set_title(title, fontsize=FONT + 2)
    if dag is not None:
        mark_edges(ax, dag, table)
    return image


def score_limits(scores: Floats) -> tuple[float, float]:
    """The least and the largest of all scores that are finite; 0 and 1 where there are none."""
    seen = scores[np.isfinite(scores)]
    return (float(seen.min()), float(seen.max())) if seen.size and np.ptp(seen) > 0 else (0.0, 1.0)


def _shade(ax: Axes, n_nodes: int, triangle: bool) -> None:
    """The palest grey behind all pairs, seen where there is no score."""
    from matplotlib.collections import PolyCollection

    border = [*outline(n_nodes, triangle), (n_nodes - 0.5, -0.5)]
    ax.add_collection(PolyCollection([border], facecolor=_NO_CANDIDATE, linewidth=0, zorder=-1, label="no score"))
