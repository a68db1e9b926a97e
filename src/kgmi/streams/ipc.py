"""Rows of Arrow files (Feather is one) and of saved Arrow streams, by record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgmi.data.arrow import NO_HEADER, declares_nothing
from kgmi.errors import DataError
from kgmi.streams.columns import typed_files
from kgmi.streams.files import File, listed_fragments
from kgmi.streams.fragment import Choice, Cuts, Fragment
from kgmi.streams.intact import not_gone
from kgmi.streams.listing import Found
from kgmi.streams.marks import edges_mark
from kgmi.streams.sources import Files

__all__ = ["ArrowFiles", "open_arrow"]

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # what stands behind the last batch of a stream that is complete


@dataclass(frozen=True)
class ArrowFiles(Files):
    """Arrow files, as a source of rows; one record batch is in memory at a time, its needed columns only."""

    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        import pyarrow as pa

        names = self.projection.stored(file.constants)
        with pa.OSFile(str(file.path)) as stream:  # no memory map: one that is cut off meanwhile ends the process
            with _reader(file.path, stream) as whole:
                fields = [whole.schema.get_field_index(name) for name in names]
            stream.seek(0)
            # At least one column, so that the rows of a batch are known.
            options = pa.ipc.IpcReadOptions(included_fields=fields or [0], use_threads=False)
            with _reader(file.path, stream, options) as reader:
                if fragment.pieces:
                    yield from map(reader.get_batch, fragment.pieces)
                else:
                    yield from reader


def open_arrow(found: Found, choice: Choice) -> ArrowFiles:
    """Arrow files as a source; what they say about themselves is read."""
    if not choice.header:
        raise DataError(f"{found.paths[0]}: {NO_HEADER}")
    schemas, sizes, marks = [], [], []
    for path in found.paths:
        with not_gone(path):
            marks.append(edges_mark(path))
            schema, n_batches, n_rows = _described(path)
            schemas.append(schema)
            sizes.append((n_batches, n_rows))
    files, projection = typed_files(found, choice, schemas, marks, lambda field: not declares_nothing(field))

    def cut(number: int) -> Cuts:
        n_batches, n_rows = sizes[number]
        if n_batches is None or n_rows is None:
            return [((), 0, None)]
        if n_rows == 0:
            return []
        each = max(1, choice.fragment_rows * n_batches // n_rows)  # batches are mostly of the same size
        starts = range(0, n_batches, each)
        parts = [tuple(range(start, min(start + each, n_batches))) for start in starts]
        return [(part, None, None) for part in parts] if len(parts) > 1 else [(parts[0], 0, n_rows)]

    fragments = listed_fragments(files, cut, projection, "record batches")
    return ArrowFiles(projection, fragments, found.description, files, "frame")


def _described(path: Path) -> tuple[Any, int | None, int | None]:
    """The schema of a file, and the number of its batches and rows where it says so."""
    import pyarrow as pa
    from pyarrow import dataset, fs

    with pa.OSFile(str(path)) as stream, _reader(path, stream) as reader:
        schema, n_batches = reader.schema, getattr(reader, "num_record_batches", None)
    if n_batches is None:
        _check_end(path)
        return schema, None, None
    n_rows = dataset.IpcFileFormat().make_fragment(str(path), fs.LocalFileSystem()).count_rows()
    return schema, n_batches, n_rows


def _check_end(path: Path) -> None:
    """Refuse a stream without an end: it would be read as far as it goes, and nobody would notice."""
    with path.open("rb") as stream:
        stream.seek(-len(_END), 2)
        if stream.read() != _END:
            raise DataError(f"{path} has no end: it was cut off, or its writer was not closed; write it again")


def _reader(path: Path, stream: Any, options: Any = None) -> Any:
    import pyarrow as pa

    start = stream.read(6)
    stream.seek(0)
    if start == b"ARROW1":
        return pa.ipc.open_file(stream, options=options)
    if start[:4] == b"\xff\xff\xff\xff":
        return pa.ipc.open_stream(stream, options=options)
    if start[:4] == b"FEA1":
        raise DataError(
            f"{path} is a Feather file of the old version 1; write it again as version 2, or as Parquet"
        )
    if start[:4] == b"PAR1":
        raise DataError(f"{path} is a Parquet file: name it .parquet")
    raise DataError(f"{path} does not start like a Feather or Arrow file; if it is text, name it .csv or .tsv")
