"""Rows that are in memory already: arrays, data frames, Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgmi.data.origin import row_place
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.batches import Batch, batch_of
from kgmi.streams.files import select
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Choice, Fragment, Piece, row_ranges

__all__ = ["InMemory", "open_memory"]


@dataclass(frozen=True, eq=False)
class InMemory:
    """A table in memory, as a source of rows; its fragments are ranges of rows, so that threads can share them."""

    batch: Batch
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    rereadable: bool = True

    @property
    def form(self) -> Form:
        """What the rows come as."""
        return self.batch.form

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a fragment."""
        first, last = fragment.pieces
        yield from self.batch.part(first, last).pieces(self.columns, self.filter)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        first = fragment.pieces[0]
        if self.filter is None:
            return lambda row, label: row_place(first + row, label)
        return lambda row, label: f"row {row} of those from row {first} that the filter lets through, {label}"


def open_memory(source: object, choice: Choice) -> InMemory:
    """A table in memory as a source."""
    batch = batch_of(source)
    if batch.n_rows == 0:
        raise DataError(
            f"rows must be a table [row, node] with at least one row and column, got (0, {len(batch.names)})"
        )
    columns, where = select(batch.names, choice, None if choice.where is None else batch.schema)
    fragments = tuple(
        Fragment(
            number, "", last - first if where is None else None, f"rows {first:,}–{last - 1:,}", 0, (first, last)
        )
        for number, (first, last) in enumerate(row_ranges(batch.n_rows, choice.fragment_rows))
    )
    return InMemory(batch, columns, where, fragments, f"{batch.kind} of {batch.n_rows:,} rows")
