"""CSV and TSV files, also with ``.gz``."""

from __future__ import annotations

import gzip
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from csv import Error as CsvError
from csv import reader
from dataclasses import dataclass
from functools import cached_property
from io import RawIOBase, TextIOWrapper
from itertools import dropwhile, islice
from typing import Any, ClassVar

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Form
from kgmi.errors import DataError
from kgmi.sources.base import Fragment
from kgmi.sources.files import File, read_errors
from kgmi.table import default_names

_BLOCK = 1 << 22  # bytes that are parsed at a time
_OPEN_QUOTE = "has a value of several lines; is a quote not closed?"
_OTHER_MARKS = {  # what may separate columns in place of what should, in words, and the remedy
    "\t": ("a tab", "name the file .tsv"),
    ";": ("';'", "write commas in its place"),
    ",": ("','", "name the file .csv"),
    "|": ("'|'", "write commas in its place"),
}
_PROBLEMS = {  # what PyArrow says of a file, and what is wrong with it
    "empty csv": "has no rows",
    "utf": f"is not UTF-8 text; save it as UTF-8, {PREPARE_ADVICE}",
    "multiple lines": _OPEN_QUOTE,
    "out of sync": _OPEN_QUOTE,
}


class _Checked(RawIOBase):
    """A binary file that must be UTF-8; what PyArrow does with other bytes depends on where they are."""

    def __init__(self, file: Any) -> None:
        self._file, self._decoder = file, getincrementaldecoder("utf-8")()

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to so many bytes; others than those of UTF-8 are a UnicodeDecodeError."""
        content: bytes = self._file.read(size)
        self._decoder.decode(content, final=not content)
        return content


def _skip_empty_lines(file: Any) -> None:
    """Go to the first line with something in it, or to the end."""
    while (line := file.readline()) and not line.strip():
        pass
    file.seek(file.tell() - len(line))


@dataclass(eq=False, kw_only=True)
class TextFile(File):
    """A text file; all of it is one piece, because only its start shows where lines begin."""

    delimiter: str  # what separates the columns
    has_header: bool  # whether its first line names the columns
    skipped: int = 0  # lines before the first that is read
    several_lines: bool = False  # whether a value in quotes may run over the end of a line

    form: ClassVar[Form] = "text"

    @cached_property
    def own_names(self) -> tuple[str, ...]:
        """Names of the columns as the file has them, or those that PyArrow makes up without a header."""
        with self._reader() as batches:
            names = tuple(batches.schema.names)
            first = names[0] if self.has_header else str(next(iter(batches)).column(0)[0])
        others = [mark for mark in _OTHER_MARKS if mark in first and mark != self.delimiter]
        if len(names) == 1 and others:
            shown, remedy = _OTHER_MARKS[others[0]]
            raise DataError(
                f"{self.path} has one column, and its first line contains {shown}: if that separates the columns, "
                f"{remedy}, {PREPARE_ADVICE}"
            )
        if harmed := [name for name in names if "\0" in name]:
            raise DataError(f"{self.path}: the name {harmed[0]!r} contains a NUL byte; save the file as UTF-8 text")
        return names

    @property
    def schema(self) -> Any:
        """Names of its columns, without spaces around them, and their type."""
        import pyarrow as pa

        own = self.own_names
        names = [name.strip() for name in own] if self.has_header else default_names(len(own))
        return pa.schema([(name, pa.string()) for name in names])

    def batches(self, fragment: Fragment, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns as Arrow record batches."""
        called = dict(zip(self.schema.names, self.own_names, strict=True))
        with self._reader([called[name] for name in names]) as batches:
            yield from (batch.rename_columns([*names]) for batch in batches)

    def unpacked(self) -> bytes:
        """Return its bytes."""
        with read_errors(self.path), self._unpacked() as file:
            return bytes(file.read())

    def row_place(self, row: int) -> str:
        """Return on which line a row is."""
        return f"{self._line_of(row + self.has_header)} (row {row})"

    @contextmanager
    def _reader(self, columns: Sequence[str] = ()) -> Iterator[Any]:
        """Yield a reader of Arrow batches, in which the ``columns`` are texts; errors name the line if possible."""
        import pyarrow as pa
        from pyarrow import csv

        is_single = bool(columns) and len(self.own_names) == 1  # where empty lines are missing values
        reading = csv.ReadOptions(
            autogenerate_column_names=not self.has_header,
            skip_rows=self.skipped,
            block_size=_BLOCK,
            use_threads=False,
        )
        parsing = csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=self.several_lines,
            ignore_empty_lines=not is_single,
            invalid_row_handler=lambda line: "error" if line.text.strip() else "skip",  # a line of spaces
        )
        converting = csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.dictionary(pa.int32(), pa.string())),
            include_columns=columns or None,
            strings_can_be_null=False,
        )
        try:
            with read_errors(self.path, self if self.written else None), self._unpacked() as file:
                if is_single and self.has_header:
                    _skip_empty_lines(file)
                with csv.open_csv(_Checked(file), reading, parsing, converting) as batches:
                    yield batches
        except DataError as error:
            raise self._explained(error) from None

    @contextmanager
    def _unpacked(self) -> Iterator[Any]:
        """Open the file; PyArrow does not see that a short packed one is cut off."""
        with self.open() as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            yield gzip.GzipFile(fileobj=file) if packed else file

    def _explained(self, error: DataError) -> DataError:
        """Return the error on a file that cannot be read, with its remedy where it is known."""
        reason, advice = str(error), "" if self.several_lines else f", {PREPARE_ADVICE}"
        if (first := self._open_quote()) and not self.several_lines:
            return DataError(
                f"line {first} of {self.path} has a quote that is not closed; close it, or take it out"
            )
        for words, problem in _PROBLEMS.items():
            if words in reason.lower().removeprefix(self.path.lower()):
                return DataError(f"{self.path} {problem}")
        if found := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", reason):
            number, expected, got = map(int, found.groups())  # lines that are skipped are rows to PyArrow
            line = self._line_of(number - 1 - self.skipped)
            return DataError(f"{line} has {got} values, the first line {expected}; correct it{advice}")
        return error

    def _open_quote(self) -> int | None:
        """Return the first line, counted from 1, with an odd number of quotes; None if there is none."""
        try:
            with self._unpacked() as file:
                return next((number for number, line in enumerate(file, 1) if line.count(b'"') % 2), None)
        except (OSError, EOFError):
            return None

    def _line_of(self, number: int) -> str:
        """Return the line, counted from 1, of a row with the first line as row 0; empty lines are no rows."""
        try:
            with self._unpacked() as file, TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text:
                rows = reader(islice(text, self.skipped, None), delimiter=self.delimiter)
                is_single = len(vars(self).get("own_names", ())) == 1  # as in _reader
                found: Iterator[tuple[int, bool]] = (
                    (rows.line_num, any(map(str.strip, cells)) or len(cells) > 1) for cells in rows
                )
                if is_single and self.has_header:
                    found = dropwhile(lambda line: not line[1], found)
                lines = (line for line, is_filled in found if is_filled or is_single)
                return f"line {self.skipped + next(islice(lines, number, None))} of {self.path}"
        except (CsvError, OSError, EOFError, StopIteration):  # it is damaged, and the line not known
            return self.path
