"""Whole figures of the graph: arcs along the order, and layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.graph.layout import layered
from kgmi.learning import Learned
from kgmi.plots.canvas import new_figure
from kgmi.plots.graph import draw_arcs
from kgmi.plots.layers import draw_layers
from kgmi.plots.nodes import box_inches
from kgmi.plots.strength import strengths_of
from kgmi.plots.style import label_inches, shown_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["graph_figure", "layers_figure"]

_WIDEST = 18.0  # inches up to which every node has a box with its name


def graph_figure(learned: Learned, width: float | None = None) -> Figure:
    """The learned graph as arcs along the order of its nodes; how sure an edge is shows in its width."""
    across = float(np.clip(3 + 0.4 * learned.n_nodes, 5, 12))
    below = label_inches(shown_names(learned.names, learned.n_nodes))
    figure = new_figure(across, across * 0.45 + 0.8 + below, wanted=width)
    told = strengths_of(learned)
    draw_arcs(figure.subplots(), learned.dag, learned.names, undecided=learned.undecided, strengths=told)
    return figure


def layers_figure(learned: Learned, width: float | None = None) -> Figure:
    """The learned graph in layers, every child below its parents; how sure an edge is shows in its width."""
    layout = layered(learned.dag)
    box, high = box_inches(shown_names(learned.names, learned.n_nodes))
    needed = (layout.width + 1.2) * (box + 0.15) / 0.95
    across = max(needed, 4.5) if needed <= _WIDEST else 14.0  # names are then written beside some of the nodes
    down = float(np.clip((layout.height + 1.2) * (high + 0.4) + 0.5, 3, 12))
    figure = new_figure(across, down, wanted=width)
    # Nothing is written beside these axes, so they will have nearly all of the figure.
    ax = figure.subplots(gridspec_kw={"left": 0.01, "right": 0.99, "bottom": 0.01, "top": 1 - 0.45 / down})
    draw_layers(ax, learned.dag, learned.names, strengths_of(learned), learned.undecided, layout)
    return figure
