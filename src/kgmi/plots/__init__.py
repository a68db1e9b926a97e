"""Pictures of a result, drawn on axes that are given, or as whole figures. Matplotlib loads when one is drawn."""

from kgmi.plots.attention import draw_attention
from kgmi.plots.figures import (
    FIGURE_NAMES,
    attention_figure,
    graph_figure,
    kernel_figure,
    margins_figure,
    save_figures,
    training_figure,
)
from kgmi.plots.graph import draw_arcs
from kgmi.plots.kernel import draw_kernel
from kgmi.plots.margins import draw_margins
from kgmi.plots.training import draw_concentration, draw_objective, draw_suboptimality
from kgmi.plots.two_heads import draw_two_heads

__all__ = [
    "FIGURE_NAMES",
    "attention_figure",
    "draw_arcs",
    "draw_attention",
    "draw_concentration",
    "draw_kernel",
    "draw_margins",
    "draw_objective",
    "draw_suboptimality",
    "draw_two_heads",
    "graph_figure",
    "kernel_figure",
    "margins_figure",
    "save_figures",
    "training_figure",
]
