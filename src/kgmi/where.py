"""Filters on rows: conditions as text or as tuples, made into one expression of PyArrow.

Conditions mean exactly what they mean in Python, whatever the type of the column: a whole number that the type
cannot hold is equal to no cell, and a value that would be rounded is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import reduce
from operator import and_, ge, gt, le, lt, or_
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import MISSING
from kgmi.cells import is_missing
from kgmi.errors import DataError, SettingError, UnknownColumnError, first_line
from kgmi.types import Ints, Names

Condition: TypeAlias = tuple[str, str, Any]
"""(column, operator, value); the value is a tuple for ``in`` and ``not in``."""

_BOUNDS: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_LISTS = ("in", "not in")
_SIGNS = ("==", "!=", *_BOUNDS, *_LISTS)
_EXACT = 2**53  # from here on, a float cannot represent every whole number

_VALUE = r"""\"(?:[^"]|"")*\"|'(?:[^']|'')*'|[^\s,()\[\]{}"'<>=!]+"""
_CONDITION = re.compile(
    rf"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[^"'<>=!]+?)\s*(==|!=|<=|>=|=|<|>|\bnot\s+in\b|\bin\b)\s*
    (\()?(\[)?(\{{)?\s*((?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)\s*,?\s*(?(3)\))(?(4)\])(?(5)\}})\s*(\band\s|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?")
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Filter:
    """Rows that pass a filter; a row without a value in a column of a condition does not pass."""

    text: str  # the filter in words, for messages and fingerprints
    columns: tuple[str, ...]  # the columns that it looks at
    conditions: tuple[Condition, ...]  # what must all hold
    is_text: bool  # whether cells are texts of a file, which are read as values like those of the conditions

    def on(self, schema: Any) -> Any:
        """Return the filter on the columns of a schema as an expression of PyArrow; None if it has none of them."""
        known = [one for one in self.conditions if one[0] in schema.names]
        parts = [_expression(schema.field(one[0]).type, *one, is_text=self.is_text) for one in known]
        return reduce(and_, parts) if parts else None

    def rows(self, columns: Mapping[str, Any], n_rows: int) -> Ints:
        """Return the numbers of the rows that pass, given (some of) the columns as Arrow arrays."""
        import pyarrow as pa
        from pyarrow import dataset

        table = pa.table(dict(columns))
        expression = self.on(table.schema)
        if expression is None:
            return np.arange(n_rows)
        try:  # with threads, rows would come in another order
            found = dataset.dataset(table).to_table(columns={"passes": expression}, use_threads=False)
            return np.flatnonzero(found["passes"].fill_null(False).to_numpy())
        except (pa.ArrowException, TypeError) as error:
            problem = f"where {self.text}: {first_line(error)}"
            raise DataError(f"{problem}; compare the column with a value like those that it holds") from None


def parse_where(text: str) -> list[tuple[str, str, Any]]:
    """Parse conditions ``COLUMN OP VALUE``, joined by ``and``.

    Operators are ==, !=, <, <=, >, >=, ``in`` and ``not in``; the value of the last two is a list A,B,C. A text
    that looks like a number, or has spaces or signs in it, is written in quotes, and so is such a name of a column.

    Examples
    --------
    >>> parse_where("year >= 2020 and sex in f,m")
    [('year', '>=', 2020), ('sex', 'in', ['f', 'm'])]
    """
    found, place, more = list[tuple[str, str, Any]](), 0, "and"
    while more:
        match = _CONDITION.match(text, place)
        if match is None:
            raise SettingError(
                f"where takes COLUMN OP VALUE, such as 'year >= 2020 and state in A,B', got {text!r}; put names "
                "and texts with spaces or signs in double quotes, and join conditions with and"
            )
        column, sign, *_, given, more = match.groups()
        sign, values = " ".join(sign.lower().split()), [_parsed(one) for one in re.findall(_VALUE, given)]
        if sign not in _LISTS and len(values) > 1:
            raise SettingError(f"where: {column} {sign} needs one value, got {given!r}; use in for a list")
        sign = "==" if sign == "=" else sign
        found.append((_unquoted(column), sign, values if sign in _LISTS else values[0]))
        place = match.end()
    return found


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0]) if text[0] in "\"'" else text.strip()


def _parsed(text: str) -> Any:
    """Return a number or a truth value where a text looks like one; digits behind a zero are a code."""
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    return {"true": True, "false": False}.get(text.lower(), _unquoted(text))


def read_filter(where: Any, schema: Any, *, is_text: bool = False) -> Filter | None:
    """Return the filter that the option ``where`` describes, checked against the columns of an Arrow schema."""
    if where is None or (isinstance(where, list | tuple) and not where):
        return None
    gaps = tuple(MISSING) if is_text else ()
    conditions = tuple(_checked(*one, schema.names, gaps) for one in _conditions(where))
    text = " and ".join(f"{column!r} {sign} {value!r}" for column, sign, value in conditions)
    columns = dict.fromkeys(column for column, _, _ in conditions)
    found = Filter(text, tuple(columns), conditions, is_text)
    empty = schema.empty_table()
    found.rows(dict(zip(empty.column_names, empty.columns, strict=True)), 0)  # refuses what cannot be compared
    return found


def unknown_column(name: object, names: Names, option: str) -> UnknownColumnError:
    """Return the error on a column that does not exist, with the nearest name."""
    folded = {known.casefold(): known for known in reversed(names)}
    close = get_close_matches(str(name).casefold(), folded, 1)
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    meant = f"did you mean {folded[close[0]]!r}?" if close else f"there are {shown}"
    return UnknownColumnError(f"{option}: there is no column {name!r}; {meant}", option, name, names)


def _conditions(where: Any) -> list[Condition]:
    """Return the conditions that a text, a condition, or a list of these describes."""
    if isinstance(where, str):
        return list(parse_where(where))
    if isinstance(where, list | tuple) and len(where) == 3 and isinstance(where[1], str) and where[1] in _SIGNS:
        return [tuple(where)]
    if not isinstance(where, list):
        raise SettingError(
            "where must be a text such as 'year >= 2020', or a list of (column, operator, value), got "
            f"{where!r}; operators are {', '.join(_SIGNS)}"
        )
    return [condition for one in where for condition in _conditions(one)]


def _checked(column: Any, sign: str, value: Any, names: Names, gaps: Collection[str]) -> Condition:
    """Return a condition with values of Python, a tuple of them where the operator takes a list."""
    if column not in names:
        raise unknown_column(column, names, "where")
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if is_list != (sign in _LISTS):
        raise SettingError(f"where: {column!r} {sign} needs {'one value' if is_list else 'a list'}, got {value!r}")
    values = [
        one.item() if isinstance(one, np.number | np.bool_) else one for one in (value if is_list else [value])
    ]
    if any(is_missing(one) or one in gaps for one in values):
        raise SettingError(f"where: {column!r} is compared with {value!r}; rows without a value never pass")
    if isinstance(value, set | frozenset):
        values.sort(key=repr)
    return column, sign, tuple(values) if is_list else values[0]


def _expression(kind: Any, column: str, sign: str, value: Any, *, is_text: bool) -> Any:
    """Return a condition on a column of an Arrow type as an expression of PyArrow."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    cell, values, stored = pc.field(column), value if sign in _LISTS else (value,), kind
    if types.is_dictionary(kind):
        kind, cell = kind.value_type, cell.cast(kind.value_type)
    if types.is_null(kind):
        return pc.scalar(False)
    if is_text:
        cell = pc.utf8_trim_whitespace(cell.cast(pa.string()))
        cell = pc.if_else(pc.is_in(cell, value_set=pa.array(sorted(MISSING))), pa.scalar(None, pa.string()), cell)
        kind = _type_of_values(values)
        if types.is_string(kind) and sign in _BOUNDS:
            raise SettingError(f"where: {column!r} {sign} needs a number or a date in a text file, got {value!r}")
        cell = cell.cast(kind)
    if types.is_string_view(kind):
        kind, cell = pa.large_string(), cell.cast(pa.large_string())
    if types.is_floating(kind):
        cell = cell.cast(pa.float64())
    if types.is_integer(kind) and not all(_is_integer(one, np.iinfo(str(kind))) for one in values):
        kind = pa.decimal128(20, 0)  # holds integers of 64 bits, with and without a sign
        cell = cell.cast(kind)
    try:
        held = [_scalar(kind, sign, one) for one in values]
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise SettingError(
            f"where: column {column!r} holds {stored} and cannot be compared with {value!r} "
            f"({first_line(error)}); put texts and dates in quotes, numbers and truth values not"
        ) from None
    if sign in _BOUNDS:
        passes = _BOUNDS[sign](cell, held[0])
    else:
        equal = reduce(or_, (cell == one for one in held), pc.scalar(False))
        passes = equal if sign in ("==", "in") else ~equal & cell.is_valid()
    return passes & ~cell.is_nan() if types.is_floating(kind) else passes


def _type_of_values(values: Sequence[Any]) -> Any:
    """Return the Arrow type in which the cells of a text file are compared with some values."""
    import pyarrow as pa

    if values and all(isinstance(one, bool) for one in values):
        return pa.bool_()
    if values and all(map(_is_number, values)):
        return pa.int64() if any(isinstance(one, int) and abs(one) >= _EXACT for one in values) else pa.float64()
    times = [_TIME.fullmatch(str(one)) for one in values]
    if times and None not in times:
        return pa.timestamp("us", "UTC" if any(time and time["zone"] for time in times) else None)
    return pa.string()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_integer(value: Any, limits: Any) -> bool:
    return isinstance(value, int) and limits.min <= value <= limits.max


def _scalar(kind: Any, sign: str, value: Any) -> Any:
    """Return a value as a scalar of Arrow; an error where the type cannot hold it exactly."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_timestamp(kind):
        parsed = pa.scalar(str(value)).cast(pa.timestamp("ns" if kind.unit == "ns" else "us", kind.tz))
        return parsed.cast(kind)
    if types.is_date(kind):
        return pa.scalar(str(value)).cast(kind)
    is_float, is_decimal = types.is_floating(kind), types.is_decimal(kind)
    if (is_float or is_decimal or types.is_integer(kind)) and not _is_number(value):
        raise TypeError("it is not a number")
    if is_decimal:
        return pa.scalar(Decimal(str(value)))  # floats are decimals as they are written
    if is_float and sign in _BOUNDS:  # bounds are compared in double precision
        kind = pa.float64()
    scalar = pa.scalar(value, kind)
    if (is_float or types.is_temporal(kind)) and scalar.as_py() != value:
        raise ValueError(f"the nearest value is {scalar}")
    return scalar.cast(pa.float64()) if is_float else scalar
