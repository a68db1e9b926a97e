"""Columns of data frames: pandas, polars, PyArrow and whatever else narwhals knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kgmi.data.checks import check_names
from kgmi.data.columns import Column, category_texts, column_of, distinct_cells
from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.data.origin import MEMORY, column_label, row_place
from kgmi.errors import DataError
from kgmi.types import Names

__all__ = ["as_frame", "frame_column", "frame_columns", "series_values"]


def as_frame(source: Any) -> Any:
    """A narwhals data frame; lazy ones are computed. None for everything else, series of one axis included."""
    if isinstance(source, np.ndarray | list | tuple | str | bytes):
        return None  # by far the most frequent, and narwhals need not be loaded
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(source, pass_through=True)
        if not isinstance(frame, nw.DataFrame | nw.LazyFrame) and hasattr(source, "__arrow_c_stream__"):
            frame = _from_arrow_stream(source)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except DuplicateError:
        names = source.column_names if hasattr(source, "column_names") else source.columns
        check_names(MEMORY, [str(name) for name in names], header=False)
        raise
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_arrow_stream(source: Any) -> Any:
    """A table of anything that hands out Arrow record batches; a single column is handed back as it is."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    try:
        return nw.from_native(pa.table(source))
    except (TypeError, pa.ArrowInvalid):
        return source


def frame_columns(frame: Any) -> list[Column]:
    """The columns of a narwhals data frame, every different value kept once."""
    n_rows, n_columns = frame.shape
    if n_rows == 0 or n_columns == 0:
        raise DataError(
            f"rows must be a table [row, node] with at least one row and column, got ({n_rows}, {n_columns})"
        )
    names = [str(name) for name in frame.columns]
    check_names(MEMORY, names, header=False)
    return [frame_column(name, series) for name, series in zip(names, frame.iter_columns(), strict=True)]


def frame_column(name: str, series: Any) -> Column:
    """One column; types that hold no states are refused by name."""
    label = column_label(name, 0)
    return column_of(name, label, *series_values(label, series, lambda row: row_place(row, label)))


def series_values(label: str, series: Any, place: Callable[[int], str]) -> tuple[list[Any], Any, Names | None]:
    """The different values of a narwhals series, which of them each row holds (-1: none), declared categories."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    if is_categorical and series.implementation.is_pandas_like():
        native = series.to_native().cat
        return _categorical(native.categories, np.asarray(native.codes))
    if series.dtype in (nw.Object, nw.Unknown, nw.Decimal, nw.Int128, nw.UInt128):
        return *distinct_cells(series.to_list(), place), None
    arrow = series.to_arrow()
    if isinstance(arrow, pa.ChunkedArray):  # pandas keeps texts that were put together in pieces
        arrow = arrow.combine_chunks()
    if not _holds_states(arrow.type):
        raise DataError(
            f"{label} of {MEMORY} is of type {series.dtype}; a state is a text, a whole number, a truth value or a "
            f"category: leave the column out, bin it or write it as text, {PREPARE_ADVICE}"
        )
    if pa.types.is_dictionary(arrow.type):
        # The list behind a Categorical of polars is shared by all of its columns, so that it declares nothing.
        if series.dtype != nw.Categorical or not series.implementation.is_polars():
            return _categorical(arrow.dictionary.to_pylist(), _positions(arrow.indices))
        arrow = arrow.cast(arrow.type.value_type)
    if pa.types.is_string_view(arrow.type):
        arrow = arrow.cast(pa.large_string())
    encoded = arrow.dictionary_encode()
    return encoded.dictionary.to_pylist(), _positions(encoded.indices), None


def _holds_states(kind: Any) -> bool:
    from pyarrow import types

    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return bool(text or number or types.is_dictionary(kind) or types.is_null(kind))


def _categorical(categories: Iterable[Any], index: Any) -> tuple[list[Any], Any, Names]:
    """The values of a column whose type lists its states, seen or not."""
    values = list(categories)
    return values, index, category_texts(value for value in values if value is not None)


def _positions(indices: Any) -> Any:
    """Arrow's positions as an array, with -1 for no value."""
    import pyarrow as pa

    return np.asarray(indices.cast(pa.int64()).fill_null(-1))
