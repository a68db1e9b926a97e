"""Row groups of Parquet files: which of them a filter rules out, and which are read together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from kgmi.streams.conditions import may_hold
from kgmi.streams.exact import fitted, plain_type
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Cuts

__all__ = ["grouped", "kept_groups"]


def kept_groups(part: Any, where: Filter, schema: Any) -> list[int]:
    """Row groups of a file, a fragment of a PyArrow dataset, in which rows may pass the filter by their bounds.

    ``schema`` has the types in which cells are compared; bounds of another type are not looked at.
    """
    metadata = part.metadata
    every = list(range(metadata.num_row_groups))
    if where.expression is not None:
        if any(_is_floating(schema.field(column).type) for column in where.columns):
            return every  # the bounds say nothing about NaN, and PyArrow takes them as if they did
        parts = part.split_by_row_group(where.expression, schema=schema)
        return [group.id for one in parts for group in one.row_groups]
    # Not by PyArrow, which keeps every row group that has a gap, though a gap does not pass.
    leaves = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    own = part.physical_schema
    checks = [
        (leaves[column], fitted(column, schema.field(column).type, sign, value))
        for column, sign, value in where.conditions
        if column in leaves and plain_type(own.field(column).type) == plain_type(schema.field(column).type)
    ]
    return [
        number
        for number in every
        if all(_may_hold(metadata.row_group(number).column(leaf).statistics, check) for leaf, check in checks)
    ]


def _is_floating(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(plain_type(kind)))


def _may_hold(statistics: Any, check: tuple[str, Any]) -> bool:
    """Whether a row with bounds like these may meet a condition; where that is not certain, it may."""
    if statistics is None or not statistics.has_min_max:
        return True
    try:
        low, high = statistics.min, statistics.max
    except (TypeError, ValueError, ImportError):  # times without pandas
        return True
    return may_hold(check, low, high)


def grouped(sizes: Sequence[int], kept: Sequence[int], most: int) -> Cuts:
    """Neighbouring row groups together, up to about so many rows."""
    ends = list(accumulate(sizes, initial=0))
    parts: list[list[int]] = []
    for number in (number for number in kept if sizes[number]):
        if parts and parts[-1][-1] == number - 1 and ends[number + 1] - ends[parts[-1][0]] <= most:
            parts[-1].append(number)
        else:
            parts.append([number])
    return [(tuple(part), ends[part[0]], ends[part[-1] + 1] - ends[part[0]]) for part in parts]
