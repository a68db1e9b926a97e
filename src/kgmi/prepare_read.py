"""Tables of any kind as columns of texts, numbers and dates, before it is known what becomes of each."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import compress, count
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kgmi.bins import Bins, shown_numbers
from kgmi.cells import Cells, cells_of_objects, is_missing, read_value
from kgmi.errors import DataError
from kgmi.graph.naming import quoted, shown_list
from kgmi.sources import open_file
from kgmi.sources.files import DELIMITERS, ending_of
from kgmi.sources.text import TextFile
from kgmi.table import Batch, as_frame, default_names, own_names
from kgmi.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Column:
    """A column of any kind, in which every different value is stored once."""

    name: str
    kind: Literal["text", "number", "date", "declared", "other"]  # declared: categories; other: no states
    index: Ints  # [row]: position in values, -1 where the value is missing
    values: Any  # an increasing array of numbers, or a list of texts
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order
    gaps: Mapping[str, int] = field(default_factory=dict)  # rows of each text that was read as a missing value
    notes: tuple[tuple[str, str], ...] = ()  # (sentence without its subject, details) for each change
    left_out: str = ""  # why it is left out of the table, if it is
    bins: Bins | None = None  # where its numbers were cut, if they were

    @cached_property
    def counts(self) -> Ints:
        """``counts[value]``: number of rows that have it."""
        found: Ints = np.bincount(self.index + 1, minlength=len(self.values) + 1)[1:]
        return found

    @property
    def n_filled(self) -> int:
        """Number of rows that have a value."""
        return int(self.counts.sum())

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        return shown_numbers(self.values.tolist()) if self.kind == "number" else [*self.values]

    @property
    def occurring(self) -> dict[str, int]:
        """The different values as texts, and in how many rows they are."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True))

    @property
    def is_whole(self) -> bool:
        """Whether it holds numbers, all of them whole."""
        return self.kind == "number" and bool((self.values == np.rint(self.values)).all())

    def recoded(self, values: Any, **fields: Any) -> Column:
        """Return the column with other values in place of its own; None, NaN and infinity are missing values."""
        made = replace(self, **fields)
        if made.kind == "number":
            numbers = np.array(values, dtype=np.float64)
            found, places = np.unique(np.where(np.isfinite(numbers), numbers, np.nan), return_inverse=True)
            different: Any = found[~np.isnan(found)]  # NaN is the last
            places = np.where(places < len(different), places, -1)
        else:
            position = {value: place for place, value in enumerate(dict.fromkeys([None, *values]), -1)}
            different = [*position][1:]
            places = np.array([position[value] for value in values], dtype=np.int64)
        gone = {_text(self.values[place]): int(self.counts[place]) for place in np.flatnonzero(places < 0)}
        gaps = {text: n_rows for text, n_rows in gone.items() if text is not None}
        return replace(made, index=np.append(places, -1)[self.index], values=different, gaps={**self.gaps, **gaps})

    def without(self, unwanted: Collection[str]) -> Column:
        """Return the column with some of its values, given as texts, read as missing."""
        if not unwanted or {*unwanted}.isdisjoint(self.texts):
            return self
        pairs = zip(self.texts, self.values, strict=True)
        return self.recoded([None if text in unwanted else value for text, value in pairs])


def column_of(name: str, cells: Cells, missing: Collection[str], *, comma: bool = False) -> Column:
    """Return a column of any kind; texts among ``missing`` are missing values, and so are infinite numbers.

    ``comma`` says that a comma before three digits is a decimal comma, as in files with semicolons.
    """
    index = cells.index.astype(np.int64, copy=False)
    column = Column(name, "text", index, cells.values)
    values = [*compress(cells.values, column.counts)]  # those that occur
    column = replace(column, index=np.append(np.cumsum(column.counts > 0) - 1, -1)[index], values=values)
    types = {*map(type, values)}
    if not types <= {int, float, str}:
        values = [None if is_missing(value) else value for value in values]
        types = {*map(type, values)} - {type(None)}
    are_numbers = bool not in types and all(issubclass(one, Real | Decimal) for one in types)
    is_exact = int not in types or max(abs(value) for value in values if type(value) is int) <= 2**53  # as a float
    if cells.declared is None and are_numbers and is_exact:
        return column.recoded(values, kind="number").without({text for text in missing if text[-1:].isdigit()})
    texts = values if types <= {str} else [*map(_text, values)]
    if cells.declared is not None:
        return column.recoded(texts, kind="declared", declared=cells.declared)
    if any(one.__hash__ is None for one in types):  # lists, dicts and the like
        return column.recoded(texts, kind="other")
    trimmed = [None if text is None else text.strip() for text in texts]
    return _understood(column.recoded([None if text in missing else text for text in trimmed]), comma=comma)


def _text(cell: Any) -> str | None:
    """Return a value of any type as text, a date without its time if that is midnight; None if it is missing."""
    read = read_value(cell)
    return str(cell).removesuffix(" 00:00:00") if read is None else read[0]


_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{4}-(0[1-9]|1[0-2])|\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?"
)
_NO_VALUE = """- -- – — . .. … n/a na n.a. #n/a #na <na> nan nat nil null none no unknown missing
    #div/0! #value! #ref! #name? #num! #null!"""
NO_VALUE = frozenset(_NO_VALUE.split())
"""What is written into a column of numbers or dates where there is no value; compared without case."""
MOST_NUMBERS = 0.9  # share of rows from which on the other texts are remarks in a column of numbers
FEW_WHOLE = 12  # whole numbers that are states, such as months


def _understood(column: Column, *, comma: bool) -> Column:
    """Return a column of texts as one of dates or numbers where that is what it holds, or as it is."""
    words = {text for text in column.texts if text.casefold() in NO_VALUE}
    if len(words) < len(column.texts) and all(text in words or _DATE.fullmatch(text) for text in column.texts):
        return replace(column.without(words), kind="date")
    numbers, notes = _numbers_in(column, comma=comma)
    is_number = np.isfinite(numbers)  # 1e999 cannot be cut
    n_others, n_numbers = int(column.counts[~is_number].sum()), int(is_number.sum())
    others = {column.texts[place] for place in np.flatnonzero(~is_number)}
    if others <= words:  # "no" and "none" are states if they are more frequent than the numbers
        are_gaps = 2 * n_others <= column.n_filled or {"no", "none"}.isdisjoint(map(str.lower, others))
    else:
        are_gaps = n_others <= (1 - MOST_NUMBERS) * column.n_filled and n_numbers > FEW_WHOLE
    is_numbers = are_gaps and n_numbers > bool(others)
    return column.recoded(numbers, kind="number", notes=notes) if is_numbers else column


CODE = re.compile(r"[+-]?(0[0-9]|[0-9]{17,}$)")
"""Codes, which are no numbers: 01234, and those with more digits than a float has."""
_SPACES = "\u00a0\u202f' "  # between thousands: no-break spaces, apostrophe, plain space
_MONEY = "(?:[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY)"
_LETTERS = "A-Za-zµμΩ"


def _numeral(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the pattern of a number with its sign and unit, perhaps in parentheses."""
    whole = rf"[0-9]{{1,3}}(?:[{thousands}{_SPACES}][0-9]{{3}})+|[0-9]+"
    return re.compile(
        rf"(?P<open>\(\s*)?(?P<before>[+-]?\s*{_MONEY}?|{_MONEY}\s*[+-])\s*"
        rf"(?P<digits>(?:(?:{whole})(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?)"
        rf"[{_SPACES}]*(?P<after>(?:[%‰°$€£¥₹₽{_LETTERS}][%‰°{_LETTERS}]{{0,11}}(?:/[{_LETTERS}]{{1,9}})?[23²³]?)?)"
        r"(?(open)\s*\))"
    )


_NUMERALS = {".": _numeral(".", ","), ",": _numeral(",", ".")}  # by the decimal sign


def _numbers_in(column: Column, *, comma: bool) -> tuple[Floats, tuple[tuple[str, str], ...]]:
    """Return the numbers in a column of texts, NaN for other texts, and notes on how they are written.

    The decimal sign, point or comma, is the one with which more texts are numbers. All may have the same unit: a
    sign of money or per cent, or letters such as ``km``, which only 0 may lack, because 1.2k and 900 do not
    compare. Amounts in parentheses are negative; if all are, one of them must have a unit.
    """
    import pyarrow as pa

    numbers: Floats = np.full(len(column.texts), np.nan)
    if any(map(CODE.match, column.texts)):
        return numbers, ()
    try:
        return pa.array(column.texts, pa.large_string()).cast(pa.float64()).to_numpy(), ()
    except pa.ArrowInvalid:
        texts = [text.replace("\u2212", "-") for text in column.texts]
        decimals = ",." if comma and any("," in text for text in texts) else ".,"
    matches = {sign: [*map(_NUMERALS[sign].fullmatch, texts)] for sign in decimals}
    decimal = min(decimals, key=lambda sign: matches[sign].count(None))
    found = {place: match for place, match in enumerate(matches[decimal]) if match}
    units = {place: re.sub(r"[+\s-]", "", match["before"]) + match["after"] for place, match in found.items()}
    different = {unit for unit in units.values() if unit}
    in_parentheses = {match["open"] is not None for match in found.values()}
    if len(different) > 1 or (not different and False not in in_parentheses):
        return numbers, ()
    unit = next(iter(different), "")
    may_lack = not any(map(str.isalpha, unit))
    separators = _SPACES + ("," if decimal == "." else ".")
    for place, match in found.items():
        size = float(match["digits"].translate(str.maketrans(decimal, ".", separators)))
        if units[place] or may_lack or size == 0:
            numbers[place] = -size if match["open"] or "-" in match["before"] else size
    digits = "".join(match["digits"] for match in found.values())
    notes = {
        f'has the unit "{unit}", which is not part of the numbers': unit != "",
        "has amounts in parentheses, which are negative": True in in_parentheses,
        "has the comma as decimal sign": decimal == "," and "," in digits,
        "has separators of thousands, which are removed": not {*separators}.isdisjoint(digits),
    }
    return numbers, tuple((note, "") for note, holds in notes.items() if holds)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read."""

    name: str  # what messages call it
    columns: Mapping[str, Cells]  # by names that differ; dates, lists and others that are no states are among them
    notes: Sequence[str] = ()  # what had to be done to read it, each in a sentence
    comma: bool = False  # whether semicolons separate the columns, so that a comma is a decimal sign


def read_sheet(source: Any, header: bool) -> Sheet:
    """Return the columns of a file, given by its path, of a data frame, an array or lists."""
    if not isinstance(source, str | PathLike):
        frame = as_frame(source)  # a reader can be read once
        rows = source if frame is None else frame
        own = own_names(rows)
        names, notes = (None, []) if own is None else _distinct(own)
        batch = Batch.of(rows, names)
        return _from_batch(batch, "the table", batch.names, notes)
    path = Path(source)
    file = open_file(path, header=header)
    if isinstance(file, TextFile):
        return _from_text(path, file)
    batch = file.whole()
    return _from_batch(batch, str(path), *_distinct(batch.names))


def _from_batch(batch: Batch, name: str, names: Sequence[str], notes: list[str]) -> Sheet:
    """Return the columns of a batch, with other names."""
    if not len(batch):
        raise DataError(f"{name} has no rows")
    if isinstance(array := batch.rows, np.ndarray):
        present = np.ma.masked_invalid(array) if array.dtype.kind in "iuf" else np.zeros(1)
        if present.min() == -1 and (present == 0).any():  # without 0, -1 and 1 may be two states
            batch = replace(batch, rows=np.ma.masked_equal(array, -1))
            notes = [*notes, "-1 is read as a missing value: no other number is negative."]
    return Sheet(name, {new: _cells(batch, own) for new, own in zip(names, batch.names, strict=True)}, notes)


def _cells(batch: Batch, name: str) -> Cells:
    """Return a column as cells, also if its type holds no states."""
    try:
        return batch.cells(name)
    except DataError:
        column = batch.column(name)
        return cells_of_objects(column.tolist() if hasattr(column, "tolist") else column.to_list())


def _distinct(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a different name for every column, and a note on each name that was made."""
    made: list[str] = []
    notes = []
    for place, name in enumerate(map(str.strip, names), 1):
        new = name or f"column {place}"
        if new in made:
            new = next(one for k in count(2) if (one := f"{name}_{k}") not in (*names, *made))
            notes.append(f"Column {place} is named {quoted(name)} like another one, and is called {quoted(new)}.")
        made.append(new)
    return made, notes


_SAMPLE = 1 << 16  # first characters or rows that are looked at
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_ENCODINGS = {"cp1252": "Windows (cp1252)", "utf-16": "UTF-16"}
_SEP_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)  # which spreadsheets put first
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_YEAR = re.compile(r"(1[89]|20)\d\d")  # a column may well be called 2019


def _from_text(path: Path, file: TextFile) -> Sheet:
    text, encoding = _decoded(path, file.unpacked())
    delimiter, skipped, notes = _text_format(path, text)
    if encoding in _ENCODINGS:
        notes.insert(0, f"The file is read as {_ENCODINGS[encoding]} text: it is not UTF-8.")
    lines = replace(file, content=text.encode(), delimiter=delimiter, skipped=skipped, has_header=False)
    table = replace(lines, several_lines=True).whole()
    cells = [*map(table.cells, table.names)]
    inner = [line for one in cells for value in one.values for line in value.split("\n")[1:]]
    if inner and (text.count('"') % 2 or any(line.count(delimiter) == len(cells) - 1 > 0 for line in inner[:-1])):
        raise DataError(
            f"{path}: a value of several lines holds what looks like rows of the table; close the quote that is "
            "open, or take it out"
        )
    names: Sequence[str] = default_names(len(cells))
    if file.has_header:
        if len(table) < 2:
            raise DataError(f"{path} has a header but no rows")
        written = [one.values[one.index[0]].strip() for one in cells]
        cells = [one.taken(np.arange(1, len(table))) for one in cells]
        _check_header(path, written, cells)
        names, renamed = _distinct(written)
        notes += renamed
    return Sheet(str(path), dict(zip(names, cells, strict=True)), notes, delimiter == ";")


def _check_header(path: Path, names: Sequence[str], columns: Sequence[Cells]) -> None:
    """Refuse a first line that is data: every name is a value in the first rows, or most names are numbers."""
    seen = {one.values[place].strip() for one in columns for place in np.unique(one.index[:_SAMPLE])}
    n_numbers = sum(_NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None for name in names)
    if {*names} <= seen or 2 * n_numbers >= max(2, len(names)):
        raise DataError(
            f"the first line of {path} looks like data ({shown_list(names[:8])}): if it is, say so with "
            "header=False (--no-header); if not, rename the columns"
        )


def _decoded(path: Path, content: bytes) -> tuple[str, str]:
    """Return the text of a file, and its encoding: UTF-8, UTF-16 if it says so, or else that of Windows."""
    for encoding in ["utf-16"] if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]:
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            if "\0" not in text:
                return text, encoding
            where = f"line {text[: text.index(chr(0))].count(chr(10)) + 1} of {path}"
            raise DataError(f"{where} has a NUL byte; the file is damaged or not UTF-8 text: save it as UTF-8")
    raise DataError(f"{path} cannot be read: it is neither UTF-8 nor Windows text; is it a table at all?")


def _text_format(path: Path, text: str) -> tuple[str, int, list[str]]:
    """Return the delimiter, how many lines to skip, and a note on each thing that the ending does not promise."""
    end = text.find("\n", _SAMPLE)
    lines = text[: end if end >= 0 else None].splitlines()
    first = next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), 0)
    comments = [n for n, line in enumerate(lines[:first]) if line.strip()]
    if named := _SEP_LINE.fullmatch(lines[first]) if lines else None:
        first += 1
    table = [line for line in lines[first:] if line.strip()]
    delimiter = named[1] if named else _delimiter(table, DELIMITERS.get(ending_of(path), ","))
    notes = []
    if delimiter != DELIMITERS.get(ending_of(path)):
        notes.append(f"The columns of the file are separated by {_MARKS.get(delimiter, repr(delimiter))}.")
    has_numbers = any(map(_NUMBER.fullmatch, table[0].split(delimiter))) if table else False
    if comments and has_numbers and _width([lines[comments[-1]], table[0]], delimiter) > 1:
        first = comments.pop()  # the last of the comment lines names the columns: #chrom,start
    if comments:
        notes.append(f"The first lines of the file begin with # and are not read: {len(comments):,}.")
    return delimiter, first, notes


def _delimiter(lines: Sequence[str], usual: str) -> str:
    """Return the usual delimiter if every line has equally many columns with it; else another that does."""
    marks = [*dict.fromkeys([usual, *";\t,|"])]
    if not any(mark in line for mark in marks for line in lines[:1]):
        return " " if _width(lines, " ") > 1 else usual
    widths = {mark: _width(lines, mark) for mark in marks}
    if max(widths.values()) <= 1:  # some line is broken: the first one decides, and the broken one will be named
        widths = {mark: _width(lines[:1], mark) for mark in marks}
    if usual == "," and min(widths[","], widths[";"]) > 1:
        cells = [cell for line in lines[1:] or lines for cell in line.split(";")]
        return ";" if all(map(_WITH_COMMA.fullmatch, cells)) else ","
    return usual if widths[usual] > 1 else max(marks, key=widths.__getitem__)


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of columns of every line; 0 if it differs."""
    try:
        found = {len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells}
    except csv.Error:
        return 0
    return found.pop() if len(found) == 1 else 0
