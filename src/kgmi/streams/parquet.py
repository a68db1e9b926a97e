"""Rows of Parquet files, by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgmi.data.arrow import NO_HEADER, declares_nothing
from kgmi.errors import DataError
from kgmi.streams.columns import typed_files
from kgmi.streams.files import File, listed_fragments
from kgmi.streams.fragment import Choice, Cuts, Fragment, block_rows
from kgmi.streams.groups import grouped, kept_groups
from kgmi.streams.intact import not_gone
from kgmi.streams.listing import Found
from kgmi.streams.marks import parquet_mark
from kgmi.streams.projection import typed_with
from kgmi.streams.sources import Files

__all__ = ["ParquetFiles", "declares", "open_parquet", "parquet_batches"]

_BUFFER_BYTES = 1 << 20  # of a column that are read at a time, so that a large row group is not read whole


@dataclass(frozen=True)
class ParquetFiles(Files):
    """Parquet files, as a source of rows.

    A block of rows is unpacked at a time, however long a row group is; packed, all of its needed columns may be in
    memory.
    """

    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        return parquet_batches(file.path, self.projection.stored(file.constants), fragment.pieces)

    def _mark(self, path: Path) -> str:
        return parquet_mark(path)


def open_parquet(found: Found, choice: Choice) -> ParquetFiles:
    """Parquet files as a source; their footers are read."""
    if not choice.header:
        raise DataError(f"{found.paths[0]}: {NO_HEADER}")
    schemas, groups, marks = [], [], []
    for path in found.paths:
        with not_gone(path):
            marks.append(parquet_mark(path))
            with _opened(path) as reader:
                schemas.append(reader.schema_arrow)
                meta = reader.metadata
                groups.append([meta.row_group(number).num_rows for number in range(meta.num_row_groups)])
    files, projection = typed_files(found, choice, schemas, marks, declares)
    where, constants = projection.filter, [file.constants for file in files]

    def cut(number: int) -> Cuts:
        file, sizes = files[number], groups[number]
        if where is None:
            return grouped(sizes, range(len(sizes)), choice.fragment_rows)
        typed = typed_with(schemas[number], constants)
        with not_gone(file.path):
            return grouped(sizes, kept_groups(_as_part(file.path), where, typed), choice.fragment_rows)

    fragments = listed_fragments(files, cut, projection, "row groups")
    return ParquetFiles(projection, fragments, found.description, files, "frame")


def declares(field: Any) -> bool:
    """Whether a column lists its categories: dictionaries of texts are only how these are read fast."""
    from pyarrow import types

    return not declares_nothing(field) and bool(types.is_dictionary(field.type))


def parquet_batches(source: Any, names: list[str], groups: Sequence[int]) -> Iterator[Any]:
    """Columns of some row groups of a Parquet file, a block of rows at a time."""
    with _opened(source, names) as reader:
        # One thread: who reads has threads of its own, each with a fragment.
        yield from reader.iter_batches(
            block_rows(len(names)), row_groups=list(groups), columns=names, use_threads=False
        )


def _as_part(path: Path) -> Any:
    """A file as a fragment of a PyArrow dataset, which knows the bounds of its values."""
    from pyarrow import dataset, fs

    return dataset.ParquetFileFormat().make_fragment(str(path), fs.LocalFileSystem())


def _opened(source: Any, dictionaries: list[str] | None = None) -> Any:
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
