"""Rows from files, folders, datasets, data frames, arrays and iterators, as batches of coded columns.

A :class:`Stream` has fragments, which can be read in any order and by several threads, in blocks of rows. Parquet,
Arrow and CSV files are read through PyArrow; columns and rows that are not needed are not unpacked. A file that
changes or vanishes while it is read is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.alphabets import Alphabet, Missing, Rules, listed, whole_number
from kgmi.errors import DataError, SettingError
from kgmi.sources.base import Choice, Stream
from kgmi.sources.files import DELIMITERS, File, Files, ending_of, find_files, kind_of
from kgmi.sources.memory import InMemory, open_batches, open_partitions
from kgmi.sources.text import TextFile
from kgmi.table import Table, as_frame, checked_names
from kgmi.types import Names

_SMALL_FILES = 1 << 25  # bytes of files that are read at once
_FRAGMENT_ROWS = 1 << 21  # about how many rows a fragment has


def stream(
    source: Any,
    *,
    columns: Names | None = None,
    where: Any = None,
    names: Names | None = None,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
    header: bool = True,
    fragment_rows: int | None = None,
) -> Stream:
    """Open rows from anywhere, to be read in pieces: files may be larger than memory.

    Cells mean what they mean to :func:`kgmi.table.as_table`.

    Parameters
    ----------
    source
        - A file (Parquet, Feather or Arrow, CSV or TSV, also with ``.gz``, ``.npy``), a folder of files of one
          kind, a pattern (``data/*.parquet``), or a list of these, with the same columns. Folders that are named
          like ``year=2020`` give one more column. Results of kgmi in a folder are not read.
        - A ``pyarrow.dataset.Dataset``, a ``RecordBatchReader`` or another stream of Arrow record batches.
        - A data frame (pandas, polars, PyArrow …), a lazy frame of polars, or an array [row, column].
        - A ``dask.dataframe``, a ``dask.array`` [row, column], or a list of delayed tables.
        - An iterator of arrays, data frames or record batches with the same columns, which can be read once.
    columns
        Which columns are read, in this order; by default all.
    where
        Which rows are read: a text such as ``"year >= 2020 and sex in f,m"``, or a list of (column, operator,
        value) that must all hold. A row without a value in such a column does not pass. In text files cells are
        compared as numbers where the value is one.
    names
        Other names for the columns that are read.
    states, n_states, missing, alphabet
        See :func:`kgmi.table.as_table`.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    fragment_rows
        About how many rows one thread or worker reads at a time; by default 2 million. Row groups of Parquet and
        text files are not divided.
    """
    rules = Rules(states, n_states, missing, alphabet)
    if isinstance(source, Stream):
        raise SettingError("this is a stream already; give what it was made of")
    chosen = None if columns is None else tuple(map(str, listed("columns", columns)))
    most = _FRAGMENT_ROWS if fragment_rows is None else whole_number("fragment_rows", fragment_rows, least=1)
    opened = _open(source, Choice(chosen, where, header, most))
    called = opened.columns if names is None else checked_names(names, len(opened.columns))
    return replace(opened, names=called, rules=rules)


def _open(source: Any, choice: Choice) -> Stream:
    """Return the stream of rows, whatever they are."""
    is_list = isinstance(source, list | tuple) and len(source) > 0
    if isinstance(source, str | PathLike) or (is_list and all(isinstance(one, str | PathLike) for one in source)):
        kind, paths, constants, description = find_files(source)
        return Files.opened(_open_files(kind, paths, constants, choice.header), choice, description)
    library, name = type(source[0] if is_list else source).__module__, type(source).__name__
    if library.partition(".")[0].startswith("dask"):
        return open_partitions(source, choice)
    if library.startswith("pyarrow._dataset"):
        if name in ("Scanner", "InMemoryDataset"):
            return open_batches((source if name == "Scanner" else source.scanner()).to_reader(), choice)
        if hasattr(source, "get_fragments"):
            from kgmi.sources.arrow import open_dataset

            return open_dataset(source, choice)
    if hasattr(source, "collect_batches"):  # a lazy frame of polars
        return open_batches(source, choice)
    if isinstance(source, np.ndarray) or (is_list and not _is_table(source[0])):
        return InMemory.opened(source, choice)
    if not is_list and hasattr(source, "__arrow_c_stream__") and not hasattr(source, "shape"):
        return open_batches(source, choice)
    if not is_list and as_frame(source) is not None:
        return InMemory.opened(source, choice)
    if (
        not isinstance(source, Iterable)
        or isinstance(source, Table | bytes | set | dict)
        or hasattr(source, "shape")
    ):
        raise DataError(
            f"rows cannot be read from {name}; give a file, a folder, a data frame, an array, or an iterator of "
            "these"
        )
    return open_batches(source, choice)


def _open_files(
    kind: str, paths: Sequence[Path], constants: Sequence[dict[str, Any]], header: bool
) -> tuple[File, ...]:
    """Look at files of a kind; all of them are kept in memory if they are small."""
    if kind in ("Parquet", "Arrow") and not header:
        raise DataError(f"{paths[0]}: its columns have names, so header=False (--no-header) means nothing")
    keep, made = sum(path.stat().st_size for path in paths) <= _SMALL_FILES, list[File]()
    for path, given in zip(map(str, paths), constants, strict=True):
        file: File
        if kind == "text":
            texts = {name: None if one is None else str(one) for name, one in given.items()}
            mark = DELIMITERS.get(ending_of(Path(path)), ",")
            file = TextFile(path, constants=texts, delimiter=mark, has_header=header)
        else:
            from kgmi.sources.arrow import FORMATS, ArrayFile, ArrowFile

            is_array = kind == "NumPy"
            file = ArrayFile(path, None, given) if is_array else ArrowFile(path, None, given, format=FORMATS[kind])
        made.append(file.look(keep=keep))
        file.check_kind(kind)
    return tuple(made)


def _is_table(one: Any) -> bool:
    """Return whether the first of a list is itself a table, so that the list is one of batches."""
    if isinstance(one, np.ndarray):
        return one.ndim == 2
    return hasattr(one, "__arrow_c_array__") or hasattr(one, "__arrow_c_stream__") or hasattr(one, "columns")


def read_table(path: str | PathLike[str], **options: Any) -> Table:
    """Read a table of discrete states from a file; ``options`` are those of :func:`stream`.

    Text is in UTF-8, blank lines are skipped, and spaces around names and values are not part of them. What pandas
    wrote for the index of a frame is no column.
    """
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; read it with kgmi.stream, or give a file in it")
    return stream(file, **options).table()


def open_file(path: Path, *, header: bool) -> File:
    """Look at a file; texts may have any ending."""
    return _open_files(kind_of(path, loose=True), (path,), ({},), header)[0]
