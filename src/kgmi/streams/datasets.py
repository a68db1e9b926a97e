"""Rows of a ``pyarrow.dataset.Dataset``, which may lie anywhere that PyArrow can reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kgmi.errors import DataError, first_line
from kgmi.streams.alphabets import Form
from kgmi.streams.columns import schema_names
from kgmi.streams.dataset_parts import (
    check_part,
    folder_values,
    part_contents,
    part_mark,
    parts_of,
    path_of,
)
from kgmi.streams.files import place_in_file, select
from kgmi.streams.fragment import Choice, Cuts, Fragment, Piece, block_rows
from kgmi.streams.groups import grouped, kept_groups
from kgmi.streams.intact import changed, check_rows
from kgmi.streams.marks import file_mark, fragment_mark, occurrences
from kgmi.streams.parquet import declares, parquet_batches
from kgmi.streams.projection import Projection, cast_to, check_type
from kgmi.streams.sources import Projected

__all__ = ["Dataset", "open_dataset"]


@dataclass(frozen=True)
class Dataset(Projected):
    """A dataset of PyArrow, as a source of rows.

    Parquet is read as files are; of all else PyArrow holds what it finds right, mostly a record batch.
    """

    schema: Any
    parts: tuple[Any, ...]
    marks: tuple[str, ...]
    form: Form = "frame"
    rereadable: bool = True

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a fragment."""
        import pyarrow as pa

        part = self.parts[fragment.file]
        read = self._parquet if fragment.pieces else self._scanned
        try:
            yield from read(part, fragment)
            now = part_mark(part)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{fragment.label} cannot be read: {first_line(error)}") from None
        if now != self.marks[fragment.file]:
            raise changed(fragment.label)

    def _parquet(self, part: Any, fragment: Fragment) -> Iterator[Piece]:
        """Row groups, a block of rows at a time: PyArrow's datasets would unpack a whole row group."""
        constants, n_rows = folder_values(part), 0
        names = self.projection.stored(constants)
        with part.open() as stream:
            for batch in parquet_batches(stream, names, fragment.pieces):
                n_rows += batch.num_rows
                yield from self.projection.pieces(cast_to(batch, self.schema), constants)
        check_rows(fragment, n_rows)

    def _scanned(self, part: Any, _: Fragment) -> Iterator[Piece]:
        """Anything else, as PyArrow reads it; expressions are filtered by there, conditions here."""
        expression = None if self.filter is None else self.filter.expression
        projection = self.projection if expression is None else replace(self.projection, filter=None)
        for batch in part.to_batches(
            schema=self.schema,
            columns=list(projection.needed),
            filter=expression,
            batch_size=block_rows(len(projection.needed)),
            use_threads=False,
            batch_readahead=1,
            fragment_readahead=1,
        ):
            yield from projection.pieces(batch)

    @cached_property
    def contents(self) -> tuple[str, ...]:
        """Marks of the bytes of the files; see :attr:`kgmi.streams.sources.Files.contents`."""
        return part_contents(self.parts, self.marks, self.fragments)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        return place_in_file(fragment.label, fragment, self.filter)


def open_dataset(source: Any, choice: Choice) -> Dataset:
    """A dataset as a source; what its files say about themselves is read."""
    import pyarrow as pa
    from pyarrow import dataset

    if not isinstance(source, dataset.Dataset):
        raise DataError(
            f"rows cannot be read from {type(source).__name__}; give the dataset that it is made of, or its files"
        )
    schema = source.schema
    columns, where = select(schema_names("the dataset", schema), choice, schema)
    for name in columns:
        check_type(name, schema.field(name).type)
    undeclared = (field.name for field in schema if not declares(field))
    projection = Projection(columns, where, frozenset(undeclared))
    try:
        parts = parts_of(source, None if where is None else where.pushed(schema))
        for part in parts:
            check_part(part, projection)
        marks = tuple(part_mark(part) for part in parts)
        fragments = _fragments(parts, marks, projection, schema, choice)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"the dataset cannot be read: {first_line(error)}") from None
    description = f"a dataset of {len(parts):,} files" if len(parts) != 1 else "a dataset"
    is_kept = all(map(path_of, parts))
    return Dataset(projection, fragments, description, schema, parts, marks, rereadable=is_kept)


def _fragments(
    parts: tuple[Any, ...], marks: tuple[str, ...], projection: Projection, schema: Any, choice: Choice
) -> tuple[Fragment, ...]:
    """The pieces of all files, those of Parquet by row groups."""
    text = "" if projection.filter is None else projection.filter.text
    made: list[Fragment] = []
    marks = tuple(
        file_mark(mark, projection.constants_read(folder_values(part)))
        for mark, part in zip(marks, parts, strict=True)
    )
    for number, (part, occurrence) in enumerate(zip(parts, occurrences(marks), strict=True)):
        label = path_of(part) or f"part {number} of the dataset"
        for pieces, first_row, n_rows in _cut(part, projection, schema, choice.fragment_rows):
            mark = (
                fragment_mark(marks[number], occurrence, pieces, projection.columns, text) if marks[number] else ""
            )
            known = n_rows if projection.filter is None else None
            made.append(Fragment(len(made), mark, known, label, number, pieces, first_row, n_rows))
    return tuple(made)


def _cut(part: Any, projection: Projection, schema: Any, most: int) -> Cuts:
    """The row groups of a Parquet file; all else in one piece."""
    from pyarrow import types

    is_plain = not any(types.is_dictionary(schema.field(name).type) for name in folder_values(part))
    if not hasattr(part, "row_groups") or not is_plain:
        return [((), None, None)]
    sizes = [part.metadata.row_group(number).num_rows for number in range(part.metadata.num_row_groups)]
    kept = [group.id for group in part.row_groups]
    if projection.filter is not None:
        kept = [number for number in kept_groups(part, projection.filter, schema) if number in kept]
    return grouped(sizes, kept, most)
