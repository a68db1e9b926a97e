"""Tables of any kind as columns of texts, numbers and dates, before it is known what becomes of each."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import count
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.bins import shown_number
from kgmi.cells import (
    Cells,
    cells_of_array,
    cells_of_arrow,
    cells_of_objects,
    cells_of_series,
    is_missing,
    read_value,
)
from kgmi.errors import DataError
from kgmi.graph.naming import quoted, shown_list
from kgmi.sources import DELIMITERS, TextFormat, ending_of, text_columns, whole_file
from kgmi.table import as_array, as_frame, default_names
from kgmi.types import Bools, Floats, Ints

__all__ = ["CODE", "FEW_WHOLE", "MOST_NUMBERS", "NO_VALUE", "Column", "Sheet", "column_of", "read_sheet"]

Kind: TypeAlias = Literal["text", "number", "date", "declared", "other"]
"""Texts, numbers, dates, categories of a categorical type, or values that cannot be states."""
_TIMES = date | time | timedelta | np.datetime64 | np.timedelta64


@dataclass(frozen=True, eq=False)
class Column:
    """A column of any kind, in which every different value is stored once."""

    name: str
    kind: Kind
    index: Ints  # [row]: position in values, -1 where the value is missing
    values: Any  # an increasing array of numbers, or an Arrow array of texts
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order
    gaps: Mapping[str, int] = field(default_factory=dict)  # rows of each text that was read as a missing value
    remarks: tuple[str, ...] = ()  # on how its values were read, to follow "has"
    is_first: bool = False  # whether it is the first column of the table
    is_chosen: bool = False  # whether the caller named it in ``columns``

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
    def texts(self) -> list[str]:
        """The different values as texts."""
        if not isinstance(self.values, np.ndarray):
            return list(self.values.to_pylist())
        numbers = self.values.tolist()
        short = [str(n) if isinstance(n, int) else shown_number(n) for n in numbers]
        return short if len({*short}) == len(short) else [shown_number(n, in_full=True) for n in numbers]

    @property
    def occurring(self) -> dict[str, int]:
        """The different values as texts, and in how many rows they are."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True))

    def recoded(self, values: Any, gaps: Bools, **fields: Any) -> Column:
        """Return the column with other values in place of its own, or none; equal ones become one."""
        import pyarrow as pa

        kept = ~gaps & (self.counts > 0)
        if isinstance(values, np.ndarray):
            different, places = np.unique(values[kept], return_inverse=True)
        else:
            encoded = values.filter(pa.array(kept)).dictionary_encode()
            different, places = encoded.dictionary, encoded.indices.to_numpy()
        lookup = np.full(len(kept) + 1, -1, dtype=np.int64)  # a missing value looks up the last
        lookup[:-1][kept] = places
        gone = {self.texts[place]: int(self.counts[place]) for place in np.flatnonzero(gaps & (self.counts > 0))}
        return replace(self, index=lookup[self.index], values=different, gaps={**self.gaps, **gone}, **fields)

    def without(self, unwanted: Collection[str]) -> Column:
        """Return the column with some of its values read as missing."""
        gaps = [text in unwanted for text in self.texts] if unwanted else []
        return self.recoded(self.values, np.array(gaps)) if any(gaps) else self


def column_of(name: str, cells: Cells, missing: Collection[str], *, comma: bool = False) -> Column:
    """Return a column of any kind; texts among ``missing`` are missing values, and so are infinite numbers.

    ``comma`` says that a comma before three digits is a decimal comma, as in files with semicolons.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    index: Ints = cells.index
    values: Any = cells.values
    if isinstance(values, range):  # of which only some occur
        kept, index = np.unique(index, return_inverse=True)
        values = np.asarray(values)[kept]
    nulls = np.array([*map(is_missing, values), True])  # the last is that of index -1
    index = np.where(False if cells.gaps is None else cells.gaps, -1, index.astype(np.int64))
    index = np.where(nulls[index], -1, index)
    types = {type(value) for value, is_null in zip(values, nulls, strict=False) if not is_null}
    if any(one.__hash__ is None for one in types):  # lists, dicts and the like
        return Column(name, "other", index, np.arange(len(values)))
    is_plain = bool(types) and cells.declared is None
    if is_plain and bool not in types and all(issubclass(one, Real | Decimal) for one in types):
        if types == {int} and not nulls[:-1].any() and max(map(abs, values)) < 2**63:
            values = np.array(values, dtype=np.int64)  # whole numbers stay whole, however long
        elif isinstance(values, list):
            values = np.array([math.nan if gap else float(one) for one, gap in zip(values, nulls, strict=False)])
        unwanted = {text for text in missing if text[-1:].isdigit()}
        return Column(name, "number", index, values).recoded(values, ~np.isfinite(values)).without(unwanted)
    texts = pa.array(map(_text, values), pa.large_string())
    if cells.declared is not None:
        return Column(name, "declared", index, texts, cells.declared).recoded(texts, nulls[:-1])
    trimmed = pc.utf8_trim_whitespace(texts)
    gaps = pc.is_in(trimmed, value_set=pa.array(sorted(missing), pa.large_string()))
    column = Column(name, "text", index, texts).recoded(trimmed, gaps.to_numpy(zero_copy_only=False))
    if is_plain and all(issubclass(one, _TIMES) or hasattr(one, "start_time") for one in types):  # a pandas.Period
        return replace(column, kind="date")
    return _understood(column, comma=comma)


def _text(cell: Any) -> str:
    """Return a value of any type as text; a date without its time if that is midnight."""
    read = read_value(cell)
    return str(cell).removesuffix(" 00:00:00") if read is None or read[0] is None else read[0]


_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?"
)
# What is written into a column of numbers or dates where there is no value; compared without case.
NO_VALUE = frozenset(
    """- -- – — . .. … n/a na n.a. #n/a #na <na> nan nat nil null none no unknown missing
    #div/0! #value! #ref! #name? #num! #null!""".split()  # noqa: SIM905
)
MOST_NUMBERS = 0.9  # share of rows from which on the other texts are remarks in a column of numbers
FEW_WHOLE = 12  # whole numbers that are states, such as months


def _understood(column: Column, *, comma: bool) -> Column:
    """Return a column of texts as one of dates or numbers where that is what it holds, or as it is."""
    words = {text for text in column.texts if text.casefold() in NO_VALUE}
    if len(words) < len(column.values) and all(text in words or _DATE.fullmatch(text) for text in column.texts):
        return replace(column.without(words), kind="date")
    numbers, remarks = _numbers_in(column, comma=comma)
    others = ~np.isfinite(numbers)  # 1e999 cannot be cut
    n_others, n_different = int(column.counts[others].sum()), int(np.count_nonzero(~others))
    strange = {column.texts[place] for place in np.flatnonzero(others)}
    if strange <= words:  # "no" and "none" are states if they are more frequent than the numbers
        is_number = {"no", "none"}.isdisjoint(map(str.casefold, strange)) or 2 * n_others <= column.n_filled
    else:
        is_number = n_others <= (1 - MOST_NUMBERS) * column.n_filled and n_different > FEW_WHOLE
    if not is_number or n_different <= (1 if strange else 0):
        return column
    return column.recoded(numbers, others, kind="number", remarks=remarks)


CODE = r"^[+-]?(0[0-9]|[0-9]{17,}$)"  # codes are no numbers: 01234, and those with more digits than a float has
_SPACES = "\u00a0\u202f' "  # between thousands: no-break spaces, apostrophe, plain space
_MONEY = "(?:[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY)"
_LETTERS = "A-Za-zµμΩ"


def _numeral(decimal: str, thousands: str) -> str:
    """Return the pattern of a number with its sign and unit."""
    whole = rf"[0-9]{{1,3}}(?:[{thousands}{_SPACES}][0-9]{{3}})+|[0-9]+"
    return (
        rf"^(?P<before>[+-]?\s*{_MONEY}?|{_MONEY}\s*[+-])\s*"
        rf"(?P<digits>(?:(?:{whole})(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?)"
        rf"[{_SPACES}]*(?P<after>(?:[%‰°$€£¥₹₽{_LETTERS}][%‰°{_LETTERS}]{{0,11}}(?:/[{_LETTERS}]{{1,9}})?[23²³]?)?)$"
    )


def _numbers_in(column: Column, *, comma: bool) -> tuple[Floats, tuple[str, ...]]:
    """Return the numbers in a column of texts, NaN for other texts, and remarks on how they are written.

    The decimal sign, point or comma, is the one with which more of the texts are numbers. A number may have a sign
    of money or per cent, or a unit such as ``km``: that of most rows. A unit of letters must follow every number
    except 0, because 1.2k and 900 do not compare. Amounts in parentheses are negative; if all are, one of them must
    have a unit.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    def matches(texts: Any, pattern: str) -> Any:
        return pc.match_substring_regex(texts, pattern).fill_null(False).to_numpy(zero_copy_only=False)

    texts = pc.replace_substring(column.values.cast(pa.string()), "\u2212", "-")
    nothing: Floats = np.full(len(texts), math.nan)
    if matches(texts, CODE).any():
        return nothing, ()
    try:
        return texts.cast(pa.float64()).to_numpy(zero_copy_only=False), ()
    except pa.ArrowInvalid:
        in_parentheses = matches(texts, r"^\(.*\)$")
    texts = pc.replace_substring_regex(texts, r"^\(\s*(.*?)\s*\)$", r"-\1")
    found, other = (pc.extract_regex(texts, _numeral(*signs)) for signs in (".,", ",."))
    surplus = found.null_count - other.null_count
    is_comma = surplus > 0 or (surplus == 0 and comma and matches(texts, ",").any())
    found, decimal, thousands = (other, ",", ".") if is_comma else (found, ".", ",")
    before, digits, after = found.flatten()
    is_valid = found.is_valid().to_numpy(zero_copy_only=False)
    plain = pc.replace_substring_regex(digits, f"[{thousands}{_SPACES}]", "")
    sizes = pc.replace_substring(plain, decimal, ".").cast(pa.float64()).to_numpy(zero_copy_only=False)
    numbers = np.where(matches(before, "-"), -sizes, sizes)
    units = pc.binary_join_element_wise(pc.replace_substring_regex(before, r"[+\s-]", ""), after, "")
    written, rows = np.array(units.fill_null("").to_pylist(), dtype=object), Counter[str]()
    for one, n_rows in zip(written[is_valid], column.counts[is_valid].tolist(), strict=True):
        rows[one] += n_rows
    if not rows or ({*rows} == {""} and in_parentheses[is_valid].all()):
        return nothing, ()
    signs = Counter({one: n for one, n in rows.items() if one and not any(map(str.isalpha, one))})
    unit = rows.most_common(1)[0][0] or next(iter(dict(signs.most_common(1))), "")
    fits = is_valid & ((written == unit) | ((written == "") & ((numbers == 0) | (unit in signs))))
    remarks = {
        f'the unit "{unit}", which is not part of the numbers': bool(unit),
        "amounts in parentheses, which are negative": in_parentheses[is_valid].any(),
        "the comma as decimal sign": decimal == "," and matches(digits, ",").any(),
        "separators of thousands, which are removed": matches(digits, f"[{thousands}{_SPACES}]").any(),
    }
    return np.where(fits, numbers, math.nan), tuple(one for one, holds in remarks.items() if holds)


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
    present = np.ma.masked_invalid(array) if array.dtype.kind in "iuf" else np.zeros(1)
    if present.min() == -1 and (present == 0).any():  # without 0, -1 and 1 may be two states
        array = np.ma.masked_equal(array, -1)
        notes = ("-1 is read as a missing value: no other number is negative.",)
    names = default_names(array.shape[1])
    return Sheet(name, names, [_cells(cells_of_array, *one) for one in zip(array.T, names, strict=True)], notes)


def _cells(read: Callable[..., Cells], column: Any, name: str) -> Cells:
    """Return a column as cells; one of a type that holds no states too."""
    try:
        return read(column, name)
    except DataError:
        return cells_of_objects(column.tolist() if isinstance(column, np.ndarray) else column.to_list())


def _distinct(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a different name for every column, and a note on each name that was made."""
    made, notes = dict[str, int](), []
    for place, name in enumerate(names, 1):
        new = name or f"column {place}"
        if new in made:
            new = next(one for k in count(2) if (one := f"{name}_{k}") not in (*names, *made))
            notes.append(f"Column {place} is named {quoted(name)} like another one, and is called {quoted(new)}.")
        made[new] = place
    return tuple(made), tuple(notes)


_SAMPLE = 1 << 16  # first characters or rows that are looked at
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
    names, comma = default_names(table.num_columns), form.delimiter == ";"
    cells = [cells_of_arrow(one.combine_chunks(), str(path), declares=False) for one in table.columns]
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
        if "\0" in text:
            where = f"line {text[: text.index(chr(0))].count(chr(10)) + 1} of {path}"
            raise DataError(f"{where} contains a NUL byte; the file is damaged or not UTF-8 text: save it as UTF-8")
        return text, encoding
    raise DataError(f"{path} cannot be read: it is neither UTF-8 nor Windows text; is it a table at all?")


def _text_format(path: Path, text: str, encoding: str) -> tuple[TextFormat, list[str]]:
    """Return how a text file is written, and a note on each thing that its ending does not promise."""
    notes = [f"The file is read as {_ENCODINGS[encoding]} text: it is not UTF-8."] if encoding in _ENCODINGS else []
    end = text.find("\n", _SAMPLE)
    every = text[: end if end >= 0 else None].splitlines()
    filled = [place for place, line in enumerate(every) if line.strip()]
    lines = [every[place] for place in filled]
    told = _SEP_LINE.fullmatch(lines[0]) if lines else None
    first = 1 if told else next((n for n, line in enumerate(lines) if not line.lstrip().startswith("#")), 0)
    loose, usual = ending_of(path) not in DELIMITERS, DELIMITERS.get(ending_of(path), ",")
    delimiter = told[1] if told else _delimiter(lines[first:], usual, loose=loose)
    if loose or delimiter != usual:
        notes.append(f"The columns of the file are separated by {_MARKS.get(delimiter, repr(delimiter))}.")
    if first and not told:
        if _width(lines[first - 1 : first + 1], delimiter):
            holds_data = any(_NUMBER.fullmatch(cell.strip()) for cell in lines[first].split(delimiter))
            first -= holds_data  # the last of the comment lines names the columns: #chrom,start
        notes += [f"The first lines of the file begin with # and are not read: {first:,}."] if first else []
    skipped = filled[first] if 0 < first < len(filled) else first
    return TextFormat(delimiter, encoding, skipped, several_lines=True), notes


def _delimiter(lines: Sequence[str], usual: str, *, loose: bool) -> str:
    """Return the usual delimiter if every line has equally many columns with it; else another that does."""
    marks = [usual, *(mark for mark in ";\t,|" if mark != usual)]
    if loose or not any(mark in line for mark in marks for line in lines[:1]):
        marks.append(" ")
    widths = {mark: _width(lines, mark) for mark in marks}
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
