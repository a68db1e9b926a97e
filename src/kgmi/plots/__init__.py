"""Pictures of a result, drawn on axes that are given, or as whole figures. Matplotlib loads when one is drawn."""

from kgmi.plots.applies import why_not
from kgmi.plots.attention import draw_attention
from kgmi.plots.figures import FIGURE_NAMES, figure_of, margins_figure, save_figures, training_figure
from kgmi.plots.graph import draw_arcs
from kgmi.plots.graph_figures import graph_figure, layers_figure
from kgmi.plots.heat_figures import attention_figure, overlay_figure, scores_figure
from kgmi.plots.kernel import draw_kernel, draw_marginals
from kgmi.plots.law_figures import kernel_figure, marginals_figure
from kgmi.plots.laws import draw_laws
from kgmi.plots.layers import draw_layers
from kgmi.plots.margins import draw_margins
from kgmi.plots.scores import draw_scores
from kgmi.plots.training import draw_concentration, draw_objective, draw_suboptimality
from kgmi.plots.two_heads import draw_two_heads

__all__ = [
    "FIGURE_NAMES",
    "attention_figure",
    "draw_arcs",
    "draw_attention",
    "draw_concentration",
    "draw_kernel",
    "draw_laws",
    "draw_layers",
    "draw_marginals",
    "draw_margins",
    "draw_objective",
    "draw_scores",
    "draw_suboptimality",
    "draw_two_heads",
    "figure_of",
    "graph_figure",
    "kernel_figure",
    "layers_figure",
    "marginals_figure",
    "margins_figure",
    "overlay_figure",
    "save_figures",
    "scores_figure",
    "training_figure",
    "why_not",
]
