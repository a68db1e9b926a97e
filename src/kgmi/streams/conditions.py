"""Conditions on rows: whether they hold, cell by cell."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from kgmi.data.states import MISSING
from kgmi.errors import DataError, SettingError

__all__ = ["COMPARE", "OPERATORS", "Condition", "as_scalar", "as_values", "evaluated", "holds"]

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
_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart


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
    kind = cells.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        cells = cells.cast(kind)
    try:
        if sign in COMPARE:
            held = pc.call_function(COMPARE[sign][0], [cells, as_scalar(value, kind)])
        else:
            held = pc.is_in(cells, as_values(value, kind))
            held = pc.and_(held if sign == "in" else pc.invert(held), pc.is_valid(cells))
    except (pa.ArrowException, TypeError) as error:
        raise SettingError(
            f"where: column {column!r} is of type {kind} and cannot be compared with {value!r} "
            f"({str(error).splitlines()[0]})"
        ) from None
    if types.is_floating(kind):
        held = pc.and_(held, pc.invert(pc.is_nan(cells)))
    return np.asarray(held.fill_null(False).to_numpy(), dtype=np.bool_)


def as_scalar(value: Any, kind: Any) -> Any:
    """A value to compare with; a text beside dates and times is read as one."""
    import pyarrow as pa

    return (
        pa.scalar(value).cast(kind) if isinstance(value, str) and pa.types.is_temporal(kind) else pa.scalar(value)
    )


def as_values(values: Sequence[Any], kind: Any) -> Any:
    """Values to look a cell up in, of the type of the cells."""
    import pyarrow as pa

    value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.array(list(values), value_type)


def _read_texts(column: str, cells: Any, values: Sequence[Any]) -> Any:
    """Cells of a text file: without spaces, null where they mean «no value», numbers where these are compared."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(cells.cast(pa.string()))
    gaps = pc.is_in(cells, pa.array(sorted(MISSING)))
    cells = pc.if_else(gaps, pa.scalar(None, pa.string()), cells)
    if any(isinstance(value, str) for value in values):
        return cells
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise SettingError(
            f"where: {column!r} is text in the file; compare it with a number or a text, not {values!r}"
        )
    if any(abs(value) > _LARGEST_WHOLE for value in values):
        raise SettingError(f"where: {values!r} is too large a number to compare with {column!r}; give it as text")
    try:
        return cells.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise DataError(
            f"where: column {column!r} is compared with a number, and {str(error).splitlines()[0]}; compare it "
            "with a text"
        ) from None
