"""Filters on rows: conditions as text, as tuples or as an expression of PyArrow, made into one expression.

Conditions mean exactly what they mean in Python, whatever the type of the column: a value that the type cannot hold
is equal to no cell, and where it would be rounded it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal, localcontext
from difflib import get_close_matches
from functools import reduce
from math import floor, isinf
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import MISSING
from kgmi.cells import is_missing
from kgmi.errors import DataError, SettingError, UnknownColumnError, first_line
from kgmi.types import Names

__all__ = ["Filter", "parse_where", "read_filter", "unknown_column", "without_views"]

Condition: TypeAlias = tuple[str, str, Any]
"""(column, operator, value); the value is a tuple for ``in`` and ``not in``."""

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
_LISTS = ("in", "not in")
_EVERY, _NONE = "every", "none"  # in the place of an operator: every cell with a value passes, or none does
_DIGITS = 120  # more than decimals of 256 bits have
_EXACT = 2**53  # from here on a float no longer tells whole numbers apart
_TIMES = (datetime, date, time, timedelta, np.datetime64, np.timedelta64)

_VALUE = r"""\"(?:[^"]|"")*\"|'(?:[^']|'')*'|[^\s,()\[\]{}"'<>=!]+"""
_CONDITION = re.compile(
    rf"""\s*(?P<column>"(?:[^"]|"")*"|[^"'<>=!]+?)\s*(?P<op>==|!=|<=|>=|=|<|>|\bnot\s+in\b|\bin\b)\s*
    (?P<value>[(\[{{]?\s*(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*\s*,?\s*[)\]}}]?)\s*""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Filter:
    """Rows that pass a filter; a row without a value in a column of a condition does not pass.

    Attributes
    ----------
    text
        The filter in words, for messages and marks.
    columns
        The columns that it looks at.
    conditions
        What must all hold.
    expression
        An expression of PyArrow in place of conditions.
    is_text
        Whether the columns are those of a text file, in which cells are read as numbers where the value is one.
    """

    text: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    expression: Any = None
    is_text: bool = False

    def on(self, schema: Any) -> Any:
        """Return what is asked of the columns of a schema as an expression of PyArrow; None if nothing is."""
        if self.expression is not None:
            return self.expression if {*self.columns} <= {*schema.names} else None
        parts = [
            _of_text(*one) if self.is_text else _of_type(schema.field(one[0]).type, *one)
            for one in self.conditions
            if one[0] in schema.names
        ]
        return reduce(and_, parts) if parts else None

    def may_pass(self, schema: Any, bounds: Mapping[str, tuple[Any, Any]]) -> bool:
        """Return whether rows may pass whose values lie within these bounds; missing values and NaN never do."""
        for column, sign, value in self.conditions:
            if column in bounds and column in schema.names and not self.is_text:
                kind = schema.field(column).type
                if not _within(*_exact(getattr(kind, "value_type", kind), column, sign, value), *bounds[column]):
                    return False
        return True

    def passing(self, table: Any) -> Any:
        """Return the rows of an Arrow table that pass, in their order; texts in views become plain ones."""
        import pyarrow as pa
        from pyarrow import acero

        table = without_views(table)
        expression = self.on(table.schema)
        if expression is None:
            return table
        source = acero.Declaration("table_source", acero.TableSourceNodeOptions(table))
        kept = acero.Declaration("filter", acero.FilterNodeOptions(expression), [source])
        try:
            return kept.to_table(use_threads=False)  # threads would change the order
        except (pa.ArrowException, TypeError) as error:
            raise DataError(f"where: {first_line(error)}; compare the column with a text, in quotes") from None


def without_views(table: Any) -> Any:
    """Return an Arrow table with plain texts in place of views, for which PyArrow has few functions."""
    import pyarrow as pa
    from pyarrow import types

    for place, field in enumerate(table.schema):
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if not types.is_string_view(kind):
            continue
        chunks = [
            pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(pa.large_string()))
            if types.is_dictionary(field.type)
            else one.cast(pa.large_string())
            for one in table.column(place).chunks
        ]
        plain = pa.chunked_array(chunks) if chunks else pa.chunked_array([], pa.large_string())
        table = table.set_column(place, field.with_type(plain.type), plain)
    return table


def parse_where(text: str) -> list[tuple[str, str, Any]]:
    """Parse conditions ``COLUMN OP VALUE``, joined by ``and``.

    Operators are ==, !=, <, <=, >, >=, ``in`` and ``not in``; the value of the last two is a list A,B,C. A text
    that looks like a number, or has spaces or signs in it, is written in quotes, and so is such a name of a column.

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
                f"where takes COLUMN OP VALUE, such as 'year >= 2020 and state in A,B', got {text!r}; put names "
                "and texts with spaces or signs in double quotes"
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
    """Return a number or a truth value where a text looks like one; digits behind a zero are a code."""
    if text[0] in "\"'":
        return text[1:-1].replace(text[0] * 2, text[0])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def read_filter(where: Any, schema: Any, *, is_text: bool = False) -> Filter | None:
    """Return the filter that the option ``where`` describes, checked against the columns of an Arrow schema."""
    if where is None or (isinstance(where, list | tuple) and not where):
        return None
    if type(where).__module__.startswith("pyarrow"):
        return _of_expression(where, schema)
    if isinstance(where, str):
        given: list[Any] = list(parse_where(where))
    elif isinstance(where, tuple) and len(where) == 3 and isinstance(where[0], str):
        given = [where]
    else:
        given = list(where) if isinstance(where, Iterable) else [where]
        given = [one for some in given for one in (parse_where(some) if isinstance(some, str) else [some])]
    conditions = tuple(_checked(one, schema.names) for one in given)
    text = " and ".join(f"{column!r} {sign} {value!r}" for column, sign, value in conditions)
    found = Filter(text, tuple(dict.fromkeys(column for column, _, _ in conditions)), conditions, None, is_text)
    found.on(schema)  # refuses what cannot be compared
    return found


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

    table = without_views(schema.empty_table())
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
    return Filter(str(where), tuple(needed), expression=where)


def _checked(condition: Any, names: Names) -> Condition:
    """Return a condition with values of Python, a tuple of them where the operator takes a list."""
    if not isinstance(condition, tuple | list) or len(condition) != 3:
        raise SettingError(
            "where must be a text such as 'year >= 2020', a list of (column, operator, value), or an expression of "
            f"pyarrow.compute, got {condition!r}"
        )
    column, sign, value = condition
    if column not in names:
        raise unknown_column(column, names, "where")
    if sign not in (*_COMPARE, *_LISTS):
        raise SettingError(f"where: the operator must be one of {', '.join((*_COMPARE, *_LISTS))}, got {sign!r}")
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if is_list != (sign in _LISTS):
        raise SettingError(f"where: {column!r} {sign} needs {'one value' if is_list else 'a list'}, got {value!r}")
    if not is_list:
        return column, sign, _plain(column, value)
    values = [_plain(column, one) for one in value]
    return column, sign, tuple(sorted(values, key=repr) if isinstance(value, set | frozenset) else values)


def _plain(column: str, value: Any) -> Any:
    """Return a value of NumPy or Arrow as one of Python; missing values are refused."""
    import pyarrow as pa

    if isinstance(value, pa.Scalar):
        value = value.as_py()
    elif isinstance(value, np.generic) and not (value.dtype.kind in "mM" and isinstance(value.item(), int)):
        value = value.item()
    if is_missing(value):
        raise SettingError(f"where: {column!r} is compared with {value!r}; rows without a value never pass")
    return value


def _refused(column: str, kind: Any, value: Any, advice: str) -> SettingError:
    return SettingError(f"where: column {column!r} holds {kind} and cannot be compared with {value!r}; {advice}")


def _of_text(column: str, sign: str, value: Any) -> Any:
    """Return a condition on a column of a text file as an expression of PyArrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = value if sign in _LISTS else (value,)
    cell = pc.utf8_trim_whitespace(pc.field(column).cast(pa.string()))
    cell = pc.if_else(pc.is_in(cell, value_set=pa.array(sorted(MISSING))), pa.scalar(None, pa.string()), cell)
    if not values or any(isinstance(one, str) for one in values):
        for one in values:
            if not isinstance(one, str) or one.strip() in MISSING:
                raise _refused(column, "text in the file", one, "cells that mean a missing value never pass")
        return _held(cell, sign, value, pa.string())
    for number in values:
        is_number = isinstance(number, int | float | Decimal) and not isinstance(number, bool)
        if not is_number or abs(number) >= _EXACT:
            raise _refused(column, "text in the file", number, f"put it in quotes: '{column} == \"{number}\"'")
    numbers = [float(one) for one in values]
    return _held(cell.cast(pa.float64()), sign, numbers if sign in _LISTS else numbers[0], pa.float64())


def _of_type(kind: Any, column: str, sign: str, value: Any) -> Any:
    """Return a condition on a column of an Arrow type as an expression of PyArrow."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    cell = pc.field(column)
    if types.is_dictionary(kind):
        kind = kind.value_type
        cell = cell.cast(kind)
    if types.is_null(kind):
        return pc.scalar(False)
    sign, value = _exact(kind, column, sign, value)
    wide = pa.float64() if types.is_floating(kind) else kind
    if types.is_decimal(kind) and kind.bit_width < 128:
        wide = pa.decimal128(kind.precision, kind.scale)
    cell = cell if wide == kind else cell.cast(wide)
    held = _held(cell, sign, value, wide)
    return held & ~cell.is_nan() if types.is_floating(wide) else held


def _held(cell: Any, sign: str, value: Any, kind: Any) -> Any:
    """Return a comparison of cells of a type, which holds the values exactly, as an expression."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if sign in (_EVERY, _NONE):
        return cell.is_valid() if sign == _EVERY else pc.scalar(False)
    try:
        scalars = [one if isinstance(one, pa.Scalar) else pa.scalar(one, kind) for one in _listed(sign, value)]
    except UnicodeEncodeError:
        raise SettingError(f"where: {value!r} is no text that a file can hold") from None
    if sign in _COMPARE:
        return _COMPARE[sign](cell, scalars[0])
    among = reduce(or_, [cell == one for one in scalars]) if scalars else pc.scalar(False)
    return among if sign == "in" else ~among & cell.is_valid()


def _listed(sign: str, value: Any) -> Any:
    return value if sign in _LISTS else (value,)


def _within(sign: str, value: Any, low: Any, high: Any) -> bool:
    """Return whether a condition may hold for values from ``low`` to ``high``; what cannot be compared may."""
    try:
        values = [one.as_py() if hasattr(one, "as_py") else one for one in _listed(sign, value)]
        if sign in ("==", "in"):
            return any(low <= one <= high for one in values)
        if sign in ("<", "<="):
            return bool(_COMPARE[sign](low, values[0]))
        return bool(_COMPARE[sign](high, values[0])) if sign in (">", ">=") else sign != _NONE
    except (TypeError, ValueError, ImportError):
        return True


@dataclass(frozen=True)
class _Between:
    """A value that no cell can be equal to; ``below`` is the largest possible cell below it, or None."""

    below: Any
    above_all: bool = False


def _exact(kind: Any, column: str, sign: str, value: Any) -> tuple[str, Any]:
    """Return operator and value of a condition with values that a type holds exactly.

    What no cell can be equal to is left out of lists, and bounds between two cells are moved to one of them.
    """
    found = [_value_of(kind, column, sign, one) for one in _listed(sign, value)]
    held = [one for one in found if not isinstance(one, _Between)]
    if sign in _LISTS:
        return (sign, held) if held else (_NONE if sign == "in" else _EVERY, None)
    if held:
        return sign, held[0]
    if sign in ("==", "!="):
        return _NONE if sign == "==" else _EVERY, None
    is_below = sign in ("<", "<=")
    if found[0].above_all or found[0].below is None:
        return _EVERY if is_below == found[0].above_all else _NONE, None
    return "<=" if is_below else ">", found[0].below


def _value_of(kind: Any, column: str, sign: str, value: Any) -> Any:
    """Return a value as one of a type; what cannot be compared, or would be rounded, is refused."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise _refused(column, "numbers", value, "give a number, without quotes")
        return _float_of(kind, column, sign, value) if types.is_floating(kind) else _whole_of(kind, value)
    if types.is_boolean(kind) and not isinstance(value, bool):
        raise _refused(column, "truth values", value, "compare it with true or false")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        if not isinstance(value, str):
            raise _refused(column, "texts", value, f"put it in quotes: '{column} == \"{value}\"'")
        return value
    if types.is_temporal(kind):
        return _time_of(kind, column, value)
    try:
        return pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise _refused(column, kind, value, "compare another column") from None


def _whole_of(kind: Any, value: Any) -> Any:
    """Return a value as a whole number, or as a decimal; floats are decimals as they are written."""
    from pyarrow import types

    is_whole = types.is_integer(kind)
    scale, most = (0, 2**kind.bit_width // 2 - 1) if is_whole else (kind.scale, 10**kind.precision - 1)
    least = -most
    if is_whole:
        is_signed = types.is_signed_integer(kind)
        least, most = (-most - 1, most) if is_signed else (0, 2 * most + 1)
    if isinstance(value, float) and isinf(value):
        return _Between(None, above_all=value > 0)
    with localcontext(prec=_DIGITS):
        scaled = Decimal(repr(value) if isinstance(value, float) and not is_whole else value).scaleb(scale)
        if not least <= scaled <= most:
            return _Between(None, above_all=scaled > most)
        below = floor(scaled)
        exact = below if is_whole else Decimal(below).scaleb(-scale)
        return exact if below == scaled else _Between(exact)


def _float_of(kind: Any, column: str, sign: str, value: Any) -> float:
    try:
        wide = float(value)
    except OverflowError:
        wide = float("inf")
    narrow = wide
    if sign in ("==", "!=", *_LISTS):
        with np.errstate(over="ignore"):
            narrow = float(np.asarray(wide, dtype=f"f{kind.bit_width // 8}"))
    if not wide == value == narrow:
        raise _refused(
            column, f"floats of {kind.bit_width} bits", value, f"the nearest that it can hold is {narrow!r}"
        )
    return wide


def _time_of(kind: Any, column: str, value: Any) -> Any:
    """Return a date, a time or a duration as a scalar of Arrow; texts are read as one."""
    import pyarrow as pa

    exact, made = False, None
    if isinstance(value, (str, *_TIMES)):
        try:
            given = pa.scalar(value)
            made = given.cast(kind)
            zones = [getattr(one.type, "tz", None) is None for one in (given, made)]
            same = zones[0] == zones[1] and made.cast(given.type) == given and not getattr(value, "nanosecond", 0)
            exact = isinstance(value, str) or same
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            exact = False
    if not exact:
        raise _refused(column, kind, value, "give a date or time that it can hold, or its text: '2020-12-31'")
    return made
