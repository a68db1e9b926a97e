"""One long sequence as rows of its last positions."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kgmi.alphabets import Missing, code_type
from kgmi.errors import DataError, SettingError
from kgmi.table import Table, array_of, as_frame, as_table
from kgmi.types import Names

__all__ = ["window_names", "window_table"]

_LONGEST_WINDOW = 100_000  # positions; each is a node


def window_table(
    sequence: object,
    n: int,
    *,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
) -> Table:
    """Return rows of the last ``n`` positions of a sequence: row t is (x[t - n + 1], …, x[t]).

    The codes are a read-only view of one copy of the sequence: long windows need no more memory than short ones.

    Parameters
    ----------
    sequence
        An array or a list of one axis, a series (pandas, polars, PyArrow), a data frame or table of one column, or
        a text, which is a sequence of characters: all of these are states, spaces and question marks too.
    n
        The length of a window: the newest position, and n - 1 lags as candidates for its parents.
    states, n_states, missing
        See :func:`kgmi.table.as_table`.
    """
    length = _window_length(n)
    if isinstance(sequence, str):
        if states is None and n_states is None:
            states = tuple(sorted(set(sequence)))
        sequence = np.array(list(sequence), dtype="U1")
    table = as_table(_one_column(sequence), states=states, n_states=n_states, missing=missing)
    if len(table.codes) < length + 1:
        raise DataError(
            f"windows of {length} positions need a sequence of at least {length + 1}, got {len(table.codes)}; use "
            "shorter windows"
        )
    compact = table.codes[:, 0].astype(code_type(max(table.sizes)))  # a copy
    return Table(sliding_window_view(compact, length), window_names(length), table.column_states[0])


def window_names(n: int) -> tuple[str, ...]:
    """Return the names of the positions of a window: lag n-1, …, lag 1, now."""
    length = _window_length(n)
    if length > _LONGEST_WINDOW:
        raise SettingError(f"windows of {length:,} positions are too long; at most {_LONGEST_WINDOW:,} are allowed")
    return (*(f"lag {lag}" for lag in range(length - 1, 0, -1)), "now")


def _window_length(n: object) -> int:
    try:
        length = index(n)  # type: ignore[arg-type]
    except TypeError:
        length = 0
    if isinstance(n, bool | np.bool_) or length < 2:
        raise SettingError(f"windows must be a whole number of at least 2, got {n!r}")
    return length


def _one_column(sequence: Any) -> Any:
    """Return a sequence as a table of one column."""
    made: Any = sequence
    if isinstance(sequence, np.ndarray | list | tuple):
        made = array_of(sequence)
        made = made[:, None] if made.ndim == 1 else made
    elif not isinstance(sequence, Table):
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        series = pa.chunked_array([sequence]) if isinstance(sequence, pa.Array) else sequence
        series = nw.from_native(series, pass_through=True, allow_series=True)
        made = series.alias("sequence").to_frame() if isinstance(series, nw.Series) else as_frame(sequence)
        if made is None:
            raise DataError(f"a sequence is an array, a list, a series or a text, got {type(sequence).__name__}")
    shape = made.codes.shape if isinstance(made, Table) else made.shape
    if len(shape) != 2 or shape[1] != 1:
        raise DataError(f"a sequence is one column, got a table of shape {shape}; choose one of its columns")
    if isinstance(made, Table | np.ndarray):
        return made
    return made.rename({made.columns[0]: "sequence"}).to_native()  # many a series has no name
