"""Pictures of a record: losses beside those of predictors that know the graph, measures, attention maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.graph import Dag
from kgmi.plots.canvas import new_figure, shared_colour_bar
from kgmi.plots.cells import draw_cells, mark_edges
from kgmi.plots.style import FONT, head_colour, head_line, tidy
from kgmi.types import Attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kgmi.lab.training import Record

__all__ = ["draw_curve", "draw_level", "draw_maps", "plot_record"]

_LEVELS = {"bayes": "Bayes predictor", "one_parent": "best single parent", "construction": "construction (counts)"}
_SHARES = {"parents": "attention on true parents", "f1": "F1 of the graph", "overlap": "overlap of heads"}
_ALIGNED = {"align_chi2": "with χ²-MI", "align_kgmi": "with KG-MI"}


def plot_record(record: Record, dag: Dag | None = None) -> Figure:
    """Draw losses, measures and, where the graph is given, the attention of the first replica's heads."""
    n_heads = record.attention.shape[1] if dag is not None else 0
    figure = new_figure(11.0, 3.4 + (3.2 if n_heads else 0), gap=0.06)
    grid = figure.add_gridspec(2 if n_heads else 1, 12)
    panels = [figure.add_subplot(grid[0, 4 * k : 4 * k + 4]) for k in range(3)]
    draw_curve(panels[0], record.steps, record.measures["loss"], "model", 0)
    for number, (name, label) in enumerate(_LEVELS.items(), 1):
        draw_level(panels[0], record.floor[name], label, number)
    for panel, names in ((panels[1], _SHARES), (panels[2], _ALIGNED)):
        for number, (name, label) in enumerate(names.items()):
            if name in record.measures:
                draw_curve(panel, record.steps, record.measures[name], label, number)
    labels = ("loss (nats)", "share", "cosine of the gradient")
    for panel, label in zip(panels, labels, strict=True):
        tidy(panel, "step", label)
        if panel.has_data():
            panel.legend(fontsize=FONT - 1, frameon=False)
    if dag is not None:
        shown = min(n_heads, 4)
        axes = [figure.add_subplot(grid[1, 12 // shown * k : 12 // shown * (k + 1)]) for k in range(shown)]
        draw_maps(figure, axes, record.attention[0], dag)
    return figure


def draw_curve(ax: Axes, steps: Sequence[float] | Any, values: Any, label: str, series: int) -> None:
    """The mean over replicas [look, replica], and their range as a band; nothing where no value is known."""
    table = np.array(values, dtype=float).reshape(len(steps), -1)
    known = ~np.isnan(table).all(axis=1)
    steps, table = np.asarray(steps)[known], table[known]
    if not known.any():
        return
    ax.plot(steps, np.nanmean(table, axis=1), color=head_colour(series), linestyle=head_line(series), label=label)
    if table.shape[1] > 1:
        low, high = np.nanmin(table, axis=1), np.nanmax(table, axis=1)
        ax.fill_between(steps, low, high, color=head_colour(series), alpha=0.15, linewidth=0)


def draw_level(ax: Axes, values: Any, label: str, series: int) -> None:
    """A level as a thin line: the mean over replicas; nothing where it is not known."""
    known = [value for value in np.ravel(np.array(values, dtype=float)) if np.isfinite(value)]
    if known:
        ax.axhline(float(np.mean(known)), color=head_colour(series), linestyle=head_line(series), lw=1, label=label)


def draw_maps(
    figure: Figure, axes: Sequence[Axes], attention: Attention, dag: Dag, titles: Sequence[str] = ()
) -> None:
    """Attention maps [head, child, candidate], with squares around the edges of the graph."""
    names = [str(node + 1) for node in range(dag.n_nodes)]
    image = None
    for number, (ax, head) in enumerate(zip(axes, attention, strict=False)):
        image = draw_cells(ax, np.asarray(head), names, "Blues", (0.0, 1.0), idle=dag.roots)
        mark_edges(ax, dag, np.tril(np.asarray(head), -1))
        ax.set_title(titles[number] if titles else f"head {number + 1}", fontsize=FONT + 1)
    if image is not None:
        shared_colour_bar(figure, image, list(axes), "attention")
