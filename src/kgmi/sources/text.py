"""CSV and TSV files, also with ``.gz``."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Place, check_names
from kgmi.errors import DataError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.sources.base import Block, Choice, Fragment
from kgmi.sources.found import (
    DELIMITERS,
    Files,
    Held,
    check_start,
    ending_of,
    held_files,
    read_errors,
)
from kgmi.table import default_names

__all__ = ["TextFiles", "TextFormat", "line_of", "open_text", "text_columns"]

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


def open_text(file: Any, form: TextFormat, header: bool, columns: Sequence[str] | None = None) -> Any:
    """Open a text file as a reader of Arrow batches, in which every column is text.

    ``file`` is a path or the bytes of a file; ``columns`` are the names of those that are read, by default all.
    """
    import pyarrow as pa
    from pyarrow import csv

    source: Any = BytesIO(file) if isinstance(file, bytes) else str(file)
    if isinstance(file, bytes) and file[:2] == b"\x1f\x8b":  # PyArrow does not see that a short file is cut off
        source = gzip.GzipFile(fileobj=source)
    elif not isinstance(file, bytes) and Path(file).suffix.lower() == ".gz":
        source = gzip.GzipFile(source)
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
    held = Held(path, len(content), 0, "", content)
    raise _text_error(held, unicode, reason) or DataError(f"{path} cannot be read: {reason}")


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

        held, header = held_files(paths), choice.header
        own_names = tuple(_text_names(one, header) for one in held)
        texts = tuple({name: None if v is None else str(v) for name, v in own.items()} for own in constants)
        made = cls("text", (), None, description, held, texts, own_names, has_header=header)
        first = list(dict.fromkeys((*made.names(0), *texts[0])))
        for file, path in enumerate(paths):
            check_names(path, made.names(file), header=header)
        schema = pa.schema([(name, pa.string()) for name in first])
        made.columns, made.filter = choice.select(schema, is_text=True)
        known = first if choice.columns is None else None
        for file, path in enumerate(paths):
            made.check_columns(str(path), made.names(file), str(paths[0]), known, texts[file])
        made.cut_files([[((), None, 0)] if made.can_pass(file) else [] for file in range(len(held))])
        return made

    def names(self, file: int) -> tuple[str, ...]:
        """Return the names of the columns of a file, without spaces around them."""
        own = self.own_names[file]
        return tuple(name.strip() for name in own) if self.has_header else default_names(len(own))

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a file."""
        held, own, names = self.held[fragment.file], self.own_names[fragment.file], self.names(fragment.file)
        needed = [name for name in self.needed if name in names] or [names[0]]
        wanted, form = [own[names.index(name)] for name in needed], _format_of(held.path)
        try:
            with (
                read_errors(held.path, held),
                open_text(held.content or held.path, form, bool(self.has_header), wanted) as rows,
            ):
                for batch in rows:
                    yield from self.file_blocks(batch.rename_columns(needed), fragment.file)
        except DataError as error:
            raise _text_error(held, form, str(error)) or error from None
        held.check_unchanged()

    def place(self, fragment: Fragment) -> Place:
        """Return a function that says where a cell is: its line, where that can be found."""
        held = self.held[fragment.file]
        if self.filter is not None:
            return super().place(fragment)

        def place(row: int, name: str) -> str:
            line = line_of(held, _format_of(held.path), row + bool(self.has_header))
            return f"line {line} of {held.path} (row {row + 1}), column '{name}'"

        return place


def _format_of(path: Path) -> TextFormat:
    return TextFormat(DELIMITERS[ending_of(path)])


def _text_names(held: Held, header: bool) -> tuple[str, ...]:
    """Return the names of the columns as the file has them, or those that PyArrow makes up without a header."""
    import pyarrow as pa

    path, form = held.path, _format_of(held.path)
    with held.open() as stream:
        check_start(path, stream.read(8))
    try:
        with thread_failures(), open_text(held.content or path, form, header) as reader:
            names = tuple(reader.schema.names)
            first = names[0] if header else str(next(iter(reader.read_next_batch().column(0).to_pylist()), ""))
    except MemoryError:
        raise TooLargeError(f"{path} does not fit into memory; give a part of its rows or columns") from None
    except (pa.ArrowException, UnicodeError, OSError, EOFError, StopIteration) as error:
        problem = _text_error(held, form, first_line(error))
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


def _text_error(held: Held, form: TextFormat, reason: str) -> DataError | None:
    """Return the error on a text file that PyArrow cannot read; the line is looked for in a second pass."""
    if "columns" in reason or "multiple lines" in reason:
        return _broken_line(held, form)
    if "Empty CSV" in reason:
        return DataError(f"{held.path} has no rows")
    if "UTF" in reason.upper():
        return DataError(f"{held.path} cannot be read: it is not UTF-8 text; save it as UTF-8, {PREPARE_ADVICE}")
    return None


def _broken_line(held: Held, form: TextFormat) -> DataError | None:
    """Return the error on the first line with too few or too many values, or with a quote that is not closed."""
    path, expected, remark = held.path, 0, False
    for line, values in _records(held, form):
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


def line_of(held: Held, form: TextFormat, record: int) -> int:
    """Return the line, from 1, of the ``record``-th line (from 0) that is not blank, after the skipped ones."""
    records = enumerate(_records(held, form))
    return next((line for number, (line, _) in records if number == record), form.skipped + record + 1)


def _records(held: Held, form: TextFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and values of every line that is not blank; slow, for messages only."""
    import csv

    with held.open() as start:
        is_packed = start.read(2) == b"\x1f\x8b"
    with held.open() as file, gzip.open(file) if is_packed else file as binary:
        stream = TextIOWrapper(binary, encoding=form.encoding, errors="replace", newline="")
        for _ in range(form.skipped):
            next(stream, None)
        reader, last = csv.reader(stream, delimiter=form.delimiter), form.skipped
        try:
            for values in reader:
                if len(values) > 1 or "".join(values).strip():
                    yield last + 1, values
                last = form.skipped + reader.line_num
        except csv.Error as error:
            raise DataError(
                f"line {last + 1} of {held.path} has no end ({error}); is a quote not closed?"
            ) from None
