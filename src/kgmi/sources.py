"""Rows from files, folders, datasets, data frames, arrays and iterators, as batches of coded columns.

Every source hands out fragments, which can be read in any order and by several threads, and a fragment hands out
blocks of rows. Parquet, Arrow and CSV files are read through PyArrow; columns and rows that are not asked for are not
unpacked. A file that changes or vanishes while it is read is an error.
"""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob, has_magic
from hashlib import sha256
from itertools import accumulate, chain, pairwise
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from kgmi.cells import (
    PREPARE_ADVICE,
    Alphabet,
    Cells,
    ColumnCoder,
    Missing,
    Rules,
    Seen,
    cells_of_array,
    cells_of_arrow,
    cells_of_series,
    check_names,
    choose_alphabets,
    whole_number,
)
from kgmi.errors import DataError, KgmiError, SettingError, TooLargeError, first_line
from kgmi.memory import at_most, free_bytes, shown_bytes, thread_failures
from kgmi.outputs import is_ours, note_read
from kgmi.table import Table, as_frame, check_minus_one, checked_names, default_names, row_place
from kgmi.types import Codes, Names
from kgmi.where import Filter, read_filter, unknown_column

__all__ = ["Coded", "Fragment", "Source", "Stream", "TextFormat", "find_files", "open_text", "read_table", "stream"]

FRAGMENT_ROWS = 1 << 21
"""About how many rows a fragment has."""

_BLOCK_CELLS = 1 << 21  # cells in memory at a time; 16 MB with 64 bits each
_BLOCK_ROWS = 1 << 12, 1 << 18
_CELL_BYTES = 24  # of a cell with all its copies, from the file to its code
_TEXT_BLOCK = 1 << 22  # bytes of a text file that are parsed at a time
_SMALL_FILE = 1 << 24  # bytes of a text file that is read at once
_PROBE, _PROBES = 1 << 16, 64  # blocks of a file that its mark looks at

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of a text file, by its ending."""
LOOSE_TEXT = (".txt", ".dat", ".tab", ".psv", ".data", ".text")
"""Text files whose ending does not say what separates the columns."""
_ARROW = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_READ = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow or .npy"
_SAVE_SHEET = "save the sheet as CSV (UTF-8) in the program that made it, and give that file"
_STARTS = {  # first bytes of files that are often given a wrong name
    b"PAR1": "a Parquet file: name it .parquet",
    b"ARROW1": "an Arrow file: name it .arrow",
    b"FEA1": "a Feather file of the old version 1: write it again as version 2, or as Parquet",
    b"\x93NUMPY": "an array of NumPy: name it .npy",
    b"\x1f\x8b": "compressed with gzip: name it .csv.gz or .tsv.gz",
    b"PK\x03\x04": f"a spreadsheet or a zip archive: {_SAVE_SHEET}",
    b"\xd0\xcf\x11\xe0": f"an old spreadsheet: {_SAVE_SHEET}",
    b"%PDF": "a PDF document: give the table itself, as CSV",
}

Block: TypeAlias = tuple[list[Cells], int]
"""Some rows: their columns, and how many rows they are."""
Form: TypeAlias = Literal["text", "typed", "array"]
"""How cells are read; see :class:`kgmi.cells.ColumnCoder`."""


@dataclass(frozen=True)
class Fragment:
    """A piece of a source that is read by itself.

    Attributes
    ----------
    number
        Its place in the source.
    label
        What messages call it.
    mark
        Fingerprint of its rows; empty where it is known only after reading.
    n_rows
        Number of rows, where it is known before reading and no filter is set.
    file
        Number of its file.
    pieces
        Which row groups or rows of the file; empty: all of it.
    """

    number: int
    label: str
    mark: str = ""
    n_rows: int | None = None
    file: int = 0
    pieces: tuple[int, ...] = ()


class Source(Protocol):
    """Where rows come from; made for one choice of columns and rows."""

    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    rereadable: bool

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment, in blocks that fit into memory."""
        ...

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a row of the fragment, counted from 0, and a column are."""
        ...

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files behind it, and their paths; a copy of a file has the same one."""
        ...


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
        row = 0
        for cells, n_rows in self.source.read(fragment):
            codes = [coder.code(one, row) for coder, one in zip(coders, cells, strict=True)]
            row += n_rows
            if mark is not None:
                for one, column in zip(mark, codes, strict=True):
                    one.update(column.astype("<i4").tobytes())
            columns = np.stack(codes) if len({one.dtype for one in codes}) == 1 else np.array(codes)
            yield Coded(columns, tuple(coder.seen for coder in coders))
        check_minus_one(coders, self.rules)
        if mark is not None:
            texts = tuple(coder.seen.texts for coder in coders)
            hashes = tuple(one.hexdigest() for one in mark)
            found = _hashed("rows", fragment.number, self.source.columns, texts, hashes)
            if self._marks.setdefault(fragment.number, found) != found:
                raise DataError(
                    f"{self.description} gave other rows than when it was read before ({fragment.label}); write it to "
                    "a file and give that"
                )

    def mark_of(self, fragment: Fragment) -> str:
        """Return the mark of a fragment; where it was not known before, that of the rows that were read."""
        return fragment.mark or self._marks[fragment.number]

    def table(self) -> Table:
        """Read all rows into memory."""
        n_cells = (self.n_rows or 0) * len(self.names)
        free = free_bytes()
        if free is not None and 2 * n_cells > free:
            raise TooLargeError(
                f"{self.description} has {self.n_rows:,} rows of {len(self.names):,} columns, about "
                f"{shown_bytes(2 * n_cells)} of memory, and {shown_bytes(free)} are free; read a part of it, or count it"
            )
        seen: tuple[Seen, ...] = (Seen(),) * len(self.names)
        batches: list[Coded] = []
        for fragment in self.fragments:
            for batch in self.batches(fragment):
                batches.append(batch)
                seen = seen if batch.seen == seen else joined_seen(seen, batch.seen)
        if not batches:
            raise DataError(no_rows(self))
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
        - A file (Parquet, Feather or Arrow, CSV or TSV, also with ``.gz``, ``.npy``), a folder of files of one kind, a
          pattern (``data/*.parquet``), or a list of these. All files have the same columns; folders that are named like
          ``year=2020`` give one more column. Results of kgmi in a folder are not read.
        - A ``pyarrow.dataset.Dataset``, a ``RecordBatchReader`` or anything else that hands out Arrow record batches.
        - A data frame (pandas, polars, PyArrow …) or an array [row, column]; a lazy frame of polars.
        - A ``dask.dataframe``, a ``dask.array`` [row, column], or a list of delayed tables.
        - An iterator of arrays, data frames or record batches with the same columns, which can be read once.
    columns
        Which columns are read, in this order; by default all.
    where
        Which rows are read: a text such as ``"year >= 2020 and sex in f,m"``, a list of (column, operator, value) that
        must all hold, or a ``pyarrow.compute.Expression``. A row without a value in such a column does not pass. In
        text files cells are compared as numbers where the value is one.
    names
        Other names for the columns that are read.
    states, n_states, missing, alphabet
        See :func:`kgmi.table.as_table`.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    fragment_rows
        About how many rows a fragment, which one thread or worker reads at a time, should have; by default 2 million.
        Row groups of Parquet and text files are not divided.
    """
    rules = Rules(states, n_states, missing, alphabet)
    if isinstance(source, Stream):
        raise SettingError("this is a stream already; give what it was made of")
    if isinstance(columns, str) or (columns is not None and not isinstance(columns, Iterable)):
        raise SettingError(f"columns must be a list of names, got {columns!r}")
    most = FRAGMENT_ROWS if fragment_rows is None else whole_number("fragment_rows", fragment_rows)
    if most < 1:
        raise SettingError(f"fragment_rows must be at least 1, got {most}")
    choice = _Choice(None if columns is None else tuple(columns), where, header, most)
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
        ``.npy`` with whole numbers [row, column]. In text, blank lines are skipped, and spaces around names and values
        are not part of them. What pandas wrote for the index of a frame is no column.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    states, n_states, missing, alphabet
        See :func:`kgmi.table.as_table`.
    """
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; read it with kgmi.stream, or give a file in it")
    return stream(file, header=header, states=states, n_states=n_states, missing=missing, alphabet=alphabet).table()


@dataclass(frozen=True)
class _Choice:
    """What of a source is read."""

    columns: tuple[str, ...] | None
    where: Any
    header: bool
    fragment_rows: int

    def select(self, schema: Any, *, is_text: bool = False) -> tuple[tuple[str, ...], Filter | None]:
        """Return the columns that are read, and the filter, for the columns of an Arrow schema."""
        where = read_filter(self.where, schema, is_text=is_text)
        if self.columns is None:
            return tuple(schema.names), where
        if not self.columns:
            raise SettingError("columns: name at least one column")
        for place, name in enumerate(self.columns):
            if name not in schema.names:
                raise unknown_column(name, schema.names, "columns")
            if name in self.columns[:place]:
                raise SettingError(f"columns: {name!r} is named twice")
        return self.columns, where


def _open(source: Any, choice: _Choice) -> Source:
    """Return the source of rows, whatever it is."""
    is_list = isinstance(source, list | tuple) and len(source) > 0
    if isinstance(source, str | PathLike) or (is_list and all(isinstance(one, str | PathLike) for one in source)):
        kind, paths, base, description = find_files(source)
        if kind == "text":
            return _TextFiles.opened(paths, choice, description)
        if kind == "NumPy":
            return _ArrayFiles.opened(paths, choice, description)
        return _Dataset.of_files(kind, paths, base, choice, description)
    if _is_dask(source[0] if is_list else source):
        from kgmi.counts.partitions import open_partitions

        return open_partitions(source, choice)
    module = type(source).__module__
    if module.startswith("pyarrow._dataset"):
        if type(source).__name__ == "Scanner":  # which columns and rows it reads is its own affair
            return _reader(source.to_reader(), choice)
        return _Dataset.of_dataset(source, choice)
    if module.startswith("polars") and type(source).__name__ == "LazyFrame":
        return _lazy_frame(source, choice)
    if isinstance(source, np.ndarray) or (is_list and not _is_table(source[0])):
        return _InMemory.opened(source, choice)
    if not is_list and hasattr(source, "__arrow_c_stream__") and not hasattr(source, "shape"):
        return _reader(source, choice)
    if not is_list and as_frame(source) is not None:
        return _InMemory.opened(source, choice)
    if not isinstance(source, Iterable) or isinstance(source, Table | bytes | set | dict):
        raise DataError(
            f"rows cannot be read from {type(source).__name__}; give a file, a folder, a data frame, an array, or an "
            "iterator of these"
        )
    return _batches(source, choice)


def _is_dask(source: Any) -> bool:
    return type(source).__module__.partition(".")[0].startswith("dask")


def _is_table(one: Any) -> bool:
    """Return whether the first of a list is itself a table, so that the list is one of batches."""
    if isinstance(one, np.ndarray):
        return one.ndim == 2
    return hasattr(one, "__arrow_c_array__") or hasattr(one, "__arrow_c_stream__") or hasattr(one, "columns")


def block_rows(n_columns: int) -> int:
    """Return how many rows are in memory at a time."""
    least, most = _BLOCK_ROWS
    usual = max(least, min(most, _BLOCK_CELLS // max(1, n_columns)))
    return at_most(usual, _CELL_BYTES * max(1, n_columns))


# ---- files: which ones, and whether they stay what they were -------------------------------------------------------


def find_files(source: Any) -> tuple[str, tuple[Path, ...], Path, str]:
    """Return the kind of the files behind a path, a folder, a pattern or a list of these; the files; the folder from
    which names of folders are columns; and what messages call them."""
    given = [source] if isinstance(source, str | PathLike) else list(source)
    listed: list[tuple[Path, Path]] = []
    for one in given:
        try:
            listed += _expanded(fspath(one))
        except OSError as error:
            raise DataError(f"{one} cannot be read ({error.strerror}); give another path") from None
    files: dict[object, Path] = {}
    kinds: dict[str, Path] = {}
    for path, _ in listed:
        _check_file(path)
        status = path.stat()
        identity = (status.st_dev, status.st_ino) if status.st_ino else path.resolve()
        if identity in files:
            raise DataError(
                f"{path} and {files[identity]} are the same file, so that its rows would count twice; leave one out"
            )
        files[identity] = path
        kinds.setdefault(_kind_of(path) or _refuse(path), path)
    if len(kinds) > 1:
        shown = " and ".join(f"{kind} ({path})" for kind, path in kinds.items())
        raise DataError(f"the files are of several kinds: {shown}; give a pattern for one kind: 'data/*.parquet'")
    kind, paths = next(iter(kinds)), tuple(path for path, _ in listed)
    where = ", ".join(str(one) for one in given[:3]) + (" …" if len(given) > 3 else "")
    description = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} {kind} files ({where})"
    return kind, paths, listed[0][1], description


def _expanded(text: str) -> list[tuple[Path, Path]]:
    """Return the files of one path, folder or pattern, each with the folder below which names of folders count."""
    path = Path(text)
    if not text or "\0" in text or "://" in text:
        raise DataError(
            f"{text!r} is no path of a file or folder; give a pyarrow.dataset.Dataset of what lies elsewhere"
        )
    if path.is_dir():
        hidden = (".", "_")  # also notes of other programs, such as _SUCCESS and _metadata
        every = (file for file in sorted(path.rglob("*")) if file.is_file())
        visible = [file for file in every if not any(p.startswith(hidden) for p in file.relative_to(path).parts)]
        found = [file for file in visible if _kind_of(file) and not _is_result(file)]
        if not found:
            raise DataError(
                f"there are no tables (.parquet, .arrow, .feather, .csv, .tsv, .npy) in the folder {text}"
            )
        return [(file, path) for file in found]
    if has_magic(text) and not path.exists():
        fixed = [part for part in path.parts if not has_magic(part)]
        first = next(place for place, part in enumerate(path.parts) if has_magic(part))
        files = [Path(file) for file in sorted(glob(text, recursive=True)) if Path(file).is_file()]
        if not files:
            raise DataError(f"no file matches {text}")
        return [(file, Path(*fixed[:first])) for file in files]
    return [(path, path.parent)]


def _is_result(path: Path) -> bool:
    """Return whether this is the list of edges of a result, which may lie beside the data."""
    return path.name == "edges.csv" and is_ours(path, "edges")


def ending_of(path: Path) -> str:
    """Return the ending that says how a file is read; ``.gz`` is skipped behind that of a text file."""
    ending = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return inner if ending == ".gz" and (inner in DELIMITERS or inner in LOOSE_TEXT) else ending


def _kind_of(path: Path) -> str | None:
    ending = ending_of(path)
    if ending in _ARROW:
        return "Parquet" if ending in (".parquet", ".pq") else "Arrow"
    return "text" if ending in DELIMITERS else "NumPy" if ending == ".npy" else None


def _check_file(path: Path) -> None:
    """Refuse what is no file, and an empty one; note that it is read, so that no output replaces it."""
    if str(path) in ("-", "/dev/stdin") or (path.exists() and not path.is_file()):
        raise DataError(f"{path}: standard input, pipes and devices are not read; give a file")
    if not path.is_file():
        raise DataError(f"there is no file{'' if path.suffix else ' or folder'} {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    note_read(path)


def _refuse(path: Path) -> str:
    ending = ending_of(path)
    if ending in (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"):
        raise DataError(f"{path} is a spreadsheet, which is not read; {_SAVE_SHEET}")
    hint = f"name it .csv or .tsv, {PREPARE_ADVICE}" if ending in LOOSE_TEXT else "write the table as one of these"
    raise DataError(f"{path} is not a {_READ} file; {hint}")


def check_start(path: Path, start: bytes) -> None:
    """Refuse a text file that starts like a file of another kind."""
    for mark, what in _STARTS.items():
        if start.startswith(mark) and not (mark == b"\x1f\x8b" and path.suffix.lower() == ".gz"):
            raise DataError(f"{path} is not text but {what}")


def _hashed(*parts: Any) -> str:
    return sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class _Held:
    """A file as it was when the source was opened."""

    path: Path
    size: int
    written: int
    mark: str

    @classmethod
    def of(cls, path: Path, content: bytes | None = None) -> _Held:
        """Look at a file: all of 4 MB; of a larger one its end and 64 blocks of 64 KB."""
        status = path.stat()
        if content is not None:
            return cls(path, status.st_size, status.st_mtime_ns, f"{status.st_size}-{sha256(content).hexdigest()}")
        size, seen = status.st_size, sha256()
        with path.open("rb") as stream:
            if size <= _PROBE * _PROBES:
                seen.update(stream.read())
            else:
                for start in (*range(0, size, size // _PROBES), size - _PROBE):
                    stream.seek(start)
                    seen.update(stream.read(_PROBE))
        return cls(path, size, status.st_mtime_ns, f"{size}-{seen.hexdigest()}")

    def check_unchanged(self) -> None:
        """Refuse a file that changed since."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise _gone(self.path) from None
        if (status.st_size, status.st_mtime_ns) != (self.size, self.written):
            raise DataError(
                f"{self.path} changed while it was read, so that its rows cannot be trusted; wait until it is complete "
                "and start again"
            )


def _gone(path: object) -> DataError:
    return DataError(f"{path} is gone: it was there when the files were listed; start again")


@contextmanager
def _read_errors(what: object, held: _Held | None = None) -> Iterator[None]:
    """Turn errors of readers into errors that name the file; one that changed is refused for that."""
    import pyarrow as pa

    try:
        with thread_failures():
            yield
    except MemoryError:
        raise TooLargeError(
            f"{what} holds a piece that does not fit into memory; write it in smaller pieces"
        ) from None
    except FileNotFoundError:
        raise _gone(what) from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, NotImplementedError) as error:
        if held is not None:
            held.check_unchanged()
        if isinstance(error, KgmiError):
            raise
        raise DataError(
            f"{what} cannot be read, it may be damaged or cut off: {first_line(error)}; write it again"
        ) from None


@dataclass(eq=False)
class _Files:
    """What sources in files have in common."""

    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    held: tuple[_Held, ...]
    rereadable: bool = field(default=True, init=False)

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns that have to be read."""
        return tuple(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files, and their paths."""
        used = sorted({fragment.file for fragment in self.fragments})
        return {self.held[number].mark: str(self.held[number].path) for number in reversed(used)}

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = " of those that pass the filter" if self.filter is not None else ""
        return lambda row, name: f"{fragment.label}: row {row}{which}, column '{name}'"


def _fragment_marks(held: Sequence[_Held]) -> list[str]:
    """Return marks that tell equal files apart: a file that is there twice counts twice."""
    before: Counter[str] = Counter()
    marks = []
    for one in held:
        marks.append(_hashed(one.mark, before[one.mark]))
        before[one.mark] += 1
    return marks


# ---- Parquet and Arrow files, and datasets of PyArrow --------------------------------------------------------------


@dataclass(eq=False)
class _Dataset(_Files):
    """Files with typed columns, through ``pyarrow.dataset``."""

    parts: tuple[Any, ...] = ()
    schema: Any = None
    undeclared: frozenset[str] = frozenset()

    @classmethod
    def of_files(
        cls, kind: str, paths: tuple[Path, ...], base: Path, choice: _Choice, description: str
    ) -> _Dataset:
        """Open Parquet or Arrow files."""
        from pyarrow import dataset

        if not choice.header:
            raise DataError(f"{paths[0]}: its columns have names, so header=False (--no-header) means nothing")
        held = []
        for path in paths:
            with _read_errors(path), path.open("rb") as stream:
                start = stream.read(8)
            _check_kind(path, start, kind)
            with _read_errors(path):
                held.append(_Held.of(path))
        layout = dataset.HivePartitioning.discover(infer_dictionary=False)
        with _read_errors(description):
            made = dataset.dataset(
                [str(path) for path in paths],
                format="parquet" if kind == "Parquet" else "ipc",
                partitioning=layout,
                partition_base_dir=str(base),
            )
        return cls._opened(made, tuple(held), choice, description)

    @classmethod
    def of_dataset(cls, source: Any, choice: _Choice) -> _Dataset:
        """Open a dataset of PyArrow, which may lie anywhere that PyArrow can reach."""
        try:
            n_files = sum(1 for _ in source.get_fragments())
        except ValueError:
            raise DataError(
                "this dataset was filtered or projected before; give it as it was opened, with the filter as where=… and "
                "the columns as columns=…"
            ) from None
        return cls._opened(source, None, choice, f"a dataset of {n_files:,} files")

    @classmethod
    def _opened(cls, source: Any, held: tuple[_Held, ...] | None, choice: _Choice, description: str) -> _Dataset:
        import pyarrow as pa

        index = _pandas_index(source.schema)
        schema = pa.schema([one for one in source.schema if one.name not in index])
        if not schema.names:
            raise DataError(f"{description} has no columns")
        check_names(description, schema.names)
        columns, where = choice.select(schema)
        for name in columns:
            cells_of_arrow(pa.nulls(0, schema.field(name).type), name, row_place)  # types that hold no states
        with _read_errors(description):
            every = tuple(source.get_fragments())
            kept = {
                _path_of(one) for one in source.get_fragments(filter=None if where is None else where.expression)
            }
        if held is None:
            held = tuple(_held_elsewhere(part) for part in every)
        made = cls("typed", columns, where, (), description, held, every, schema)
        for part in every:
            with _read_errors(_path_of(part) or description):
                made._check_part(part, _path_of(every[0]), choice)
        plain = (one.name for part in every for one in part.physical_schema if not _declares(one))
        made.undeclared = frozenset((*plain, *(n for part in every for n in _constants(part))))
        made.fragments = tuple(made._cut(choice.fragment_rows, kept))
        made.rereadable = all(map(_path_of, every))
        return made

    def _check_part(self, part: Any, first: str, choice: _Choice) -> None:
        """Refuse a file that lacks a column, has one more where all are read, or one of another type."""
        path, own, constants = _path_of(part), part.physical_schema, _constants(part)
        lacking = next((name for name in self.needed if name not in own.names and name not in constants), None)
        if lacking is not None:
            raise DataError(
                f"{path} has no column {lacking!r}, which {first} has; write all files with the same columns"
            )
        known = {*self.schema.names, *_pandas_index(own)}
        if choice.columns is None and (further := [name for name in own.names if name not in known]):
            raise DataError(
                f"{path} has a column {further[0]!r} that {first} does not have; say with columns=… (--columns) which "
                "are meant"
            )
        for name in self.needed:
            if name in own.names and name not in constants:
                mine, theirs = _family(own.field(name).type), _family(self.schema.field(name).type)
                if mine != theirs and "null" not in (mine, theirs):
                    raise DataError(
                        f"{path}: column '{name}' holds {mine}, in {first} it holds {theirs}; write the files "
                        "with the same types"
                    )

    def _cut(self, most: int, kept: set[str]) -> Iterator[Fragment]:
        """Cut the files in fragments: neighbouring row groups of Parquet up to so many rows, other files whole."""
        text = "" if self.filter is None else self.filter.text
        marks, number = _fragment_marks(self.held), 0
        for file, part in enumerate(self.parts):
            label = _path_of(part) or f"part {file} of {self.description}"
            if _path_of(part) not in kept:
                continue
            constants = tuple(sorted((name, one) for name, one in _constants(part).items() if name in self.needed))
            for pieces, n_rows in self._pieces(part, most, label):
                mark = _hashed(marks[file], constants, pieces, self.columns, text) if self.held[file].mark else ""
                shown = (
                    label
                    if len(pieces) < 2 or not hasattr(part, "row_groups")
                    else f"{label} (row groups {pieces})"
                )
                yield Fragment(number, shown, mark, n_rows if self.filter is None else None, file, pieces)
                number += 1

    def _pieces(self, part: Any, most: int, label: str) -> list[tuple[tuple[int, ...], int | None]]:
        if not hasattr(part, "row_groups"):
            return [((), None)]
        with _read_errors(label):
            sizes = [part.metadata.row_group(n).num_rows for n in range(part.metadata.num_row_groups)]
            kept = list(range(len(sizes)))
            if self.filter is not None:
                fewer = part.subset(filter=self.filter.expression, schema=self.schema)
                kept = [group.id for group in fewer.row_groups]
        ends = list(accumulate(sizes, initial=0))
        groups: list[list[int]] = []
        for number in (number for number in kept if sizes[number]):
            if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
                groups[-1].append(number)
            else:
                groups.append([number])
        return [(tuple(group), ends[group[-1] + 1] - ends[group[0]]) for group in groups]

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        part, held = self.parts[fragment.file], self.held[fragment.file]
        constants, n_rows = _constants(part), 0
        with _read_errors(fragment.label, held if held.path.name else None):
            for batch in self._batches(part, fragment, [name for name in self.needed if name not in constants]):
                batch.validate()
                n_rows += batch.num_rows
                yield from self._blocks(batch, constants, fragment.label)
        if held.path.name:
            held.check_unchanged()
        if fragment.n_rows is not None and n_rows != fragment.n_rows:
            raise DataError(
                f"{fragment.label} gave {n_rows:,} rows where {fragment.n_rows:,} were announced; the file is damaged: "
                "write it again"
            )

    def _batches(self, part: Any, fragment: Fragment, names: list[str]) -> Iterator[Any]:
        from pyarrow import parquet

        size = block_rows(len(self.needed))
        if not fragment.pieces:
            stored = names or [part.physical_schema.names[0]]
            yield from part.to_batches(
                columns=stored, batch_size=size, use_threads=False, batch_readahead=1, fragment_readahead=1
            )
            return
        # A block of rows at a time: PyArrow's datasets would unpack a whole row group. No memory map: a file that is
        # cut off meanwhile would end the process.
        with part.open() as stream:
            reader = parquet.ParquetFile(
                stream,
                read_dictionary=[name for name in names if not _declares(part.physical_schema.field(name))],
                buffer_size=1 << 20,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            # One thread: the caller has threads of its own, each with a fragment.
            yield from reader.iter_batches(size, row_groups=list(fragment.pieces), columns=names, use_threads=False)

    def _blocks(self, batch: Any, constants: dict[str, Any], label: str) -> Iterator[Block]:
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        if self.filter is not None:
            for name in (name for name in self.filter.columns if name in constants):
                kind = self.schema.field(name).type
                table = table.append_column(name, pa.repeat(pa.scalar(constants[name], kind), batch.num_rows))
            casts = [pa.field(n, self.schema.field(n).type) for n in table.column_names if n in self.schema.names]
            plain = table.cast(pa.schema(casts)) if self.filter.columns else table
            table = self.filter.passing(plain)
        for start in range(0, table.num_rows, most := block_rows(len(self.columns))):
            part = table.slice(start, most).combine_chunks()
            yield [self._cells(part, name, constants, label) for name in self.columns], part.num_rows

    def _cells(self, table: Any, name: str, constants: dict[str, Any], label: str) -> Cells:
        if name in constants:
            return Cells(np.zeros(table.num_rows, dtype=np.int8), [constants[name]])
        column = table.column(name)
        array = column.chunk(0) if column.num_chunks else column.combine_chunks()
        return cells_of_arrow(array, name, row_place, declares=name not in self.undeclared)

    def __getstate__(self) -> dict[str, Any]:
        parts = tuple(_sent(part) for part in self.parts)
        return self.__dict__ | {"held": tuple(_absolute(one) for one in self.held), "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = (one[0].make_fragment(*one[1:]) if isinstance(one, tuple) else one for one in state["parts"])
        self.__dict__.update(state, parts=tuple(parts))


def _sent(part: Any) -> Any:
    """Return what a part is made of, with its whole path; to be pickled itself it would open its file every time."""
    path, system = _path_of(part), getattr(part, "filesystem", None)
    if not path:
        return part
    is_local = system is not None and system.type_name == "local"
    return part.format, str(Path(path).absolute()) if is_local else path, system, part.partition_expression


def _absolute(held: _Held) -> _Held:
    return held if not held.path.name else _Held(held.path.absolute(), held.size, held.written, held.mark)


def _check_kind(path: Path, start: bytes, kind: str) -> None:
    """Refuse a file that does not start as its ending says."""
    if start[:4] == b"FEA1":
        raise DataError(f"{path} is {_STARTS[b'FEA1']}")
    fits = start[:4] == b"PAR1" if kind == "Parquet" else start[:6] == b"ARROW1"
    if not fits:
        stream = " (a saved Arrow stream is read with pyarrow.ipc.open_stream)" if start[:4] == b"\xff" * 4 else ""
        raise DataError(f"{path} does not start like a {kind} file{stream}; if it is text, name it .csv or .tsv")


def _pandas_index(schema: Any) -> set[str]:
    """Return the columns that pandas wrote for the index of a frame."""
    import json

    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return {name for name in index if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()


def _declares(one: Any) -> bool:
    """Return whether the type of a column lists its categories; those of polars are shared by all columns."""
    from pyarrow import types

    return bool(types.is_dictionary(one.type)) and not any(
        key.startswith(b"_PL_CATEGORICAL") for key in one.metadata or {}
    )


def _family(kind: Any) -> str:
    """Return what values of a type are; files may differ in how wide their numbers are."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "texts"
    return "truth values" if types.is_boolean(kind) else str(kind)


def _path_of(part: Any) -> str:
    return str(getattr(part, "path", ""))


def _constants(part: Any) -> dict[str, Any]:
    """Return columns that are the same in all rows of a file, by the names of its folders."""
    from pyarrow import dataset

    return dict(dataset.get_partition_keys(part.partition_expression))


def _held_elsewhere(part: Any) -> _Held:
    """Return the mark of a file that may lie anywhere: its size, its time, and both of its ends."""
    path = _path_of(part)
    if not path:
        return _Held(Path(), 0, 0, "")
    with _read_errors(path):
        info = part.filesystem.get_file_info(path)
        with part.filesystem.open_input_file(path) as stream:
            size = stream.size()
            first = stream.read(_PROBE)
            stream.seek(max(0, size - _PROBE))
            seen = sha256(first + stream.read(_PROBE)).hexdigest()
    is_local = Path(path).is_file() and Path(path).stat().st_size == size
    return _Held(Path(path) if is_local else Path(), size, info.mtime_ns or 0, f"{size}-{seen}")


# ---- text files ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written.

    Attributes
    ----------
    delimiter
        What separates the columns.
    encoding
        How its bytes are letters; ``utf-8-sig`` is UTF-8 with or without a byte order mark.
    skipped
        Lines before the first that is read.
    several_lines
        Whether a value in quotes may run over the end of a line.
    """

    delimiter: str
    encoding: str = "utf-8-sig"
    skipped: int = 0
    several_lines: bool = False


def open_text(file: Any, form: TextFormat, header: bool, columns: Sequence[str] | None = None) -> Any:
    """Open a text file as a reader of Arrow batches, in which every column is text.

    ``file`` is a path or the bytes of a file; ``columns`` are the names of those that are read, by default all.
    """
    import pyarrow as pa
    from pyarrow import csv

    source = pa.BufferReader(file) if isinstance(file, bytes) else str(file)
    if isinstance(file, bytes) and file[:2] == b"\x1f\x8b":
        source = pa.CompressedInputStream(source, "gzip")
    named = {} if columns is None else {name: pa.dictionary(pa.int32(), pa.string()) for name in columns}
    return csv.open_csv(
        source,
        read_options=csv.ReadOptions(
            autogenerate_column_names=not header,
            skip_rows=form.skipped,
            encoding="utf8" if form.encoding == "utf-8-sig" else form.encoding,
            block_size=_TEXT_BLOCK,
            use_threads=False,
        ),
        parse_options=csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=form.several_lines),
        convert_options=csv.ConvertOptions(
            column_types=named, include_columns=list(named) or None, strings_can_be_null=False
        ),
    )


@dataclass(eq=False)
class _TextFiles(_Files):
    """CSV and TSV files; each is one fragment, because only its start says where a line begins."""

    has_header: bool = True
    own_names: tuple[tuple[str, ...], ...] = ()
    _content: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def opened(cls, paths: tuple[Path, ...], choice: _Choice, description: str) -> _TextFiles:
        """Open text files; the first lines are read, and small files as a whole."""
        import pyarrow as pa

        contents, held, names = {}, [], []
        for number, path in enumerate(paths):
            content = None
            with _read_errors(path):
                if path.stat().st_size <= _SMALL_FILE and len(paths) * _SMALL_FILE <= 1 << 28:
                    content = contents[number] = path.read_bytes()
                with path.open("rb") if content is None else _nothing() as stream:
                    check_start(path, content[:8] if stream is None and content is not None else stream.read(8))
                held.append(_Held.of(path, content))
            names.append(_text_names(path, content, choice.header))
        shown = [tuple(n.strip() for n in own) if choice.header else default_names(len(own)) for own in names]
        for path, own in zip(paths, shown, strict=True):
            check_names(path, own, header=choice.header)
        columns, where = choice.select(pa.schema([(name, pa.string()) for name in shown[0]]), is_text=True)
        made = cls("text", columns, where, (), description, tuple(held), choice.header, tuple(names), contents)
        for path, own in zip(paths, shown, strict=True):
            lacking = next((name for name in made.needed if name not in own), None)
            further = next((name for name in own if name not in shown[0]), None)
            if lacking is not None or (further is not None and choice.columns is None):
                problem = f"no column {lacking!r}, which" if lacking is not None else f"a column {further!r} that"
                has = "has" if lacking is not None else "does not have"
                raise DataError(
                    f"{path} has {problem} {paths[0]} {has}; give tables with the same columns, or say with "
                    "columns=… (--columns) which are meant"
                )
        marks, text = _fragment_marks(held), "" if where is None else where.text
        made.fragments = tuple(
            Fragment(number, str(path), _hashed(mark, columns, text, choice.header), None, number)
            for number, (path, mark) in enumerate(zip(paths, marks, strict=True))
        )
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a file."""
        import pyarrow as pa

        held, own = self.held[fragment.file], self.own_names[fragment.file]
        shown = [name.strip() for name in own] if self.has_header else list(default_names(len(own)))
        wanted = [own[shown.index(name)] for name in self.needed]
        source, form = self._content.get(fragment.file, held.path), _format_of(held.path)
        try:
            with _read_errors(held.path, held), open_text(source, form, self.has_header, wanted) as reader:
                for batch in reader:
                    table = pa.Table.from_batches([batch.rename_columns(list(self.needed))])
                    yield from self._blocks(table)
        except DataError as error:
            raise _text_error(held.path, form, str(error)) or error from None
        held.check_unchanged()

    def _blocks(self, table: Any) -> Iterator[Block]:
        table = table if self.filter is None else self.filter.passing(table)
        for start in range(0, table.num_rows, most := block_rows(len(self.columns))):
            part = table.slice(start, most).combine_chunks()
            columns = (part.column(name) for name in self.columns)
            chunks = [one.chunk(0) if one.num_chunks else one.combine_chunks() for one in columns]
            cells = [cells_of_arrow(one, "", row_place, declares=False) for one in chunks]
            yield cells, part.num_rows

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is: its line, where that can be found."""
        path = self.held[fragment.file].path
        if self.filter is not None:
            return super().place(fragment)

        def place(row: int, name: str) -> str:
            line = line_of(path, _format_of(path), row + self.has_header)
            return f"line {line} of {path} (row {row + 1}), column '{name}'"

        return place

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_content": {}, "held": tuple(_absolute(one) for one in self.held)}


@contextmanager
def _nothing() -> Iterator[Any]:
    yield None


def _format_of(path: Path) -> TextFormat:
    return TextFormat(DELIMITERS[ending_of(path)])


def _text_names(path: Path, content: bytes | None, header: bool) -> tuple[str, ...]:
    """Return the names of the columns as the file has them, or those that PyArrow makes up without a header."""
    import pyarrow as pa

    form = _format_of(path)
    try:
        with thread_failures(), open_text(content or path, form, header) as reader:
            names = tuple(reader.schema.names)
            first = names[0] if header else str(next(iter(reader.read_next_batch().column(0).to_pylist()), ""))
    except (pa.ArrowException, UnicodeError, OSError, EOFError, StopIteration) as error:
        problem = _text_error(path, form, first_line(error))
        raise problem or DataError(f"{path} cannot be read: {first_line(error)}") from None
    other = next((mark for mark in ";\t," if mark != form.delimiter and mark in first), None)
    if len(names) == 1 and other is not None:
        shown = "a tab" if other == "\t" else repr(other)
        advice = "name a tab-separated file .tsv" if form.delimiter == "," else "name a comma-separated file .csv"
        raise DataError(
            f"{path} has one column only, and its first line contains {shown}: {advice}, {PREPARE_ADVICE}"
        )
    if harmed := next((name for name in names if "\0" in name), None):
        raise DataError(f"{path}: the name {harmed!r} contains a NUL byte; save the file as UTF-8 text")
    return names


def _text_error(path: Path, form: TextFormat, reason: str) -> DataError | None:
    """Return the error on a text file that PyArrow cannot read; the line is looked for in a second pass."""
    if "columns" in reason or "multiple lines" in reason:
        return _broken_line(path, form)
    if "Empty CSV" in reason:
        return DataError(f"{path} has no rows")
    if "UTF" in reason.upper():
        return DataError(f"{path} cannot be read: it is not UTF-8 text; save it as UTF-8, {PREPARE_ADVICE}")
    return None


def _broken_line(path: Path, form: TextFormat) -> DataError | None:
    """Return the error on the first line with too few or too many values, or with a quote that is not closed."""
    expected, remark = 0, False
    for line, values in _records(path, form):
        if not expected:
            expected, remark = len(values), values[0].lstrip().startswith("#")
        start = form.delimiter.join(values)[:60]
        if "\0" in start:  # every other byte of UTF-16
            return DataError(f"{path} cannot be read: it is not UTF-8 text")
        if len(values) != expected:
            hint = f"; lines that begin with # are no table: take them out, {PREPARE_ADVICE}" if remark else ""
            return DataError(
                f"line {line} of {path} has {len(values)} values where {expected} are expected: {start!r}{hint}"
            )
        if any("\n" in value for value in values):
            return DataError(
                f"line {line} of {path} has a value of several lines: {start!r}; is a quote not closed?"
            )
    return None


def line_of(path: Path, form: TextFormat, record: int) -> int:
    """Return the line, from 1, of the ``record``-th line (from 0) that is not blank, after the skipped ones."""
    records = enumerate(_records(path, form))
    return next((line for number, (line, _) in records if number == record), form.skipped + record + 1)


def _records(path: Path, form: TextFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and values of every line that is not blank; slow, for messages only."""
    import csv

    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding=form.encoding, errors="replace", newline="") as stream:
        for _ in range(form.skipped):
            next(stream, None)
        reader, last = csv.reader(stream, delimiter=form.delimiter), form.skipped
        try:
            for values in reader:
                if values:
                    yield last + 1, values
                last = form.skipped + reader.line_num
        except csv.Error as error:
            raise DataError(f"line {last + 1} of {path} has no end ({error}); is a quote not closed?") from None


# ---- arrays in files -----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _ArrayFiles(_Files):
    """Files of ``numpy.save``, read in ranges of rows."""

    shapes: tuple[tuple[tuple[int, int], bool, str, int], ...] = ()  # shape, by column, type, first byte

    @classmethod
    def opened(cls, paths: tuple[Path, ...], choice: _Choice, description: str) -> _ArrayFiles:
        """Open array files; their headers are read."""
        import pyarrow as pa

        shapes, held = [], []
        for path in paths:
            with _read_errors(path):
                shapes.append(npy_header(path))
                held.append(_Held.of(path))
            if shapes[-1][0][1] != shapes[0][0][1]:
                raise DataError(
                    f"{path} has {shapes[-1][0][1]} columns, {paths[0]} has {shapes[0][0][1]}; give arrays "
                    "with the same columns"
                )
        names = default_names(shapes[0][0][1])
        kind = pa.from_numpy_dtype(np.dtype(shapes[0][2]).newbyteorder("="))
        columns, where = choice.select(pa.schema([(name, kind) for name in names]))
        marks, text, made = _fragment_marks(held), "" if where is None else where.text, []
        for file, (path, (shape, *_)) in enumerate(zip(paths, shapes, strict=True)):
            n_parts = -(-shape[0] // choice.fragment_rows)
            for first, last in pairwise(shape[0] * part // n_parts for part in range(n_parts + 1)):
                mark = _hashed(marks[file], (first, last), columns, text)
                label = str(path) if n_parts == 1 else f"{path}, rows {first:,} to {last - 1:,}"
                known = last - first if where is None else None
                made.append(Fragment(len(made), label, mark, known, file, (first, last)))
        return cls("array", columns, where, tuple(made), description, tuple(held), tuple(shapes))

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield some rows; read, not mapped, so that a file that is cut off meanwhile is an error."""
        held, (shape, by_column, dtype, start) = self.held[fragment.file], self.shapes[fragment.file]
        names, size = default_names(shape[1]), np.dtype(dtype).itemsize
        with _read_errors(held.path, held), held.path.open("rb") as stream:
            first, last = fragment.pieces
            for row in range(first, last, most := block_rows(shape[1])):
                n_rows = min(most, last - row)
                block = np.empty((n_rows, shape[1]), dtype=dtype, order="F" if by_column else "C")
                for number, line in enumerate(block.T if by_column else block[None]):
                    stream.seek(start + size * (number * shape[0] + row if by_column else row * shape[1]))
                    data = stream.read(line.nbytes)
                    if len(data) < line.nbytes:
                        raise EOFError("it ends before its last row")
                    line[...] = np.frombuffer(data, dtype=dtype).reshape(line.shape)
                yield from _array_blocks(block, names, self.columns, self.filter)
        held.check_unchanged()

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        path, first = self.held[fragment.file].path, fragment.pieces[0]
        if self.filter is not None:
            return super().place(fragment)
        return lambda row, name: f"{path}: row {first + row}, column '{name}'"


def npy_header(path: Path) -> tuple[tuple[int, int], bool, str, int]:
    """Return shape, whether columns are stored one after the other, type and first byte of a ``.npy`` file."""
    from tokenize import TokenError

    try:
        with path.open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            if version > (2, 0):
                raise ValueError("it has named fields")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, dtype = read(stream)
            start = stream.tell()
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, TokenError) as error:
        raise DataError(f"{path} cannot be read as a .npy array: {first_line(error)}; save whole numbers") from None
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"{path}: rows must be a table [row, node] with at least one row and column, got {shape}")
    if dtype.hasobject or dtype.kind not in "iubf":
        raise DataError(f"{path} cannot be read as a .npy array: it is of type {dtype}; save whole numbers")
    claimed, held = prod(shape) * int(dtype.itemsize), path.stat().st_size - start
    if claimed != held:
        raise DataError(
            f"{path}: its header announces {claimed:,} bytes of values, but {held:,} follow; write it again"
        )
    return (int(shape[0]), int(shape[1])), bool(by_column), dtype.str, start


def _array_blocks(
    array: Any, names: Sequence[str], columns: Sequence[str], where: Filter | None
) -> Iterator[Block]:
    import pyarrow as pa

    for start in range(0, len(array), most := block_rows(array.shape[1])):
        block = array[start : start + most]
        if where is not None:
            content = {name: pa.array(block[:, names.index(name)].tolist()) for name in where.columns}
            number = pa.array(np.arange(len(block)))
            rows = where.passing(pa.table({**content, "row number of kgmi": number})).column("row number of kgmi")
            block = block[rows.to_numpy()]
        if len(block):
            yield [cells_of_array(block[:, names.index(name)], name, row_place) for name in columns], len(block)


# ---- tables in memory, and rows that come by -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Batch:
    """A table in memory: an array, or a data frame that narwhals knows."""

    rows: Any
    names: tuple[str, ...]
    form: Form

    @classmethod
    def of(cls, rows: Any) -> _Batch:
        """Take a table of any kind."""
        import pyarrow as pa

        if isinstance(rows, pa.RecordBatch):
            rows = pa.Table.from_batches([rows])
        frame = as_frame(rows)
        if frame is not None:
            names = tuple(str(name) for name in frame.columns)
            if not names:
                raise DataError("rows must be a table [row, node] with at least one row and column, got no column")
            check_names("the table", names)
            return cls(frame, names, "typed")
        if isinstance(rows, list | tuple):
            array = np.asarray(rows)
            rows = np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] == 0:
            raise DataError(
                "rows must come as arrays [row, column], data frames, or Arrow tables or record batches, got "
                f"{type(rows).__name__}{rows.shape if isinstance(rows, np.ndarray) else ''}"
            )
        return cls(rows, default_names(rows.shape[1]), "array")

    @property
    def schema(self) -> Any:
        """The types by which columns are filtered."""
        import pyarrow as pa

        head = self.part(0, 1)
        if self.form == "typed":
            return pa.schema([(name, one.type) for name, one in zip(self.names, head._arrow(), strict=True)])
        return pa.schema([(n, pa.array(head.rows[:, k].tolist()).type) for k, n in enumerate(self.names)])

    def _arrow(self) -> list[Any]:
        import pyarrow as pa

        made = (series.to_arrow() for series in self.rows.iter_columns())
        return [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in made]

    def part(self, first: int, last: int) -> _Batch:
        """Return some of the rows."""
        return _Batch(self.rows[first:last], self.names, self.form)

    def blocks(self, columns: Sequence[str], where: Filter | None) -> Iterator[Block]:
        """Yield these columns, of the rows that pass, in blocks."""
        import pyarrow as pa

        if self.form == "array":
            yield from _array_blocks(self.rows, self.names, columns, where)
            return
        for start in range(0, len(self.rows), most := block_rows(len(columns))):
            block = self.rows[start : start + most]
            series = dict(zip(self.names, block.iter_columns(), strict=True))
            rows = None
            if where is not None:
                content = {name: series[name].to_arrow() for name in where.columns}
                table = pa.table({**content, "row number of kgmi": pa.array(np.arange(len(block)))})
                rows = where.passing(table).column("row number of kgmi").to_numpy()
            cells = [cells_of_series(series[name], name, row_place) for name in columns]
            if rows is None:
                yield cells, len(block)
            elif len(rows):
                yield [one.taken(rows) for one in cells], len(rows)


@dataclass(eq=False)
class _InMemory:
    """A table in memory; its fragments are ranges of rows, so that threads can share them."""

    batch: _Batch
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    rereadable: bool = True

    @classmethod
    def opened(cls, source: Any, choice: _Choice) -> _InMemory:
        """Take a table in memory."""
        batch = _Batch.of(source)
        n_rows = len(batch.rows)
        if n_rows == 0:
            raise DataError(f"rows must be a table [row, node] with at least one row, got (0, {len(batch.names)})")
        columns, where = choice.select(batch.schema if choice.where is not None else _names_only(batch.names))
        n_parts = -(-n_rows // choice.fragment_rows)
        ranges = list(pairwise(n_rows * part // n_parts for part in range(n_parts + 1)))
        fragments = tuple(
            Fragment(k, f"rows {first:,} to {last - 1:,}", "", None if where else last - first, 0, (first, last))
            for k, (first, last) in enumerate(ranges)
        )
        return cls(batch, columns, where, fragments, f"the table of {n_rows:,} rows")

    @property
    def form(self) -> Form:
        """How cells are read."""
        return self.batch.form

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        return self.batch.part(*fragment.pieces).blocks(self.columns, self.filter)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        first = fragment.pieces[0]
        if self.filter is None:
            return lambda row, name: row_place(first + row, name)
        return lambda row, name: f"row {row} of those from row {first} that pass the filter, column '{name}'"


def _names_only(names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.null()) for name in names])


@dataclass(eq=False)
class Passing:
    """Batches that come one after the other; all of them are one fragment."""

    begin: Callable[[], Iterable[Any]]
    model: _Batch
    columns: tuple[str, ...]
    filter: Filter | None
    every: bool
    description: str
    rereadable: bool
    is_taken: bool = field(default=False, init=False)

    @property
    def form(self) -> Form:
        """How cells are read."""
        return self.model.form

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All rows."""
        return (Fragment(0, self.description),)

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows."""
        if self.is_taken and not self.rereadable:
            raise DataError(f"{self.description} can be read once only, and it was; give files, or the source anew")
        self.is_taken = True
        for number, rows in enumerate(self.begin()):
            batch = _Batch.of(rows)
            self._check(batch, number)
            yield from batch.blocks(self.columns, self.filter)

    def _check(self, batch: _Batch, number: int) -> None:
        """Refuse a batch with other columns than the first, or whose cells are read in another way."""
        where = f"batch {number} of {self.description}"
        if batch.form != self.form:
            raise DataError(f"{where} is of another kind than the first batch; give all in one form")
        needed = (*self.columns, *(() if self.filter is None else self.filter.columns))
        lacking = next((name for name in needed if name not in batch.names), None)
        further = next((name for name in batch.names if name not in self.model.names), None)
        if lacking is not None:
            raise DataError(f"{where} has no column {lacking!r}, which the first batch has")
        if further is not None and self.every:
            raise DataError(f"{where} has a column {further!r} that the first batch does not have; say columns=…")

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = "" if self.filter is None else " of those that pass the filter"
        return lambda row, name: f"row {row}{which}, column '{name}'"

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def passing(begin: Any, model: _Batch, choice: _Choice, description: str, *, rereadable: bool) -> Passing:
    """Return batches as a source; ``model`` has their columns."""
    columns, where = choice.select(model.schema if choice.where is not None else _names_only(model.names))
    return Passing(begin, model.part(0, 0), columns, where, choice.columns is None, description, rereadable)


def _batches(source: Iterable[Any], choice: _Choice) -> Passing:
    """Take arrays, data frames or record batches that an iterator hands out, or a list that has them."""
    once = isinstance(source, Iterator)
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        raise DataError("the iterator hands out no batch, so there are no rows")
    description = f"the {'iterator' if once else 'list'} of batches ({type(source).__name__})"
    begin = (lambda: chain([first], rows)) if once else (lambda: source)
    return passing(begin, _Batch.of(first), choice, description, rereadable=not once)


def _reader(source: Any, choice: _Choice) -> Passing:
    """Take anything that hands out Arrow record batches."""
    import pyarrow as pa

    description = f"the record-batch reader ({type(source).__name__})"
    with _read_errors(description):
        reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
        model = _Batch.of(reader.schema.empty_table())

    def begin() -> Iterator[Any]:
        with _read_errors(description):
            yield from reader

    return passing(begin, model, choice, description, rereadable=False)


def _lazy_frame(frame: Any, choice: _Choice) -> Passing:
    """Take a lazy data frame of polars, computed in batches; only the needed columns are asked for."""
    import polars as pl

    if not hasattr(frame, "collect_batches"):
        raise DataError(
            f"polars {pl.__version__} cannot hand out a lazy frame in batches; update it, or write the frame with "
            "sink_parquet and give that file"
        )

    @contextmanager
    def computed() -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None

    with computed():
        model = _Batch.of(frame.head(0).collect())
    found = passing(lambda: (), model, choice, "the lazy frame", rereadable=True)
    needed = dict.fromkeys((*found.columns, *(() if found.filter is None else found.filter.columns)))
    lean = frame.select(list(needed))

    def begin() -> Iterator[Any]:
        with computed():
            yield from lean.collect_batches(chunk_size=block_rows(len(needed)), maintain_order=True)

    found.begin, found.every = begin, False
    return found
