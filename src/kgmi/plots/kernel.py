"""A kernel as a table: parent states down, states of the child across."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.kernel import Kernel
from kgmi.plots.style import FONT, axes_inches, label_nodes, shown_texts
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_kernel"]

_MOST_WRITTEN = 400  # cells up to which values are written, if there is room


def draw_kernel(ax: Axes, kernel: Kernel, states: Names | None = None) -> AxesImage:
    """Heat map of π(s' | s_1, …, s_K): one row per tuple of parent states, one column per state of the child.

    Parameters
    ----------
    ax
        Axes to draw on.
    kernel
        The kernel.
    states
        Names of the states; 0, 1, … by default.

    Returns
    -------
    AxesImage
        The image, from 0 to 1, for a colour bar; its data are the table with S^K rows.
    """
    names = _shown_states(kernel.n_states, states)
    rows = [", ".join(parts) for parts in product(names, repeat=kernel.n_parents)]
    table = kernel.table.reshape(-1, kernel.n_states)
    image = ax.imshow(table, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    width, height = axes_inches(ax)
    _write_values(ax, table, width * 0.85, height)
    label_nodes(ax.xaxis, names, width * 0.85)  # the colour bar takes some of it
    label_nodes(ax.yaxis, rows, height)
    ax.set_xlabel("state of the child", fontsize=FONT + 1)
    order = ", ".join(f"parent {number + 1}" for number in range(kernel.n_parents))
    ax.set_ylabel(f"state of {order if kernel.n_parents > 1 else 'the parent'}", fontsize=FONT + 1)
    return image


def _write_values(ax: Axes, table: Floats, width: float, height: float) -> None:
    """Write the probabilities into the cells, if they are few enough to fit."""
    if table.size > _MOST_WRITTEN:
        return
    short = bool(np.allclose(table, np.round(table, 2), atol=1e-9))  # written by a person, not estimated
    texts = [f"{value:.3g}" if short else f"{value:.3f}" for value in table.flat]
    size = FONT - 1
    n_rows, n_columns = table.shape
    if width * 72 / n_columns < max(map(len, texts)) * size * 0.62 or height * 72 / n_rows < size * 1.2:
        return
    for (row, column), value, text in zip(np.ndindex(table.shape), table.flat, texts, strict=True):
        colour = "white" if value > 0.62 else "black"
        ax.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)


def _shown_states(n_states: int, states: Names | None) -> list[str]:
    codes = [str(code) for code in range(n_states)]
    if states is None:
        return codes
    if len(states) != n_states:
        raise DataError(f"{len(states)} names do not fit the {n_states} states of the kernel")
    return shown_texts(states, codes)
