"""Whole figures of a result, and all of them as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import SettingError
from kgmi.kernel import Kernel
from kgmi.learning import Learned
from kgmi.plots.attention import draw_attention
from kgmi.plots.canvas import FORMATS, legend_below, new_figure, shared_colour_bar, write_figure
from kgmi.plots.graph import draw_arcs
from kgmi.plots.kernel import draw_kernel
from kgmi.plots.margins import draw_margins
from kgmi.plots.style import label_inches, shown_names, shown_texts
from kgmi.plots.training import draw_concentration, draw_objective, draw_suboptimality
from kgmi.types import PathLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIGURE_NAMES",
    "attention_figure",
    "graph_figure",
    "kernel_figure",
    "margins_figure",
    "save_figures",
    "training_figure",
]

FIGURE_NAMES = ("attention", "graph", "training", "kernel", "margins")  # of the files, less their endings


def attention_figure(learned: Learned) -> Figure:
    """One heat map per head with a shared colour bar, the edges that each head names, and the roots in grey."""
    labels = shown_names(learned.names, learned.n_nodes)
    side = float(np.clip(1.8 + 0.14 * learned.n_nodes, 2.8, 6.5)) + label_inches(labels)
    n_columns = min(learned.n_heads, 3)
    n_rows = -(-learned.n_heads // n_columns)
    figure = new_figure(side * n_columns + 0.2 * (n_columns - 1) + 0.9, (side + 0.4) * n_rows + 0.3, gap=0.06)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    children = [child for child, parents in enumerate(learned.dag.parents) if parents]
    partly = bool((learned.attention[:, children].max(axis=-1) == 0).any())
    for head, ax in enumerate(panels[: learned.n_heads]):
        title = f"head {head + 1}"
        image = draw_attention(
            ax, learned.attention[head], learned.names, title, learned.dag, learned.undecided, partly_used=partly
        )
    for ax in panels[learned.n_heads :]:
        ax.remove()
    shared_colour_bar(figure, image, list(panels[: learned.n_heads]), "attention")
    legend_below(figure, list(panels[: learned.n_heads]))
    return figure


def graph_figure(learned: Learned) -> Figure:
    """The learned graph as arcs along the order of its nodes."""
    width = float(np.clip(3 + 0.4 * learned.n_nodes, 5, 12))
    below = label_inches(shown_names(learned.names, learned.n_nodes))
    figure = new_figure(width, width * 0.45 + 0.8 + below)
    draw_arcs(figure.subplots(), learned.dag, learned.names, undecided=learned.undecided)
    return figure


def training_figure(learned: Learned) -> Figure:
    """Objective, suboptimality and, where the trace kept it, concentration of the attention."""
    if learned.trace is None:
        raise SettingError("this result has no trace, because solver='limit' does not train; use solver='ascent'")
    n_panels = 2 if learned.trace.attention is None else 3
    figure = new_figure(4.1 * n_panels, 3.4, gap=0.1)
    panels = figure.subplots(1, n_panels)
    draw_objective(panels[0], learned.trace)
    draw_suboptimality(panels[1], learned.trace)
    if n_panels == 3:
        draw_concentration(panels[2], learned.trace, learned.dag, learned.undecided)
    return figure


def kernel_figure(learned: Learned) -> Figure:
    """The kernel that guided the heads, as a table."""
    if not isinstance(learned.kernel, Kernel):
        raise SettingError("this result has no fixed kernel to draw: the kernel was not given, or was random")
    kernel = learned.kernel
    labels = shown_texts(learned.states, learned.states)
    left = kernel.n_parents * label_inches(labels)
    width = float(np.clip(0.7 * kernel.n_states, 2, 8)) + left + 1.6
    figure = new_figure(width, float(np.clip(1.2 + 0.25 * kernel.n_states**kernel.n_parents, 2.5, 10)))
    ax = figure.subplots()
    shared_colour_bar(figure, draw_kernel(ax, kernel, learned.states), [ax], "probability")
    return figure


def margins_figure(learned: Learned) -> Figure:
    """Margin of every head at every node that has parents."""
    n_children = learned.n_nodes - len(learned.dag.roots)
    labels = shown_names(learned.names, learned.n_nodes)
    figure = new_figure(5.0 + label_inches(labels), float(np.clip(1.2 + 0.22 * n_children, 2.5, 10)))
    draw_margins(figure.subplots(), learned)
    return figure


def save_figures(learned: Learned, folder: PathLike, formats: Sequence[str] = ("png",)) -> list[Path]:
    """Write every figure that applies: attention, graph, training (with a trace), kernel (a fixed one), margins.

    Parameters
    ----------
    learned
        The result.
    folder
        Where to; made where it is missing. Files of the same name are replaced.
    formats
        Any of png, svg and pdf. The same result gives the same bytes.

    Returns
    -------
    list of Path
        The files, figure by figure.
    """
    wanted = (formats,) if isinstance(formats, str) else tuple(dict.fromkeys(formats))
    for name in wanted:
        if name not in FORMATS:
            raise SettingError(f"pictures can be written as {', '.join(FORMATS)}; got {name!r}")
    drawings = (attention_figure, graph_figure, training_figure, kernel_figure, margins_figure)
    figures: dict[str, Callable[[Learned], Figure]] = dict(zip(FIGURE_NAMES, drawings, strict=True))
    if learned.trace is None:
        del figures["training"]
    if not isinstance(learned.kernel, Kernel):
        del figures["kernel"]
    written = []
    for name, draw in figures.items():
        figure = draw(learned)
        for kind in wanted:
            written.append(Path(folder) / f"{name}.{kind}")
            write_figure(figure, written[-1])
    return written
