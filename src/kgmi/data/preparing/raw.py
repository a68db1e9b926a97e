"""``Raw``: a column as it came, every different value kept once, before anybody says what it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.data.bins import shown_number
from kgmi.data.columns import Column
from kgmi.data.origin import column_label
from kgmi.data.states import MISSING
from kgmi.types import Ints

__all__ = ["Kind", "Raw", "number_raw", "positions", "shown_float", "text_raw"]

Kind: TypeAlias = Literal["text", "number", "date", "declared", "other"]
"""Texts (which may write numbers), numbers, dates, states that somebody declared, or what can be no state."""


@dataclass(frozen=True, eq=False)
class Raw:
    """A column of any kind.

    Attributes
    ----------
    name, kind
        Its name, and what its values are.
    index
        ``index[row]``: place among ``values``; -1 where there is no value.
    values
        The different values: an array of numbers, or texts in an array of PyArrow.
    declared
        The states that its type lists, in their order; None where there is no such list.
    """

    name: str
    kind: Kind
    index: Ints
    values: Any
    declared: tuple[str, ...] | None = None

    @cached_property
    def counts(self) -> Ints:
        """``counts[value]``: rows that have it."""
        found: Ints = np.bincount(np.add(self.index, 1, dtype=np.int64), minlength=len(self.values) + 1)[1:]
        return found

    @property
    def n_filled(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())

    @property
    def n_values(self) -> int:
        """Different values that occur."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        if isinstance(self.values, np.ndarray):
            if self.values.dtype.kind in "iu":
                return [str(value) for value in self.values.tolist()]
            short = [shown_number(value) for value in self.values.tolist()]
            return (
                short if len(set(short)) == len(short) else [shown_float(value) for value in self.values.tolist()]
            )
        return [str(text) for text in self.values.to_pylist()]

    def as_column(self) -> Column:
        """The column with its values as states."""
        return Column(self.name, column_label(self.name, 0), tuple(self.texts), self.index, self.declared)


def shown_float(value: float) -> str:
    """A number with all of its digits; whole ones without a point."""
    return str(int(value)) if abs(value) < 1e15 and value == np.rint(value) else repr(value)


def number_raw(name: str, numbers: Any) -> Raw:
    """A column of numbers; NaN is no value."""
    values, index = np.unique(numbers, return_inverse=True)
    if values.dtype.kind == "f" and values.size and np.isnan(values[-1]):
        index = np.where(index == values.size - 1, -1, index)
        values = values[:-1]
    return Raw(name, "number", index.astype(np.int64), values)


def text_raw(name: str, arrow: Any) -> Raw:
    """A column of texts, without the spaces around them; those that mean «no value» are gaps."""
    import pyarrow as pa
    from pyarrow import compute as pc

    encoded = arrow.dictionary_encode()
    values = encoded.dictionary.cast(pa.large_string())
    trimmed = pc.utf8_trim_whitespace(values)
    gap = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING), pa.large_string()))
    if not values.null_count and not pc.any(gap).as_py() and trimmed.equals(values):
        return Raw(name, "text", positions(encoded.indices), trimmed)
    again = pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed).dictionary_encode()
    places = np.append(positions(again.indices), -1)  # what a gap (-1) looks up
    return Raw(name, "text", places[positions(encoded.indices)], again.dictionary)


def positions(indices: Any) -> Ints:
    """Arrow's positions, -1 for no value."""
    import pyarrow as pa

    found: Any = indices.cast(pa.int64()).fill_null(-1)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)
