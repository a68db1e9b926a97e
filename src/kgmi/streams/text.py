"""Rows of text files (CSV, TSV, also packed with gzip), a block of lines at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgmi.data.checks import NUL_ADVICE, check_delimiter, check_names
from kgmi.data.kinds import DELIMITERS, check_content, ending_of
from kgmi.data.lines import line_of
from kgmi.data.table import default_names
from kgmi.data.text import Dialect, csv_options, unreadable
from kgmi.errors import DataError, first_line
from kgmi.streams.alphabets import Form
from kgmi.streams.files import File, as_constants, check_doubled, listed_fragments, select
from kgmi.streams.fragment import Choice, Fragment
from kgmi.streams.intact import not_gone
from kgmi.streams.listing import Found
from kgmi.streams.marks import edges_mark
from kgmi.streams.projection import Projection
from kgmi.streams.sources import Files

__all__ = ["TextFiles", "open_text"]

_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class TextFiles(Files):
    """Text files, as a source of rows; each is one fragment, because only its start says where a line begins."""

    @property
    def _has_header(self) -> bool:
        return self.form == "headed text"

    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        """Blocks of lines as record batches of texts, each text kept once."""
        import pyarrow as pa
        from pyarrow import csv

        with _opened(file.path, file.delimiter, self._has_header) as reader:
            own = reader.schema.names
        shown = [name.strip() for name in own] if self._has_header else list(default_names(len(own)))
        wanted = {shown.index(name): name for name in self.projection.stored(file.constants)}
        places = sorted(wanted) or [0]  # at least one, so that there are rows
        convert = csv.ConvertOptions(
            column_types={own[place]: pa.dictionary(pa.int32(), pa.string()) for place in places},
            include_columns=[own[place] for place in places],
            strings_can_be_null=False,
        )
        names = [wanted.get(place, "") for place in places]
        try:
            with _opened(file.path, file.delimiter, self._has_header, convert) as reader:
                for batch in reader:
                    yield pa.RecordBatch.from_arrays(batch.columns, names)
        except (pa.ArrowException, UnicodeError) as error:
            raise unreadable(file.path, Dialect(file.delimiter), first_line(error)) from None

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words: the line where that can be found."""
        file = self.files[fragment.file]
        if self.filter is not None:
            return super().place(fragment)

        def place(row: int, label: str) -> str:
            line = line_of(file.path, file.delimiter, row + self._has_header)
            return f"line {line} of {file.path} (row {row + 1}), {label}"

        return place


def open_text(found: Found, choice: Choice) -> TextFiles:
    """Text files as a source; the first lines are read."""
    names, marks = [], []
    for path in found.paths:
        with not_gone(path):
            check_content(path)
            marks.append(edges_mark(path))
            names.append(_names(path, choice.header))
    constants = as_constants(found, names[0])
    columns, where = select((*names[0], *constants[0]), choice)
    projection = Projection(columns, where, frozenset(columns), is_text=True)
    projection.check_texts()
    for path, own in zip(found.paths, names, strict=True):
        check_doubled(path, own, found.paths[0], constants[0], projection)
        wanted = names[0] if choice.columns is None else projection.needed
        _check_names(path, own, found.paths[0], wanted, constants[0], choice)
    delimiters = [DELIMITERS[ending_of(path)] for path in found.paths]
    files = tuple(File(*parts) for parts in zip(found.paths, marks, constants, delimiters, strict=True))
    fragments = listed_fragments(files, lambda _: [((), 0, None)], projection)
    form: Form = "headed text" if choice.header else "text"
    return TextFiles(projection, fragments, found.description, files, form)


def _check_names(
    path: Path,
    names: tuple[str, ...],
    first: Path,
    wanted: tuple[str, ...],
    constants: Collection[str],
    choice: Choice,
) -> None:
    """Refuse a file that lacks a column, or has one more where all are read."""
    lacking = next((name for name in wanted if name not in names and name not in constants), None)
    further = next((name for name in names if name not in wanted and name not in constants), None)
    if lacking is not None:
        raise DataError(
            f"{path} has no column {lacking!r}, which {first} has"
            + ("; is its first line a header?" if choice.header else "; give tables with the same columns")
        )
    if further is not None and choice.columns is None:
        raise DataError(
            f"{path} has a column {further!r} that {first} does not have; say with columns=… (--columns) which are "
            "meant"
        )


def _names(path: Path, header: bool) -> tuple[str, ...]:
    """The names of the columns, from the first line or X1, X2, …."""
    delimiter = DELIMITERS[ending_of(path)]
    with _opened(path, delimiter, header) as reader:
        own = reader.schema.names
        first = own[0] if header else str(next(iter(reader.read_next_batch().column(0).to_pylist()), ""))
    names = tuple(name.strip() for name in own) if header else default_names(len(own))
    if len(names) == 1:
        check_delimiter(path, delimiter, first)
    if harmed := next((name for name in names if "\0" in name), None):
        raise DataError(f"line {line_of(path, delimiter, 0)} of {path}: the name {harmed!r} {NUL_ADVICE}")
    check_names(path, names)
    return names


def _opened(path: Path, delimiter: str, header: bool, convert: Any = None) -> Any:
    """A reader of blocks of lines."""
    import pyarrow as pa
    from pyarrow import csv

    dialect = Dialect(delimiter)
    options = csv_options(dialect, header, use_threads=False, block_size=_BLOCK_BYTES)
    try:
        return csv.open_csv(path, convert_options=convert, **options)
    except (pa.ArrowException, UnicodeError) as error:
        raise unreadable(path, dialect, first_line(error)) from None
