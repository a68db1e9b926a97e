"""Tables from arrays of whole numbers, without a look at single cells."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data.checks import FEW_STATES, check_variety
from kgmi.data.codes import cell_place, check_filled, checked_codes, whole_numbers
from kgmi.data.distinct import distinct_numbers, places
from kgmi.data.origin import MEMORY, Origin, column_label
from kgmi.data.recode import gaps_as_state, with_alphabets
from kgmi.data.rules import Rules
from kgmi.data.states import choose_states
from kgmi.data.table import Table, checked_names
from kgmi.errors import DataError
from kgmi.types import Bools, Codes, Names

__all__ = ["table_of_numbers"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_AS_STATES = "recode it or give texts: rows.astype(str), or a CSV file"


def table_of_numbers(rows: ArrayLike, rules: Rules, names: Names | None = None, origin: Origin = MEMORY) -> Table:
    """Whole numbers as a table.

    Where the states or their number are declared, the numbers are codes 0..S-1. Otherwise the numbers that occur
    are the states, in their order, as in a file.
    """
    declared = None if rules.states is None else tuple(rules.states)
    n_states = rules.n_states if declared is None else len(declared)
    try:
        if n_states is None:
            codes, states = _by_value(rows, rules, names)
        else:
            codes, _ = checked_codes(rows, n_states, names, missing=rules.missing)
            states = choose_states((), declared, n_states)
    except DataError as error:
        raise (error if origin is MEMORY else DataError(f"{origin}: {error}")) from None
    if n_states is None and len(states) > FEW_STATES:
        _check_variety(codes, names, origin)
    table = Table(codes, checked_names(names, codes.shape[1]), states)
    table = with_alphabets(table, rules)
    return gaps_as_state(table, declared=declared is not None) if rules.missing == "category" else table


def _by_value(rows: ArrayLike, rules: Rules, names: Names | None) -> tuple[Codes, tuple[str, ...]]:
    """Codes, -1 for a gap, and the numbers that occur as texts; of truth values both are states in any case."""
    array, gaps = whole_numbers(rows, names, rules.missing)
    if array.dtype == bool:
        array, numbers = array.astype(np.int8), [0, 1]
    else:
        array, gaps = _without_minus_one(array, gaps, rules, names)
        if gaps is not None:
            check_filled(gaps, names)
        numbers = distinct_numbers(array if gaps is None else array[~gaps])
    if gaps is not None:
        array = np.where(gaps, numbers[0], array)  # any number that has a place
    codes = array if numbers == list(range(len(numbers))) else places(array, numbers)
    if gaps is not None:
        codes = np.where(gaps, -1, codes).astype(np.min_scalar_type(-len(numbers)))
    least = 1 if gaps is not None and rules.missing == "category" else 2
    return codes, choose_states([str(number) for number in numbers], least=least)


def _without_minus_one(
    array: _Array, gaps: Bools | None, rules: Rules, names: Names | None
) -> tuple[_Array, Bools | None]:
    """-1 as a gap where gaps are allowed; refused where it may be one, but nobody said so."""
    low = int(array.min())
    if low >= 0 or (low < -1 and rules.missing == "error"):
        return array, gaps
    if rules.missing == "error":
        raise DataError(
            f"{cell_place(array < 0, names)} is -1, the only number below 0; if -1 means that the value is "
            f"missing, say so with missing='pairwise'; if it is a state, {_AS_STATES}"
        )
    if low < -1:
        bad = array < -1
        raise DataError(
            f"{cell_place(bad, names)} is {array[bad][0]}, but with missing='{rules.missing}' numbers below 0 "
            f"other than -1, which is a missing value, are no states; {_AS_STATES}"
        )
    minus_one = array == -1
    return array, minus_one if gaps is None else gaps | minus_one


def _check_variety(codes: Codes, names: Names | None, origin: Origin) -> None:
    """Refuse a column of measurements or identifiers, as in a file."""
    for column, values in enumerate(codes.T):
        occurs = np.bincount(values[values >= 0])
        label = column_label(None if names is None else names[column], column)
        check_variety(origin, label, int(np.count_nonzero(occurs)), int(occurs.sum()), 0)
