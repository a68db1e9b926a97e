"""Tables of any kind as columns of texts, numbers and dates, before it is known what becomes of each."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from itertools import compress, count, islice
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kgmi.bins import Bins, shown_numbers
from kgmi.cells import Cells, cells_of_objects, read_value
from kgmi.errors import DataError
from kgmi.graph.naming import quoted, shown_list
from kgmi.sources import open_file
from kgmi.sources.files import DELIMITERS, ending_of
from kgmi.sources.text import TextFile
from kgmi.table import Batch, as_frame, default_names, own_names
from kgmi.types import Ints


@dataclass(frozen=True, eq=False)
class Column:
    """A column of any kind, in which every different value is stored once."""

    name: str
    kind: Literal["text", "number", "date", "declared"]  # declared: categories
    index: Ints  # [row]: position in values, -1 where the value is missing
    values: list[Any]  # increasing numbers, or texts
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order
    gaps: dict[str, int] = field(default_factory=dict)  # rows of each text that was read as a missing value
    notes: tuple[str, ...] = ()  # sentences without their subject; details are in parentheses
    suspects: Mapping[str, int] = field(default_factory=dict)  # rows of each value that may stand for a missing one
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
    def texts(self) -> dict[str, int]:
        """The different values as texts, and in how many rows they are."""
        texts = shown_numbers(self.values) if self.kind == "number" else self.values
        return dict(zip(texts, self.counts.tolist(), strict=True))

    @property
    def is_whole(self) -> bool:
        """Whether it holds numbers, all of them whole."""
        return self.kind == "number" and all(map(float.is_integer, self.values))

    def recoded(self, values: Sequence[Any], **fields: Any) -> Column:
        """Return the column with other values in place of its own; None, NaN and infinity are missing values."""
        made, occurs = replace(self, **fields), self.counts > 0
        different: list[Any]
        if made.kind == "number":
            numbers = np.array(values, dtype=np.float64)
            numbers[~(occurs & np.isfinite(numbers))] = np.nan
            found, places = np.unique(numbers, return_inverse=True)
            different = found[~np.isnan(found)].tolist()  # NaN is the last
            places[places == len(different)] = -1
        else:
            different = [*dict.fromkeys(value for value in compress(values, occurs) if value is not None)]
            place = {value: number for number, value in enumerate(different)}
            places = np.array([place.get(value, -1) for value in values], dtype=np.int64)
        gone = {text_of(self.values[n]): int(self.counts[n]) for n in np.flatnonzero(occurs & (places < 0))}
        gaps = self.gaps | {text: n_rows for text, n_rows in gone.items() if text is not None}
        return replace(made, index=np.append(places, -1)[self.index], values=different, gaps=gaps)

    def without(self, unwanted: Collection[str]) -> Column:
        """Return the column with some of its values, given as texts, read as missing."""
        if not unwanted:
            return self
        pairs = zip(self.texts, self.values, strict=True)
        return self.recoded([None if text in unwanted else value for text, value in pairs])


_MANY_CATEGORIES = 20  # of more, only those that occur are states


def column_of(name: str, cells: Cells, usual: Set[str], further: Set[str], *, decimal: str = "") -> Column:
    """Return a column of any kind.

    ``usual`` texts are missing values unless they are categories, ``further`` texts and numbers always. See
    :class:`Sheet` on ``decimal``.
    """
    index, kinds = cells.index.astype(np.int64, copy=False), {*map(type, cells.values)}
    are_numbers = cells.declared is None and kinds <= {int, float}
    if are_numbers and (int not in kinds or max(map(abs, cells.values)) <= 2**53):  # which floats hold exactly
        return Column(name, "text", index, [*cells.values]).recoded(cells.values, kind="number").without(further)
    texts: list[Any] = [*(cells.values if kinds <= {str} else map(text_of, cells.values))]
    if cells.declared is not None:  # their categories are written in full
        texts = [(read_value(value) or (str(value),))[0] for value in cells.values]
    column = Column(name, "text", index, texts)
    if any(kind.__hash__ is None for kind in kinds):  # lists, dicts and the like
        return column.recoded(texts, left_out="it holds lists or other values that cannot be states")
    if cells.declared is None:
        trimmed = [None if text is None else text.strip() for text in texts]
        gaps = usual | further
        found = _understood(column.recoded([None if text in gaps else text for text in trimmed]), decimal)
        return found.without(further) if found.kind == "number" else found
    column = column.recoded([None if text in further else text for text in texts], kind="declared")
    known = {*column.values} if len(cells.declared) > _MANY_CATEGORIES else {*cells.declared} - further
    return replace(column, declared=tuple(one for one in cells.declared if one in known))


def text_of(cell: Any) -> str | None:
    """Return a value of any type as text, a date without its time if that is midnight; None if it is missing."""
    read = read_value(cell)
    return str(cell).removesuffix(" 00:00:00") if read is None else read[0]


_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{4}-(0[1-9]|1[0-2])|\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?"
)
_NO_VALUE = """- -- – — . .. … n/a na n.a. #n/a #na <na> nan nat nil null none no unknown missing
    inf -inf infinity -infinity #div/0! #value! #ref! #name? #num! #null!"""
NO_VALUE = frozenset(_NO_VALUE.split())
"""What is written into a column of numbers or dates where there is no value; compared without case."""
MOST_NUMBERS = 0.9  # share of rows from which on the other texts are remarks in a column of numbers
FEW_WHOLE = 12  # whole numbers that are states, such as months


def _understood(column: Column, decimal: str) -> Column:
    """Return a column of texts as one of dates or numbers where that is what it holds, or as it is."""
    words = {text for text in column.texts if text.casefold() in NO_VALUE}
    if len(words) < len(column.texts) and all(text in words or _DATE.fullmatch(text) for text in column.texts):
        return replace(column.without(words), kind="date")
    numbers, notes = _numbers_in(column.values, decimal)
    others = {text for text, number in zip(column.texts, numbers, strict=True) if number is None}
    n_others, n_numbers = sum(column.texts[text] for text in others), len(numbers) - len(others)
    if others <= words:  # "no" and "none" are states if they are more frequent than the numbers
        are_gaps = 2 * n_others <= column.n_filled or {"no", "none"}.isdisjoint(map(str.lower, others))
    else:
        are_gaps = n_others <= (1 - MOST_NUMBERS) * column.n_filled and n_numbers > FEW_WHOLE
    is_numbers = are_gaps and n_numbers > bool(others)
    return column.recoded(numbers, kind="number", notes=notes) if is_numbers else column


_CODE = re.compile(r"[+-]?(0[0-9]|[0-9]{16,}$)")
"""Codes, which are no numbers: 01234, and those with more digits than a float has."""
_MONEY = "(?:[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY)"
_BETWEEN = ",\u00a0\u202f' "  # between thousands: comma, no-break spaces, apostrophe, plain space
_NUMERAL = re.compile(
    rf"(?P<open>\(\s*)?(?P<before>[+-]?\s*{_MONEY}?|{_MONEY}\s*[+-])\s*"
    rf"(?P<digits>(?:(?:[1-9][0-9]{{0,2}}(?:[{_BETWEEN}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?)"
    r"\s*(?P<after>(?:[%‰°$€£¥₹₽A-Za-zµμΩ][%‰°A-Za-zµμΩ]{0,11}(?:/[A-Za-zµμΩ]{1,9})?[23²³]?)?)(?(open)\s*\))"
)
"""A number with its sign and unit, perhaps in parentheses."""
_SWAPPED = str.maketrans(".,\u2212", ",.-")


def _numbers_in(texts: Sequence[str], decimal: str) -> tuple[list[float | None], tuple[str, ...]]:
    """Return the numbers that texts are, None for other texts, and notes on how they are written.

    The decimal sign, point or comma, is the one with which more texts are numbers. All may have the same unit, such
    as ``km``, ``$`` or ``%``, which only 0 may lack: 47% and 0.47 do not compare. Amounts in parentheses are
    negative; if all are, one of them must have a unit.
    """
    import pyarrow as pa

    numbers: list[float | None] = [None] * len(texts)
    if any(map(_CODE.match, texts)):
        return numbers, ()
    if not ("." in decimal and any("." in text for text in texts)):  # which may separate thousands
        with suppress(pa.ArrowInvalid):
            plain = pa.array(texts, pa.large_string()).cast(pa.float64()).to_pylist()
            return [one if isfinite(one) else None for one in plain], ()
    with_point = [_NUMERAL.fullmatch(text.replace("\u2212", "-")) for text in texts]
    with_comma = [_NUMERAL.fullmatch(text.translate(_SWAPPED)) for text in texts]
    n_more = with_point.count(None) - with_comma.count(None)  # numbers with a decimal comma
    is_comma = n_more > 0 or (n_more == 0 and any(sign in text for sign in decimal for text in texts))
    found = {place: match for place, match in enumerate(with_comma if is_comma else with_point) if match}
    units = {place: re.sub(r"[+\s-]", "", match["before"]) + match["after"] for place, match in found.items()}
    different = {*units.values()} - {""}
    in_parentheses = [match["open"] is not None for match in found.values()]
    if len(different) > 1 or (not different and all(in_parentheses)):
        return numbers, ()
    unit = next(iter(different), "")
    for place, match in found.items():
        size = float(re.sub(f"[{_BETWEEN}]", "", match["digits"]))
        if isfinite(size) and (units[place] == unit or size == 0):
            numbers[place] = -size if match["open"] or "-" in match["before"] else size
    digits = "".join(match["digits"] for match in found.values())
    notes = {
        f'has the unit "{unit}", which is not part of the numbers': unit != "",
        "has amounts in parentheses, which are negative": any(in_parentheses),
        "has the comma as decimal sign": is_comma and "." in digits,
        "has separators of thousands, which are removed": not {*_BETWEEN}.isdisjoint(digits),
    }
    return numbers, tuple(note for note, holds in notes.items() if holds)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read."""

    name: str  # what messages call it
    columns: Mapping[str, Cells]  # by names that differ; dates, lists and others that are no states are among them
    notes: Sequence[str] = ()  # what had to be done to read it, each in a sentence
    decimal: str = ""  # signs of numbers that are read with a decimal comma where a decimal point would do as well


def read_sheet(source: Any, header: bool) -> Sheet:
    """Return the columns of a file, given by its path, of a data frame, an array or lists."""
    names: Sequence[str] | None
    notes: list[str]
    if isinstance(source, str | PathLike):
        path = Path(source)
        file = open_file(path, header=header)
        if isinstance(file, TextFile):
            return _from_text(path, file)
        table, batch = str(path), file.whole()
        names, notes = _distinct(batch.names)
    else:
        frame = as_frame(source)  # a reader can be read once
        rows = source if frame is None else frame
        own = own_names(rows)
        names, notes = (None, []) if own is None else _distinct(own)
        table, batch = "the table", Batch.of(rows, names)
    if not len(batch):
        raise DataError(f"{table} has no rows")
    if isinstance(array := batch.rows, np.ndarray) and array.dtype.kind in "if":
        present = np.ma.masked_invalid(array)
        if present.min() == -1 and (present == 0).any():  # without 0, -1 and 1 may be two states
            batch = replace(batch, rows=np.ma.masked_equal(array, -1))
            notes.append("-1 is read as a missing value: no other number is negative.")
    pairs = zip(names or batch.names, batch.names, strict=True)
    return Sheet(table, {new: _cells(batch, own) for new, own in pairs}, notes)


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


_SAMPLE = 1_000  # first lines that are looked at
_MARKS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars", " ": "spaces"}
_HEAD = re.compile(r"((?:[^\S\n]*(?:#.*)?\n)*)(?:sep=(.)\s*\n)?", re.IGNORECASE)
"""Comment lines and empty ones, and the line with which spreadsheets say what separates the columns."""
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_YEAR = re.compile(r"(1[89]|20)\d\d")  # a column may well be called 2019
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,(\d{1,2}|\d{4,})\s*")  # with three digits, it may be one of thousands


def _from_text(path: Path, file: TextFile) -> Sheet:
    text, encoding = _decoded(path, file.unpacked())
    delimiter, skipped, notes = _text_format(path, text)
    if encoding:
        notes.insert(0, f"The file is read as {encoding} text: it is not UTF-8.")
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
    decimal = ""
    if delimiter == ";":  # a comma in a number is a decimal comma; a point is not, if there are such numbers
        are_sure = any(_DECIMAL_COMMA.fullmatch(value) for one in cells for value in one.values)
        decimal = ",." if are_sure else ","
    return Sheet(str(path), dict(zip(names, cells, strict=True)), notes, decimal)


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
    """Return the text of a file, and what its encoding is called if it is not UTF-8."""
    encodings = {"utf-8-sig": "", "cp1252": "Windows (cp1252)"}
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        encodings = {"utf-16": "UTF-16"}
    for encoding, called in encodings.items():
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            if "\0" not in text:
                return text, called
            where = f"line {text[: text.index(chr(0))].count(chr(10)) + 1} of {path}"
            raise DataError(f"{where} has a NUL byte; the file is damaged or not UTF-8 text: save it as UTF-8")
    raise DataError(f"{path} cannot be read: it is neither UTF-8 nor Windows text; is it a table at all?")


def _text_format(path: Path, text: str) -> tuple[str, int, list[str]]:
    """Return the delimiter, how many lines to skip, and a note on each thing that the ending does not promise."""
    head = _HEAD.match(text)
    assert head is not None  # it may be empty
    comments, n_skipped = [line for line in head[1].split("\n") if line.strip()], head[0].count("\n")
    start = islice(StringIO(text, newline=None), n_skipped, n_skipped + _SAMPLE)
    lines = [line for line in start if line.strip()]
    promised = DELIMITERS.get(ending_of(path))
    delimiter = head[2] or _delimiter(lines, promised or ",")
    notes = []
    if delimiter != promised:
        notes.append(f"The columns of the file are separated by {_MARKS.get(delimiter, repr(delimiter))}.")
    has_numbers = any(map(_NUMBER.fullmatch, lines[0].split(delimiter))) if lines else False
    if comments and has_numbers and _width([comments[-1], lines[0]], delimiter) > 1:
        names = comments.pop()  # #chrom,start
        n_skipped = head[1][: head[1].rindex(names)].count("\n")
    if comments:
        notes.append(f"The first lines of the file begin with # and are not read: {len(comments):,}.")
    return delimiter, n_skipped, notes


def _delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what gives every line equally many columns; else some line is broken, and the first one decides."""
    marks = "\t;,|" if usual == "\t" else ";,\t|"  # a comma beside semicolons is a decimal comma
    first = lines[0] if lines else ""
    present = [mark for mark in marks if mark in first]
    if not present:
        return " " if _width(lines, " ") > 1 else usual
    return next((mark for mark in present if _width(lines, mark) > 1), max(present, key=first.count))


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of columns of every line; 0 if it differs."""
    try:
        found = {len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells}
    except csv.Error:
        return 0
    return found.pop() if len(found) == 1 else 0
