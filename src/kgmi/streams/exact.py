"""Conditions in the type of a column: what they mean exactly, so that whoever looks at cells sees the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, localcontext
from math import floor, isinf
from typing import Any, TypeAlias

import numpy as np

from kgmi.errors import SettingError

__all__ = ["EVERY", "NONE", "Fitted", "compared_type", "fitted", "plain_type"]

EVERY, NONE = "every", "none"
"""In the place of an operator: every cell with a value passes, or none does."""

Fitted: TypeAlias = tuple[str, Any]
"""(operator, value): a value that the type of the column holds exactly; a list for ``in`` and ``not in``."""

_EQUALITY = ("==", "!=", "in", "not in")
_DIGITS = 120  # more than decimals of 256 bits have
_TIMES = (datetime, date, time, timedelta, np.datetime64, np.timedelta64)


def fitted(column: str, kind: Any, sign: str, value: Any) -> Fitted:
    """A condition on a column of an Arrow type, with values that the type holds exactly.

    What no cell can be equal to is left out of lists, and bounds between two cells are moved to one of them; what
    cannot be compared, or would be rounded, is refused.
    """
    from pyarrow import types

    kind = plain_type(kind)
    if types.is_null(kind):
        return NONE, None
    read = _reader(column, kind, sign)
    if sign in ("in", "not in"):
        held = [one for one in (read(given) for given in value) if not isinstance(one, _Between)]
        return (sign, held) if held else (NONE if sign == "in" else EVERY, None)
    one = read(value)
    if not isinstance(one, _Between):
        return sign, one
    if sign in ("==", "!="):
        return NONE if sign == "==" else EVERY, None
    if one.below is None or one.is_above_all:
        return EVERY if (one.below is None) == (sign in (">", ">=")) else NONE, None
    return "<=" if sign in ("<", "<=") else ">", one.below


def plain_type(kind: Any) -> Any:
    """The type of the values, where they are kept in a dictionary."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def compared_type(kind: Any) -> Any:
    """The type in which cells are compared, which holds all of them exactly."""
    import pyarrow as pa

    kind = plain_type(kind)
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:  # for which PyArrow has few functions
        return pa.decimal128(kind.precision, kind.scale)
    return pa.large_string() if pa.types.is_string_view(kind) else kind


class _Between:
    """A number that no cell can be equal to: ``below`` is the largest possible cell below it, if there is one."""

    def __init__(self, below: Any, is_above_all: bool = False) -> None:
        self.below, self.is_above_all = below, is_above_all


def _reader(column: str, kind: Any, sign: str) -> Callable[[Any], Any]:
    """What makes of a value one of the type, for this operator."""
    from pyarrow import types

    if types.is_integer(kind):
        return lambda value: _whole(_number(column, value), kind)
    if types.is_floating(kind):
        return lambda value: _float(column, _number(column, value), kind, sign)
    if types.is_decimal(kind):
        return lambda value: _decimal(_number(column, value), kind)
    if types.is_boolean(kind):
        return lambda value: _of_type(column, value, bool, "truth values", "compare it with true or false")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return lambda value: _text(column, value)
    if types.is_temporal(kind):
        return lambda value: _time(column, value, kind)
    return lambda value: _other(column, value, kind)


def _of_type(column: str, value: Any, wanted: type, held: str, advice: str) -> Any:
    if isinstance(value, wanted):
        return value
    raise SettingError(f"where: column {column!r} holds {held} and cannot be compared with {value!r}; {advice}")


def _text(column: str, value: Any) -> str:
    quoted = f"put it in quotes: '{column} == \"{value}\"', in Python {str(value)!r}"
    text: str = _of_type(column, value, str, "texts", quoted)
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise SettingError(f"where: {value!r} is no text that a file can hold")
    return text


def _number(column: str, value: Any) -> int | float | Decimal:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    advice = "give 1 or 0" if isinstance(value, bool) else "give a number, without quotes or zeros before it"
    raise SettingError(f"where: column {column!r} holds numbers and cannot be compared with {value!r}; {advice}")


def _whole(value: Any, kind: Any) -> Any:
    """A whole number of a type of so many bits."""
    limits = np.iinfo(kind.to_pandas_dtype())
    if value > limits.max:
        return _Between(int(limits.max), is_above_all=True)
    if value < limits.min:
        return _Between(None)
    below = floor(value)
    return below if below == value else _Between(below)


def _float(column: str, value: Any, kind: Any, sign: str) -> float:
    try:
        wide = float(value)
    except OverflowError:
        wide = float("inf")
    if wide != value:
        raise SettingError(
            f"where: column {column!r} holds floats, none of which is exactly {value}; the nearest is {wide!r}"
        )
    narrow = np.dtype(kind.to_pandas_dtype())
    with np.errstate(over="ignore"):
        nearest = float(np.asarray(wide, dtype=narrow))
    if sign in _EQUALITY and nearest != wide:
        raise SettingError(
            f"where: column {column!r} holds floats of {8 * narrow.itemsize} bits, none of which is exactly "
            f"{value!r}; the nearest is {nearest!r}: give that, or bounds with < and >"
        )
    return wide


def _decimal(value: Any, kind: Any) -> Any:
    """A number of a type with so many digits behind the point; floats as they are written."""
    if isinstance(value, float) and isinf(value):
        return _Between(Decimal(0), is_above_all=True) if value > 0 else _Between(None)
    with localcontext(prec=_DIGITS):
        scaled = Decimal(repr(value) if isinstance(value, float) else value).scaleb(kind.scale)
        most = 10**kind.precision - 1
        if scaled > most:
            return _Between(Decimal(most).scaleb(-kind.scale), is_above_all=True)
        if scaled < -most:
            return _Between(None)
        below = Decimal(floor(scaled))
        exact = below.scaleb(-kind.scale)
        return exact if below == scaled else _Between(exact)


def _time(column: str, value: Any, kind: Any) -> Any:
    """A date, a time or a duration as an Arrow scalar; texts are read as one."""
    import pyarrow as pa

    if not isinstance(value, (str, *_TIMES)):
        raise SettingError(
            f"where: column {column!r} holds values of type {kind} and cannot be compared with {value!r}; give a "
            "date or a time, or its text in quotes: '2020-12-31'"
        )
    if isinstance(value, np.datetime64 | np.timedelta64) and not isinstance(value.item(), int):
        value = value.item()
    try:
        given = pa.scalar(value)
        made = given.cast(kind)
        has_zones = [getattr(one.type, "tz", None) is not None for one in (given, made)]
        lost = getattr(value, "nanosecond", 0)  # of pandas, which Arrow leaves out
        exact = isinstance(value, str) or (has_zones[0] == has_zones[1] and made.cast(given.type) == given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        exact, lost = False, 0
    if not exact or lost:
        raise SettingError(
            f"where: column {column!r} is of type {kind}, which has no value that is exactly {value!r}; give one "
            "that it can have"
        )
    return made


def _other(column: str, value: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise SettingError(
            f"where: column {column!r} is of type {kind} and cannot be compared with {value!r}"
        ) from None
