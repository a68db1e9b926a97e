"""An empty figure, what several panels share, and a figure as a file: the same figure gives the same bytes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from kgmi.errors import SettingError
from kgmi.files import atomic_write
from kgmi.plots.style import FONT, legend_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = [
    "DPI",
    "FORMATS",
    "checked_width",
    "legend_below",
    "n_across",
    "new_figure",
    "shared_colour_bar",
    "write_figure",
]

Picture: TypeAlias = Literal["png", "svg", "pdf"]
# By which kgmi knows its files again, and nothing about the moment or the version that wrote them.
_METADATA: dict[Picture, dict[str, str | None]] = {
    "png": {"Software": "kgmi"},
    "svg": {"Date": None, "Creator": "kgmi"},
    "pdf": {"CreationDate": None, "Creator": "kgmi", "Producer": None},
}
FORMATS: tuple[Picture, ...] = tuple(_METADATA)
DPI = 200
_LEAST_DPI, _MOST_DPI = 20, 2_400
_MOST_PIXELS = 20_000  # on a side: 1.6 GB at most
_NARROWEST, _WIDEST, _LOWEST = 3, 60, 2.5  # inches
_LAYOUTS = 2  # before the one of savefig: a legend below square panels moves them twice
_LEAST_PANEL = 0.8  # inches that names and colour bars leave of the width of a panel


def new_figure(
    width: float,
    height: float,
    gap: float = 0.02,
    below: float = 0.02,
    wanted: float | None = None,
    border: float = 0.04167,
) -> Figure:
    """A figure that keeps its parts apart: ``gap`` beside and ``below`` under a panel, as shares of its size.

    Where another width is ``wanted``, in inches, the height goes with it; letters keep their size. ``border`` is
    what stays free left and right, in inches; by default as Matplotlib has it.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if wanted is not None:
        width, height = checked_width(wanted), max(height * wanted / width, _LOWEST)
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=border, wspace=gap, hspace=below))


def checked_width(inches: float) -> float:
    """A width that a figure can have."""
    if not _NARROWEST <= inches <= _WIDEST:
        raise SettingError(f"a picture is {_NARROWEST} to {_WIDEST} inches wide; got {inches:g}")
    return inches


def n_across(wanted: float | None, panel: float, most: int) -> int:
    """How many panels, at least ``panel`` inches wide, stand side by side: all, unless the width is too small."""
    return most if wanted is None else int(np.clip(checked_width(wanted) // panel, 1, most))


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


def write_figure(figure: Figure, path: Path, dpi: int = DPI, *, force: bool = False) -> None:
    """Write a figure whole or not at all; the ending of ``path`` says in which of the formats.

    A file that is there and is no figure of kgmi in this format is replaced with ``force`` only.
    """
    from matplotlib import rc_context

    sides = figure.get_size_inches() * dpi
    if not _LEAST_DPI <= dpi <= _MOST_DPI or sides.max() > _MOST_PIXELS:
        raise SettingError(
            f"a picture has {_LEAST_DPI} to {_MOST_DPI:,} dots per inch and at most {_MOST_PIXELS:,} dots on a "
            f"side; {dpi} per inch make {sides.max():,.0f}"
        )
    kind = cast(Picture, path.suffix.removeprefix("."))
    # Without a salt every SVG would get names of its own for the same shapes.
    writing = atomic_write(path, kind, force=force)
    with rc_context({"svg.hashsalt": "kgmi"}), writing as stream, warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            if engine := figure.get_layout_engine():
                for _ in range(_LAYOUTS):
                    engine.execute(figure)
            figure.savefig(stream, format=kind, dpi=dpi, metadata=_METADATA[kind])
        except UserWarning:
            raise SettingError(_too_narrow(figure, path)) from None
        panels = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
        if any(ax.get_position().width * figure.get_figwidth() < _LEAST_PANEL for ax in panels):
            raise SettingError(_too_narrow(figure, path))


def _too_narrow(figure: Figure, path: Path) -> str:
    return f"{path.name} has no room beside its names at a width of {figure.get_figwidth():g} inches; make it wider"
