"""Row groups of Parquet files: which of them a filter rules out, and which are read together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from kgmi.streams.conditions import as_scalar
from kgmi.streams.filters import Filter

__all__ = ["grouped", "kept_groups"]

# Whether no value from low to high meets a condition; what cannot be compared (NaN) rules nothing out.
_RULED_OUT: dict[str, Callable[[Any, Any, Any], bool]] = {
    "==": lambda low, high, value: value < low or value > high,
    "!=": lambda low, high, value: low == high == value,
    "<": lambda low, high, value: low >= value,
    "<=": lambda low, high, value: low > value,
    ">": lambda low, high, value: high <= value,
    ">=": lambda low, high, value: high < value,
    "in": lambda low, high, value: value < low or value > high,
    "not in": lambda low, high, value: False,
}


def kept_groups(part: Any, where: Filter, schema: Any) -> list[int]:
    """Row groups of a file, a fragment of a PyArrow dataset, in which rows may pass the filter by their bounds."""
    if where.expression is not None:
        parts = part.split_by_row_group(where.expression, schema=schema)
        return [group.id for one in parts for group in one.row_groups]
    # Not by PyArrow, which keeps every row group that has a gap, though a gap does not pass.
    metadata = part.metadata
    leaves = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    checks = [
        (leaves[column], sign, [_plain(one, schema.field(column).type) for one in _values(sign, value)])
        for column, sign, value in where.conditions
        if column in leaves
    ]
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    return [
        number
        for number, group in enumerate(groups)
        if all(_may_hold(group.column(leaf).statistics, sign, values) for leaf, sign, values in checks)
    ]


def _values(sign: str, value: Any) -> Sequence[Any]:
    return value if sign in ("in", "not in") else (value,)


def _plain(value: Any, kind: Any) -> Any:
    return as_scalar(value, kind).as_py()


def _may_hold(statistics: Any, sign: str, values: Sequence[Any]) -> bool:
    """Whether a row with bounds like these may meet a condition; where that is not certain, it may."""
    if statistics is None or not statistics.has_min_max:
        return True
    try:
        low, high = statistics.min, statistics.max
        return not all(_RULED_OUT[sign](low, high, value) for value in values)
    except (TypeError, ValueError, ImportError):  # times without pandas, texts beside numbers
        return True


def grouped(
    sizes: Sequence[int], kept: Sequence[int], most: int
) -> list[tuple[tuple[int, ...], int | None, int | None]]:
    """Neighbouring row groups together, up to about so many rows; with the first row and the number of rows."""
    ends = list(accumulate(sizes, initial=0))
    parts: list[list[int]] = []
    for number in (number for number in kept if sizes[number]):
        if parts and parts[-1][-1] == number - 1 and ends[number + 1] - ends[parts[-1][0]] <= most:
            parts[-1].append(number)
        else:
            parts.append([number])
    return [(tuple(part), ends[part[0]], ends[part[-1] + 1] - ends[part[0]]) for part in parts]
