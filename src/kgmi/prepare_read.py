"""Tables of any kind as they are read, before it is known what their columns are."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.bins import as_floats, shown_number
from kgmi.cells import cells_of_series, is_missing
from kgmi.errors import DataError
from kgmi.graph.naming import quoted, shown_list
from kgmi.sources import DELIMITERS, TextFormat, ending_of, text_columns, whole_file
from kgmi.table import as_array, as_frame, default_names
from kgmi.types import Bools, Ints

__all__ = ["Column", "Sheet", "column_of", "read_sheet"]

Kind: TypeAlias = Literal["text", "number", "date", "declared", "other"]
"""Texts, numbers, dates, categories of a categorical type, or values that cannot be states."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of any kind, in which every different value is stored once.

    Attributes
    ----------
    name, kind
        Its name, and what its values are.
    index
        ``index[row]``: position in ``values``; -1 where the value is missing.
    values
        The different values: an increasing array of numbers, or an Arrow array of texts.
    declared
        The categories of a categorical type, in their order; None for all other types.
    gaps
        Texts that were read as missing values, and in how many rows.
    remarks
        Notes on how its values were read, to follow the name.
    is_first, is_chosen
        Whether it is the first column of the table, and whether the caller named it in ``columns``.
    """

    name: str
    kind: Kind
    index: Ints
    values: Any
    declared: tuple[str, ...] | None = None
    gaps: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    is_first: bool = False
    is_chosen: bool = False

    @cached_property
    def counts(self) -> Ints:
        """``counts[value]``: number of rows that have it."""
        found: Ints = np.bincount(self.index + 1, minlength=len(self.values) + 1)[1:]
        return found

    @cached_property
    def n_filled(self) -> int:
        """Number of rows that have a value."""
        return int(self.counts.sum())

    @cached_property
    def n_values(self) -> int:
        """Number of different values that occur."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        if not isinstance(self.values, np.ndarray):
            return [str(text) for text in self.values.to_pylist()]
        short = [str(n) if isinstance(n, int) else shown_number(n) for n in self.values.tolist()]
        return (
            short if len({*short}) == len(short) else [shown_number(n, in_full=True) for n in self.values.tolist()]
        )

    @property
    def occurring(self) -> dict[str, int]:
        """The texts that occur, and in how many rows."""
        return {text: int(count) for text, count in zip(self.texts, self.counts, strict=True) if count}

    def without(self, unwanted: Bools) -> Column:
        """Return the column with some of its values, marked by their position, read as missing."""
        places = np.flatnonzero(unwanted & (self.counts > 0))
        gone = {self.texts[place]: int(self.counts[place]) for place in places}
        index = np.where(np.append(unwanted, False)[self.index], -1, self.index)
        return replace(self, index=index, gaps={**self.gaps, **gone}) if gone else self


def column_of(name: str, cells: Any, missing: Collection[str]) -> Column:
    """Return a column of a :class:`Sheet`; texts among ``missing`` are missing values."""
    if isinstance(cells, np.ndarray):
        return _of_numbers(name, cells)
    if isinstance(cells, list):
        return _of_objects(name, cells, missing)
    return _of_series(name, cells, missing) if hasattr(cells, "dtype") else _of_texts(name, cells, missing)


def _of_numbers(name: str, numbers: Any) -> Column:
    """Return a column of numbers; NaN is missing, and so is infinity, which cannot be cut."""
    values, index = np.unique(numbers, return_inverse=True)
    finite = np.isfinite(values)
    places = np.where(finite, np.cumsum(finite) - 1, -1).astype(np.int64)
    return Column(name, "number", places[index], values[finite])


def _of_texts(name: str, arrow: Any, missing: Collection[str]) -> Column:
    """Return a column of texts (an Arrow array) without the spaces around them."""
    import pyarrow as pa
    from pyarrow import compute as pc

    encoded = arrow if pa.types.is_dictionary(arrow.type) else arrow.cast(pa.large_string()).dictionary_encode()
    trimmed = pc.utf8_trim_whitespace(encoded.dictionary.cast(pa.large_string())).dictionary_encode()
    index = np.append(_positions(trimmed.indices), -1)[_positions(encoded.indices)]
    values = trimmed.dictionary
    used = np.bincount(index + 1, minlength=len(values) + 1)[1:] > 0
    if not used.all():
        index, values = np.append(np.cumsum(used) - 1, -1)[index], values.filter(pa.array(used))
    gaps = pc.is_in(values, value_set=pa.array(sorted(missing), pa.large_string()))
    return Column(name, "text", index, values).without(gaps.to_numpy(zero_copy_only=False))


def _positions(indices: Any) -> Ints:
    """Return the positions of an Arrow dictionary array, -1 for a missing value."""
    import pyarrow as pa

    found: Any = indices.cast(pa.int64()).fill_null(-1)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _of_series(name: str, series: Any, missing: Collection[str]) -> Column:
    """Return a column of a data frame (a narwhals series)."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum):
        cells = cells_of_series(series, name)
        texts = [None if is_missing(value) else str(value) for value in cells.values]
        gaps = np.append([text is None for text in texts], True)[cells.index]
        index = np.where(gaps if cells.gaps is None else gaps | cells.gaps, -1, cells.index.astype(np.int64))
        values = pa.array([text or "" for text in texts], pa.large_string())
        if cells.declared is not None:
            return Column(name, "declared", index, values, cells.declared)
        return _of_texts(name, pa.DictionaryArray.from_arrays(pa.array(index, mask=index < 0), values), missing)
    if kind in (nw.Decimal, nw.Int128, nw.UInt128) or not (kind.is_numeric() or kind == nw.String):
        return _of_objects(name, series.to_list(), missing)
    arrow = series.to_arrow()
    arrow = arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow
    if kind == nw.String:
        return _of_texts(name, arrow, missing)
    filled = arrow.is_valid().to_numpy(zero_copy_only=False)  # whole numbers stay whole, however long
    made = _of_numbers(name, np.array(arrow.drop_null().to_numpy(zero_copy_only=False)))
    index = np.full(len(arrow), -1, dtype=np.int64)
    index[filled] = made.index
    return replace(made, index=index)


def _of_objects(name: str, cells: Sequence[Any], missing: Collection[str]) -> Column:
    """Return a column of Python objects in any mixture."""
    import pyarrow as pa

    present = [cell for cell in cells if not is_missing(cell)]
    if present and not any(isinstance(cell, bool | np.bool_) for cell in present):
        numbers = as_floats(list(cells))
        if numbers is not None:
            return _of_numbers(name, numbers)
    try:
        texts = {cell: _text(cell) for cell in dict.fromkeys(cells)}
    except TypeError:  # lists, dicts and the like are not hashable
        return Column(name, "other", np.zeros(len(cells), dtype=np.int64), np.array([0]))
    written = [texts[cell] for cell in cells]
    if not present or not all(_is_time(cell) for cell in present):
        return _of_texts(name, pa.array(written, pa.large_string()), missing)
    midnight = " 00:00:00"
    if all(text is None or text.endswith(midnight) for text in written):
        written = [None if text is None else text.removesuffix(midnight) for text in written]
    return replace(_of_texts(name, pa.array(written, pa.large_string()), missing), kind="date")


def _is_time(cell: Any) -> bool:
    return isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64) or hasattr(cell, "start_time")


def _text(cell: Any) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    return None if is_missing(cell) else shown_number(cell, in_full=True) if isinstance(cell, float) else str(cell)


# ---- tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read.

    Attributes
    ----------
    name
        What messages call it.
    names
        Names of the columns, made different where they were not.
    cells
        The columns: narwhals series, Arrow arrays of texts, arrays of numbers, or lists.
    notes
        What had to be done to read it, each in a sentence.
    header
        The first line of a text file, if it names the columns.
    comma
        Whether semicolons separate the columns, so that a comma is a decimal sign.
    """

    name: str
    names: tuple[str, ...]
    cells: Sequence[Any]
    notes: tuple[str, ...] = ()
    header: tuple[str, ...] | None = None
    comma: bool = False


def read_sheet(source: Any, header: bool) -> Sheet:
    """Return the columns of a file, given by its path, of a data frame, an array or lists."""
    if not isinstance(source, str | PathLike):
        return _from_memory(source, "the table")
    path = Path(source)
    content = whole_file(path)
    if isinstance(content, bytes):
        return _from_text(path, content, header)
    if not header:
        raise DataError(f"{path} is not a text file, so header=False (--no-header) means nothing")
    return _from_memory(content, str(path))


def _from_memory(source: Any, name: str) -> Sheet:
    frame = as_frame(source)
    if frame is not None:
        if 0 in frame.shape:
            n_rows, n_columns = frame.shape
            raise DataError(f"{name} has {n_rows} rows and {n_columns} columns; there is nothing to learn from")
        names, notes = _distinct([str(one).strip() for one in frame.columns])
        return Sheet(name, names, list(frame.iter_columns()), notes)
    array = as_array(source)
    names = default_names(array.shape[1])
    if array.dtype.kind not in "biuf" or isinstance(array, np.ma.MaskedArray):
        cells = np.ma.getdata(array).astype(object)  # a copy
        cells[np.ma.getmaskarray(array)] = None
        return Sheet(name, names, [column.tolist() for column in cells.T])
    numbers = array.astype(np.int8) if array.dtype.kind == "b" else array
    if np.fmin.reduce(numbers, axis=None) == -1 and (numbers == 0).any():  # without 0, -1 and 1 may be two states
        note = "-1 is read as a missing value: no other number is negative."
        return Sheet(name, names, list(np.where(numbers == -1, np.nan, numbers).T), (note,))
    return Sheet(name, names, list(numbers.T))


def _distinct(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a different name for every column, and a note on each name that was made."""
    made, notes = [name or f"column {place}" for place, name in enumerate(names, 1)], []
    often = Counter(made)
    for place, name in enumerate(made):
        number = 1 + made[:place].count(name) if often[name] > 1 else 1
        if number > 1:
            while f"{name}_{number}" in made:
                number += 1
            made[place] = f"{name}_{number}"
            new = quoted(made[place])
            notes.append(f"{often[name]} columns are named {quoted(name)}: column {place + 1} is called {new}.")
    return tuple(made), tuple(notes)


# ---- text files --------------------------------------------------------------------------------------------------

_SAMPLE = 1 << 16  # characters in which the delimiter is looked for
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_ENCODINGS = {"cp1252": "Windows (cp1252)", "utf-16": "UTF-16"}
_SEP_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)  # which spreadsheets put first
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?")
_YEAR = re.compile(r"(1[89]|20)\d\d")  # a column may well be called 2019


def _from_text(path: Path, content: bytes, header: bool) -> Sheet:
    text, encoding = _decoded(path, content)
    form, notes = _text_format(path, text, encoding)
    table = text_columns(path, text.encode() if encoding in _ENCODINGS else content, form)
    arrays = [one.combine_chunks() for one in table.columns]
    if content.count(b'"') % 2 and any("\n" in value for one in arrays for value in one.dictionary.to_pylist()):
        raise DataError(
            f"{path}: a value runs over the end of the line, and the file has an odd number of quotes; close the "
            "quote that is open, or take it out"
        )
    if not header:
        return Sheet(str(path), default_names(len(arrays)), arrays, tuple(notes), comma=form.delimiter == ";")
    written, arrays = tuple(one[0].as_py().strip() for one in arrays), [one[1:] for one in arrays]
    if not len(arrays[0]):
        raise DataError(f"{path} has a header but no rows")
    _check_header(path, written, arrays)
    names, renamed = _distinct(written)
    return Sheet(str(path), names, arrays, (*notes, *renamed), written, form.delimiter == ";")


def _decoded(path: Path, content: bytes) -> tuple[str, str]:
    """Return the text of a file, and its encoding: UTF-8, UTF-16 if it says so, or else that of Windows."""
    for encoding in ["utf-16"] if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, encoding
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(
            f"line {line} of {path} contains a NUL byte; the file is damaged or not UTF-8 text: save it as UTF-8"
        )
    raise DataError(f"{path} cannot be read: it is neither UTF-8 nor Windows text; is it a table at all?")


def _text_format(path: Path, text: str, encoding: str) -> tuple[TextFormat, list[str]]:
    """Return how a text file is written, and a note on each thing that its ending does not promise."""
    notes = [f"The file is read as {_ENCODINGS[encoding]} text: it is not UTF-8."] if encoding in _ENCODINGS else []
    every = text[:_SAMPLE].splitlines()
    filled = [place for place, line in enumerate(every) if line.strip()]
    lines = [every[place] for place in filled]
    told = _SEP_LINE.fullmatch(lines[0]) if lines else None
    first = 1 if told else next((n for n, line in enumerate(lines) if not line.lstrip().startswith("#")), 0)
    loose, usual = ending_of(path) not in DELIMITERS, DELIMITERS.get(ending_of(path), ",")
    delimiter = told[1] if told else _delimiter(lines[first:], usual, loose=loose, is_cut=len(text) > _SAMPLE)
    if loose or delimiter != usual:
        notes.append(f"The columns of the file are separated by {_MARKS.get(delimiter, repr(delimiter))}.")
    if first and not told and _width(lines[first - 1 : first + 1], delimiter):
        holds_data = any(_NUMBER.fullmatch(cell.strip()) for cell in lines[first].split(delimiter))
        first -= holds_data  # the last of the comment lines names the columns: #chrom,start
    if first and not told:
        which = "line begins with # and is" if first == 1 else f"{first} lines begin with # and are"
        notes.append(f"The first {which} not read.")
    skipped = filled[first] if 0 < first < len(filled) else first
    return TextFormat(delimiter, encoding, skipped, several_lines=True), notes


def _delimiter(lines: Sequence[str], usual: str, *, loose: bool, is_cut: bool) -> str:
    """Return the usual delimiter if every line has equally many columns with it; else another that does."""
    marks = [usual, *(mark for mark in ";\t,|" if mark != usual)]
    if loose or not any(mark in line for mark in marks for line in lines[:1]):
        marks.append(" ")
    whole = lines[:-1] if is_cut and len(lines) > 1 else lines  # the sample may end within a line
    widths = {mark: _width(whole, mark) for mark in marks}
    if usual == "," and widths[","] > 1 and widths[";"] > 1:
        cells = [cell for line in lines[1:] or lines for cell in line.split(";")]
        return ";" if all(_WITH_COMMA.fullmatch(cell) for cell in cells) else ","
    if max(widths.values()) <= 1:  # some line is broken: the first one decides, and the broken one will be named
        widths = {mark: _width(lines[:1], mark) for mark in marks}
    return usual if widths[usual] > 1 else max(marks, key=lambda mark: widths[mark])


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of columns of every line; 0 if it differs."""
    try:
        found = {len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells}
    except csv.Error:
        return 0
    return found.pop() if len(found) == 1 else 0


def _check_header(path: Path, names: Sequence[str], arrays: Sequence[Any]) -> None:
    """Refuse a first line that is data: every name is also a value, or most names are numbers."""
    import pyarrow as pa
    from pyarrow import compute as pc

    unseen, wanted = {*names}, pa.array(names, pa.large_string())
    for one in arrays:
        values = pc.utf8_trim_whitespace(one.dictionary.cast(pa.large_string()))
        used = values.take(one.indices.unique().drop_null())
        unseen.difference_update(used.filter(pc.is_in(used, value_set=wanted)).to_pylist())
    n_numbers = sum(_NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None for name in names)
    if not unseen or 2 * n_numbers >= max(2, len(names)):
        raise DataError(
            f"the first line of {path} looks like data ({shown_list(names[:8])}): if it is, say so with "
            "header=False (--no-header); if not, rename the columns"
        )
