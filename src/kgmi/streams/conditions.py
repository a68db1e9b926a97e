"""Conditions on rows: whether they hold, for cells, as expressions of PyArrow, and within bounds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from kgmi.data.states import MISSING
from kgmi.errors import DataError, SettingError, first_line
from kgmi.streams.exact import EVERY, NONE, Fitted, compared_type, fitted, plain_type

__all__ = ["COMPARE", "OPERATORS", "Condition", "evaluated", "holds", "may_hold", "pushed"]

Condition: TypeAlias = tuple[str, str, Any]
"""(column, operator, value)."""

COMPARE: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "==": ("equal", operator.eq),
    "!=": ("not_equal", operator.ne),
    "<": ("less", operator.lt),
    "<=": ("less_equal", operator.le),
    ">": ("greater", operator.gt),
    ">=": ("greater_equal", operator.ge),
}
"""Operators on one value: PyArrow's name of each, and the same for its expressions."""
OPERATORS = (*COMPARE, "in", "not in")
"""All operators."""
_LARGEST_WHOLE = 2**53  # from here on a float no longer tells whole numbers apart

# Whether no value from low to high meets a condition; what cannot be compared (NaN) rules nothing out.
_RULED_OUT: dict[str, Callable[[Any, Any, Any], bool]] = {
    "==": lambda low, high, value: value < low or value > high,
    "!=": lambda low, high, value: low == high == value,
    "<": lambda low, high, value: low >= value,
    "<=": lambda low, high, value: low > value,
    ">": lambda low, high, value: high <= value,
    ">=": lambda low, high, value: high < value,
    "in": lambda low, high, values: all(value < low or value > high for value in values),
    "not in": lambda low, high, values: low == high and any(low == value for value in values),
}


def evaluated(table: Any, expression: Any) -> Any:
    """[row]: whether the expression holds; in this thread, while PyArrow's own filter would use others."""
    import pyarrow as pa
    from pyarrow import acero

    number = "row number of kgmi"
    table = table.append_column(number, pa.array(np.arange(table.num_rows)))
    plan = acero.Declaration.from_sequence(
        [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
            acero.Declaration("filter", acero.FilterNodeOptions(expression)),
        ]
    )
    kept = np.zeros(table.num_rows, dtype=np.bool_)
    kept[plan.to_table(use_threads=False).column(number).to_numpy()] = True
    return kept


def holds(column: str, cells: Any, sign: str, value: Any, is_text: bool) -> Any:
    """[row]: whether a condition holds; nowhere where there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if is_text:
        cells = _read_texts(column, cells, value if sign not in COMPARE else (value,))
    sign, value = fitted(column, cells.type, sign, value)
    if sign == NONE:
        return np.zeros(len(cells), dtype=np.bool_)
    kind = compared_type(cells.type)
    cells = _cast(cells, kind)
    valid = pc.is_valid(cells)
    try:
        if sign in COMPARE:
            held = pc.call_function(COMPARE[sign][0], [cells, _scalar(value, kind)])
        elif sign != EVERY:
            held = pc.is_in(cells, _values(value, kind))
            held = pc.and_(held if sign == "in" else pc.invert(held), valid)
        else:
            held = valid
    except (pa.ArrowException, TypeError) as error:
        raise SettingError(
            f"where: column {column!r} is of type {kind} and cannot be compared with {value!r} "
            f"({first_line(error)})"
        ) from None
    if types.is_floating(kind):
        held = pc.and_(held, pc.invert(pc.is_nan(cells)))
    return np.asarray(held.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _cast(cells: Any, kind: Any) -> Any:
    """Cells in the type in which they are compared; dictionaries by hand, as PyArrow does not know them all."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in cells.chunks], kind)
    return cells if cells.type == kind else cells.cast(kind)


def pushed(column: str, kind: Any, sign: str, value: Any) -> Any:
    """The same condition as an expression of PyArrow."""
    import pyarrow.compute as pc
    from pyarrow import types

    sign, value = fitted(column, kind, sign, value)
    if sign == NONE:
        return pc.scalar(False)
    wide = compared_type(kind)
    cell = pc.field(column)
    if plain_type(kind) != wide:
        cell = cell.cast(wide)
    if sign in COMPARE:
        held = COMPARE[sign][1](cell, _scalar(value, wide))
    elif sign != EVERY:
        held = cell.isin(_values(value, wide))
        held = held if sign == "in" else ~held & cell.is_valid()
    else:
        held = cell.is_valid()
    return held & ~cell.is_nan() if types.is_floating(wide) else held


def may_hold(condition: Fitted, low: Any, high: Any) -> bool:
    """Whether a cell from low to high may meet a condition; where that is not certain, it may."""
    import pyarrow as pa

    sign, value = condition
    if sign in (EVERY, NONE):
        return sign == EVERY
    try:
        values = [one.as_py() if isinstance(one, pa.Scalar) else one for one in _listed(sign, value)]
        return not _RULED_OUT[sign](low, high, values[0] if sign in COMPARE else values)
    except (TypeError, ValueError, ImportError):  # times without pandas, bytes beside numbers
        return True


def _listed(sign: str, value: Any) -> Sequence[Any]:
    return (value,) if sign in COMPARE else value


def _scalar(value: Any, kind: Any) -> Any:
    import pyarrow as pa

    return value if isinstance(value, pa.Scalar) else pa.scalar(value, kind)


def _values(values: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, kind)


def _read_texts(column: str, cells: Any, values: Sequence[Any]) -> Any:
    """Cells of a text file: without spaces, null where they mean «no value», numbers where these are compared."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(cells.cast(pa.string()))
    gaps = pc.is_in(cells, pa.array(sorted(MISSING)))
    cells = pc.if_else(gaps, pa.scalar(None, pa.string()), cells)
    if not values or any(isinstance(value, str) for value in values):
        gap = next((value for value in values if isinstance(value, str) and value.strip() in MISSING), None)
        if gap is not None:
            raise SettingError(
                f"where: a cell {gap!r} of a text file means that there is no value, and such rows never pass; "
                f"compare {column!r} with something else"
            )
        return cells
    other = next((one for one in values if isinstance(one, bool) or not isinstance(one, int | float)), None)
    if other is not None:
        raise SettingError(
            f"where: {column!r} is text in the file; compare it with a number or a text, not {other!r}: put it in "
            f"quotes, '{column} == \"{other}\"'"
        )
    if any(abs(value) >= _LARGEST_WHOLE for value in values):
        raise SettingError(f"where: {values!r} is too large a number to compare with {column!r}; give it as text")
    try:
        return cells.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise DataError(
            f"where: column {column!r} is compared with a number, and {first_line(error)}; compare it with a text"
        ) from None
