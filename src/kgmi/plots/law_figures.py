"""Whole figures of kernels, of their marginals, and of the laws of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.kernel import Kernel
from kgmi.learning import Learned
from kgmi.learning.kernels import KernelEstimate
from kgmi.plots.applies import check_applies, has_marginals
from kgmi.plots.canvas import checked_width, n_across, new_figure, shared_colour_bar
from kgmi.plots.kernel import draw_kernel, draw_marginals, draw_table
from kgmi.plots.laws import draw_laws
from kgmi.plots.style import FONT, label_inches, shown_names, shown_texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["kernel_figure", "marginals_figure"]

_MOST_KERNELS = 4  # in one figure


def kernel_figure(learned: Learned, width: float | None = None) -> Figure:
    """The kernels that were learned, those of most children first, or the one that guided the heads, as tables."""
    check_applies(learned, "kernel")
    given = learned.kernel if isinstance(learned.kernel, Kernel) and not learned.kernels else None
    ranked = sorted(learned.kernels, key=lambda one: -len(one.children))[:_MOST_KERNELS]
    tables = [one.table for one in ranked] if given is None else [given.table]
    longest = label_inches(_all(learned))
    across = [float(np.clip(0.7 * t.shape[-1], 2, 8)) + (t.ndim - 1) * longest + 0.8 for t in tables]
    rows = max(table[..., 0].size for table in tables)
    n_columns = n_across(width, max(across) * 0.75, len(tables))
    n_lines = -(-len(tables) // n_columns)
    wide = max(across) * n_columns + 0.8 if width is None else width
    figure = new_figure(wide, float(np.clip(1.2 + 0.25 * rows, 2.5, 10)) * n_lines, gap=0.05, below=0.05)
    panels = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in panels[len(tables) :]:
        ax.remove()
    panels = panels[: len(tables)]
    if given is not None:
        image = draw_kernel(panels[0], given, learned.states)
    for ax, one in zip(panels, ranked, strict=False):
        image = draw_table(ax, one.table, _states(learned, one))
        ax.set_title(_title(learned, one), fontsize=FONT + 1)
    shared_colour_bar(figure, image, list(panels), "probability")
    if len(learned.kernels) > len(ranked):
        note = f"{len(ranked)} of {len(learned.kernels)} kernels, those of most nodes"
        figure.supxlabel(note, fontsize=FONT, color="#555555")
    return figure


def marginals_figure(learned: Learned, width: float | None = None) -> Figure:
    """What each head sees of the kernel (its marginal kernels), where there is one, and the law of every node."""
    check_applies(learned, "marginals")
    kernel = learned.kernel if has_marginals(learned) else None
    n_states = max(map(len, learned.alphabets)) if learned.alphabets else len(learned.states)
    labels = shown_names(learned.names, learned.n_nodes)
    states = label_inches(_all(learned))
    sizes, lines = [], []
    if isinstance(kernel, Kernel):
        sizes.append(float(np.clip(0.7 * n_states, 2, 8)) + states + 1.2)
        lines.append(kernel.n_parents * (n_states + 1) + 1)
    if learned.model is not None:
        cell = max(0.7, states + 0.6) if learned.alphabets else 0.7
        sizes.append(float(np.clip(cell * n_states, 2, 8)) + label_inches(labels) + 0.6)
        lines.append(learned.n_nodes)
    heights = [float(np.clip(1.2 + 0.25 * n_lines, 2.5, 10)) for n_lines in lines]
    if n_across(width, (sum(sizes) + 0.9) * 0.75 / len(sizes), len(sizes)) == len(sizes):
        figure = new_figure(sum(sizes) + 0.9, max(heights), gap=0.08, wanted=width)
        panels = list(figure.subplots(1, len(sizes), squeeze=False, width_ratios=sizes)[0])
    else:
        figure = new_figure(checked_width(width or 0.0), sum(heights), below=0.05)
        panels = list(figure.subplots(len(sizes), 1, height_ratios=heights))
    if isinstance(kernel, Kernel):
        image = draw_marginals(panels[0], kernel, learned.states)
        panels[0].set_title("marginal kernel of each head", fontsize=FONT + 1)
        if (
            lines[-1] > 2 * lines[0] and panels[0].get_gridspec().nrows == 1
        ):  # a few rows beside those of many nodes need not be as high
            panels[0].set_box_aspect(0.3 * lines[0] / sizes[0])
    if learned.model is not None:
        shared = (learned.names, None if learned.alphabets else learned.states, learned.alphabets)
        image = draw_laws(panels[-1], learned.model.marginals, *shared)
        panels[-1].set_title("law of each node", fontsize=FONT + 1)
    shared_colour_bar(figure, image, panels, "probability")
    panels[0].set_anchor("N")  # the colour bar would set it lower
    return figure


def _all(learned: Learned) -> list[str]:
    """Names of all states, as they are shown."""
    names = [name for own in learned.alphabets or (learned.states,) for name in own]
    return shown_texts(names, [str(code) for code in range(len(names))])


def _states(learned: Learned, one: KernelEstimate) -> list[list[str]]:
    """The states of the parents and of the child, for each axis of a kernel."""
    child = one.children[0]
    nodes = [*learned.dag.parents[child], child]
    own = [learned.alphabets[node] if learned.alphabets else learned.states for node in nodes]
    return [shown_texts(states, [str(code) for code in range(len(states))]) for states in own]


def _title(learned: Learned, one: KernelEstimate) -> str:
    """Who follows a kernel."""
    names = shown_names(learned.names, learned.n_nodes)
    if len(one.children) == 1:
        parents = ", ".join(names[parent] for parent in learned.dag.parents[one.children[0]])
        return f"{names[one.children[0]]} given {parents}" if len(parents) <= 20 else names[one.children[0]]
    degree = f"{one.n_parents} parent{'s' if one.n_parents > 1 else ''}"
    of_class = "" if one.class_name is None else f", class {shown_texts([one.class_name], ['?'])[0]}"
    return f"{len(one.children)} nodes with {degree}{of_class}"
