"""``Batch``: any table in memory behind one face, whatever library it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kgmi.data.checks import check_names
from kgmi.data.origin import MEMORY
from kgmi.data.rows import as_array
from kgmi.data.table import default_names
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.blocks import array_form, array_pieces, array_schema, frame_pieces, frame_schema
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Piece
from kgmi.streams.projection import Projection

__all__ = ["Batch", "batch_of", "is_frame", "is_lazy"]


@dataclass(frozen=True, eq=False)
class Batch:
    """A table in memory.

    Attributes
    ----------
    kind
        Whose table it is: an ``array``, a ``data frame`` that narwhals knows, or an Arrow ``table``.
    rows
        The table itself.
    names
        The names of its columns.
    form
        How its cells are read.
    """

    kind: Literal["array", "data frame", "table"]
    rows: Any
    names: tuple[str, ...]
    form: Form

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return int(self.rows.num_rows) if self.kind == "table" else len(self.rows)

    @property
    def schema(self) -> Any:
        """The types of its columns, as far as Arrow knows them."""
        if self.kind == "table":
            return self.rows.schema
        return array_schema(self.rows, self.names) if self.kind == "array" else frame_schema(self.rows, self.names)

    def part(self, first: int, last: int) -> Batch:
        """Some of the rows, without a copy where that is possible."""
        if (first, last) == (0, self.n_rows):
            return self
        rows = self.rows.slice(first, last - first) if self.kind == "table" else self.rows[first:last]
        return replace(self, rows=rows)

    def pieces(self, columns: Sequence[str], where: Filter | None) -> Iterator[Piece]:
        """These columns, of the rows that pass, in blocks."""
        if self.kind == "array":
            yield from array_pieces(self.rows, self.names, columns, where)
        elif self.kind == "data frame":
            yield from frame_pieces(self.rows, self.names, columns, where)
        else:
            projection = Projection(tuple(columns), where)
            for batch in self.rows.select(list(projection.needed)).to_batches():
                yield from projection.pieces(batch)


def batch_of(rows: Any) -> Batch:
    """A table of any kind."""
    import pyarrow as pa

    if isinstance(rows, np.ndarray):
        return Batch("array", rows, default_names(rows.shape[-1] if rows.ndim else 0), array_form(rows))
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        return Batch("table", rows, _checked(rows.column_names), "frame")
    if is_frame(rows):
        frame = _narwhals(rows)
        return Batch("data frame", frame, _checked([str(name) for name in frame.columns]), "frame")
    if isinstance(rows, list | tuple):
        array = as_array(rows)
        if array.dtype.kind in "US":
            array = np.asarray(rows, dtype=object)  # NumPy wrote the numbers among the texts as texts
        return batch_of(array)
    raise DataError(
        "rows must come as arrays [row, column], data frames, or Arrow tables or record batches, got "
        f"{type(rows).__name__}"
    )


def is_frame(rows: Any) -> bool:
    """Whether this is a data frame that is in memory."""
    import narwhals.stable.v2 as nw

    return isinstance(_narwhals(rows), nw.DataFrame)


def is_lazy(rows: Any) -> bool:
    """Whether this is a data frame that is still to be computed."""
    import narwhals.stable.v2 as nw

    return isinstance(_narwhals(rows), nw.LazyFrame)


def _narwhals(rows: Any) -> Any:
    """The face that narwhals gives to data frames; all else as it is."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(rows, pass_through=True)
    except DuplicateError:
        check_names(MEMORY, [str(name) for name in rows.columns], header=False)
        raise


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, each of them once."""
    if not names:
        raise DataError("rows must be a table [row, node] with at least one row and column, got no column")
    check_names(MEMORY, tuple(names), header=False)
    return tuple(names)
