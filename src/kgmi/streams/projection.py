"""``Projection``: which columns and rows of Arrow batches are taken, and how they are unpacked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.data.frames import series_values
from kgmi.data.origin import column_label, row_place
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Piece, block_rows
from kgmi.streams.raw import Listed, Raw, WrongType, raw_of_arrow

__all__ = ["Projection", "cast_to", "check_type", "typed_with", "unpacked"]


@dataclass(frozen=True)
class Projection:
    """What is taken of Arrow batches.

    Attributes
    ----------
    columns
        The columns, in their order.
    filter
        Which rows are taken.
    undeclared
        Columns that declare no categories: where they have a dictionary, it is only how their texts are kept.
    is_text
        Whether the cells are texts as they stand in a file.
    """

    columns: tuple[str, ...]
    filter: Filter | None = None
    undeclared: frozenset[str] = frozenset()
    is_text: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns that have to be read."""
        return tuple(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))

    def check_texts(self) -> None:
        """Refuse conditions that cannot be put to the cells of a text file, before any is read."""
        import pyarrow as pa

        if self.filter is not None:
            self.filter.rows(
                pa.table({name: pa.array([], pa.string()) for name in self.filter.columns}), is_text=True
            )

    def constants_read(self, constants: Mapping[str, str | int | None]) -> tuple[tuple[str, str | int | None], ...]:
        """Those of the columns that folders give which are taken or filtered by."""
        return tuple(sorted((name, value) for name, value in constants.items() if name in self.needed))

    def stored(self, constants: Collection[str]) -> list[str]:
        """The columns that have to be read from a file itself: all that its folders do not give."""
        return [name for name in self.needed if name not in constants]

    def pieces(self, batch: Any, constants: Mapping[str, str | int | None] | None = None) -> Iterator[Piece]:
        """The rows of a record batch, in blocks; ``constants``: further columns, the same in all rows."""
        batch.validate()
        most = block_rows(len(self.columns))
        for start in range(0, batch.num_rows, most):
            block = batch.slice(start, most)
            rows = None if self.filter is None else self._passing(block, constants or {})
            if rows is not None and len(rows) == 0:
                continue
            n_rows = block.num_rows if rows is None else len(rows)
            yield [self._raw(block, name, constants or {}, rows, n_rows) for name in self.columns], n_rows

    def _passing(self, block: Any, constants: Mapping[str, str | int | None]) -> Any:
        import pyarrow as pa

        assert self.filter is not None
        cells = {
            name: pa.array([constants[name]] * block.num_rows) if name in constants else block.column(name)
            for name in self.filter.columns
        }
        return self.filter.rows(pa.table(cells), is_text=self.is_text)

    def _raw(self, block: Any, name: str, constants: Mapping[str, str | int | None], rows: Any, n_rows: int) -> Raw:
        if name in constants:
            return Listed(np.zeros(n_rows, dtype=np.int8), [constants[name]])
        column = block.column(name)
        return unpacked(column if rows is None else _taken(column, rows), name, name not in self.undeclared)


def unpacked(array: Any, name: str, declares: bool = True) -> Raw:
    """An Arrow array; types that hold no states are refused by name."""
    try:
        return raw_of_arrow(array, declares)
    except WrongType:
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        label = column_label(name, 0)
        series = nw.from_native(pa.chunked_array([array]), series_only=True)
        values, index, declared = series_values(label, series, lambda row: row_place(row, label))
        return Listed(np.asarray(index), values, declared)


def check_type(name: str, kind: Any) -> None:
    """Refuse a type that holds no states, before anything is read."""
    import pyarrow as pa

    unpacked(pa.nulls(0, kind), name)


def cast_to(batch: Any, schema: Any) -> Any:
    """A record batch with the types that a schema names; texts may stay places in a list."""
    import pyarrow as pa
    from pyarrow import types

    if not batch.num_columns:  # only columns that the folders give are read, and a new batch would have no rows
        return batch
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        kind = schema.field(name).type
        is_kept = types.is_dictionary(column.type) and kind in (
            column.type.value_type,
            pa.string(),
            pa.large_string(),
            pa.string_view(),
        )
        columns.append(column if column.type == kind or is_kept else column.cast(kind))
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def typed_with(schema: Any, constants: Sequence[Mapping[str, str | int | None]]) -> Any:
    """The schema of files with the columns that their folders give."""
    import pyarrow as pa

    for name in constants[0]:
        is_whole = any(isinstance(one[name], int) for one in constants)
        schema = schema.append(pa.field(name, pa.int64() if is_whole else pa.string()))
    return schema


def _taken(column: Any, rows: Any) -> Any:
    """Some rows of an Arrow array; views of texts, of which PyArrow cannot take any, as texts."""
    import pyarrow as pa

    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column.take(pa.array(rows))
