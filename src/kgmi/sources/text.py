"""CSV and TSV files, also with ``.gz``."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from csv import Error as CsvError
from csv import reader
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from re import search
from typing import Any

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Place, check_names
from kgmi.errors import DataError
from kgmi.sources.base import Choice, Fragment
from kgmi.sources.files import DELIMITERS, FileRows, Files, Held, ending_of, held_files, read_errors
from kgmi.table import default_names

__all__ = ["TextFiles", "TextFormat", "text_columns"]

_TEXT_BLOCK = 1 << 22  # bytes of a text file that are parsed at a time


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


@contextmanager
def _reader(held: Held, form: TextFormat, header: bool, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield a reader of Arrow batches, in which every column is text; ``columns`` are those that are read."""
    import pyarrow as pa
    from pyarrow import csv

    named = {} if columns is None else {name: pa.dictionary(pa.int32(), pa.string()) for name in columns}
    reading = csv.ReadOptions(
        autogenerate_column_names=not header,
        skip_rows=form.skipped,
        encoding="utf8" if form.encoding == "utf-8-sig" else form.encoding,
        block_size=_TEXT_BLOCK,
        use_threads=False,
    )
    parsing = csv.ParseOptions(
        delimiter=form.delimiter,
        newlines_in_values=form.several_lines,
        invalid_row_handler=lambda line: "error" if line.text.strip() else "skip",  # a line of spaces
    )
    converting = csv.ConvertOptions(
        column_types=named, include_columns=list(named) or None, strings_can_be_null=False
    )
    with _unpacked(held) as file, csv.open_csv(file, reading, parsing, converting) as batches:
        yield batches


@contextmanager
def _unpacked(held: Held) -> Iterator[Any]:
    """Open a text file; PyArrow does not see that a short packed one is cut off."""
    with held.open() as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.GzipFile(fileobj=file) if packed else file


def _line_of(held: Held, form: TextFormat, number: int) -> str:
    """Return the line, counted from 1, of a row with the first line as row 0; empty lines are no rows."""
    try:
        with _unpacked(held) as file, TextIOWrapper(file, form.encoding, errors="replace", newline="") as text:
            rows = reader(islice(text, form.skipped, None), delimiter=form.delimiter)
            lines = (rows.line_num for cells in rows if any(map(str.strip, cells)) or len(cells) > 1)
            return f"line {form.skipped + next(islice(lines, number, None))} of {held.path}"
    except (CsvError, OSError, EOFError, StopIteration):  # it is damaged, and the line not known
        return held.path


@contextmanager
def _text_errors(held: Held, form: TextFormat) -> Iterator[None]:
    """Say what to do about a text file that cannot be read."""
    path = held.path
    try:
        with read_errors(path, held if held.written else None):
            yield
    except DataError as error:
        reason = str(error)
        if "Empty CSV" in reason:
            raise DataError(f"{path} has no rows") from None
        if "UTF" in reason.upper():
            raise DataError(f"{path} is not UTF-8 text; save it as UTF-8, {PREPARE_ADVICE}") from None
        if "multiple lines" in reason or "out of sync" in reason:
            raise DataError(f"{path} has a value of several lines; is a quote not closed?") from None
        if found := search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", reason):
            number, expected, got = map(int, found.groups())  # lines that are skipped are rows to PyArrow
            line = _line_of(held, form, number - 1 - form.skipped)
            raise DataError(
                f"{line} has {got} values, the first line {expected}; correct it, {PREPARE_ADVICE}"
            ) from None
        raise


def text_columns(path: Path, content: bytes, form: TextFormat) -> Any:
    """Return all lines of a text file, the first one too, as an Arrow table of texts; ``content`` is UTF-8."""
    unicode, held = replace(form, encoding="utf-8-sig"), Held(str(path), len(content), 0, "", content)  # no file
    with _text_errors(held, unicode):
        with _reader(held, unicode, False) as batches:
            names = batches.schema.names
        with _reader(held, unicode, False, names) as batches:
            return batches.read_all().unify_dictionaries()


@dataclass(eq=False)
class TextFiles(Files):
    """CSV and TSV files; each is one fragment, because only its start says where a line begins.

    Attributes
    ----------
    own_names
        ``own_names[file]``: the names as the file has them.
    """

    own_names: tuple[tuple[str, ...], ...]

    @classmethod
    def opened(
        cls, paths: tuple[Path, ...], constants: tuple[dict[str, Any], ...], choice: Choice, description: str
    ) -> TextFiles:
        """Open text files; the first lines are read, and small files as a whole."""
        import pyarrow as pa

        held, header = held_files(paths, "text"), choice.header
        own_names = tuple(_text_names(one, header) for one in held)
        texts = tuple({name: None if v is None else str(v) for name, v in own.items()} for own in constants)
        called = [_names_of(own, header) for own in own_names]
        for one, names in zip(held, called, strict=True):
            check_names(one.path, names, header=header)
        first = list(dict.fromkeys((*called[0], *texts[0])))
        chosen = choice.select(pa.schema([(name, pa.string()) for name in first]), is_text=True)
        made = cls("text", *chosen, description, held, texts, own_names, has_header=header)
        known = first if choice.columns is None else None
        for file, names in enumerate(called):
            made.check_columns(held[file].path, names, held[0].path, known, texts[file])
        made.fragments = made.fragments_of([[((), None, 0)] * made.can_pass(file) for file in range(len(held))])
        return made

    def batches_of(self, fragment: Fragment) -> Iterator[FileRows]:
        """Yield the rows of a file."""
        held, own = self.held[fragment.file], self.own_names[fragment.file]
        names = _names_of(own, self.has_header)
        needed = [name for name in self.needed if name in names] or [names[0]]
        wanted = [own[names.index(name)] for name in needed]
        form = _format_of(held)
        with _text_errors(held, form), _reader(held, form, self.has_header, wanted) as batches:
            for batch in batches:
                yield FileRows(batch.rename_columns(needed), (), self.form, self.constants[fragment.file])

    def place(self, fragment: Fragment) -> Place:
        """Return a function that says on which line a cell is."""
        if self.filter is not None:
            return super().place(fragment)
        held = self.held[fragment.file]

        def place(row: int, name: str) -> str:
            line = _line_of(held, _format_of(held), row + self.has_header)
            return f"{line} (row {row}), column '{name}'"

        return place


def _names_of(own: Sequence[str], header: bool) -> tuple[str, ...]:
    """Return the names of columns, without spaces around them."""
    return tuple(name.strip() for name in own) if header else default_names(len(own))


def _format_of(held: Held) -> TextFormat:
    return TextFormat(DELIMITERS[ending_of(Path(held.path))])


def _text_names(held: Held, header: bool) -> tuple[str, ...]:
    """Return the names of the columns as the file has them, or those that PyArrow makes up without a header."""
    form = _format_of(held)
    with _text_errors(held, form), _reader(held, form, header) as batches:
        names = tuple(batches.schema.names)
        first = names[0] if header else str(next(iter(batches)).column(0)[0])
    other = next((mark for mark in ";\t," if mark != form.delimiter and mark in first), None)
    if len(names) == 1 and other is not None:
        shown = "a tab" if other == "\t" else repr(other)
        remedy = {"\t": "name it .tsv", ",": "name it .csv"}.get(other, "write commas in its place")
        raise DataError(
            f"{held.path} has one column, and its first line contains {shown}: {remedy} if that separates "
            f"the columns, {PREPARE_ADVICE}"
        )
    if harmed := next((name for name in names if "\0" in name), None):
        raise DataError(f"{held.path}: the name {harmed!r} contains a NUL byte; save the file as UTF-8 text")
    return names
