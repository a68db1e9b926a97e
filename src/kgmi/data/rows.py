"""Rows of any kind as an array, and what is no table at all."""

from __future__ import annotations

from collections.abc import Mapping
from glob import has_magic
from os import PathLike, fspath, path
from typing import Any, TypeAlias

import numpy as np

from kgmi.errors import DataError

__all__ = ["as_array", "refuse_other_tables"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_LONGEST = 200  # characters of what is shown of wrong rows
_READ_ONE = "read a file with kgmi.read_table(path)"


def as_array(rows: object) -> _Array:
    """Rows as an array [row, node] of whatever type they have."""
    if rows is None or isinstance(rows, str | bytes | PathLike) or _are_paths(rows):
        raise DataError(f"rows must be a table [row, node] of codes, got {_shown(rows)}; {_reader(rows)}")
    refuse_other_tables(rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise DataError("rows must be a table [row, node]; these rows are not equally long") from None
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"rows must be a table [row, node] with at least one row and column, got {array.shape}")
    return array


def _are_paths(rows: object) -> bool:
    """Whether these are the paths of files or folders, each in a place of a list."""
    if not isinstance(rows, list | tuple) or not rows:
        return False
    is_named = all(isinstance(one, str | PathLike) for one in rows)
    return is_named and any(isinstance(one, PathLike) or _is_several(one) or path.exists(one) for one in rows)


def _is_several(text: str) -> bool:
    """Whether a text names many files: a folder, or a pattern."""
    return path.isdir(text) or (has_magic(text) and not path.exists(text))  # a Path raises where a text is no path


def _reader(rows: object) -> str:
    """What reads the files that were named."""
    if isinstance(rows, list | tuple):
        return "read several files with kgmi.stream([…])"
    if rows is None or isinstance(rows, bytes):
        return _READ_ONE
    text = fspath(rows)  # type: ignore[call-overload]
    if path.isfile(path.join(text, "record.json")):
        return f"this is a result: read it with kgmi.load({_shown(text)})"
    if _is_several(text):
        return f"read a folder or a pattern of files with kgmi.stream({_shown(text)})"
    if text.endswith(".counts"):
        return f"read a file of counts with kgmi.Counts.load({_shown(text)})"
    return f"{_READ_ONE}, or, where it may not fit into memory, with kgmi.stream(path)"


def _shown(rows: object) -> str:
    """What was given, cut off where it is long."""
    text = repr(rows)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


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
