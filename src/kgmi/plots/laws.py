"""The law of each node by itself: how often each of its states occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.plots.kernel import shown_states, write_values
from kgmi.plots.style import FONT, axes_inches, label_nodes, shown_names, shown_texts
from kgmi.types import Floats, Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_laws"]

_NO_STATE = "#EFEFEF"


def draw_laws(
    ax: Axes,
    laws: Sequence[Floats],
    names: Names | None = None,
    states: Names | None = None,
    alphabets: Sequence[Names] | None = None,
) -> AxesImage:
    """Heat map of the probabilities of all states: one row per node, one column per state.

    Parameters
    ----------
    ax
        Axes to draw on.
    laws
        The law of every node, for example ``learned.model.marginals``.
    names
        Names of the nodes; X1, X2, … by default.
    states
        Names of the states; 0, 1, … by default.
    alphabets
        The states of every node, where nodes have states of their own; then these are written into the cells, where
        there is room.

    Returns
    -------
    AxesImage
        The image, from 0 to 1, for a colour bar; its data are the laws, masked where a node has fewer states.
    """
    if not laws:
        raise DataError("there is no law to draw")
    n_states = max(map(len, laws))
    table = np.full((len(laws), n_states), np.nan)
    for node, law in enumerate(laws):
        table[node, : len(law)] = law
    labels = shown_names(names, len(laws))
    if alphabets is not None and [len(own) for own in alphabets] != [len(law) for law in laws]:
        raise DataError("every node needs as many states as its law has entries")
    own = alphabets is not None
    columns = [_ordinal(number) for number in range(1, n_states + 1)] if own else shown_states(n_states, states)
    ax.set_facecolor(_NO_STATE)
    shown = np.ma.masked_invalid(table)
    image = ax.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    width, height = axes_inches(ax)
    write_values(ax, table, width * 0.85, height, None if alphabets is None else _cell_names(alphabets, n_states))
    label_nodes(ax.xaxis, columns, width * 0.85)
    label_nodes(ax.yaxis, labels, height)
    ax.set_xlabel("state of its own" if own else "state", fontsize=FONT + 1)
    ax.set_ylabel("node", fontsize=FONT + 1)
    return image


def _cell_names(alphabets: Sequence[Names], n_states: int) -> list[str]:
    """The name of the state in every cell, row by row."""
    shown = [shown_texts(own, [str(code) for code in range(len(own))]) for own in alphabets]
    return [name for own in shown for name in (*own, *[""] * (n_states - len(own)))]


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
