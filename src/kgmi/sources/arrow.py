"""Parquet, Feather and Arrow files, and datasets of PyArrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from kgmi.cells import check_names
from kgmi.errors import DataError
from kgmi.sources.base import Choice, Fragment, block_rows
from kgmi.sources.files import (
    SMALL_FILES,
    STREAM_END,
    FileRows,
    Files,
    Held,
    Piece,
    held_files,
    read_errors,
)
from kgmi.where import Filter

__all__ = ["ArrowFiles", "open_arrow_files", "open_dataset", "whole_table"]


@dataclass(eq=False)
class ArrowFiles(Files):
    """Files with typed columns.

    Attributes
    ----------
    parts
        The files as fragments of ``pyarrow.dataset``; where the source was sent to another process, the format and
        partition of those that were not opened there yet.
    declaring
        Columns whose type lists their categories in all files that have them.
    """

    parts: list[Any]
    declaring: frozenset[str] = frozenset()

    def batches_of(self, fragment: Fragment) -> Iterator[FileRows]:
        """Yield the rows of a fragment as they come from its file."""
        part, constants = self.parts[fragment.file], self.constants[fragment.file]
        if isinstance(part, tuple):
            self.parts[fragment.file] = part = _part(part[0], self.held[fragment.file], part[1])
        for batch in self._arrow_batches(part, fragment):
            batch.validate()
            yield FileRows(batch, (), self.form, constants, self.declaring)

    def _arrow_batches(self, part: Any, fragment: Fragment) -> Iterator[Any]:
        from pyarrow import parquet

        own, constants = part.physical_schema, self.constants[fragment.file]
        names = [name for name in self.needed if name not in constants] or own.names[:1]
        size = block_rows(len(names))
        if not fragment.pieces:
            options = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
            yield from part.to_batches(columns=names, batch_size=size, **options)
            return
        # A block of rows at a time: PyArrow's datasets would unpack a whole row group. No memory map: a file that
        # is cut off meanwhile would end the process.
        with part.open() as stream:
            reader = parquet.ParquetFile(
                stream,
                metadata=part.metadata,
                read_dictionary=[name for name in names if not _declares(own.field(name))],
                buffer_size=1 << 20,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            # One thread: the caller has threads of its own, each with a fragment.
            yield from reader.iter_batches(size, row_groups=list(fragment.pieces), columns=names, use_threads=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the parts anew; pickled themselves, they would open their files."""

        def known(part: Any) -> Any:
            own = getattr(part, "format", None), getattr(part, "partition_expression", None)
            return part if isinstance(part, tuple) else own

        return self.__dict__ | {"parts": [known(one) for one in self.parts]}


def open_arrow_files(
    kind: str, paths: tuple[Path, ...], constants: tuple[dict[str, Any], ...], choice: Choice, description: str
) -> ArrowFiles:
    """Open Parquet or Arrow files."""
    import pyarrow as pa
    from pyarrow import dataset

    if not choice.header:
        raise DataError(f"{paths[0]}: its columns have names, so header=False (--no-header) means nothing")
    held = held_files(paths, kind)
    form = dataset.ParquetFileFormat() if kind == "Parquet" else dataset.IpcFileFormat()
    parts = [_part(form, one) for one in held]
    with read_errors(paths[0]):
        fields = _without_index(parts[0].physical_schema)
    names = {one.name for one in fields}
    fields += [pa.field(name, pa.array([one]).type) for name, one in constants[0].items() if name not in names]
    return _opened(held, constants, parts, pa.schema(fields), choice, description)


def open_dataset(source: Any, choice: Choice) -> ArrowFiles:
    """Open a dataset of PyArrow, whose files may lie anywhere that PyArrow can reach."""
    import pyarrow as pa
    from pyarrow import dataset

    try:
        parts = list(source.get_fragments())
    except ValueError:
        raise DataError(
            "this dataset was filtered or projected; give it as it was opened, with where=… and columns=…"
        ) from None
    systems = [None if one.filesystem.type_name == "local" else one.filesystem for one in parts]
    held = tuple(Held.of(one.path, keep=False, system=system) for one, system in zip(parts, systems, strict=True))
    constants = tuple(dict(dataset.get_partition_keys(part.partition_expression)) for part in parts)
    schema, description = pa.schema(_without_index(source.schema)), f"a dataset of {len(parts):,} files"
    return _opened(held, constants, parts, schema, choice, description)


def _opened(
    held: tuple[Held, ...],
    constants: tuple[dict[str, Any], ...],
    parts: list[Any],
    schema: Any,
    choice: Choice,
    description: str,
) -> ArrowFiles:
    """Look at the columns of all files, and cut them in fragments."""
    if not schema.names:
        raise DataError(f"{description} has no columns")
    check_names(description, schema.names)
    made = ArrowFiles("typed", *choice.select(schema), description, held, constants, parts)
    plain: set[str] = {name for own in constants for name in own}
    pieces: list[list[Piece]] = []
    for file, part in enumerate(parts):
        path = held[file].path
        with read_errors(path):
            own = part.physical_schema
            known = None if choice.columns is not None else {*schema.names, *_pandas_index(own)}
            made.check_columns(path, own.names, description, known, constants[file])
            plain |= {one.name for one in own if not _declares(one)}
            if not made.can_pass(file):
                pieces.append([])
            elif hasattr(part, "row_groups"):
                pieces.append(_row_groups(part, choice.fragment_rows, made.filter))
            else:
                pieces.append([((), None, 0)])
    made.declaring = frozenset(made.columns) - plain
    made.fragments = made.fragments_of(pieces, "row groups")
    return made


def whole_table(path: Path, kind: str) -> Any:
    """Return a Parquet or Arrow file as an Arrow table, in which only listed categories are dictionaries."""
    from pyarrow import dataset, types

    (held,) = held_files((path,), kind)
    form = dataset.ParquetFileFormat() if kind == "Parquet" else dataset.IpcFileFormat()
    with read_errors(path):
        table = _part(form, held).to_table()
    table = table.drop_columns(sorted(_pandas_index(table.schema) & {*table.column_names}))
    for number, one in enumerate(table.schema):
        if types.is_dictionary(one.type) and not _declares(one):
            table = table.set_column(number, one.name, table.column(number).cast(one.type.value_type))
    return table


def _part(form: Any, held: Held, expression: Any = None) -> Any:
    """Return a file as a fragment of ``pyarrow.dataset``; saved Arrow streams are read at once."""
    import pyarrow as pa
    from pyarrow import dataset, fs

    with read_errors(held.path), held.open() as stream:
        if stream.read(4) == STREAM_END[:4]:
            if held.size > SMALL_FILES:
                raise DataError(f"{held.path} is a large saved stream: give the reader of pyarrow.ipc.open_stream")
            stream.seek(-len(STREAM_END), 2)
            if stream.read() != STREAM_END:
                raise EOFError("it has no end")
            stream.seek(0)
            rows = pa.ipc.open_stream(stream).read_all().combine_chunks()
            if rows.num_rows == 0:
                raise DataError(f"{held.path} has no rows")
            return next(dataset.InMemoryDataset(rows).get_fragments())
    if held.content is not None:
        return form.make_fragment(pa.py_buffer(held.content))
    return form.make_fragment(held.path, held.system or fs.LocalFileSystem(), expression)


def _row_groups(part: Any, most: int, where: Filter | None) -> list[Piece]:
    """Return neighbouring row groups of a Parquet file that may pass, with their number of rows and first row."""
    from pyarrow import types

    schema, kept = part.physical_schema, list(range(part.metadata.num_row_groups))
    asked = None if where is None else where.on(schema)
    if where is not None and asked is not None:
        looked_at = [schema.field(name).type for name in where.columns if name in schema.names]
        # The bounds of a row group do not count NaN, which may pass an expression of the user.
        if where.expression is None or not any(map(types.is_floating, looked_at)):
            kept = [group.id for group in part.subset(filter=asked).row_groups]
    sizes = [part.metadata.row_group(number).num_rows for number in range(part.metadata.num_row_groups)]
    ends = list(accumulate(sizes, initial=0))
    groups: list[list[int]] = []
    for number in (number for number in kept if sizes[number]):
        if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [(tuple(group), ends[group[-1] + 1] - ends[group[0]], ends[group[0]]) for group in groups]


def _pandas_index(schema: Any) -> set[str]:
    """Return the columns that pandas wrote for the index of a frame."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return {name for name in index if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()


def _without_index(schema: Any) -> list[Any]:
    index = _pandas_index(schema)
    return [one for one in schema if one.name not in index]


def _declares(one: Any) -> bool:
    """Return whether the type of a column lists its categories; those of polars are shared by all columns."""
    from pyarrow import types

    return bool(types.is_dictionary(one.type)) and not any(
        key.startswith(b"_PL_CATEGORICAL") for key in one.metadata or {}
    )
