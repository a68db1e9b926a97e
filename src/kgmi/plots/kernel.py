"""A kernel as a table: parent states down, states of the child across; and what it says of one parent at a time."""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["draw_kernel", "draw_marginals", "draw_table", "shown_states", "write_values"]

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
    return draw_table(ax, kernel.table, [shown_states(kernel.n_states, states)] * (kernel.n_parents + 1))


def draw_table(ax: Axes, table: Floats, states: Sequence[Sequence[str]]) -> AxesImage:
    """The same for a table [s_1, …, s_K, s'] whose axes have states of their own, named as they are shown."""
    *of_parents, of_child = states
    rows = [", ".join(parts) for parts in product(*of_parents)]
    image = _draw_laws(ax, table.reshape(-1, table.shape[-1]), rows, of_child)
    order = ", ".join(f"parent {number + 1}" for number in range(len(of_parents)))
    ax.set_ylabel(f"state of {order if len(of_parents) > 1 else 'the parent'}", fontsize=FONT + 1)
    return image


def draw_marginals(ax: Axes, kernel: Kernel, states: Names | None = None) -> AxesImage:
    """Heat map of the marginal kernels π^ℓ(s' | s): a block of rows for each head, which sees one parent alone.

    The other parents follow the stationary law. The last row is the stationary law of a node itself: a head can
    tell parents from others only where its rows differ from it, and heads differ only where their blocks do.

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
        The image, from 0 to 1, for a colour bar; its data have the rows of all heads, masked rows between them.
    """
    names = shown_states(kernel.n_states, states)
    gap = np.full((1, kernel.n_states), np.nan)
    blocks: list[Floats] = []
    rows: list[str] = []
    for head, block in enumerate(kernel.marginal_kernels):
        blocks += [block, gap]
        rows += [*(f"parent {head + 1}: {name}" for name in names), ""]
    image = _draw_laws(ax, np.vstack([*blocks, kernel.marginal[None]]), [*rows, "any (stationary)"], names)
    ax.set_ylabel("state of one parent", fontsize=FONT + 1)
    return image


def _draw_laws(ax: Axes, table: Floats, rows: Sequence[str], states: Sequence[str]) -> AxesImage:
    """A law of the child in every row; rows of NaN stay white."""
    shown = np.ma.masked_invalid(table)
    image = ax.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    width, height = axes_inches(ax)
    write_values(ax, table, width * 0.85, height)
    label_nodes(ax.xaxis, states, width * 0.85)  # the colour bar takes some of it
    kept = label_nodes(ax.yaxis, rows, height)
    ax.set_yticks([k for k in kept if rows[k]], labels=[rows[k] for k in kept if rows[k]])
    ax.set_xlabel("state of the child", fontsize=FONT + 1)
    return image


def write_values(ax: Axes, table: Floats, width: float, height: float, before: Sequence[str] | None = None) -> None:
    """Write the probabilities, and what stands ``before`` each, into the cells, if these are few enough."""
    if table.size > _MOST_WRITTEN:
        return
    seen = table[np.isfinite(table)]
    short = bool(np.allclose(seen, np.round(seen, 2), atol=1e-9))  # written by a person, not estimated
    texts = ["" if np.isnan(value) else f"{value:.3g}" if short else f"{value:.3f}" for value in table.flat]
    if before is not None:
        texts = [f"{name} {text}".strip() if text else "" for name, text in zip(before, texts, strict=True)]
    size = FONT - 1
    n_rows, n_columns = table.shape
    if width * 72 / n_columns < max(map(len, texts)) * size * 0.62 or height * 72 / n_rows < size * 1.2:
        return
    for (row, column), value, text in zip(np.ndindex(table.shape), table.flat, texts, strict=True):
        if text:
            colour = "white" if value > 0.62 else "black"
            ax.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)


def shown_states(n_states: int, states: Names | None) -> list[str]:
    """Names of the states as they are drawn; 0, 1, … by default."""
    codes = [str(code) for code in range(n_states)]
    if states is None:
        return codes
    if len(states) != n_states:
        raise DataError(f"{len(states)} names do not fit the {n_states} states of the kernel")
    return shown_texts(states, codes)
