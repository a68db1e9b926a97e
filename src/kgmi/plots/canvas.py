"""An empty figure, what several panels share, and a figure as a file: the same figure gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgmi.files import atomic_write
from kgmi.plots.style import FONT, legend_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["FORMATS", "legend_below", "new_figure", "shared_colour_bar", "write_figure"]

# What each format would otherwise say about the moment or the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMATS = tuple(_METADATA)
_DPI = 200


def new_figure(width: float, height: float, gap: float = 0.02, below: float = 0.02) -> Figure:
    """A figure that keeps its parts apart: ``gap`` beside and ``below`` under a panel, as shares of its size."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=gap, hspace=below))


def shared_colour_bar(figure: Figure, image: AxesImage, panels: Sequence[Axes], label: str) -> None:
    """One colour bar for all panels."""
    bar = figure.colorbar(image, ax=list(panels), shrink=0.8, pad=0.02, aspect=25)
    bar.set_label(label, fontsize=FONT + 1)
    bar.ax.tick_params(labelsize=FONT)


def legend_below(figure: Figure, panels: Sequence[Axes]) -> None:
    """One legend below all panels for the marks in any of them."""
    marks = [pair for ax in panels for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    by_label = {label: mark for mark, label in marks}
    if by_label:
        labels = sorted(by_label)
        columns = legend_columns(labels, figure.get_figwidth(), len(labels))
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "frameon": False}
        shape: dict[str, Any] = {"handlelength": 1.0, "handleheight": 1.0, "fontsize": FONT}
        figure.legend([by_label[label] for label in labels], labels, **place, **shape)


def write_figure(figure: Figure, path: Path, dpi: int = _DPI) -> None:
    """Write a figure whole or not at all; the ending of ``path`` says in which of the formats."""
    from matplotlib import rc_context

    kind = path.suffix.removeprefix(".")
    # Without a salt every SVG would get names of its own for the same shapes.
    with rc_context({"svg.hashsalt": "kgmi"}), atomic_write(path) as stream:
        figure.savefig(stream, format=kind, dpi=dpi, metadata=_METADATA[kind])
