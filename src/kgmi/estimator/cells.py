"""``Cells``: arrays and data frames behind one face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np

from kgmi.data.bins import as_floats, as_measured
from kgmi.data.columns import Column, column_of, is_missing, read_cells
from kgmi.data.distinct import distinct_numbers, places
from kgmi.data.origin import column_label
from kgmi.errors import DataError
from kgmi.types import Floats, Ints

__all__ = ["ArrayCells", "Cells", "kind_of", "other_form"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Cells(Protocol):
    """A table whose columns can be looked at as numbers or as texts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def source(self) -> Any:
        """The table, for :func:`kgmi.data.as_table`."""

    @property
    def backend(self) -> Any:
        """The library of a data frame, as narwhals calls it; None for an array."""

    @property
    def headers(self) -> tuple[Any, ...]:
        """Names of the columns as they came, which need not be texts."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def kind(self, column: int) -> str:
        """What sort of values the column has: ``number``, ``truth`` or ``text``."""

    def category(self, column: int) -> Any:
        """The type of a column of categories, to be drawn with; None for all other columns."""

    def measured(self, column: int) -> Floats | None:
        """The column as floats, if one of its numbers is not whole; None otherwise."""

    def floats(self, column: int) -> Floats | None:
        """The column as floats, NaN for gaps; None where it is not made of numbers."""

    def replaced(self, columns: Mapping[int, Floats]) -> Cells:
        """The same table with other numbers in some columns."""

    def columns(self) -> list[Column]:
        """All columns as texts."""

    def only(self, columns: list[int]) -> Cells:
        """The table with these columns only."""

    def followed_by(self, other: Cells | None) -> Cells:
        """The table with the rows of another one below its own, or of none; a copy in any case."""


@dataclass(frozen=True, eq=False)
class ArrayCells:
    """An array [row, column] of any type."""

    array: _Array
    names: tuple[str, ...]

    @property
    def source(self) -> _Array:
        """The array."""
        return self.array

    @property
    def backend(self) -> None:
        """None: no data frame."""
        return

    @property
    def headers(self) -> tuple[str, ...]:
        """The names."""
        return self.names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    def kind(self, column: int) -> str:
        """See :class:`Cells`."""
        kind = self.array.dtype.kind
        if kind == "O":
            return kind_of(self.array[:, column].tolist())
        return "truth" if kind == "b" else "number" if kind in "iuf" else "text"

    def category(self, column: int) -> None:
        """None: arrays have no categories."""
        return

    def measured(self, column: int) -> Floats | None:
        """See :class:`Cells`."""
        return as_measured(self.floats(column)) if self.array.dtype.kind in "fO" else None

    def floats(self, column: int) -> Floats | None:
        """See :class:`Cells`."""
        values = self.array[:, column]
        if values.dtype.kind == "O":
            return as_floats(values.tolist())
        return values.astype(np.float64) if values.dtype.kind in "biuf" else None

    def lowest(self) -> float:
        """The smallest number; only for arrays of numbers."""
        if self.array.dtype.kind in "biuf":
            return float(np.fmin.reduce(self.array, axis=None))  # NaN is no number
        columns = (self.floats(column) for column in range(len(self.names)))
        return min((float(np.fmin.reduce(values)) for values in columns if values is not None), default=0.0)

    def replaced(self, columns: Mapping[int, Floats]) -> ArrayCells:
        """See :class:`Cells`."""
        if not columns:
            return self
        array = self.array.astype(np.float64 if self.array.dtype.kind in "biuf" else object)  # a copy
        for column, values in columns.items():
            array[:, column] = values
        return replace(self, array=array)

    def columns(self) -> list[Column]:
        """See :class:`Cells`."""
        numeric = self.array.dtype.kind in "biuf"
        found = []
        for name, values in zip(self.names, self.array.T, strict=True):
            label = column_label(name, 0)
            one = (
                column_of(name, label, *_distinct(values)) if numeric else read_cells(name, label, values.tolist())
            )
            found.append(one)
        return found

    def only(self, columns: list[int]) -> ArrayCells:
        """See :class:`Cells`."""
        return ArrayCells(self.array[:, columns], tuple(self.names[column] for column in columns))

    def followed_by(self, other: Cells | None) -> ArrayCells:
        """See :class:`Cells`."""
        if other is None:
            return replace(self, array=self.array.copy())
        if not isinstance(other, ArrayCells):
            raise other_form("an array", "a data frame")
        parts = (self.array, other.array)
        if len({part.dtype.kind in "biuf" for part in parts}) > 1:  # NumPy would write numbers as texts
            parts = (self.array.astype(object), other.array.astype(object))
        return replace(self, array=np.concatenate(parts))


def other_form(before: str, now: str) -> DataError:
    """The error on rows that cannot be put below those that came before."""
    return DataError(
        f"the rows taken so far came as {before} and were not enough to learn from; these come as {now}: give all "
        "of them in one form"
    )


def kind_of(cells: list[Any]) -> str:
    """The kind of Python objects: that of the first which is no gap."""
    first = next((cell for cell in cells if not is_missing(cell)), "")
    return (
        "truth" if isinstance(first, bool | np.bool_) else "number" if isinstance(first, Real | Decimal) else "text"
    )


def _distinct(values: _Array) -> tuple[list[Any], Ints]:
    """The different numbers of a column, and which of them each row has."""
    if values.dtype.kind in "iu":
        numbers = distinct_numbers(values)
        return numbers, places(values, numbers).astype(np.int64)
    distinct, index = np.unique(values, return_inverse=True)
    return distinct.tolist(), index
