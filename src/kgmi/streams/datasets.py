"""Rows of a ``pyarrow.dataset.Dataset``, which may lie anywhere that PyArrow can reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from kgmi.data.arrow import declares_nothing
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.columns import schema_names
from kgmi.streams.files import check_rows, select
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Choice, Fragment, Piece, block_rows, changed
from kgmi.streams.marks import fragment_mark, occurrences
from kgmi.streams.projection import Projection, check_type

__all__ = ["Dataset", "open_dataset"]

_EDGE = 1 << 16


@dataclass(frozen=True)
class Dataset:
    """A dataset of PyArrow, as a source of rows; one row group or record batch is in memory at a time."""

    schema: Any
    parts: tuple[Any, ...]
    marks: tuple[str, ...]
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
        import pyarrow as pa

        part, n_rows = self.parts[fragment.file], 0
        if fragment.pieces:
            part = part.subset(row_group_ids=list(fragment.pieces))
        lean = replace(self.projection, filter=None)  # the dataset filters
        try:
            for batch in part.to_batches(
                schema=self.schema,
                columns=list(self.columns),
                filter=None if self.filter is None else self.filter.pushed(self.schema),
                batch_size=block_rows(len(self.columns)),
                use_threads=False,
                batch_readahead=1,
                fragment_readahead=1,
            ):
                n_rows += batch.num_rows
                yield from lean.pieces(batch)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{fragment.label} cannot be read: {str(error).splitlines()[0]}") from None
        if _mark(self.parts[fragment.file]) != self.marks[fragment.file]:
            raise changed(fragment.label)
        if self.filter is None:
            check_rows(fragment, n_rows)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        passed = "" if self.filter is None else " of those that the filter lets through"
        return lambda row, label: f"{fragment.label}: row {row}{passed}, {label}"


def open_dataset(source: Any, choice: Choice) -> Dataset:
    """A dataset as a source; what its files say about themselves is read."""
    import pyarrow as pa

    schema = source.schema
    columns, where = select(schema_names("the dataset", schema), choice, schema)
    for name in columns:
        check_type(name, schema.field(name).type)
    undeclared = frozenset(field.name for field in schema if declares_nothing(field))
    projection = Projection(columns, where, undeclared)
    try:
        parts = tuple(source.get_fragments(filter=None if where is None else where.pushed(schema)))
        for part in parts:
            _check_columns(part, projection, schema)
        marks = tuple(_mark(part) for part in parts)
        fragments = _fragments(parts, marks, projection, choice)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"the dataset cannot be read: {str(error).splitlines()[0]}") from None
    description = f"a dataset of {len(parts):,} files" if len(parts) != 1 else "a dataset"
    return Dataset(schema, parts, marks, projection, fragments, description, rereadable=all(map(_path, parts)))


def _fragments(
    parts: tuple[Any, ...], marks: tuple[str, ...], projection: Projection, choice: Choice
) -> tuple[Fragment, ...]:
    """The pieces of all files, those of Parquet by row groups."""
    text = "" if projection.filter is None else projection.filter.text
    made: list[Fragment] = []
    for number, (part, occurrence) in enumerate(zip(parts, occurrences(marks), strict=True)):
        label = _path(part) or f"part {number} of the dataset"
        for pieces, n_rows in _cut(part, choice.fragment_rows):
            mark = (
                fragment_mark(marks[number], occurrence, pieces, projection.columns, text) if marks[number] else ""
            )
            known = n_rows if projection.filter is None else None
            made.append(Fragment(len(made), mark, known, label, number, pieces, None, n_rows))
    return tuple(made)


def _cut(part: Any, most: int) -> list[tuple[tuple[int, ...], int | None]]:
    groups = getattr(part, "row_groups", None)
    if groups is None:
        return [((), None)]
    cut: list[tuple[list[int], int]] = []
    for group in groups:
        if cut and cut[-1][1] + group.num_rows <= most:
            cut[-1] = [*cut[-1][0], group.id], cut[-1][1] + group.num_rows
        else:
            cut.append(([group.id], group.num_rows))
    return [(tuple(ids), n_rows) for ids, n_rows in cut]


def _path(part: Any) -> str:
    return str(getattr(part, "path", ""))


def _mark(part: Any) -> str:
    """Of a file: its size, when it was written, and both of its ends, as far as its place tells; else nothing."""
    path = _path(part)
    if not path:
        return ""
    info = part.filesystem.get_file_info(path)
    with part.filesystem.open_input_file(path) as stream:
        size = stream.size()
        first = stream.read(_EDGE)
        stream.seek(max(0, size - _EDGE))
        last = stream.read(_EDGE)
    ends = sha256(first).hexdigest(), sha256(last).hexdigest()
    return sha256(repr(("dataset", size, info.mtime_ns, ends)).encode()).hexdigest()


def _check_columns(part: Any, projection: Projection, schema: Any) -> None:
    """Refuse a file that lacks a column: PyArrow would fill it with gaps."""
    from pyarrow import dataset

    keys = dataset.get_partition_keys(part.partition_expression)
    held = {*part.physical_schema.names, *keys}
    lacking = next((name for name in projection.needed if name not in held), None)
    if lacking is not None:
        raise DataError(
            f"{_path(part) or 'a part of the dataset'} has no column {lacking!r}, which the dataset has"
        )
