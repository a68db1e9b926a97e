"""Tables of any kind as cells, before it is known what their columns are."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.cells import Cells, cells_of_array, cells_of_arrow, cells_of_objects, cells_of_series
from kgmi.errors import DataError
from kgmi.graph.naming import quoted, shown_list
from kgmi.sources import DELIMITERS, TextFormat, ending_of, text_columns, whole_file
from kgmi.table import as_array, as_frame, default_names

__all__ = ["Sheet", "read_sheet"]

_SAMPLE = 1 << 16  # first characters or rows that are looked at
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_ENCODINGS = {"cp1252": "Windows (cp1252)", "utf-16": "UTF-16"}
_SEP_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)  # which spreadsheets put first
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?")
_YEAR = re.compile(r"(1[89]|20)\d\d")  # a column may well be called 2019


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read."""

    name: str  # what messages call it
    names: tuple[str, ...]  # of the columns, made different where they were not
    cells: Sequence[Cells]  # of each column; dates, lists and others that are no states are among them
    notes: tuple[str, ...] = ()  # what had to be done to read it, each in a sentence
    comma: bool = False  # whether semicolons separate the columns, so that a comma is a decimal sign


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
        columns = zip(frame.iter_columns(), names, strict=True)
        return Sheet(name, names, [_cells(cells_of_series, *one) for one in columns], notes)
    array, notes = as_array(source), ()
    if array.dtype.kind in "iuf":
        numbers = np.ma.masked_invalid(array)
        if numbers.min() == -1 and (numbers == 0).any():  # without 0, -1 and 1 may be two states
            array, notes = (
                np.ma.masked_equal(array, -1),
                ("-1 is read as a missing value: no other number is negative.",),
            )
    names = default_names(array.shape[1])
    return Sheet(name, names, [_cells(cells_of_array, *one) for one in zip(array.T, names, strict=True)], notes)


def _cells(read: Any, column: Any, name: str) -> Cells:
    """Return a column as cells; one of a type that holds no states too."""
    try:
        made: Cells = read(column, name)
    except DataError:
        return cells_of_objects(column.tolist() if isinstance(column, np.ndarray) else column.to_list())
    return made


def _distinct(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a different name for every column, and a note on each name that was made."""
    made, notes = list[str](), []
    for place, name in enumerate(names, 1):
        made.append(name or f"column {place}")
        if made.count(made[-1]) > 1:
            number = next(n for n in count(2) if f"{name}_{n}" not in (*names, *made))
            made[-1] = f"{name}_{number}"
            notes.append(
                f"Column {place} is named {quoted(name)} like another one, and is called {quoted(made[-1])}."
            )
    return tuple(made), tuple(notes)


def _from_text(path: Path, content: bytes, header: bool) -> Sheet:
    text, encoding = _decoded(path, content)
    form, notes = _text_format(path, text, encoding)
    table = text_columns(path, text.encode() if encoding in _ENCODINGS else content, form)
    names, comma = default_names(table.num_columns), form.delimiter == ";"
    cells = [
        cells_of_arrow(one.combine_chunks(), name, declares=False)
        for one, name in zip(table.columns, names, strict=True)
    ]
    if content.count(b'"') % 2 and any("\n" in value for one in cells for value in one.values):
        raise DataError(
            f"{path}: a value runs over the end of the line, and the file has an odd number of quotes; close the "
            "quote that is open, or take it out"
        )
    if not header:
        return Sheet(str(path), names, cells, tuple(notes), comma)
    if len(table) < 2:
        raise DataError(f"{path} has a header but no rows")
    written = [one.values[one.index[0]].strip() for one in cells]
    cells = [one.taken(np.arange(1, len(table))) for one in cells]
    _check_header(path, written, cells)
    names, renamed = _distinct(written)
    return Sheet(str(path), names, cells, (*notes, *renamed), comma)


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
    if first and not told:
        if _width(lines[first - 1 : first + 1], delimiter):
            holds_data = any(_NUMBER.fullmatch(cell.strip()) for cell in lines[first].split(delimiter))
            first -= holds_data  # the last of the comment lines names the columns: #chrom,start
        notes += [f"The first lines of the file begin with # and are not read: {first:,}."] if first else []
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


def _check_header(path: Path, names: Sequence[str], columns: Sequence[Cells]) -> None:
    """Refuse a first line that is data: every name is a value in the first rows, or most names are numbers."""
    first = [(one.values, np.unique(one.index[:_SAMPLE])) for one in columns]
    seen = {values[place].strip() for values, places in first for place in places}
    n_numbers = sum(_NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None for name in names)
    if {*names} <= seen or 2 * n_numbers >= max(2, len(names)):
        raise DataError(
            f"the first line of {path} looks like data ({shown_list(names[:8])}): if it is, say so with "
            "header=False (--no-header); if not, rename the columns"
        )
