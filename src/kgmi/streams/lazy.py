"""Filters in the query of a lazy data frame, so that polars need not read what does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import Any

from kgmi.streams.conditions import COMPARE
from kgmi.streams.exact import EVERY, NONE, fitted, plain_type
from kgmi.streams.filters import Filter

__all__ = ["polars_filter"]


def polars_filter(where: Filter, schema: Any, types: Mapping[str, Any]) -> Any:
    """The same filter as an expression of polars; None where polars might see it in another way.

    Parameters
    ----------
    where
        The filter.
    schema
        The Arrow types of the columns, in which conditions are compared everywhere.
    types
        Their types in polars.
    """
    if where.expression is not None or any(_kind(schema.field(column).type) is None for column in where.columns):
        return None
    return reduce(and_, (_condition(schema, types, *condition) for condition in where.conditions))


def _kind(kind: Any) -> str | None:
    """What cells are to polars too; times with units and zones, decimals and all else are not compared there."""
    from pyarrow import types

    kind = plain_type(kind)
    if types.is_floating(kind):
        return "float"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return "same" if types.is_integer(kind) or types.is_boolean(kind) or types.is_date32(kind) else None


def _condition(schema: Any, types: Mapping[str, Any], column: str, sign: str, value: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    kind = schema.field(column).type
    sign, value = fitted(column, kind, sign, value)
    if sign == NONE:
        return pl.lit(False)
    # Typed on both sides: polars would round a literal to the type of the column.
    dtype = {"float": pl.Float64(), "text": pl.String(), "same": types[column]}[str(_kind(kind))]
    cell = pl.col(column).cast(dtype)
    if sign == EVERY:
        held = cell.is_not_null()
    elif sign in COMPARE:
        plain = value.as_py() if isinstance(value, pa.Scalar) else value
        held = COMPARE[sign][1](cell, pl.lit(plain, dtype=dtype))
    else:
        values = [one.as_py() if isinstance(one, pa.Scalar) else one for one in value]
        inside = cell.is_in(pl.Series(values, dtype=dtype).implode())
        held = inside if sign == "in" else ~inside
    return held & cell.is_not_nan() if _kind(kind) == "float" else held
