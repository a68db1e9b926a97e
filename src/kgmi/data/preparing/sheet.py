"""``Sheet``: the columns of any table as they came: from a file of any kind, a data frame or an array."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from kgmi.data.arrays import npy_array
from kgmi.data.arrow import arrow_table
from kgmi.data.checks import NUL_ADVICE
from kgmi.data.frames import as_frame
from kgmi.data.kinds import (
    ARROW_ENDINGS,
    DELIMITERS,
    LOOSE_TEXT,
    check_content,
    check_file,
    ending_of,
    refuse_ending,
)
from kgmi.data.lines import line_of
from kgmi.data.origin import MEMORY, Origin, row_place
from kgmi.data.preparing.cells import array_raws, frame_raw
from kgmi.data.preparing.dialect import find_dialect
from kgmi.data.preparing.header import check_header_names
from kgmi.data.preparing.raw import Raw, text_raw
from kgmi.data.table import default_names
from kgmi.data.text import read_columns
from kgmi.errors import DataError

__all__ = ["Sheet", "read_sheet"]


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table before anybody says what its columns are.

    Attributes
    ----------
    columns
        As they came; all of the same length.
    n_rows
        Number of rows.
    origin
        What messages call the table and its cells.
    notes
        What had to be done to read it, each in a sentence.
    comma
        Whether semicolons stand between the columns, so that a comma is a decimal sign.
    """

    columns: list[Raw]
    n_rows: int
    origin: Origin
    notes: tuple[str, ...] = ()
    comma: bool = False


def read_sheet(source: Any, header: bool) -> Sheet:
    """The columns of a file, given by its path, of a data frame or of an array."""
    if not isinstance(source, str | PathLike):
        return _from_memory(source, MEMORY)
    path = Path(source)
    check_file(path)
    ending = ending_of(path)
    try:
        if ending == ".npy":
            return _from_memory(npy_array(path), Origin(str(path), row_place))
        if ending in ARROW_ENDINGS:
            return _from_memory(arrow_table(path, header), Origin(str(path), row_place))
    except DataError as error:
        raise type(error)(f"{error}" if str(path) in str(error) else f"{path}: {error}") from None
    if ending not in DELIMITERS and ending not in LOOSE_TEXT:
        raise refuse_ending(path)
    return _from_text(path, header)


def _from_memory(source: Any, origin: Origin) -> Sheet:
    frame = as_frame(source)
    if frame is None:
        columns, told = array_raws(source)
        return Sheet(columns, columns[0].index.size, origin, told)
    n_rows, n_columns = frame.shape
    if n_rows == 0 or n_columns == 0:
        raise DataError(f"the table has {n_rows} rows and {n_columns} columns; there is nothing to learn from")
    names, notes = _distinct_names([str(name).strip() for name in frame.columns])
    columns = [frame_raw(name, series) for name, series in zip(names, frame.iter_columns(), strict=True)]
    return Sheet(columns, n_rows, origin, tuple(notes))


def _from_text(path: Path, header: bool) -> Sheet:
    check_content(path)
    try:
        dialect, notes = find_dialect(path)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    arrow = read_columns(path, dialect, header)
    if arrow.num_rows == 0:
        raise DataError(f"{path} has a header but no rows")
    written = [name.strip() for name in arrow.column_names] if header else list(default_names(arrow.num_columns))
    names, renamed = _distinct_names(written)
    if harmed := next((name for name in names if "\0" in name), None):
        raise DataError(f"the first line of {path}: the name {harmed!r} {NUL_ADVICE}")
    columns = [text_raw(name, arrow.column(number).combine_chunks()) for number, name in enumerate(names)]
    _check_quotes(path, columns)
    if header:
        check_header_names(str(path), written, columns)

    def place(row: int, label: str) -> str:
        line = line_of(path, dialect.delimiter, row + header, dialect.encoding, dialect.skipped)
        return f"line {line} of {path} (row {row + 1}), {label}"

    origin = Origin(str(path), place, is_text=True)
    return Sheet(columns, arrow.num_rows, origin, (*notes, *renamed), comma=dialect.delimiter == ";")


def _distinct_names(names: list[str]) -> tuple[list[str], list[str]]:
    """A name for every column, each of them once; and a sentence on those that were made."""
    made, notes = list(names), []
    for place, name in enumerate(names):
        if not name:
            made[place] = f"column {place + 1}"
    often = Counter(made)
    for place, name in enumerate(made):
        number = 1 + made[:place].count(name) if often[name] > 1 else 1
        if number > 1:
            while f"{name}_{number}" in made:
                number += 1
            made[place] = f"{name}_{number}"
            notes.append(f"{often[name]} columns are named {name}: column {place + 1} is called {made[place]}.")
    return made, notes


def _check_quotes(path: Path, columns: list[Raw]) -> None:
    """Refuse a quote that was not closed: the rows behind it would be taken for one value."""
    from pyarrow import compute as pc

    if not any(pc.any(pc.match_substring(column.values, "\n")).as_py() for column in columns):
        return
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    n_quotes = 0
    with opener(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            n_quotes += piece.count(b'"')
    if n_quotes % 2:
        place = next(f"column '{column.name}'" for column in columns if "\n" in "".join(column.texts))
        raise DataError(
            f"{path}: a value of {place} runs over the end of the line, and the file has an odd number of quotes; "
            "close the quote that is open, or take it out"
        )
