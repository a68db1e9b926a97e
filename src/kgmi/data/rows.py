"""Rows of any kind as an array, and what is no table at all."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from kgmi.errors import DataError

__all__ = ["as_array", "refuse_other_tables"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def as_array(rows: object) -> _Array:
    """Rows as an array [row, node] of whatever type they have."""
    if rows is None or isinstance(rows, str | bytes | PathLike):
        raise DataError(
            f"rows must be a table [row, node] of codes, got {rows!r}; read a file with kgmi.read_table(path)"
        )
    refuse_other_tables(rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise DataError("rows must be a table [row, node]; these rows are not equally long") from None
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"rows must be a table [row, node] with at least one row and column, got {array.shape}")
    return array


def refuse_other_tables(rows: object) -> None:
    """Refuse tables that NumPy takes for a single object, and say what to give instead."""
    if type(rows).__module__.startswith("scipy.sparse"):  # some of these are mappings too
        raise DataError(
            "rows must be a table [row, node], got a sparse matrix; give rows.toarray(), where 0 is a state like "
            "others"
        )
    if isinstance(rows, Mapping):
        raise DataError(
            "rows must be a table [row, node], got a dict; if it holds columns by name, make a data frame of it: "
            "pandas.DataFrame(rows), polars.DataFrame(rows) or pyarrow.table(rows)"
        )
