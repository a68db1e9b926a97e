"""Which kind of source rows come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from kgmi.data.rows import refuse_other_tables
from kgmi.data.table import Table
from kgmi.errors import DataError
from kgmi.streams.fragment import Choice
from kgmi.streams.sources import Source

__all__ = ["open_source"]

_ELSEWHERE = {"dask": "kgmi.cluster.partitions"}
"""Rooms above this one that open what a package holds: here nothing is known about it."""


def open_source(source: Any, choice: Choice) -> Source:
    """The source of rows, whatever it is."""
    if isinstance(source, str | PathLike) or _are_paths(source):
        return _files(source, choice)
    one = source[0] if isinstance(source, list | tuple) and source else source
    if (room := _ELSEWHERE.get(type(one).__module__.partition(".")[0])) is not None:
        return import_module(room).open_partitions(source, choice)  # type: ignore[no-any-return]
    from kgmi.streams.batches import is_frame, is_lazy
    from kgmi.streams.memory import open_memory
    from kgmi.streams.passing import open_iterable, open_lazy, open_reader

    if isinstance(source, np.ndarray):
        return open_memory(source, choice)
    if isinstance(source, list | tuple):
        return open_iterable(source, choice) if source and _is_table(source[0]) else open_memory(source, choice)
    module = type(source).__module__
    if module.startswith("pyarrow._dataset") or module.startswith("pyarrow.dataset"):
        from kgmi.streams.datasets import open_dataset

        if type(source).__name__ == "Scanner":  # which columns and rows it reads is its own affair
            return open_reader(source.to_reader(), choice)
        return open_dataset(source, choice)
    if is_lazy(source):
        if module.startswith("polars"):
            return open_lazy(source, choice)
        if not hasattr(source, "__arrow_c_stream__"):
            raise DataError(f"a lazy {module.split('.')[0]} frame is not read in batches; write it as Parquet")
    elif is_frame(source):
        return open_memory(source, choice)
    if hasattr(source, "__arrow_c_stream__"):
        return open_reader(source, choice)
    refuse_other_tables(source)
    if not isinstance(source, Iterable) or isinstance(source, Table | bytes | set | Mapping):
        raise DataError(
            f"rows cannot be read from {type(source).__name__}; give a file, a folder, a data frame, an array, or "
            "an iterator of these"
        )
    return open_iterable(source, choice)


def _are_paths(source: object) -> bool:
    is_list = isinstance(source, list | tuple) and len(source) > 0
    return is_list and all(isinstance(one, str | PathLike) for one in source)  # type: ignore[attr-defined]


def _is_table(one: Any) -> bool:
    """Whether the first of a list is itself a table, so that the list is one of batches."""
    from kgmi.streams.batches import is_frame

    if isinstance(one, np.ndarray):
        return one.ndim == 2
    return hasattr(one, "__arrow_c_array__") or hasattr(one, "__arrow_c_stream__") or is_frame(one)


def _files(source: Any, choice: Choice) -> Source:
    from kgmi.streams.listing import find_files

    found = find_files(source)
    if found.kind == "Parquet":
        from kgmi.streams.parquet import open_parquet

        return open_parquet(found, choice)
    if found.kind == "Arrow":
        from kgmi.streams.ipc import open_arrow

        return open_arrow(found, choice)
    if found.kind == "text":
        from kgmi.streams.text import open_text

        return open_text(found, choice)
    from kgmi.streams.npy import open_npy

    return open_npy(found, choice)
