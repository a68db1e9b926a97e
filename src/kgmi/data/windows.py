"""One long sequence as rows of its last n positions."""

from __future__ import annotations

from operator import index
from os import PathLike
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kgmi.data.convert import as_table
from kgmi.data.frames import as_frame
from kgmi.data.rules import Missing
from kgmi.data.states import choose_states
from kgmi.data.table import Table
from kgmi.errors import DataError, SettingError
from kgmi.types import Names

__all__ = ["window_names", "window_table"]

_LONGEST = 100_000  # positions: every one is a node


def window_table(
    sequence: object,
    n: int,
    *,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
) -> Table:
    """Rows of the last ``n`` positions: row t is (x[t - n + 1], …, x[t]), for all t that have so many before them.

    The codes are a read-only view of one copy of the sequence: long windows need no more memory than short ones.

    Parameters
    ----------
    sequence
        An array or a list of one axis, a series (pandas, polars, PyArrow), a data frame or table of one column, or
        a text, which is a sequence of characters: all of these are states, spaces and question marks too.
    n
        The length of a window: the newest position, and n - 1 lags as candidates for its parents.
    states, n_states, missing
        As in :func:`kgmi.data.as_table`.
    """
    length = _checked_length(n)
    column = _one_column(sequence)
    n_positions = len(column.codes if isinstance(column, Table) else column)
    if n_positions < length + 1:
        raise DataError(
            f"windows of {length} positions need a sequence of at least {length + 1}, got {n_positions}; use "
            "shorter windows"
        )
    if isinstance(sequence, str) and states is None:
        states, n_states = choose_states(set(sequence), None, n_states), None
    table = as_table(column, states=states, n_states=n_states, missing=missing)
    compact = table.codes[:, 0].astype(np.min_scalar_type(-table.n_states))  # a copy, however it came in
    return Table(sliding_window_view(compact, length), window_names(length), table.column_states[0])


def window_names(n: int) -> tuple[str, ...]:
    """Names of the positions of a window: lag n-1, …, lag 1, now."""
    length = _checked_length(n)
    if length > _LONGEST:
        raise SettingError(f"windows of {length:,} positions are too long; at most {_LONGEST:,} are allowed")
    return (*(f"lag {lag}" for lag in range(length - 1, 0, -1)), "now")


def _checked_length(n: object) -> int:
    try:
        length = index(n)  # type: ignore[arg-type]
    except TypeError:
        length = 0
    if isinstance(n, bool | np.bool_) or length < 2:
        raise SettingError(f"windows must be a whole number of at least 2, got {n!r}")
    return length


def _one_column(sequence: Any) -> Any:
    """The sequence as a table of one column, of whatever kind ``as_table`` takes."""
    if isinstance(sequence, str):
        return np.array(list(sequence), dtype="U1")[:, None]
    if sequence is None or isinstance(sequence, bytes | PathLike):
        raise DataError(f"a sequence is an array, a list, a series or a text, got {sequence!r}")
    if isinstance(sequence, Table):
        _check_shape(sequence.codes.shape)
        return sequence
    frame = None if isinstance(sequence, np.ndarray | list | tuple) else _one_column_frame(sequence)
    return _array_column(sequence) if frame is None else frame.to_native()


def _one_column_frame(sequence: Any) -> Any:
    """A series, or a data frame of one column, as the latter; None for all else."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    if isinstance(sequence, pa.Array):
        sequence = pa.chunked_array([sequence])
    series = nw.from_native(sequence, pass_through=True, allow_series=True)
    if not isinstance(series, nw.Series):
        frame = as_frame(sequence)
        if frame is None:
            return None
        _check_shape(frame.shape)
        series = next(frame.iter_columns())
    return series.alias("sequence").to_frame()  # many a series has no name


def _array_column(sequence: Any) -> Any:
    """An array or a list as an array of one column; texts stay apart from the numbers among them."""
    try:
        array = sequence if isinstance(sequence, np.ndarray) else np.asarray(sequence)
    except ValueError:
        raise DataError("a sequence has one axis; the parts of this one are not equally long") from None
    if array.dtype.kind in "US" and not isinstance(sequence, np.ndarray):
        array = np.asarray(sequence, dtype=object)
    column = array[:, None] if array.ndim == 1 else array
    _check_shape(column.shape)
    return column


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is not one column."""
    if len(shape) != 2:
        raise DataError(f"a sequence has one axis, got an array of shape {shape}")
    if shape[1] != 1:
        raise DataError(f"a sequence is one column, got {shape[1]}; choose one of them")
