"""Which rows were let through to be counted: filters in plain values, as counts keep them (``reading["where"]``).

They are a list, with one filter as a rule; with several where counts of different filters were added up on request.
A filter is a list of conditions [column, operator, value], an empty one for all rows, or a text where it cannot be
said in such values: an expression of PyArrow, or a condition with a date.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from kgmi.streams import Stream
from kgmi.streams.conditions import COMPARE, OPERATORS

__all__ = ["filters_fit", "filters_of", "joined_filters", "shown_filters", "told_filter"]

_ALL_ROWS: list[Any] = []


def told_filter(stream: Stream) -> dict[str, Any]:
    """What ``reading`` says of the filter of a stream; nothing where there is none."""
    where = stream.source.filter
    if where is None:
        return {}
    conditions = [
        [column, sign, value if sign in COMPARE else list(value)] for column, sign, value in where.conditions
    ]
    return {"where": [conditions if conditions and filters_fit([conditions]) else where.text]}


def filters_of(reading: Mapping[str, Any]) -> list[Any]:
    """The filters of rows that were read so."""
    return list(reading.get("where", [_ALL_ROWS]))


def joined_filters(readings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``reading`` says of the rows of several counts together, in whatever order they come."""
    found = {json.dumps(one): one for reading in readings for one in filters_of(reading)}
    filters = [found[key] for key in sorted(found)]
    return {} if filters == [_ALL_ROWS] else {"where": filters}


def shown_filters(reading: Mapping[str, Any]) -> str:
    """In words, behind «was counted»."""
    texts = [one if isinstance(one, str) else _shown(one) for one in filters_of(reading)]
    return "without a filter" if texts == [""] else "where " + " or ".join(text or "all rows" for text in texts)


def filters_fit(told: Any) -> bool:
    """Whether this can be what ``reading`` says of a filter, in a file or anywhere else."""
    return isinstance(told, list) and bool(told) and all(isinstance(one, str) or _are_plain(one) for one in told)


def _are_plain(conditions: Any) -> bool:
    return isinstance(conditions, list) and all(
        isinstance(one, list) and len(one) == 3 and type(one[0]) is str and one[1] in OPERATORS and _is_plain(one)
        for one in conditions
    )


def _is_plain(condition: list[Any]) -> bool:
    """Whether JSON gives back the very values that were written: a filter that is read again has the same marks."""
    _, sign, value = condition
    values = [value] if sign in COMPARE else value
    return isinstance(values, list) and all(
        type(one) in (str, int, bool) or (type(one) is float and isfinite(one)) for one in values
    )


def _shown(conditions: list[Any]) -> str:
    return " and ".join(f"{column!r} {sign} {value!r}" for column, sign, value in conditions)
