"""Whole figures with a heat map for each head: attention, scores, and the overlay of two heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kgmi.learning import Learned
from kgmi.plots.applies import check_applies
from kgmi.plots.attention import draw_attention
from kgmi.plots.canvas import legend_below, n_across, new_figure, shared_colour_bar
from kgmi.plots.scores import draw_scores, score_limits
from kgmi.plots.style import label_inches, shown_names
from kgmi.plots.two_heads import draw_two_heads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["attention_figure", "overlay_figure", "scores_figure"]

_BAR = 0.9  # inches of the colour bar
_LEAST = 2.5  # inches of a panel
_LEGEND = 5.0  # inches of the legend in one line


def attention_figure(learned: Learned, width: float | None = None) -> Figure:
    """One heat map per head with a shared colour bar, the edges that each head names, and the roots in grey."""
    check_applies(learned, "attention")
    children = [child for child, parents in enumerate(learned.dag.parents) if parents]
    partly = bool((learned.attention[:, children].max(axis=-1) == 0).any())

    def draw(ax: Axes, head: int) -> AxesImage:
        shared = (learned.names, f"head {head + 1}", learned.dag, learned.undecided)
        return draw_attention(ax, learned.attention[head], *shared, partly_used=partly)

    return _panels(learned, draw, "attention", width)


def scores_figure(learned: Learned, width: float | None = None) -> Figure:
    """One heat map of scores per head with a shared colour bar, the learned edges, and the roots in grey."""
    check_applies(learned, "scores")
    limits = score_limits(learned.scores)

    def draw(ax: Axes, head: int) -> AxesImage:
        shared = (learned.names, f"head {head + 1}", learned.dag, learned.undecided)
        return draw_scores(ax, learned.scores[head], *shared, limits)

    return _panels(learned, draw, "score (nats)" if learned.fit is not None else "score", width)


def overlay_figure(learned: Learned, width: float | None = None) -> Figure:
    """The paper's overlay: the attention of two heads in one heat map."""
    check_applies(learned, "overlay")
    side = _side(learned)
    figure = new_figure(side + 1.6, side + 0.3, wanted=width)
    draw_two_heads(figure.subplots(), learned.attention, learned.names)
    return figure


def _panels(learned: Learned, draw: Callable[[Axes, int], AxesImage], what: str, width: float | None) -> Figure:
    """A panel for each head, three in a line, with one colour bar and one legend."""
    side = _side(learned)
    n_columns = n_across(width, _LEAST + _BAR / 2, min(learned.n_heads, 3))
    n_lines = -(-learned.n_heads // n_columns)
    if width is not None:
        side = (width - _BAR - 0.2 * (n_columns - 1)) / n_columns
    below = 0.3 if side * n_columns > _LEGEND else 0.9  # the legend has as many lines as it needs
    figure = new_figure(side * n_columns + 0.2 * (n_columns - 1) + _BAR, (side + 0.4) * n_lines + below, gap=0.06)
    panels = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for head, ax in enumerate(panels[: learned.n_heads]):
        image = draw(ax, head)
    for ax in panels[learned.n_heads :]:
        ax.remove()
    shared_colour_bar(figure, image, list(panels[: learned.n_heads]), what)
    legend_below(figure, list(panels[: learned.n_heads]))
    return figure


def _side(learned: Learned) -> float:
    labels = shown_names(learned.names, learned.n_nodes)
    return float(np.clip(1.8 + 0.14 * learned.n_nodes, 2.8, 6.5)) + label_inches(labels)
