"""Whether a graph can be learned from counts at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.data.origin import column_label
from kgmi.errors import DataError, TooFewRowsError
from kgmi.types import Ints, Names

__all__ = ["check_learnable"]


def check_learnable(
    state_counts: Ints, names: Names | None = None, states: Names | Sequence[Names] | None = None
) -> None:
    """Refuse data that no graph can be learned from: one column, a constant or empty one, too few rows.

    Parameters
    ----------
    state_counts
        ``state_counts[node, state]``: rows in which the node takes the state. Rows in which its value is missing
        are not among them, so the sums may differ from node to node.
    names, states
        What the messages call the columns and the states; their numbers by default. Where each column has its
        own alphabet, ``states[node]`` is that of the node, and columns of zeros fill up the shorter ones.
    """
    n_nodes, n_states = state_counts.shape
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    own = None if states is None or isinstance(states[0], str) else states
    sizes = np.full(n_nodes, n_states) if own is None else np.array([len(alphabet) for alphabet in own])
    n_filled = state_counts.sum(axis=1)
    n_taken = (state_counts > 0).sum(axis=1)
    _check_rows(n_filled, sizes, n_taken, names)
    constant = np.flatnonzero(n_taken == 1)
    if constant.size:
        column = int(constant[0])
        code = int(state_counts[column].argmax())
        alphabet = states if own is None else own[column]
        lacking = " that have a value" if n_filled[column] < n_filled.max() else ""
        raise TooFewRowsError(
            f"{_label(column, names)} is constant (state {code if alphabet is None else alphabet[code]} in all "
            f"{n_filled[column]} rows{lacking}), so nothing can be learned about it; leave it out, "
            f"{PREPARE_ADVICE}"
        )


def _check_rows(n_filled: Ints, sizes: Ints, n_taken: Ints, names: Names | None) -> None:
    """Refuse a column without values, and fewer values than states."""
    if (n_filled == 0).any():
        raise TooFewRowsError(
            f"{_label(int(n_filled.argmin()), names)} has no value in any row; leave it out, {PREPARE_ADVICE}"
        )
    few = np.flatnonzero(n_filled < sizes)
    if few.size == 0:
        return
    n_rows = int(n_filled.max())
    if n_rows < sizes.max():
        raise TooFewRowsError(_too_few(n_rows, int(sizes.max()), n_taken, names))
    column = int(few[0])
    n_values = "a value in 1 row" if n_filled[column] == 1 else f"values in {n_filled[column]} rows"
    raise TooFewRowsError(
        f"{_label(column, names)} has {n_values} only, fewer than the {sizes[column]} states; leave it out or "
        "collect more rows"
    )


def _too_few(n_rows: int, n_states: int, n_taken: Ints, names: Names | None) -> str:
    """The message on fewer rows than states; one column that holds most of the states is its likely cause."""
    few = "1 row is" if n_rows == 1 else f"{n_rows} rows are"
    message = f"{few} fewer than the {n_states} states; "
    column = int(n_taken.argmax())
    if 2 * n_taken[column] > n_states:
        message += (
            f"{_label(column, names)} alone takes {n_taken[column]} of them: leave it out if it is an identifier "
            "or a measurement, or "
        )
    return message + "collect more rows"


def _label(column: int, names: Names | None) -> str:
    return column_label(None if names is None or column >= len(names) else names[column], column)
