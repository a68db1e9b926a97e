"""``Stream``: rows that are read piece by piece, whatever they come from, as batches of codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kgmi.alphabets import Coded, Rules
from kgmi.cells import Cells, ColumnCoder, Form, Place
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.memory import at_most, free_bytes, shown_bytes
from kgmi.table import Batch, Table, table_of_codes
from kgmi.types import Names
from kgmi.where import Filter, read_filter, unknown_column

_BLOCK_CELLS = 1 << 21  # cells in memory at a time; 16 MB with 64 bits each
_BLOCK_ROWS = 1 << 12, 1 << 18
_CELL_BYTES = 24  # of a cell with all its copies, from the file to its code


@dataclass(frozen=True)
class Fragment:
    """A piece of a stream that is read by itself."""

    label: str = ""  # what messages call it
    number: int = 0  # its place in the stream
    mark: str = ""  # fingerprint of its rows; empty where they are not in files
    n_rows: int | None = None  # None where it is not known before reading, as with a filter
    file: int = 0  # number of its file
    pieces: tuple[int, ...] = ()  # row groups of a Parquet file, or first and last row; empty: all rows
    first: int = 0  # number of its first row in its file or table; 0 where it is not known


@dataclass(frozen=True)
class Choice:
    """What is read of a source, and how: options of :func:`kgmi.stream`."""

    columns: tuple[str, ...] | None
    where: Any
    header: bool
    fragment_rows: int

    def select(self, schema: Any, *, is_text: bool = False) -> tuple[tuple[str, ...], Filter | None]:
        """Return the columns that are read, and the filter, for the columns of an Arrow schema."""
        where = read_filter(self.where, schema, is_text=is_text)
        if self.columns is None:
            return tuple(schema.names), where
        if not self.columns:
            raise SettingError("columns: name at least one column")
        for place, name in enumerate(self.columns):
            if name not in schema.names:
                raise unknown_column(name, schema.names, "columns")
            if name in self.columns[:place]:
                raise SettingError(f"columns: {name!r} is named twice")
        return self.columns, where


@dataclass(eq=False)
class Stream(ABC):
    """Rows that are read piece by piece; made by :func:`kgmi.stream`."""

    form: Form  # how cells are read; see kgmi.cells.ColumnCoder
    columns: tuple[str, ...]  # the columns that are read, as the source calls them
    filter: Filter | None  # which rows are read; None: all
    description: str  # what messages call the source
    fragments: tuple[Fragment, ...] = field(default=(), kw_only=True)  # can be read in any order
    rereadable: bool = field(default=True, kw_only=True)  # whether rows can be read more than once
    has_header: bool = field(default=False, kw_only=True)  # whether names come from the first line of a text file
    names: tuple[str, ...] = field(default=(), kw_only=True)  # of the columns; by default those of the source
    rules: Rules = field(default_factory=Rules, kw_only=True)  # how cells become codes

    def __post_init__(self) -> None:
        self.names = self.names or self.columns

    @abstractmethod
    def read(self, fragment: Fragment) -> Iterator[list[Cells]]:
        """Yield the rows of a fragment, in blocks that fit into memory."""

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns that have to be read."""
        return tuple(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))

    @property
    def where(self) -> str:
        """Which rows are read, in words; empty: all."""
        return "" if self.filter is None else self.filter.text

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known before reading."""
        known = [fragment.n_rows for fragment in self.fragments if fragment.n_rows is not None]
        return sum(known) if len(known) == len(self.fragments) else None

    @property
    def marks(self) -> tuple[str, ...]:
        """Fingerprints of the files behind it; a copy of a file has the same one."""
        return ()

    def place(self, fragment: Fragment) -> Place:
        """Return a function that describes where a cell is, by its row (counted from 0) and its column."""
        passing = "" if self.filter is None else " of those that pass the filter"
        return lambda row, name: f"{fragment.label}: row {row}{passing}, column '{name}'"

    def blocks(self, rows: Batch) -> Iterator[list[Cells]]:
        """Yield the rows that pass the filter, in blocks that fit into memory."""
        for start in range(0, len(rows), most := block_rows(len(self.columns))):
            part = rows.part(start, start + most)
            cells = [part.cells(name) for name in self.columns]
            if self.filter is not None:
                kept = self.filter.rows({name: part.arrow(name) for name in self.filter.columns}, len(part))
                cells = [one.taken(kept) for one in cells]
            if len(cells[0].index):
                yield cells

    def batches(self, fragment: Fragment) -> Iterator[Coded]:
        """Yield the rows of a fragment as codes."""
        place = self.place(fragment)
        coders = [ColumnCoder(name, self.rules, self.form, place) for name in self.names]
        row = fragment.first
        for cells in self.read(fragment):
            codes = [coder.code(one, row) for coder, one in zip(coders, cells, strict=True)]
            row += len(codes[0])
            yield Coded(np.stack(codes), tuple(coder.seen for coder in coders))

    def table(self) -> Table:
        """Read all rows into memory."""
        needed, free = 2 * (self.n_rows or 0) * len(self.names), free_bytes()
        if free is not None and needed > free:
            raise TooLargeError(
                f"{self.description} has {self.n_rows:,} rows of {len(self.names):,} columns, about "
                f"{shown_bytes(needed)} of memory, and {shown_bytes(free)} are free; read some of its columns or "
                "rows, or count it"
            )
        return self.joined([batch for fragment in self.fragments for batch in self.batches(fragment)])

    def joined(self, batches: Sequence[Coded]) -> Table:
        """Return some batches as one table."""
        if not batches:
            raise self.no_rows()
        return table_of_codes(batches, self.names, self.rules, self.columns if self.has_header else None)

    def no_rows(self) -> DataError:
        """Return the error on a stream without rows."""
        passing = " that pass the filter" if self.filter is not None else ""
        return DataError(f"there are no rows{passing} in {self.description}")

    def numbered(self, pieces: Iterable[Fragment]) -> tuple[Fragment, ...]:
        """Return fragments with their numbers; with a filter, their number of rows and first row are unknown."""
        unknown: dict[str, Any] = {} if self.filter is None else {"n_rows": None, "first": 0}
        return tuple(replace(one, number=number, **unknown) for number, one in enumerate(pieces))

    def check_columns(self, where: str, own: Names, first: str, known: Names | None, given: Names = ()) -> None:
        """Refuse rows whose columns are not those of the first rows.

        They must have all needed columns, among their ``own`` and those ``given`` by the name of their folder, and
        no others than the ``known`` (None: any). Messages call them ``where``, and the first rows ``first``.
        """
        advice = "give tables with the same columns, or name those to be read with columns=… (--columns)"
        for name in self.needed:
            if name not in own and name not in given:
                raise DataError(f"{where} has no column {name!r}, which {first} has; {advice}")
        for name in own:
            if known is not None and name not in known:
                raise DataError(f"{where} has a column {name!r} that {first} does not have; {advice}")


def ranges(n_rows: int, most: int, label: str = "") -> list[Fragment]:
    """Return ranges of rows of equal size, up to ``most`` rows, as fragments."""
    n_parts = max(1, -(-n_rows // most))
    ends = [n_rows * part // n_parts for part in range(n_parts + 1)]
    return [
        Fragment(label, n_rows=end - first, pieces=(first, end - 1), first=first) for first, end in pairwise(ends)
    ]


def block_rows(n_columns: int) -> int:
    """Return how many rows are in memory at a time."""
    least, most = _BLOCK_ROWS
    usual = max(least, min(most, _BLOCK_CELLS // max(1, n_columns)))
    return at_most(usual, _CELL_BYTES * max(1, n_columns))
