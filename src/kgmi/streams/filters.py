"""Filters: which rows are read at all."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import sha256
from typing import Any

import numpy as np

from kgmi.errors import SettingError, first_line
from kgmi.streams.conditions import COMPARE, OPERATORS, Condition, evaluated, holds, pushed
from kgmi.streams.exact import fitted
from kgmi.types import Ints, Names

__all__ = ["Filter", "UnknownColumn", "read_filter", "unknown_column"]


class UnknownColumn(SettingError):
    """A column was asked for that is not there.

    Attributes
    ----------
    option
        The option that names it.
    column
        The column.
    names
        Those that are there.
    """

    option: str
    column: object
    names: Names


@dataclass(frozen=True)
class Filter:
    """Which rows pass: those for which all conditions hold, or an expression of PyArrow.

    A row without a value in a column that a condition names does not pass.

    Attributes
    ----------
    text
        The filter in words, for people and for marks: another filter has another text.
    columns
        The columns that it looks at.
    conditions
        (column, operator, value), all of which must hold.
    expression
        The expression, where one was given instead.
    """

    text: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    expression: Any = field(default=None, compare=False)

    def check_types(self, schema: Any) -> None:
        """Refuse values that cannot be compared with those columns that a PyArrow schema has."""
        for column, sign, value in self.conditions:
            if column in schema.names:
                fitted(column, schema.field(column).type, sign, value)

    def rows(self, table: Any, *, is_text: bool = False) -> Ints | None:
        """The rows of a PyArrow table, which has the columns of the filter, that pass; None: all of them.

        Where ``is_text`` the cells are texts as they stand in a file, and are compared with numbers as numbers.
        """
        if self.expression is not None:
            kept = evaluated(table, self.expression)
        else:
            kept = np.ones(table.num_rows, dtype=np.bool_)
            for column, sign, value in self.conditions:
                kept &= holds(column, table.column(column), sign, value, is_text)
        return None if kept.all() else np.flatnonzero(kept)

    def passes_none(self, constants: Mapping[str, Any], *, is_text: bool = False) -> bool:
        """Whether no row with these values passes, whatever else it has."""
        import pyarrow as pa

        one = [condition for condition in self.conditions if condition[0] in constants]
        cells = {column: pa.chunked_array([[constants[column]]]) for column, _, _ in one}
        return not all(holds(column, cells[column], sign, value, is_text)[0] for column, sign, value in one)

    def pushed(self, schema: Any) -> Any:
        """The filter as an expression of PyArrow, by which files are skipped in part."""
        import pyarrow.compute as pc

        if self.expression is not None:
            return self.expression
        whole = pc.scalar(True)
        for column, sign, value in self.conditions:
            whole = whole & pushed(column, schema.field(column).type, sign, value)
        return whole


def read_filter(where: Any, names: Names, schema: Any = None) -> Filter | None:
    """What the option ``where`` says, checked against the names of the columns, and their types where known."""
    if where is None:
        return None
    if isinstance(where, tuple) and len(where) == 3 and isinstance(where[0], str):
        where = [where]
    is_expression = type(where).__module__.startswith("pyarrow")
    found = _of_expression(where, names, schema) if is_expression else _of_conditions(where, names)
    if found is not None and schema is not None:
        found.check_types(schema)
    return found


def unknown_column(name: object, names: Names, option: str) -> UnknownColumn:
    """The error on a column that is not there, with the nearest name, in whatever case it is written."""
    folded = {known.casefold(): known for known in reversed(names)}
    close = get_close_matches(str(name).casefold(), folded, 1)
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    meant = f"did you mean {folded[close[0]]!r}?" if close else f"there are {shown}"
    error = UnknownColumn(f"{option}: there is no column {name!r}; {meant}")
    error.option, error.column, error.names = option, name, names
    return error


def _of_conditions(where: Any, names: Names) -> Filter | None:
    conditions = list(where) if isinstance(where, Iterable) and not isinstance(where, str) else [where]
    for condition in conditions:
        if not isinstance(condition, tuple | list) or len(condition) != 3:
            raise SettingError(
                "where must be a list of (column, operator, value), such as [('year', '>=', 2020)], or an "
                f"expression of pyarrow.compute, got {condition!r}"
            )
        column, sign, value = condition
        if column not in names:
            raise unknown_column(column, names, "where")
        if sign not in OPERATORS:
            raise SettingError(f"where: the operator must be one of {', '.join(OPERATORS)}, got {sign!r}")
        if (sign in COMPARE) == (isinstance(value, Iterable) and not isinstance(value, str | bytes)):
            wanted = "one value" if sign in COMPARE else "a list of values"
            raise SettingError(f"where: {column!r} {sign} needs {wanted}, got {value!r}")
    checked = tuple((c, s, _plain(c, v) if s in COMPARE else _listed(c, v)) for c, s, v in conditions)
    text = " and ".join(f"{c!r} {s} {v!r}" for c, s, v in checked)
    columns = tuple(dict.fromkeys(column for column, _, _ in checked))
    return Filter(text, columns, checked) if checked else None


def _listed(column: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """A list of values; a set in an order that is the same in every process, because marks hold the text of it."""
    plain = [_plain(column, value) for value in values]
    return tuple(sorted(plain, key=repr) if isinstance(values, Set) else plain)


def _plain(column: str, value: Any) -> Any:
    """A value of Python in the place of one of NumPy or Arrow; one that is no value is refused."""
    import pyarrow as pa

    if isinstance(value, pa.Scalar):
        value = value.as_py()
    elif isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    try:
        is_none = value is None or bool(value != value)
    except (TypeError, ValueError):  # what pandas has for «no value» is neither equal to itself nor different
        is_none = True
    if is_none:
        raise SettingError(
            f"where: {column!r} is compared with {value!r}, which is no value; rows without a value never pass, "
            f"and all others do with ({column!r}, 'not in', [])"
        )
    return value


def _of_expression(where: Any, names: Names, schema: Any) -> Filter:
    """The filter of an expression, with the columns that it needs: those without which it cannot be evaluated."""
    import pyarrow as pa

    if schema is None:
        schema = pa.schema([(name, pa.string()) for name in names])
    table = schema.empty_table()
    try:
        evaluated(table, where)
    except (pa.ArrowException, KeyError) as error:
        raise SettingError(f"where: {first_line(error)}; the columns are {', '.join(names[:8])}") from None
    needed = []
    for name in names:
        try:
            evaluated(table.drop_columns([name]), where)
        except (pa.ArrowException, KeyError):
            needed.append(name)
    # Its text leaves long lists out, so that the hash of the whole stands behind it.
    mark = sha256(pickle.dumps(where, protocol=5)).hexdigest()[:16]
    return Filter(f"{where} [{mark}]", tuple(needed), (), where)
