"""Filters on rows: conditions as text, as tuples or as an expression of PyArrow, made into one expression.

Conditions mean exactly what they mean in Python, whatever the type of the column: a value that the type cannot hold
is equal to no cell, and where it would be rounded it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal, localcontext
from difflib import get_close_matches
from functools import reduce
from math import floor, inf
from operator import and_, ge, gt, le, lt, or_
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import MISSING
from kgmi.cells import is_missing
from kgmi.errors import DataError, SettingError, UnknownColumnError, first_line
from kgmi.types import Ints, Names

__all__ = ["Filter", "parse_where", "read_filter", "unknown_column", "without_views"]

Condition: TypeAlias = tuple[str, str, Any]
"""(column, operator, value); the value is a tuple for ``in`` and ``not in``."""

_BOUNDS: dict[str, Callable[[Any, Any], Any]] = {"<=": le, ">=": ge, "<": lt, ">": gt}
_LISTS = ("in", "not in")
_EQUAL = ("==", "!=", *_LISTS)
_ROW = "row number of kgmi"
_DIGITS = 120  # more than decimals of 256 bits have
_EXACT = 2**53  # above, a float cannot represent every whole number
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
        The filter in words, for messages and fingerprints.
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
        """Return the filter on the columns of a schema as an expression of PyArrow; None if they do not matter."""
        if self.expression is not None:
            return self.expression if {*self.columns} <= {*schema.names} else None
        parts = [
            _of_text(*one) if self.is_text else _of_type(schema.field(one[0]).type, *one)
            for one in self.conditions
            if one[0] in schema.names
        ]
        return reduce(and_, parts) if parts else None

    def rows(self, columns: Mapping[str, Any], n_rows: int) -> Ints:
        """Return the numbers of the rows that pass, given (some of) the columns as Arrow arrays."""
        import pyarrow as pa
        from pyarrow import dataset

        table = pa.table({name: without_views(column) for name, column in columns.items()})
        expression, numbers = self.on(table.schema), np.arange(n_rows)
        if expression is None:
            return numbers
        rows = dataset.dataset(table.append_column(_ROW, pa.array(numbers)))
        try:  # threads would change the order
            found = rows.to_table(columns=[_ROW], filter=expression, use_threads=False)
        except (pa.ArrowException, TypeError) as error:
            raise DataError(f"where: {first_line(error)}; compare the column with a text, in quotes") from None
        passing: Ints = found.column(_ROW).to_numpy()
        return passing


def without_views(array: Any) -> Any:
    """Return an Arrow array with plain texts in place of views, for which PyArrow has few functions."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(array.type):
        plain = without_views(array.dictionary)
        return array if plain is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, plain)
    return array.cast(pa.large_string()) if types.is_string_view(array.type) else array


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

    table = pa.table({one.name: without_views(pa.array([], one.type)) for one in schema})
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
    if sign not in (*_EQUAL, *_BOUNDS):
        raise SettingError(f"where: the operator must be one of {', '.join((*_EQUAL, *_BOUNDS))}, got {sign!r}")
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
    if values and all(_is_number(one) and abs(one) < _EXACT for one in values):
        return _compared(cell.cast(pa.float64()), sign, [(pa.scalar(float(one)), True) for one in values])
    for one in values:
        if not isinstance(one, str) or one.strip() in MISSING:
            raise _refused(column, "text in the file", one, "give numbers below 2**53, or texts in quotes")
    return _compared(cell, sign, [(_scalar(column, pa.string(), one), True) for one in values])


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
    found = [_value_of(kind, column, sign, one) for one in (value if sign in _LISTS else (value,))]
    if types.is_floating(kind):
        return _compared(cell.cast(pa.float64()), sign, found) & ~cell.is_nan()
    if types.is_decimal(kind) and kind.bit_width < 128:
        cell = cell.cast(pa.decimal128(kind.precision, kind.scale))
    return _compared(cell, sign, found)


def _compared(cell: Any, sign: str, found: Sequence[tuple[Any, bool]]) -> Any:
    """Return a comparison of cells as an expression.

    Of each value the largest possible cell that is not above it is given (None: there is none), and whether it is
    the value itself. No cell is equal to other values, and bounds between two cells are moved to the lower one.
    """
    import pyarrow.compute as pc

    if sign in _EQUAL:
        equal = [cell == scalar for scalar, is_exact in found if is_exact]
        among = reduce(or_, equal) if equal else pc.scalar(False)
        return among if sign in ("==", "in") else ~among & cell.is_valid()
    scalar, is_exact = found[0]
    if scalar is None:
        return pc.scalar(False) if sign in ("<", "<=") else cell.is_valid()
    if not is_exact:
        sign = "<=" if sign in ("<", "<=") else ">"
    return _BOUNDS[sign](cell, scalar)


def _value_of(kind: Any, column: str, sign: str, value: Any) -> tuple[Any, bool]:
    """Return a value for :func:`_compared`; what cannot be compared, or would be rounded, is refused."""
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        if not _is_number(value):
            raise _refused(column, "numbers", value, "give a number, without quotes")
        return _float_of(kind, column, sign, value) if types.is_floating(kind) else _whole_of(kind, column, value)
    return _time_of(kind, column, value) if types.is_temporal(kind) else _scalar(column, kind, value), True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _scalar(column: str, kind: Any, value: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # such as texts that no file can hold
        advice = f"texts are put in quotes: '{column} == \"{value}\"', and true and false are not"
        raise _refused(column, kind, value, advice) from None


def _whole_of(kind: Any, column: str, value: Any) -> tuple[Any, bool]:
    """Return a value as a whole number, or as a decimal; floats are decimals as they are written."""
    import pyarrow as pa
    from pyarrow import types

    scale, least, most = 0, 0, 2 ** getattr(kind, "bit_width", 0) - 1
    if types.is_decimal(kind):
        scale, most = kind.scale, 10**kind.precision - 1
        least, kind = -most, pa.decimal128(kind.precision, scale) if kind.bit_width < 128 else kind
        value = Decimal(repr(value)) if isinstance(value, float) else value
    elif types.is_signed_integer(kind):
        least, most = -(most // 2) - 1, most // 2
    with localcontext(prec=_DIGITS):
        scaled = Decimal(value).scaleb(scale)
        if scaled < least:
            return None, False
        below = most if scaled > most else floor(scaled)
        cell = Decimal(below).scaleb(-scale) if types.is_decimal(kind) else below
        return _scalar(column, kind, cell), below == scaled


def _float_of(kind: Any, column: str, sign: str, value: Any) -> tuple[Any, bool]:
    """Return a value as a float of 64 bits; a cell that is equal to it must be as wide as the column."""
    import pyarrow as pa

    try:
        wide = float(value)
    except OverflowError:
        wide = inf
    with np.errstate(over="ignore"):
        held = float(np.asarray(wide, dtype=f"f{kind.bit_width // 8}")) if sign in _EQUAL else wide
    if not wide == value == held:
        raise _refused(
            column, f"floats of {kind.bit_width} bits", value, f"the nearest that it can hold is {held!r}"
        )
    return pa.scalar(wide), True


def _time_of(kind: Any, column: str, value: Any) -> Any:
    """Return a date, a time or a duration as a scalar of Arrow; texts are read as one."""
    import pyarrow as pa

    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        given = pa.scalar(value)
        made = given.cast(kind)
        if isinstance(value, str):
            return made
        zones = [getattr(one.type, "tz", None) is None for one in (given, made)]
        is_time = isinstance(value, _TIMES) and not getattr(value, "nanosecond", 0)
        if is_time and zones[0] == zones[1] and made.cast(given.type) == given:
            return made
    raise _refused(column, kind, value, "give a date or time that it can hold, or its text: '2020-12-31'")
