"""``Column``: one column with every different value kept once, from cells of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.data.origin import row_place
from kgmi.errors import DataError
from kgmi.types import Ints, Names

__all__ = [
    "TRUTH",
    "Column",
    "category_texts",
    "column_of",
    "distinct_cells",
    "is_missing",
    "no_state",
    "read_cells",
    "reading_of",
]

TRUTH = ("False", "True")
"""The states of a column of truth values."""

_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart
_Reading: TypeAlias = tuple[str | None, int | None]


@dataclass(frozen=True, eq=False)
class Column:
    """One column, its texts apart from its rows.

    Attributes
    ----------
    name
        The column's name.
    label
        What messages call it: ``column 'A'``, or ``column 3`` where it has no name of its own.
    texts
        The different values as texts; None for a value that stands for nothing.
    index
        ``index[row]``: position in ``texts``; -1 where there is no value.
    declared
        The categories of a categorical type, in their order; None for all other types.
    numbers
        The texts as whole numbers, where all of them are; None otherwise.
    """

    name: str
    label: str
    texts: tuple[str | None, ...]
    index: Ints
    declared: tuple[str, ...] | None = None
    numbers: tuple[int, ...] | None = None


def read_cells(name: str, label: str, cells: Sequence[Any]) -> Column:
    """A column from a list of texts, numbers, truth values and gaps, in any mixture."""
    return column_of(name, label, *distinct_cells(cells, lambda row: row_place(row, label)))


def distinct_cells(cells: Sequence[Any], place: Callable[[int], str]) -> tuple[list[Any], Ints]:
    """The different cells, and for each row which of them it holds; ``place`` says where a row stands."""
    try:
        position = {value: number for number, value in enumerate(dict.fromkeys(cells))}
    except TypeError:  # lists, arrays and the like cannot be looked up
        row = next(row for row, value in enumerate(cells) if not _can_be_looked_up(value))
        raise no_state(place(row), cells[row]) from None
    return list(position), np.fromiter(map(position.__getitem__, cells), dtype=np.int64, count=len(cells))


def column_of(name: str, label: str, values: Sequence[Any], index: Ints, declared: Names | None = None) -> Column:
    """A column from its different values; one that can be no state is an error at its first cell.

    Whoever declared intervals or dates to be categories meant them as states, so these may be of any type.
    """
    readings: list[_Reading] = []
    for place, value in enumerate(values):
        reading = reading_of(value)
        if reading is None and declared is None:
            raise no_state(row_place(int(np.flatnonzero(index == place)[0]), label), value)
        readings.append((str(value), None) if reading is None else reading)
    texts = tuple(text for text, _ in readings)
    known = [number for text, number in readings if text is not None]
    whole = bool(known) and None not in known
    if declared is None and whole and set(texts) <= {*TRUTH, None}:
        declared = TRUTH
    numbers = tuple(-1 if number is None else number for _, number in readings) if whole else None
    return Column(name, label, texts, index, None if declared is None else tuple(declared), numbers)


def category_texts(categories: Iterable[Any]) -> tuple[str, ...]:
    """Categories of any type as texts."""
    readings = ((reading_of(category) or (str(category), None), category) for category in categories)
    return tuple(dict.fromkeys(str(category) if text is None else text for (text, _), category in readings))


def _can_be_looked_up(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def reading_of(value: Any) -> _Reading | None:
    """A value as a text (None: no value) and, where it is one, as a whole number; None for what is no state."""
    if isinstance(value, str):
        return str.__str__(value), None
    if isinstance(value, bytes):
        try:
            return value.decode(), None
        except UnicodeDecodeError:
            return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), int(value)
    if isinstance(value, Integral):
        return str(int(value)), int(value)
    if isinstance(value, Real | Decimal) and value == value:
        number: Any = value
        whole = abs(number) <= _LARGEST_WHOLE and number == int(number)
        return (str(int(number)), int(number)) if whole else None
    return (None, None) if is_missing(value) else None


def is_missing(value: object) -> bool:
    """Whether a value is None, is not equal to itself (NaN), or refuses to say so (NA)."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array compares cell by cell
        return False


def no_state(where: str, value: Any) -> DataError:
    """The error on a cell that cannot be a state."""
    if isinstance(value, Real | Decimal):
        return DataError(
            f"{where} is {value}; states must be whole numbers or texts. It looks like a measurement: leave the "
            f"column out or bin it, {PREPARE_ADVICE}"
        )
    if isinstance(value, bytes):
        return DataError(f"{where} is {value[:30]!r}, which is not UTF-8 text; decode the column")
    return DataError(
        f"{where} holds a value of type {type(value).__name__}; a state is a text, a whole number or a "
        "truth value: leave the column out, bin it or write it as text"
    )
