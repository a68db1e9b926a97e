"""Checks on arrays of state codes, before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import DataError, SettingError
from kgmi.types import Bools, Codes, Ints, Names

__all__ = ["check_learnable", "checked_codes"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart


def checked_codes(rows: ArrayLike, n_states: int | None = None, names: Names | None = None) -> tuple[Codes, int]:
    """Rows as whole-number codes, and S; an error names the first cell outside 0..S-1."""
    array = _as_table(rows)
    names = _frame_names(rows) if names is None else names
    if isinstance(rows, np.ma.MaskedArray) and np.ma.getmaskarray(rows).any():
        where = _cell(np.ma.getmaskarray(rows), names)
        raise DataError(f"{where} is masked (missing); fill it in or drop the row")
    if array.dtype.kind not in "iub":
        array = _whole_numbers(array, names, is_frame=hasattr(rows, "columns"))
    if n_states is None:
        n_states = max(int(array.max()) + 1, 2)
    if n_states < 2:
        raise SettingError(f"n_states must be at least 2, got {n_states}")
    if array.min() < 0 or array.max() >= n_states:
        bad = (array < 0) | (array >= n_states)
        code = array[bad][0]
        advice = "recode it: codes start at 0" if code < 0 else "recode it or raise n_states"
        raise DataError(f"{_cell(bad, names)} is {code}, outside the alphabet 0..{n_states - 1}; {advice}")
    return (array.astype(np.int8) if array.dtype == bool else array), n_states


def check_learnable(state_counts: Ints, names: Names | None = None, states: Names | None = None) -> None:
    """Refuse data that no graph can be learned from: one column, a constant column, too few rows.

    Parameters
    ----------
    state_counts
        ``state_counts[node, state]``: rows in which the node takes the state.
    names, states
        What the messages call the columns and the states; their numbers by default.
    """
    n_nodes, n_states = state_counts.shape
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    n_rows = int(state_counts[0].sum())
    n_taken = (state_counts > 0).sum(axis=1)
    if n_rows < n_states:
        raise DataError(_too_few(n_rows, n_states, n_taken, names))
    constant = np.flatnonzero(n_taken == 1)
    if constant.size:
        column = int(constant[0])
        code = int(state_counts[column].argmax())
        raise DataError(
            f"{_column(column, names)} is constant (state {code if states is None else states[code]} in all "
            f"{n_rows} rows), so nothing can be learned about it; leave it out"
        )


def _too_few(n_rows: int, n_states: int, n_taken: Ints, names: Names | None) -> str:
    """The message on fewer rows than states; one column that holds most of the states is its likely cause."""
    few = "1 row is" if n_rows == 1 else f"{n_rows} rows are"
    message = f"{few} fewer than the {n_states} states; "
    column = int(n_taken.argmax())
    if 2 * n_taken[column] > n_states:
        message += (
            f"{_column(column, names)} alone takes {n_taken[column]} of them: leave it out if it is an identifier "
            "or a measurement, or "
        )
    return message + "collect more rows"


def _as_table(rows: object) -> _Array:
    """Rows as an array [row, node] of whatever type they have."""
    if rows is None or isinstance(rows, str | bytes | PathLike):
        raise DataError(
            f"rows must be a table [row, node] of codes, got {rows!r}; read a file with kgmi.read_table(path)"
        )
    try:
        array = np.asarray(rows)
    except ValueError:
        raise DataError("rows must be a table [row, node]; these rows are not equally long") from None
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"rows must be a table [row, node] with at least one row and column, got {array.shape}")
    return array


def _frame_names(rows: object) -> Names | None:
    """The names of a data frame's columns; None for all else."""
    columns = getattr(rows, "columns", None)
    names = list(columns) if isinstance(columns, Iterable) else []
    return names if names and all(isinstance(name, str) for name in names) else None


def _whole_numbers(array: _Array, names: Names | None, is_frame: bool) -> Codes:
    """Floats that are whole numbers as integers; anything else is an error that names the cell."""
    try:
        numbers = array.astype(np.float64, casting="unsafe" if array.dtype.kind in "fOUS" else "safe")
    except (TypeError, ValueError):
        _refuse_missing(array, names)
        advice = (
            "recode the data frame so, or write it as a CSV file and use kgmi.read_table(path)"
            if is_frame
            else "read text with kgmi.read_table"
        )
        raise DataError(f"rows must be whole-number codes 0..S-1; {advice}") from None
    if np.isnan(numbers).any():
        raise DataError(f"{_cell(np.isnan(numbers), names)} is missing (NaN); fill it in or drop the row")
    broken = ~(np.abs(numbers) <= _LARGEST_WHOLE) | (numbers != np.rint(numbers))
    if broken.any():
        raise DataError(f"{_cell(broken, names)} is {numbers[broken][0]}; codes must be whole numbers")
    return numbers.astype(np.int64)


def _refuse_missing(array: _Array, names: Names | None) -> None:
    """Name the first object that stands for no value, such as the NA of a data frame."""
    for place, value in np.ndenumerate(array):
        if _is_missing(value):
            where = f"row {place[0]}, {_column(place[1], names)}"
            raise DataError(f"{where} is missing ({value}); fill it in or drop the row")


def _is_missing(value: object) -> bool:
    """Whether a value is None, is not equal to itself (NaN), or refuses to say so (NA)."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _cell(bad: Bools, names: Names | None) -> str:
    row, column = np.argwhere(bad)[0]
    return f"row {row}, {_column(int(column), names)}"


def _column(column: int, names: Names | None) -> str:
    return f"column {column}" if names is None or column >= len(names) else f"column '{names[column]}'"
