"""Filters on rows: conditions as text, as tuples or as an expression of PyArrow, made into one expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from kgmi.cells import MISSING, is_missing
from kgmi.errors import DataError, SettingError, UnknownColumnError, first_line
from kgmi.types import Names

__all__ = ["Filter", "parse_where", "read_filter", "unknown_column"]

_OPERATORS = ("==", "!=", "<=", ">=", "<", ">", "in", "not in")
_VALUE = r"""\"(?:[^"]|"")*\"|'(?:[^']|'')*'|[^\s,()\[\]{}"'<>=!]+"""
_CONDITION = re.compile(
    rf"""\s*(?P<column>"(?:[^"]|"")*"|[^"'<>=!]+?)\s*(?P<op>==|!=|<=|>=|=|<|>|\bnot\s+in\b|\bin\b)\s*
    (?P<value>[(\[{{]?\s*(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*\s*,?\s*[)\]}}]?)\s*""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Filter:
    """Rows that pass a filter; a row without a value in a column that it names does not pass.

    Attributes
    ----------
    text
        The filter in words, for messages and marks.
    columns
        The columns that it looks at.
    expression
        The filter as an expression of PyArrow.
    """

    text: str
    columns: tuple[str, ...]
    expression: Any

    def passing(self, table: Any) -> Any:
        """Return the rows of an Arrow table that pass."""
        import pyarrow as pa

        try:
            return table.filter(self.expression)
        except (pa.ArrowException, TypeError) as error:
            raise DataError(f"where: {first_line(error)}; compare the column with a text, in quotes") from None


def parse_where(text: str) -> list[tuple[str, str, Any]]:
    """Parse conditions ``COLUMN OP VALUE``, joined by ``and``.

    Operators are ==, !=, <, <=, >, >=, ``in`` and ``not in``; the value of the last two is a list A,B,C. A text that
    looks like a number, or has spaces or signs in it, is written in quotes, and so is such a name of a column.

    Examples
    --------
    >>> parse_where("year >= 2020 and sex in f,m")
    [('year', '>=', 2020), ('sex', 'in', ['f', 'm'])]
    """
    found, rest = [], text
    while True:
        match = _CONDITION.match(rest)
        after = "" if match is None else rest[match.end() :]
        if match is None or (after and not re.match(r"and\s", after, re.IGNORECASE)):
            raise SettingError(
                f"where takes COLUMN OP VALUE, such as 'year >= 2020 and state in A,B', got {text!r}; put names and "
                "texts with spaces or signs in double quotes"
            )
        operator = " ".join(match["op"].split())
        values = [_parsed(one) for one in re.findall(_VALUE, match["value"])]
        is_list = operator in ("in", "not in")
        if not is_list and len(values) > 1:
            raise SettingError(
                f"where: {operator} compares with one value, got {match['value']!r}; use in for a list"
            )
        column = match["column"].strip()
        if column.startswith('"'):
            column = column[1:-1].replace('""', '"')
        found.append((column, "==" if operator == "=" else operator, values if is_list else values[0]))
        if not after:
            return found
        rest = after[3:]


def _parsed(text: str) -> Any:
    """Return a number or a truth value where a text looks like one; digits behind a zero are a code, not a number."""
    if text[0] in "\"'":
        return text[1:-1].replace(text[0] * 2, text[0])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def read_filter(where: Any, schema: Any, *, is_text: bool = False) -> Filter | None:
    """Return the filter that the option ``where`` describes, checked against the columns of an Arrow schema.

    In text files (``is_text``) cells are compared as numbers where the value is one.
    """
    if where is None or (isinstance(where, list | tuple) and not where):
        return None
    if type(where).__module__.startswith("pyarrow"):
        return _of_expression(where, schema)
    if isinstance(where, str):
        conditions: list[Any] = list(parse_where(where))
    elif isinstance(where, tuple) and len(where) == 3 and isinstance(where[0], str):
        conditions = [where]
    else:
        conditions = list(where) if isinstance(where, Iterable) else [where]
        conditions = [c for one in conditions for c in (parse_where(one) if isinstance(one, str) else [one])]
    parts = [_condition(one, schema, is_text) for one in conditions]
    text = " and ".join(f"{column!r} {sign} {value!r}" for column, sign, value in conditions)
    columns = tuple(dict.fromkeys(column for column, _, _ in conditions))
    return Filter(text, columns, reduce(and_, parts))


def unknown_column(name: object, names: Names, option: str) -> UnknownColumnError:
    """Return the error on a column that does not exist, with the nearest name."""
    folded = {known.casefold(): known for known in reversed(names)}
    close = get_close_matches(str(name).casefold(), folded, 1)
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    meant = f"did you mean {folded[close[0]]!r}?" if close else f"there are {shown}"
    return UnknownColumnError(f"{option}: there is no column {name!r}; {meant}", option, name, names)


def _of_expression(where: Any, schema: Any) -> Filter:
    """Return the filter of an expression, with the columns without which it cannot be evaluated."""
    import pyarrow as pa

    table = schema.empty_table()
    try:
        table.filter(where)
    except (pa.ArrowException, KeyError) as error:
        raise SettingError(f"where: {first_line(error)}; the columns are {', '.join(schema.names[:8])}") from None
    needed = []
    for name in schema.names:
        try:
            table.drop_columns([name]).filter(where)
        except (pa.ArrowException, KeyError):
            needed.append(name)
    return Filter(str(where), tuple(needed), where)


def _condition(condition: Any, schema: Any, is_text: bool) -> Any:
    """Return one condition (column, operator, value) as an expression."""
    import pyarrow.compute as pc

    if not isinstance(condition, tuple | list) or len(condition) != 3:
        raise SettingError(
            "where must be a text such as 'year >= 2020', a list of (column, operator, value), or an expression of "
            f"pyarrow.compute, got {condition!r}"
        )
    column, sign, value = condition
    if column not in schema.names:
        raise unknown_column(column, schema.names, "where")
    if sign not in _OPERATORS:
        raise SettingError(f"where: the operator must be one of {', '.join(_OPERATORS)}, got {sign!r}")
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if is_list != (sign in ("in", "not in")):
        raise SettingError(f"where: {column!r} {sign} needs {'one value' if is_list else 'a list'}, got {value!r}")
    values = [_plain(column, one) for one in (value if is_list else [value])]
    cell, kind = _cell(column, schema.field(column).type, values, is_text)
    scalars = [_scalar(column, one, kind) for one in values]
    if is_list:
        held = reduce(lambda a, b: a | b, (cell == one for one in scalars), pc.scalar(False))
        held = ~held if sign == "not in" else held
    else:
        compare = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
        held = getattr(cell, compare[sign])(scalars[0])
    return held & cell.is_valid()


def _plain(column: str, value: Any) -> Any:
    """Return a value of NumPy or Arrow as one of Python; missing values are refused."""
    import pyarrow as pa

    if isinstance(value, pa.Scalar):
        value = value.as_py()
    elif isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if is_missing(value):
        raise SettingError(f"where: {column!r} is compared with {value!r}; rows without a value never pass")
    return value


def _cell(column: str, kind: Any, values: Sequence[Any], is_text: bool) -> tuple[Any, Any]:
    """Return a column as an expression of a type in which it can be compared with the values, and that type."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    cell = pc.field(column)
    if types.is_dictionary(kind):
        cell, kind = cell.cast(kind.value_type), kind.value_type
    if types.is_string_view(kind):
        cell, kind = cell.cast(pa.large_string()), pa.large_string()
    if is_text:
        cell = pc.utf8_trim_whitespace(cell.cast(pa.string()))
        cell = pc.if_else(pc.is_in(cell, value_set=pa.array(sorted(MISSING))), pa.scalar(None, pa.string()), cell)
        if values and not any(isinstance(one, str) for one in values):
            return cell.cast(pa.float64()), pa.float64()
        return cell, pa.string()
    if types.is_floating(kind):
        cell = pc.if_else(pc.is_nan(cell), pa.scalar(None, kind), cell)
    return cell, kind


def _scalar(column: str, value: Any, kind: Any) -> Any:
    """Return a value that can be compared with cells of an Arrow type; other values are refused."""
    import pyarrow as pa
    from pyarrow import types

    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    textual = types.is_string(kind) or types.is_large_string(kind)
    temporal = isinstance(value, datetime | date | time | np.datetime64 | str) and types.is_temporal(kind)
    fits = (numeric and is_number) or (textual and isinstance(value, str)) or temporal
    if not fits and not (types.is_boolean(kind) and isinstance(value, bool)):
        hint = f"; put it in quotes: '{column} == \"{value}\"'" if textual else ""
        raise SettingError(f"where: column {column!r} holds {kind} and cannot be compared with {value!r}{hint}")
    try:
        return pa.scalar(value).cast(kind) if temporal else pa.scalar(value)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise SettingError(
            f"where: column {column!r} cannot be compared with {value!r}: {first_line(error)}"
        ) from None
