"""Whole figures of a result by name, and all of them as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import SettingError
from kgmi.learning import Learned
from kgmi.outputs import check_replaceable
from kgmi.plots.applies import check_applies, why_not
from kgmi.plots.canvas import DPI, FORMATS, Picture, n_across, new_figure, write_figure
from kgmi.plots.graph_figures import graph_figure, layers_figure
from kgmi.plots.heat_figures import attention_figure, overlay_figure, scores_figure
from kgmi.plots.law_figures import kernel_figure, marginals_figure
from kgmi.plots.margins import draw_margins
from kgmi.plots.style import FONT, label_inches, shown_names
from kgmi.plots.training import draw_concentration, draw_objective, draw_suboptimality
from kgmi.progress import tell
from kgmi.types import PathLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURE_NAMES", "check_figures", "figure_of", "margins_figure", "save_figures", "training_figure"]


def training_figure(learned: Learned, width: float | None = None) -> Figure:
    """Objective, suboptimality and, where the trace kept it, the attention of each column."""
    check_applies(learned, "training")
    trace = learned.trace
    assert trace is not None
    n_panels = 2 if trace.attention is None else 3
    n_columns = n_across(width, 2.9, n_panels)
    n_lines = -(-n_panels // n_columns)
    figure = new_figure(4.1 * n_columns if width is None else width, 3.4 * n_lines, gap=0.1, below=0.05)
    panels = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in panels[n_panels:]:
        ax.remove()
    draw_objective(panels[0], trace)
    draw_suboptimality(panels[1], trace)
    if n_panels == 3:
        draw_concentration(panels[2], trace, learned.dag, learned.undecided)
    else:
        note = "The attention of each epoch was not kept: it would take over 64 MB."
        figure.supxlabel(note, fontsize=FONT, color="#555555")
    return figure


def margins_figure(learned: Learned, width: float | None = None) -> Figure:
    """Margin of every head at every node that has parents."""
    check_applies(learned, "margins")
    n_children = learned.n_nodes - len(learned.dag.roots)
    labels = shown_names(learned.names, learned.n_nodes)
    size = 5.0 + label_inches(labels), float(np.clip(1.2 + 0.22 * n_children, 2.5, 10))
    figure = new_figure(*size, wanted=width, border=0.1)  # marks on the right edge reach beyond the axes
    draw_margins(figure.subplots(), learned)
    return figure


_FIGURES: dict[str, Callable[[Learned, float | None], Figure]] = {
    "graph": graph_figure,
    "layers": layers_figure,
    "attention": attention_figure,
    "overlay": overlay_figure,
    "scores": scores_figure,
    "training": training_figure,
    "kernel": kernel_figure,
    "marginals": marginals_figure,
    "margins": margins_figure,
}
FIGURE_NAMES = tuple(_FIGURES)  # of the files, less their endings


def figure_of(learned: Learned, name: str, width: float | None = None) -> Figure:
    """One figure of a result by its name.

    Parameters
    ----------
    learned
        The result.
    name
        One of :data:`FIGURE_NAMES`. A result does not have all of them: :func:`why_not` says why.
    width
        In inches; the height goes with it, letters keep their size. By default as the content needs.

    Returns
    -------
    Figure
        A Matplotlib figure that no window shows.
    """
    if name not in _FIGURES:
        raise SettingError(f"there is no picture {name!r}; there are {', '.join(FIGURE_NAMES)}")
    check_applies(learned, name)
    return _FIGURES[name](learned, width)


def save_figures(
    learned: Learned,
    folder: PathLike,
    formats: Sequence[str] = ("png",),
    names: Sequence[str] = FIGURE_NAMES,
    width: float | None = None,
    dpi: int = DPI,
    *,
    force: bool = False,
) -> list[Path]:
    """Write every figure that applies; :func:`why_not` says why others do not.

    Parameters
    ----------
    learned
        The result.
    folder
        Where to; made where it is missing. Figures of the same name that kgmi wrote are replaced.
    formats
        Any of png, svg and pdf. The same result gives the same bytes.
    names
        Which figures, of :data:`FIGURE_NAMES`; by default all.
    width
        In inches; by default as the content needs.
    dpi
        Dots per inch of png files.
    force
        Replace files of the same name whoever wrote them.

    Returns
    -------
    list of Path
        The files, figure by figure.
    """
    wanted = (formats,) if isinstance(formats, str) else tuple(dict.fromkeys(formats))
    for kind in wanted:
        if kind not in FORMATS:
            raise SettingError(f"pictures can be written as {', '.join(FORMATS)}; got {kind!r}")
    applying = [name for name in names if name not in _FIGURES or not why_not(learned, name)]
    check_figures(folder, applying, [kind for kind in FORMATS if kind in wanted], force=force)
    written = []
    for number, name in enumerate(applying):
        tell("pictures", number, len(applying), "pictures")
        figure = figure_of(learned, name, width)
        for kind in wanted:
            written.append(Path(folder) / f"{name}.{kind}")
            write_figure(figure, written[-1], dpi, force=force)
    return written


def check_figures(
    folder: PathLike,
    names: Sequence[str] = FIGURE_NAMES,
    formats: Sequence[Picture] = ("png",),
    *,
    force: bool = False,
) -> None:
    """Refuse to write figures, before any is drawn, where one would replace what kgmi did not write."""
    for name in names:
        for kind in formats:
            check_replaceable(Path(folder) / f"{name}.{kind}", kind, force=force)
