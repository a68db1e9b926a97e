"""Columns of data frames and arrays as ``Raw`` columns, whatever their types."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np

from kgmi.data.bins import as_floats
from kgmi.data.columns import Column, is_missing
from kgmi.data.frames import frame_column
from kgmi.data.preparing.raw import Raw, number_raw, positions, shown_float, text_raw
from kgmi.data.rows import as_array
from kgmi.data.table import default_names

__all__ = ["array_raws", "frame_raw"]

_MINUS_ONE = "-1 is read as a missing value: it is the only number below 0."


def frame_raw(name: str, series: Any) -> Raw:
    """A column of a data frame."""
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if kind in (nw.Object, nw.Unknown, nw.Decimal, nw.Int128, nw.UInt128):
        return _from_cells(name, series.to_list())
    if kind in (nw.Boolean, nw.Categorical, nw.Enum):
        return _from_column(frame_column(name, series))
    if kind.is_numeric():
        return _from_numbers(name, _whole_array(series))
    if kind == nw.String:
        return text_raw(name, _as_text(_whole_array(series)))
    if kind.is_temporal():
        return _dates(name, series)
    return Raw(name, "other", np.zeros(len(series), dtype=np.int64), np.array([0]))


def array_raws(source: Any) -> tuple[list[Raw], tuple[str, ...]]:
    """The columns of an array or of lists, named X1, X2, …, and what had to be done to read them."""
    array = as_array(source)
    if array.dtype.kind in "US" and not isinstance(source, np.ndarray):
        array = as_array(np.asarray(source, dtype=object))  # NumPy wrote the numbers among the texts as texts
    if isinstance(source, np.ma.MaskedArray):
        array = array.astype(object)  # a copy
        array[np.ma.getmaskarray(source)] = None
    names = default_names(array.shape[1])
    if array.dtype.kind not in "biuf":
        return [_from_cells(name, values.tolist()) for name, values in zip(names, array.T, strict=True)], ()
    notes: tuple[str, ...] = ()
    numbers = array.astype(np.int8) if array.dtype.kind == "b" else array
    if np.fmin.reduce(numbers, axis=None) == -1 and (numbers == 0).any():  # without 0, -1 and 1 may be two states
        numbers, notes = np.where(numbers == -1, np.nan, numbers), (_MINUS_ONE,)
    return [number_raw(name, values) for name, values in zip(names, numbers.T, strict=True)], notes


def _whole_array(series: Any) -> Any:
    import pyarrow as pa

    arrow = series.to_arrow()
    return arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow


def _as_text(arrow: Any) -> Any:
    import pyarrow as pa

    return arrow if pa.types.is_dictionary(arrow.type) else arrow.cast(pa.large_string())


def _from_numbers(name: str, arrow: Any) -> Raw:
    """Numbers with gaps; whole ones stay whole, however long."""
    import pyarrow as pa

    if pa.types.is_floating(arrow.type):
        return number_raw(name, np.array(arrow.cast(pa.float64()).to_numpy(zero_copy_only=False)))
    encoded = arrow.dictionary_encode()
    values, index = np.array(encoded.dictionary.to_numpy(zero_copy_only=False)), positions(encoded.indices)
    order = np.argsort(values, kind="stable")
    place = np.append(np.argsort(order, kind="stable"), -1)  # what a gap (-1) looks up
    return Raw(name, "number", place[index], values[order])


def _from_column(column: Column) -> Raw:
    """Truth values and categories; a list of categories that declares nothing makes texts."""
    import pyarrow as pa

    places = pa.array(column.index, mask=column.index < 0)
    texts = pa.array(column.texts, pa.large_string())
    if column.declared is None:
        return text_raw(column.name, pa.DictionaryArray.from_arrays(places, texts))
    gaps = np.array([*(text is None for text in column.texts), True])[column.index]
    index = np.where(gaps, -1, column.index).astype(np.int64)
    return Raw(column.name, "declared", index, texts.fill_null(""), column.declared)


def _dates(name: str, series: Any) -> Raw:
    """Dates and times by their text, without a time of day that is midnight in all of them."""
    cells = [None if is_missing(cell) else str(cell) for cell in series.to_list()]
    return _as_dates(name, cells)


def _as_dates(name: str, cells: list[str | None]) -> Raw:
    import pyarrow as pa

    midnight = " 00:00:00"
    if all(cell is None or cell.endswith(midnight) for cell in cells):
        cells = [None if cell is None else cell.removesuffix(midnight) for cell in cells]
    made = text_raw(name, pa.array(cells, pa.large_string()))
    return Raw(name, "date", made.index, made.values)


def _from_cells(name: str, cells: list[Any]) -> Raw:
    """Python objects in any mixture."""
    import pyarrow as pa

    present = [cell for cell in cells if not is_missing(cell)]
    if present and not any(isinstance(cell, bool | np.bool_) for cell in present):
        numbers = as_floats(cells)
        if numbers is not None:
            return number_raw(name, numbers)
    if present and all(_is_time(cell) for cell in present):
        return _as_dates(name, [None if is_missing(cell) else str(cell) for cell in cells])
    try:
        texts = {cell: _text(cell) for cell in dict.fromkeys(cells)}
    except TypeError:  # lists, dicts and the like cannot be looked up
        return Raw(name, "other", np.zeros(len(cells), dtype=np.int64), np.array([0]))
    return text_raw(name, pa.array([texts[cell] for cell in cells], pa.large_string()))


def _is_time(cell: Any) -> bool:
    return isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64) or hasattr(cell, "start_time")


def _text(cell: Any) -> str | None:
    if is_missing(cell):
        return None
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    return shown_float(cell) if isinstance(cell, float) else str(cell)
