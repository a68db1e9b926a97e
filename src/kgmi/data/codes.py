"""Checks on arrays of state codes, before anything is counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import DataError, SettingError
from kgmi.types import Codes, Names

__all__ = ["check_learnable", "checked_codes"]

_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart


def checked_codes(rows: ArrayLike, n_states: int | None = None, names: Names | None = None) -> tuple[Codes, int]:
    """Rows as whole-number codes, and S; an error names the first cell outside 0..S-1."""
    try:
        array = np.asarray(rows)
    except ValueError:
        raise DataError("rows must be a table [row, node]; these rows are not equally long") from None
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"rows must be a table [row, node] with at least one row and column, got {array.shape}")
    if array.dtype.kind not in "iub":
        array = _whole_numbers(array, names)
    if n_states is None:
        n_states = max(int(array.max()) + 1, 2)
    if n_states < 2:
        raise SettingError(f"n_states must be at least 2, got {n_states}")
    bad = (array < 0) | (array >= n_states)
    if bad.any():
        raise DataError(
            f"{_cell(bad, names)} is {array[bad][0]}, outside the alphabet 0..{n_states - 1}; "
            "recode it or raise n_states"
        )
    return (array.astype(np.int8) if array.dtype == bool else array), n_states


def check_learnable(codes: Codes, n_states: int, names: Names | None = None) -> None:
    """Refuse data that no graph can be learned from: one column, a constant column, too few rows."""
    n_rows, n_nodes = codes.shape
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    if n_rows < n_states:
        raise DataError(f"{n_rows} rows are fewer than the {n_states} states; collect more rows")
    constant = np.flatnonzero((codes == codes[0]).all(axis=0))
    if constant.size:
        column = int(constant[0])
        raise DataError(
            f"{_column(column, names)} is constant (state {codes[0, column]} in all {n_rows} rows), so nothing "
            "can be learned about it; leave it out"
        )


def _whole_numbers(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], names: Names | None) -> Codes:
    """Floats that are whole numbers as integers; anything else is an error that names the cell."""
    try:
        numbers = array.astype(np.float64, casting="unsafe" if array.dtype.kind in "fOUS" else "safe")
    except (TypeError, ValueError):
        raise DataError("rows must be whole-number codes 0..S-1; read text with kgmi.read_table") from None
    if np.isnan(numbers).any():
        raise DataError(f"{_cell(np.isnan(numbers), names)} is missing (NaN); fill it in or drop the row")
    broken = ~(np.abs(numbers) <= _LARGEST_WHOLE) | (numbers != np.rint(numbers))
    if broken.any():
        raise DataError(f"{_cell(broken, names)} is {numbers[broken][0]}; codes must be whole numbers")
    return numbers.astype(np.int64)


def _cell(bad: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], names: Names | None) -> str:
    row, column = np.argwhere(bad)[0]
    return f"row {row}, {_column(int(column), names)}"


def _column(column: int, names: Names | None) -> str:
    return f"column {column}" if names is None or column >= len(names) else f"column '{names[column]}'"
