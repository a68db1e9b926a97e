"""An empty figure, and a figure as a file: the same figure gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgmi.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "new_figure", "write_figure"]

# What each format would otherwise say about the moment or the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMATS = tuple(_METADATA)
_DPI = 200


def new_figure(width: float, height: float, gap: float = 0.02) -> Figure:
    """A figure that keeps its parts apart; ``gap`` is what lies between panels, as a share of their width."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=gap))


def write_figure(figure: Figure, path: Path, dpi: int = _DPI) -> None:
    """Write a figure whole or not at all; the ending of ``path`` says in which of the formats."""
    from matplotlib import rc_context

    kind = path.suffix.removeprefix(".")
    # Without a salt every SVG would get names of its own for the same shapes.
    with rc_context({"svg.hashsalt": "kgmi"}), atomic_write(path) as stream:
        figure.savefig(stream, format=kind, dpi=dpi, metadata=_METADATA[kind])
