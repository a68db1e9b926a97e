"""Streams: rows from files, folders, datasets, data frames, arrays and iterators, as batches of coded columns."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.alphabets import Alphabet, Missing, Rules, Seen, choose_alphabets, whole_number
from kgmi.cells import ColumnCoder
from kgmi.errors import DataError, SettingError, TooLargeError, first_line
from kgmi.memory import free_bytes, shown_bytes
from kgmi.sources.arrow import check_kind, declares, open_arrow_files, open_dataset, pandas_index, part_of
from kgmi.sources.base import FRAGMENT_ROWS, Choice, Fragment, Source
from kgmi.sources.found import (
    DELIMITERS,
    LOOSE_TEXT,
    Held,
    check_file,
    check_start,
    ending_of,
    find_files,
    hashed,
    kind_of,
    read_errors,
    refuse,
)
from kgmi.sources.memory import ArrayFiles, InMemory, npy_header, open_batches, open_lazy_frame, open_reader
from kgmi.sources.text import TextFiles
from kgmi.table import Table, as_frame, checked_names
from kgmi.types import Codes, Names

__all__ = [
    "Coded",
    "Stream",
    "header_of",
    "joined_seen",
    "no_rows",
    "read_table",
    "recode_maps",
    "recoded",
    "stream",
    "whole_file",
]


@dataclass(frozen=True, eq=False)
class Coded:
    """Some rows as codes.

    Attributes
    ----------
    columns
        [column, row] codes in the order in which values were met; -1 where the value is missing.
    seen
        What the codes of each column mean; later batches of the same fragment may know more states.
    """

    columns: Codes
    seen: tuple[Seen, ...]


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows that are read piece by piece; made by :func:`stream`.

    Attributes
    ----------
    names
        The columns that are read, in their order.
    rules
        How cells become codes.
    source
        Where the rows come from.
    """

    names: tuple[str, ...]
    rules: Rules
    source: Source
    _marks: dict[int, str] = field(default_factory=dict, repr=False)

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The pieces; they can be read in any order, and several at a time."""
        return self.source.fragments

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known before reading."""
        counts = [fragment.n_rows for fragment in self.fragments]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def n_bytes(self) -> int:
        """Size of the files behind it; 0 where there are none."""
        return sum(one.size for one in getattr(self.source, "held", ()))

    @property
    def is_packed(self) -> bool:
        """Whether a file takes much more memory than its size: all files but plain text."""
        return any(one.path.suffix.lower() not in DELIMITERS for one in getattr(self.source, "held", ()))

    @property
    def where(self) -> str:
        """Which rows are read, in words; empty: all."""
        return "" if self.source.filter is None else self.source.filter.text

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read more than once."""
        return self.source.rereadable

    @property
    def description(self) -> str:
        """What messages call it."""
        return self.source.description

    def batches(self, fragment: Fragment) -> Iterator[Coded]:
        """Yield the rows of a fragment as codes."""
        place, form = self.source.place(fragment), self.source.form
        coders = [ColumnCoder(name, self.rules, form, place) for name in self.names]
        mark = None if fragment.mark else [sha256() for _ in coders]
        row = fragment.first
        for cells, n_rows in self.source.read(fragment):
            codes = [coder.code(one, row) for coder, one in zip(coders, cells, strict=True)]
            row += n_rows
            if mark is not None:
                for one, column in zip(mark, codes, strict=True):
                    one.update(column.astype("<i4").tobytes())
            columns = np.stack(codes) if len({one.dtype for one in codes}) == 1 else np.array(codes)
            yield Coded(columns, tuple(coder.seen for coder in coders))
        if mark is not None:
            texts = tuple(coder.seen.texts for coder in coders)
            hashes = tuple(one.hexdigest() for one in mark)
            found = hashed("rows", fragment.number, self.source.columns, texts, hashes)
            if self._marks.setdefault(fragment.number, found) != found:
                raise DataError(
                    f"{self.description} gave other rows than when it was read before ({fragment.label}); write it "
                    "to a file and give that"
                )

    def mark_of(self, fragment: Fragment) -> str:
        """Return the mark of a fragment; where it was not known before, that of the rows that were read."""
        if not fragment.mark and fragment.number not in self._marks:
            raise DataError(f"{fragment.label} was not read yet, so that there is no mark of its rows")
        return fragment.mark or self._marks[fragment.number]

    def table(self) -> Table:
        """Read all rows into memory."""
        n_cells = (self.n_rows or 0) * len(self.names)
        free = free_bytes()
        if free is not None and 2 * n_cells > free:
            raise TooLargeError(
                f"{self.description} has {self.n_rows:,} rows of {len(self.names):,} columns, about "
                f"{shown_bytes(2 * n_cells)} of memory, and {shown_bytes(free)} are free; read a part of it, or "
                "count it"
            )
        return self.joined([batch for fragment in self.fragments for batch in self.batches(fragment)])

    def joined(self, batches: Sequence[Coded]) -> Table:
        """Return some batches as one table."""
        if not batches:
            raise DataError(no_rows(self))
        seen = batches[0].seen
        for batch in batches[1:]:
            seen = seen if batch.seen == seen else joined_seen(seen, batch.seen)
        filled = np.sum([(batch.columns >= 0).sum(axis=1) for batch in batches], axis=0)
        found = choose_alphabets(seen, self.names, self.rules, filled.tolist(), header=header_of(self))
        parts = [found.coded(recoded(batch, seen)) for batch in batches]
        codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return Table(codes, self.names, found.states, found.own, found.gap)


def joined_seen(seen: Sequence[Seen], other: Sequence[Seen]) -> tuple[Seen, ...]:
    """Return what was seen in both."""
    return tuple(mine.joined(theirs) for mine, theirs in zip(seen, other, strict=True))


def recode_maps(old: Sequence[Seen], new: Sequence[Seen]) -> list[Codes | None]:
    """Return for each column the new code of every old one, with -1 at the end; None where they are the same."""
    maps: list[Codes | None] = []
    for before, after in zip(old, new, strict=True):
        if before.texts == after.texts[: len(before.texts)]:
            maps.append(None)
            continue
        number = {text: code for code, text in enumerate(after.texts)}
        maps.append(np.array([*(number[text] for text in before.texts), -1]))
    return maps


def recoded(batch: Coded, seen: Sequence[Seen]) -> list[Codes]:
    """Return the columns of a batch in the codes of what was seen everywhere."""
    pairs = zip(batch.columns, recode_maps(batch.seen, seen), strict=True)
    return [codes if new is None else new[codes] for codes, new in pairs]


def header_of(stream: Stream) -> tuple[str, ...] | None:
    """Return the names that were read from the first line of a text file; None for all other sources."""
    return stream.source.columns if getattr(stream.source, "has_header", False) else None


def no_rows(stream: Stream) -> str:
    """Return what is wrong with a stream without rows."""
    return f"there are no rows{' that pass the filter' if stream.where else ''} in {stream.description}"


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
          kind, a pattern (``data/*.parquet``), or a list of these. All files have the same columns; folders that
          are named like ``year=2020`` give one more column. Results of kgmi in a folder are not read.
        - A ``pyarrow.dataset.Dataset``, a ``RecordBatchReader`` or anything else that yields Arrow record
          batches.
        - A data frame (pandas, polars, PyArrow …) or an array [row, column]; a lazy frame of polars.
        - A ``dask.dataframe``, a ``dask.array`` [row, column], or a list of delayed tables.
        - An iterator of arrays, data frames or record batches with the same columns, which can be read once.
    columns
        Which columns are read, in this order; by default all.
    where
        Which rows are read: a text such as ``"year >= 2020 and sex in f,m"``, a list of (column, operator, value)
        that must all hold, or a ``pyarrow.compute.Expression``. A row without a value in such a column does not
        pass. In text files cells are compared as numbers where the value is one.
    names
        Other names for the columns that are read.
    states, n_states, missing, alphabet
        See :func:`kgmi.table.as_table`.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    fragment_rows
        About how many rows a fragment, which one thread or worker reads at a time, should have; by default 2
        million. Row groups of Parquet and text files are not divided.
    """
    rules = Rules(states, n_states, missing, alphabet)
    if isinstance(source, Stream):
        raise SettingError("this is a stream already; give what it was made of")
    if isinstance(columns, str) or (columns is not None and not isinstance(columns, Iterable)):
        raise SettingError(f"columns must be a list of names, got {columns!r}")
    most = FRAGMENT_ROWS if fragment_rows is None else whole_number("fragment_rows", fragment_rows)
    if most < 1:
        raise SettingError(f"fragment_rows must be at least 1, got {most}")
    choice = Choice(None if columns is None else tuple(columns), where, header, most)
    opened = _open(source, choice)
    return Stream(opened.columns if names is None else checked_names(names, len(opened.columns)), rules, opened)


def read_table(
    path: str | PathLike[str],
    *,
    header: bool = True,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
) -> Table:
    """Read a table of discrete states from a file.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv`` (also with ``.gz``) in UTF-8; ``.parquet``, ``.feather``, ``.arrow`` or ``.ipc``; or
        ``.npy`` with whole numbers [row, column]. In text, blank lines are skipped, and spaces around names and
        values are not part of them. What pandas wrote for the index of a frame is no column.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    states, n_states, missing, alphabet
        See :func:`kgmi.table.as_table`.
    """
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; read it with kgmi.stream, or give a file in it")
    return stream(file, header=header, states=states, n_states=n_states, missing=missing, alphabet=alphabet).table()


def whole_file(path: Path) -> Any:
    """Return a file as it is: an Arrow table, an array, or the bytes of a text file, unpacked."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file in it")
    check_file(path)
    kind = "text" if ending_of(path) in LOOSE_TEXT else kind_of(path) or refuse(path)
    held = Held.of(path, keep=True)
    if kind == "NumPy":
        npy_header(held)
        with read_errors(path), held.open() as stream:
            return np.load(stream, allow_pickle=False)
    if kind == "text":
        content = held.content or b""
        check_start(path, content[:8])
        try:
            return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be read: {first_line(error)}") from None
    check_kind(held, kind)
    with read_errors(path):
        table = part_of(held, kind).to_table()
        table = table.drop_columns(sorted(pandas_index(table.schema) & {*table.column_names}))
        for number, one in enumerate(table.schema):
            if hasattr(one.type, "value_type") and hasattr(one.type, "ordered") and not declares(one):
                table = table.set_column(number, one.name, table.column(number).cast(one.type.value_type))
        return table


def _open(source: Any, choice: Choice) -> Source:
    """Return the source of rows, whatever it is."""
    is_list = isinstance(source, list | tuple) and len(source) > 0
    if isinstance(source, str | PathLike) or (is_list and all(isinstance(one, str | PathLike) for one in source)):
        kind, paths, constants, description = find_files(source)
        if kind == "text":
            return TextFiles.opened(paths, constants, choice, description)
        if kind == "NumPy":
            return ArrayFiles.opened(paths, constants, choice, description)
        return open_arrow_files(kind, paths, constants, choice, description)
    if _is_dask(source[0] if is_list else source):
        from kgmi.sources.partitions import open_partitions

        return open_partitions(source, choice)
    module = type(source).__module__
    if module.startswith("pyarrow._dataset"):
        if hasattr(source, "to_reader"):  # a scanner, which has its own choice of columns and rows
            return open_reader(source.to_reader(), choice)
        if hasattr(source, "get_fragments"):
            return open_dataset(source, choice)
    if module.startswith("polars") and type(source).__name__ == "LazyFrame":
        return open_lazy_frame(source, choice)
    if isinstance(source, np.ndarray) or (is_list and not _is_table(source[0])):
        return InMemory.opened(source, choice)
    if not is_list and hasattr(source, "__arrow_c_stream__") and not hasattr(source, "shape"):
        return open_reader(source, choice)
    if not is_list and as_frame(source) is not None:
        return InMemory.opened(source, choice)
    if not isinstance(source, Iterable) or isinstance(source, Table | bytes | set | dict):
        raise DataError(
            f"rows cannot be read from {type(source).__name__}; give a file, a folder, a data frame, an array, or "
            "an iterator of these"
        )
    return open_batches(source, choice)


def _is_dask(source: Any) -> bool:
    return type(source).__module__.partition(".")[0].startswith("dask")


def _is_table(one: Any) -> bool:
    """Return whether the first of a list is itself a table, so that the list is one of batches."""
    if isinstance(one, np.ndarray):
        return one.ndim == 2
    return hasattr(one, "__arrow_c_array__") or hasattr(one, "__arrow_c_stream__") or hasattr(one, "columns")
