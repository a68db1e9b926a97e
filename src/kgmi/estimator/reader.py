"""``Reader``: how the cells of a table became codes, so that later tables are read in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.data.bins import Bins
from kgmi.data.columns import Column
from kgmi.data.origin import column_label, row_place
from kgmi.data.rules import MISSING_ADVICE
from kgmi.data.states import MISSING
from kgmi.data.table import Table
from kgmi.errors import DataError
from kgmi.estimator.cells import Cells
from kgmi.graph.naming import shown_list
from kgmi.types import Codes

__all__ = ["Feature", "Reader"]

_GAP, _NEW = -2, -3  # a missing value and a state that is not in the alphabet, where these are errors
_SHOWN = 8  # states in a message


@dataclass(frozen=True)
class Feature:
    """A column as it was in the first table.

    Attributes
    ----------
    name
        Its name.
    kind
        What its values are: ``text``, ``number`` or ``truth``.
    states
        Its alphabet; where missing values are a state, that is the last.
    gap
        The code of a missing value; None where it is an error.
    bins
        Where measurements are cut; None where there are none.
    category
        The type of a column of categories; None for all other columns.
    """

    name: str
    kind: str
    states: tuple[str, ...]
    gap: int | None
    bins: Bins | None = None
    category: Any = None

    @property
    def label(self) -> str:
        """What messages call it."""
        return column_label(self.name, 0)


@dataclass(frozen=True)
class Reader:
    """What the first table was like.

    Attributes
    ----------
    features
        Its columns, in their order.
    states
        The states of all columns together.
    own
        Whether each column has its own alphabet.
    positions
        Whether numbers are positions in the alphabet, and not names of states.
    minus_one
        Whether -1 is a missing value.
    missing
        What a missing value is; see :func:`kgmi.data.as_table`.
    backend, headers
        The library of a data frame (None for an array), and the names of its columns as they came.
    sentences
        What the user has to know about how the table was read.
    """

    features: tuple[Feature, ...]
    states: tuple[str, ...]
    own: bool
    positions: bool
    minus_one: bool
    missing: str
    backend: Any
    headers: tuple[Any, ...]
    sentences: tuple[str, ...]

    @property
    def gap_state(self) -> str | None:
        """The state that missing values are, where they are one."""
        known = (feature.states[feature.gap] for feature in self.features if feature.gap is not None)
        return next(known, None) if self.missing == "category" else None

    def table(self, codes: Codes) -> Table:
        """Codes with their names and alphabets."""
        alphabets = tuple(feature.states for feature in self.features) if self.own else None
        return Table(codes, tuple(feature.name for feature in self.features), self.states, alphabets)

    def codes(self, cells: Cells) -> Codes:
        """The codes of another table; a state that the first did not have is an error at its first cell."""
        columns = cells.replaced(dict(self._cuts(cells))).columns()
        longest = max(len(feature.states) for feature in self.features)
        codes = np.empty((columns[0].index.size, len(columns)), dtype=np.min_scalar_type(-longest))
        for number, (feature, column) in enumerate(zip(self.features, columns, strict=True)):
            codes[:, number] = self._coded(feature, column)
        return codes

    def _cuts(self, cells: Cells) -> Iterator[tuple[int, Any]]:
        """Columns of measurements, as the numbers of their bins."""
        for number, feature in enumerate(self.features):
            if feature.bins is not None:
                values = cells.floats(number)
                if values is None:
                    raise DataError(f"{feature.label} held measurements in fit and holds other things now")
                yield number, feature.bins.cut(values, feature.label)

    def _coded(self, feature: Feature, column: Column) -> Codes:
        """The codes of one column, by its different values."""
        lookup = {state: code for code, state in enumerate(feature.states)}
        gap = _GAP if feature.gap is None else feature.gap
        pairs = zip(column.texts, column.numbers or (None,) * len(column.texts), strict=True)
        by_value = [self._code(feature, lookup, text, number) for text, number in pairs]
        codes: Codes = np.array([gap if code is None else code for code in (*by_value, None)])[column.index]
        if (codes < -1).any():
            row = int(np.flatnonzero(codes < -1)[0])
            raise self._refusal(feature, column, row, is_gap=codes[row] == _GAP)
        return codes

    def _code(self, feature: Feature, lookup: dict[str, int], text: str | None, number: int | None) -> int | None:
        """The code of a value; None for no value."""
        if text is None:
            return None
        for known in (text, text.strip(), str(number)):  # True is 1 where the states are numbers
            if known in lookup:
                return lookup[known]
        if self.positions and number is not None and 0 <= number < len(feature.states):
            return number
        is_gap = text.strip() in MISSING or (self.minus_one and number == -1)
        return None if is_gap else _NEW

    def _refusal(self, feature: Feature, column: Column, row: int, *, is_gap: bool) -> DataError:
        """The error on a missing value, or on a state that is new."""
        where = row_place(row, feature.label)
        if is_gap and self.missing == "category":
            return DataError(
                f"{where}: the value is missing, and in fit none was; declare states= with 'missing' as the last, "
                "or fit with rows that lack a value too"
            )
        if is_gap:
            return DataError(
                f"{where}: the value is missing. Fill it in or drop the row, or say in fit what it means: "
                f"{MISSING_ADVICE}"
            )
        shown = shown_list(feature.states[:_SHOWN]) + (" …" if len(feature.states) > _SHOWN else "")
        return DataError(
            f"{where}: the state {column.texts[column.index[row]]!r} is new; in fit the states were {shown}. "
            "Declare all states with states=, or as categories of the column, and fit again"
        )
