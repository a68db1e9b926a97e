"""CSV and TSV files, also with ``.gz``."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import cells_of_arrow, check_names
from kgmi.errors import DataError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.sources.base import Block, Choice, Fragment, block_rows
from kgmi.sources.found import (
    DELIMITERS,
    Files,
    Held,
    absolute,
    check_start,
    ending_of,
    fragment_marks,
    hashed,
    read_errors,
)
from kgmi.table import default_names, row_place

__all__ = ["TextFiles", "TextFormat", "line_of", "open_text", "text_columns"]

_TEXT_BLOCK = 1 << 22  # bytes of a text file that are parsed at a time
_SMALL_FILE = 1 << 24  # bytes of a text file that is read at once


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
        parse_options=csv.ParseOptions(
            delimiter=form.delimiter,
            newlines_in_values=form.several_lines,
            invalid_row_handler=lambda line: "error" if line.text.strip() else "skip",  # a line of spaces
        ),
        convert_options=csv.ConvertOptions(
            column_types=named, include_columns=list(named) or None, strings_can_be_null=False
        ),
    )


def text_columns(path: Path, content: bytes, form: TextFormat) -> Any:
    """Return all lines of a text file, the first one too, as an Arrow table of texts; ``content`` is UTF-8."""
    import pyarrow as pa

    unicode = replace(form, encoding="utf-8-sig")
    try:
        with thread_failures():
            with open_text(content, unicode, False) as reader:
                names = reader.schema.names
            with open_text(content, unicode, False, names) as reader:
                return reader.read_all().unify_dictionaries()
    except MemoryError:
        raise TooLargeError(f"{path} does not fit into memory; give a part of its rows or columns") from None
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = first_line(error)
    raise _text_error(path, form, reason) or DataError(f"{path} cannot be read: {reason}")


@dataclass(eq=False)
class TextFiles(Files):
    """CSV and TSV files; each is one fragment, because only its start says where a line begins."""

    has_header: bool = True
    own_names: tuple[tuple[str, ...], ...] = ()
    _content: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def opened(cls, paths: tuple[Path, ...], choice: Choice, description: str) -> TextFiles:
        """Open text files; the first lines are read, and small files as a whole."""
        import pyarrow as pa

        contents, held, names = {}, [], []
        for number, path in enumerate(paths):
            content = None
            with read_errors(path):
                if path.stat().st_size <= _SMALL_FILE and len(paths) * _SMALL_FILE <= 1 << 28:
                    content = contents[number] = path.read_bytes()
                with path.open("rb") if content is None else _nothing() as stream:
                    check_start(path, content[:8] if stream is None and content is not None else stream.read(8))
                held.append(Held.of(path, content))
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
        marks, text = fragment_marks(held), "" if where is None else where.text
        made.fragments = tuple(
            Fragment(number, str(path), hashed(mark, columns, text, choice.header), None, number)
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
            with read_errors(held.path, held), open_text(source, form, self.has_header, wanted) as reader:
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
        return self.__dict__ | {"_content": {}, "held": tuple(absolute(one) for one in self.held)}


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
                if len(values) > 1 or "".join(values).strip():
                    yield last + 1, values
                last = form.skipped + reader.line_num
        except csv.Error as error:
            raise DataError(f"line {last + 1} of {path} has no end ({error}); is a quote not closed?") from None
