"""Checks on arrays of state codes, before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data.columns import is_missing
from kgmi.data.origin import column_label, row_place
from kgmi.data.rows import as_array
from kgmi.data.rules import MISSING_ADVICE, Missing
from kgmi.errors import DataError, SettingError, TooFewRowsError
from kgmi.types import Bools, Codes, Floats, Names

__all__ = ["cell_place", "check_filled", "checked_codes", "frame_names", "whole_numbers"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart


def checked_codes(
    rows: ArrayLike, n_states: int | None = None, names: Names | None = None, *, missing: Missing | None = None
) -> tuple[Codes, int]:
    """Rows as whole-number codes, and S; an error names the first cell outside 0..S-1.

    Parameters
    ----------
    rows
        Whole numbers [row, node], of any type that can hold them; they are not changed.
    n_states
        S; by default one more than the largest code.
    names
        What messages call the columns; those of a data frame, or their numbers, by default.
    missing
        Where it is ``pairwise`` or ``category``, NaN, masked cells and -1 are cells without a value and get the
        code -1; they are errors otherwise.
    """
    names = frame_names(rows) if names is None else names
    array, gaps = whole_numbers(rows, names, missing)
    codes, n_states = _in_alphabet(array, n_states, names, missing)
    if gaps is not None:
        codes = codes.astype(np.min_scalar_type(-n_states))
        codes[gaps] = -1
    if missing in ("pairwise", "category"):
        check_filled(codes < 0, names)
    return codes, n_states


def whole_numbers(rows: ArrayLike, names: Names | None, missing: Missing | None) -> tuple[_Array, Bools | None]:
    """Rows as an array of whole numbers or truth values, and which cells are NaN or masked (None: no cell).

    Such cells are errors unless ``missing`` says what they mean; what the array holds there does not matter.
    """
    array = as_array(rows)
    allowed = missing in ("pairwise", "category")
    advice = "fill it in or drop the row" + (f", or say what it means: {MISSING_ADVICE}" if missing else "")
    gaps = np.ma.getmaskarray(rows) if isinstance(rows, np.ma.MaskedArray) else None
    if gaps is not None and gaps.any():
        if not allowed:
            raise DataError(f"{_first_gap(gaps, names, 'masked (missing)', missing)}; {advice}")
        array = array.copy()
        array[gaps] = 0  # what lies under the mask may be no number at all
    if array.dtype.kind not in "iub":
        numbers = _numbers(array, names, advice, is_frame=hasattr(rows, "columns"))
        unknown = np.isnan(numbers)
        if unknown.any():
            if not allowed:
                raise DataError(f"{_first_gap(unknown, names, 'missing (NaN)', missing)}; {advice}")
            numbers[unknown] = 0
            gaps = unknown if gaps is None else gaps | unknown
        array = _whole(numbers, names)
    return array, gaps if gaps is not None and gaps.any() else None


def check_filled(gaps: Bools, names: Names | None, failure: type[DataError] = TooFewRowsError) -> None:
    """Refuse a column without any value; ``gaps`` marks the cells that lack one."""
    if (empty := gaps.all(axis=0)).any():
        raise failure(_no_value(int(empty.argmax()), names))


def _in_alphabet(
    array: _Array, n_states: int | None, names: Names | None, missing: Missing | None
) -> tuple[Codes, int]:
    """Whole numbers that are codes 0..S-1, or -1 where it means that there is no value; and S."""
    least = -1 if missing in ("pairwise", "category") else 0
    low, high = int(array.min()), int(array.max())
    if n_states is None:
        n_states = max(high + 1, 2)
    if n_states < 2:
        raise SettingError(f"n_states must be at least 2, got {n_states}")
    if low < least or high >= n_states:
        bad = (array < least) | (array >= n_states)
        code = array[bad][0]
        advice = "recode it: codes start at 0" if code < 0 else "recode it or raise n_states"
        if code == -1 and missing == "error":
            advice += "; if -1 means that the value is missing, say so with missing='pairwise'"
        raise DataError(f"{cell_place(bad, names)} is {code}, outside the alphabet 0..{n_states - 1}; {advice}")
    return (array.astype(np.int8) if array.dtype == bool else array), n_states


def frame_names(rows: object) -> Names | None:
    """The names of a data frame's columns; None for all else."""
    columns = getattr(rows, "columns", None)
    names = list(columns) if isinstance(columns, Iterable) else []
    return names if names and all(isinstance(name, str) for name in names) else None


def _numbers(array: _Array, names: Names | None, advice: str, is_frame: bool) -> Floats:
    """Cells as floats, in a new array; what is no number is an error."""
    try:
        return array.astype(np.float64, casting="unsafe" if array.dtype.kind in "fOUS" else "safe")
    except (TypeError, ValueError):
        _refuse_missing(array, names, advice)
        to_do = (
            "recode the data frame so, or write it as a CSV file and use kgmi.read_table(path)"
            if is_frame
            else "read text with kgmi.read_table"
        )
        raise DataError(f"rows must be whole-number codes 0..S-1; {to_do}") from None


def _whole(numbers: Floats, names: Names | None) -> Codes:
    """Floats that are whole numbers as integers; anything else is an error that names the cell."""
    broken = ~(np.abs(numbers) <= _LARGEST_WHOLE) | (numbers != np.rint(numbers))
    if broken.any():
        raise DataError(f"{cell_place(broken, names)} is {numbers[broken][0]}; codes must be whole numbers")
    return numbers.astype(np.int64)


def _refuse_missing(array: _Array, names: Names | None, advice: str) -> None:
    """Name the first object that stands for no value, such as the NA of a data frame."""
    for place, value in np.ndenumerate(array):
        if is_missing(value):
            where = row_place(place[0], _column(place[1], names))
            raise DataError(f"{where} is missing ({value}); {advice}")


def _first_gap(gaps: Bools, names: Names | None, what: str, missing: Missing | None) -> str:
    """The first cell without a value; a column that has none at all is refused as a whole."""
    if missing is not None:
        check_filled(gaps, names, DataError)
    return f"{cell_place(gaps, names)} is {what}"


def _no_value(column: int, names: Names | None) -> str:
    return f"{_column(column, names)} has no value in any row; leave it out"


def cell_place(bad: Bools, names: Names | None) -> str:
    """Where the first of the marked cells stands."""
    row, column = np.argwhere(bad)[0]
    return row_place(int(row), _column(int(column), names))


def _column(column: int, names: Names | None) -> str:
    return column_label(None if names is None or column >= len(names) else names[column], column)
