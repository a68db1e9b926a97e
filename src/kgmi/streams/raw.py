"""Columns as they come, before they are codes: numbers, or places in a list of different values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from kgmi.streams.exact import compared_type
from kgmi.types import Bools, Ints, Names

__all__ = ["Listed", "Numbers", "Raw", "WrongType", "listed_numbers", "raw_of_arrow", "same_list"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_FLOATS: dict[str, np.dtype[Any]] = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}  # PyArrow's names


class WrongType(Exception):
    """An Arrow type that is not read here; narwhals, which knows more of them, says what it is."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers or truth values.

    Attributes
    ----------
    values
        [row] of integers or floats; truth values are 0 and 1.
    gaps
        [row]: where there is no value, whatever ``values`` holds there; None: nowhere. NaN is a gap too.
    is_truth
        Whether they are truth values.
    """

    values: _Array
    gaps: Bools | None = None
    is_truth: bool = False

    def taken(self, rows: Ints) -> Numbers:
        """Some of the rows."""
        return replace(self, values=self.values[rows], gaps=None if self.gaps is None else self.gaps[rows])


@dataclass(frozen=True, eq=False)
class Listed:
    """A column whose rows are places in a list of values.

    Attributes
    ----------
    index
        [row]: place in the list; below 0 where there is no value.
    source
        The list: of Python values, or an Arrow array of them, which is unpacked when it is needed.
    declared
        Categories that the type of the column declares; a function where they are the values of the list.
    gaps
        [row]: where there is no value, whatever ``index`` holds there; None: only where it is below 0.
    """

    index: _Array
    source: Any
    declared: Names | Callable[[Sequence[Any]], Names] | None = None
    gaps: Bools | None = None

    @cached_property
    def values(self) -> list[Any]:
        """The different values."""
        return self.source if isinstance(self.source, list) else self.source.to_pylist()

    @property
    def categories(self) -> Names | None:
        """Declared categories, in their order."""
        return self.declared(self.values) if callable(self.declared) else self.declared

    def taken(self, rows: Ints) -> Listed:
        """Some of the rows."""
        return replace(self, index=self.index[rows], gaps=None if self.gaps is None else self.gaps[rows])


Raw: TypeAlias = Numbers | Listed


def same_list(one: Any, other: Any) -> bool:
    """Whether two lists of values are the same, so that what is known of one holds for the other."""
    if one is other:
        return True
    if isinstance(one, list) or isinstance(other, list):
        return False
    return bool(one.type == other.type and one.equals(other))


def raw_of_arrow(array: Any, declares: bool = True) -> Raw:
    """An Arrow array without a copy where its type allows it.

    Parameters
    ----------
    array
        Integers, floats, truth values, texts, decimals or a dictionary of anything; :class:`WrongType` otherwise.
    declares
        Whether a dictionary lists the categories of the column; else it is only how texts are kept.
    """
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if types.is_integer(kind):
        return Numbers(_cells(array, np.dtype(str(kind))), _gaps(array))
    if types.is_dictionary(kind):
        return _listed(array, _categories if declares else None)
    if types.is_boolean(kind):
        whole = array.cast(pa.uint8())
        return Numbers(_cells(whole, np.dtype(np.uint8)), _gaps(whole), is_truth=True)
    if types.is_floating(kind):
        wide = array.cast(pa.float32()) if types.is_float16(kind) else array
        return Numbers(_cells(wide, _FLOATS[str(wide.type)]), _gaps(wide))
    if types.is_null(kind):
        return Listed(np.full(len(array), -1, dtype=np.int8), [])
    if types.is_string_view(kind):
        array = array.cast(pa.large_string())
    if types.is_string(array.type) or types.is_large_string(array.type):
        array.validate(full=True)  # what is wrong within a text would end the process when it is looked at
        return _listed(array.dictionary_encode(), None)
    if types.is_decimal(kind):
        return _listed(array.cast(compared_type(kind)).dictionary_encode(), None)
    raise WrongType(str(kind))


def listed_numbers(column: Numbers) -> Listed:
    """Numbers that are too far apart for a table, by their list."""
    import pyarrow as pa

    encoded = pa.array(column.values).dictionary_encode()
    return replace(_listed(encoded, None), gaps=column.gaps)


def _listed(array: Any, declared: Callable[[Sequence[Any]], Names] | None) -> Listed:
    array.dictionary.validate(full=True)
    indices = array.indices
    return Listed(_cells(indices, np.dtype(str(indices.type))), array.dictionary, declared, _gaps(indices))


def _categories(values: Sequence[Any]) -> Names:
    from kgmi.data.columns import category_texts

    return category_texts(value for value in values if value is not None)


def _cells(array: Any, dtype: np.dtype[Any]) -> _Array:
    """The values of an Arrow array as they lie in memory."""
    if len(array) == 0:
        return np.empty(0, dtype=dtype)
    # Not np.asarray, with which PyArrow loads pandas, where there is one.
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=len(array), offset=array.offset * dtype.itemsize)


def _gaps(array: Any) -> Bools | None:
    """Which cells of an Arrow array have no value; None: all have one."""
    if array.null_count == 0:
        return None
    bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
    first, last = array.offset // 8, (array.offset + len(array) + 7) // 8
    start = array.offset - 8 * first
    flags = np.unpackbits(bits[first:last], bitorder="little")[start : start + len(array)]
    gaps: Bools = flags == 0
    return gaps
