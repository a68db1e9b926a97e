"""Rows of Parquet files, by row groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgmi.data.arrow import NO_HEADER, declares_nothing
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.columns import check_columns, schema_names
from kgmi.streams.files import (
    File,
    as_constants,
    check_rows,
    contents_of,
    listed_fragments,
    not_gone,
    place_in_file,
    select,
    unchanged,
)
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Choice, Fragment, Piece, block_rows
from kgmi.streams.groups import grouped, kept_groups
from kgmi.streams.listing import Found
from kgmi.streams.marks import parquet_mark
from kgmi.streams.projection import Projection, typed_with

__all__ = ["ParquetFiles", "open_parquet", "opened_parquet"]

_BUFFER_BYTES = (
    1 << 20
)  # of a column that are read from the file at a time, so that a large row group is not read whole


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files, as a source of rows.

    A block of rows is unpacked at a time, however long a row group is; packed, all of its needed columns may be in
    memory.
    """

    files: tuple[File, ...]
    projection: Projection
    fragments: tuple[Fragment, ...]
    description: str
    form: Form = "frame"
    rereadable: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.projection.columns

    @property
    def filter(self) -> Filter | None:
        """Which rows are read."""
        return self.projection.filter

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a fragment."""
        file, n_rows = self.files[fragment.file], 0
        with not_gone(file.path, parquet_mark, file.mark):
            for batch in self._batches(file, fragment):
                n_rows += batch.num_rows
                yield from self.projection.pieces(batch, file.constants)
        unchanged(file.path, parquet_mark, file.mark)
        check_rows(fragment, n_rows)

    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        names = [name for name in self.projection.needed if name not in file.constants]
        with opened_parquet(file.path, names) as reader:
            # One thread: who reads has threads of its own, each with a fragment.
            yield from reader.iter_batches(
                block_rows(len(names)), row_groups=list(fragment.pieces), columns=names, use_threads=False
            )

    def contents(self) -> dict[str, str]:
        """What is known of the files by their bytes; see :func:`kgmi.streams.files.contents_of`."""
        return contents_of(self.files, self.fragments, parquet_mark)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        return place_in_file(self.files[fragment.file], fragment, self.filter)


def open_parquet(found: Found, choice: Choice) -> ParquetFiles:
    """Parquet files as a source; their footers are read."""
    if not choice.header:
        raise DataError(f"{found.paths[0]}: {NO_HEADER}")
    schemas, groups, marks = [], [], []
    for path in found.paths:
        with not_gone(path):
            marks.append(parquet_mark(path))
            with opened_parquet(path) as reader:
                schemas.append(reader.schema_arrow)
                meta = reader.metadata
                groups.append([meta.row_group(number).num_rows for number in range(meta.num_row_groups)])
    own = schema_names(found.paths[0], schemas[0])
    constants = as_constants(found, own)
    columns, where = select((*own, *constants[0]), choice, typed_with(schemas[0], constants))
    projection = Projection(columns, where, _undeclared(schemas, columns))
    files = tuple(File(*parts) for parts in zip(found.paths, marks, constants, strict=True))
    for path, schema in zip(found.paths, schemas, strict=True):
        check_columns(path, schema, found.paths[0], schemas[0], projection, constants[0], choice.columns is None)

    def cut(number: int) -> list[tuple[tuple[int, ...], int | None, int | None]]:
        file, sizes = files[number], groups[number]
        if where is None:
            return grouped(sizes, range(len(sizes)), choice.fragment_rows)
        typed = typed_with(schemas[number], constants)
        with not_gone(file.path):
            return grouped(sizes, kept_groups(_as_part(file.path), where, typed), choice.fragment_rows)

    fragments = listed_fragments(files, cut, projection, "row groups")
    return ParquetFiles(files, projection, fragments, found.description)


def _undeclared(schemas: list[Any], columns: tuple[str, ...]) -> frozenset[str]:
    """Columns of texts, whose dictionaries are only a faster way to read them, and shared lists of polars."""
    from pyarrow import types

    fields = [field for schema in schemas for field in schema if field.name in columns]
    return frozenset(
        field.name for field in fields if declares_nothing(field) or not types.is_dictionary(field.type)
    )


def _as_part(path: Path) -> Any:
    """A file as a fragment of a PyArrow dataset, which knows the bounds of its values."""
    from pyarrow import dataset, fs

    return dataset.ParquetFileFormat().make_fragment(str(path), fs.LocalFileSystem())


def opened_parquet(source: Any, dictionaries: list[str] | None = None) -> Any:
    """A Parquet file; texts of these columns are read as places in a list, so that no row is hashed."""
    from pyarrow import parquet

    return parquet.ParquetFile(
        source,
        read_dictionary=dictionaries,
        buffer_size=_BUFFER_BYTES,
        pre_buffer=False,
        memory_map=False,  # a file that is cut off meanwhile would end the process
        page_checksum_verification=True,  # where the writer made any
    )
