"""Rows that are in memory, arrays and data frames, as columns to be coded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from kgmi.data.columns import distinct_cells
from kgmi.data.frames import series_values
from kgmi.data.origin import column_label, row_place
from kgmi.errors import DataError, first_line
from kgmi.streams.alphabets import Form
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Piece, block_rows
from kgmi.streams.raw import Listed, Numbers, Raw, raw_of_arrow
from kgmi.types import Bools

__all__ = ["array_form", "array_pieces", "array_schema", "frame_pieces", "frame_schema"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def array_form(array: _Array) -> Form:
    """How the cells of an array are read; an array of what holds no states is refused."""
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"rows must be a table [row, node] with at least one row and column, got {array.shape}")
    if array.dtype.kind in "USTO":
        return "cells"
    if array.dtype.kind not in "iubf":
        raise DataError(
            f"all columns are of type {array.dtype}; states are texts, whole numbers or truth values: recode them"
        )
    return "numbers"


def array_pieces(
    array: _Array, names: Sequence[str], columns: Sequence[str], where: Filter | None
) -> Iterator[Piece]:
    """The columns of an array [row, column], in blocks of rows."""
    read = _numbers if array_form(array) == "numbers" else _cells
    for start in range(0, len(array), most := block_rows(array.shape[1])):
        block = array[start : start + most]
        if where is not None:
            rows = where.rows(_filter_cells(block, names, where))
            block = block if rows is None else block[rows]
        if len(block):
            yield [read(block[:, names.index(name)], name) for name in columns], len(block)


def array_schema(array: _Array, names: Sequence[str]) -> Any:
    """The types by which the columns of an array are filtered."""
    import pyarrow as pa

    kind = array.dtype
    if kind.kind in "iubf":
        return pa.schema([(name, pa.from_numpy_dtype(_native(array[:0]).dtype)) for name in names])
    return pa.schema([(name, _cell_array(array[:1, place]).type) for place, name in enumerate(names)])


def _numbers(column: _Array, _: str) -> Raw:
    values = np.ascontiguousarray(_native(column))
    if values.dtype.kind == "b":
        return Numbers(values.view(np.uint8), _mask(column), is_truth=True)
    return Numbers(values, _mask(column))


def _native(values: _Array) -> _Array:
    """Without a mask, in the byte order of this machine, and of a type that Arrow knows."""
    plain = np.ma.getdata(values)
    if plain.dtype.kind == "f" and plain.dtype.itemsize not in (4, 8):
        return np.asarray(plain, dtype=np.float64)
    return np.asarray(plain, dtype=plain.dtype.newbyteorder("="))


def _mask(column: _Array) -> Bools | None:
    return np.ascontiguousarray(np.ma.getmaskarray(column)) if isinstance(column, np.ma.MaskedArray) else None


def _listed_cells(column: _Array) -> list[Any]:
    cells: list[Any] = np.ma.getdata(column).tolist()
    gaps = _mask(column)
    return cells if gaps is None else [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]


def _cells(column: _Array, name: str) -> Raw:
    label = column_label(name, 0)
    values, index = distinct_cells(_listed_cells(column), lambda row: row_place(row, label))
    return Listed(index, values)


def _cell_array(column: _Array) -> Any:
    """Cells to be filtered by, as an Arrow array."""
    import pyarrow as pa

    if column.dtype.kind in "iubf":
        return pa.array(_native(column), mask=_mask(column))
    try:
        return pa.array(_listed_cells(column))
    except (pa.ArrowException, TypeError) as error:
        raise DataError(f"where: cells of different types cannot be compared ({first_line(error)})") from None


def _filter_cells(block: _Array, names: Sequence[str], where: Filter) -> Any:
    import pyarrow as pa

    return pa.table({name: _cell_array(block[:, names.index(name)]) for name in where.columns})


def frame_pieces(frame: Any, names: Sequence[str], columns: Sequence[str], where: Filter | None) -> Iterator[Piece]:
    """The columns of a narwhals data frame, in blocks of rows."""
    import pyarrow as pa

    for start in range(0, len(frame), most := block_rows(len(columns))):
        block = frame[start : start + most]
        series = dict(zip(names, block.iter_columns(), strict=True))
        rows = None
        if where is not None:
            rows = where.rows(pa.table({name: _arrow(series[name]) for name in where.columns}))
        if rows is None or len(rows):
            raws = [_series(name, series[name]) for name in columns]
            yield (raws, len(block)) if rows is None else ([raw.taken(rows) for raw in raws], len(rows))


def frame_schema(frame: Any, names: Sequence[str]) -> Any:
    """The types by which the columns of a narwhals data frame are filtered."""
    import pyarrow as pa

    return pa.schema(
        [(name, _arrow(series.head(1)).type) for name, series in zip(names, frame.iter_columns(), strict=True)]
    )


def _series(name: str, series: Any) -> Raw:
    """A series: numbers, texts and truth values by way of Arrow, all else as :func:`kgmi.data.as_table` does."""
    import narwhals.stable.v2 as nw

    kind = series.dtype
    wide = kind in (nw.Int128, nw.UInt128)
    if not wide and (kind.is_integer() or kind in (nw.Float32, nw.Float64, nw.Boolean, nw.String)):
        return raw_of_arrow(_arrow(series))
    label = column_label(name, 0)
    values, index, declared = series_values(label, series, lambda row: row_place(row, label))
    return Listed(np.asarray(index), values, declared)


def _arrow(series: Any) -> Any:
    """A series as one Arrow array."""
    import pyarrow as pa

    try:
        array = series.to_arrow()
    except (pa.ArrowException, TypeError) as error:
        raise DataError(f"where: {series.name!r} holds values of different types ({first_line(error)})") from None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
