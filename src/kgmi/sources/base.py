"""What all sources of rows have in common: fragments, blocks of rows, and what of them is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from kgmi.cells import Cells, Form, Place
from kgmi.errors import DataError, SettingError
from kgmi.memory import at_most
from kgmi.table import Batch
from kgmi.where import Filter, read_filter, unknown_column

__all__ = ["FRAGMENT_ROWS", "Block", "Choice", "Form", "Fragment", "Source", "block_rows", "row_ranges"]

FRAGMENT_ROWS = 1 << 21
"""About how many rows a fragment has."""

_BLOCK_CELLS = 1 << 21  # cells in memory at a time; 16 MB with 64 bits each
_BLOCK_ROWS = 1 << 12, 1 << 18
_CELL_BYTES = 24  # of a cell with all its copies, from the file to its code

Block: TypeAlias = tuple[list[Cells], int]
"""Some rows: their columns, and how many rows they are."""


@dataclass(frozen=True)
class Fragment:
    """A piece of a source that is read by itself.

    Attributes
    ----------
    label
        What messages call it.
    number
        Its place in the source.
    mark
        Fingerprint of its rows; empty where it is known only after reading.
    n_rows
        Number of rows, where it is known before reading and no filter is set.
    file
        Number of its file.
    pieces
        Which row groups of the file, or its first and its last row; empty: all of it.
    first
        Number of its first row in the file or table; 0 where that is not known, or a filter is set.
    """

    label: str
    number: int = 0
    mark: str = ""
    n_rows: int | None = None
    file: int = 0
    pieces: tuple[int, ...] = ()
    first: int = 0


@dataclass(eq=False)
class Source(ABC):
    """Where rows come from; made for one choice of columns and rows.

    Attributes
    ----------
    form
        How cells are read.
    columns
        The columns that are read.
    filter
        Which rows are read.
    description
        What messages call it.
    fragments
        The pieces; they can be read in any order, and several at a time.
    rereadable
        Whether the rows can be read more than once.
    """

    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    description: str
    fragments: tuple[Fragment, ...] = field(default=(), kw_only=True)
    rereadable: bool = field(default=True, kw_only=True)

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns that have to be read."""
        return tuple(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files behind it, and their paths; a copy of a file has the same one."""
        return {}

    @abstractmethod
    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment, in blocks that fit into memory."""

    def container(self, fragment: Fragment) -> str:
        """Return what messages put before the number of a row."""
        return ""

    def place(self, fragment: Fragment) -> Place:
        """Return a function that says where a row, counted from 0 as ``Fragment.first`` is, and a column are."""
        if self.filter is not None:
            return lambda row, name: f"{fragment.label}: row {row} of those that pass the filter, column '{name}'"
        container = self.container(fragment)
        return lambda row, name: f"{container}row {row}, column '{name}'"

    def blocks(self, rows: Batch) -> Iterator[Block]:
        """Yield the rows that pass, in blocks that fit into memory."""
        for start in range(0, len(rows), most := block_rows(len(self.columns))):
            part = rows.part(start, start + most)
            cells, n_rows = [part.cells(name) for name in self.columns], len(part)
            if self.filter is not None:
                kept = self.filter.rows({name: part.arrow(name) for name in self.filter.columns}, n_rows)
                cells, n_rows = [one.taken(kept) for one in cells], len(kept)
            if n_rows:
                yield cells, n_rows

    def cut(self, pieces: Iterable[Fragment]) -> None:
        """Set the fragments; with a filter, their number of rows and first row are not known."""
        unknown: dict[str, Any] = {} if self.filter is None else {"n_rows": None, "first": 0}
        self.fragments = tuple(replace(one, number=number, **unknown) for number, one in enumerate(pieces))

    def check_columns(
        self, where: str, own: Sequence[str], first: str, known: Collection[str] | None, given: Collection[str] = ()
    ) -> None:
        """Refuse rows that lack a needed column, or have one that is not among the known ones.

        Parameters
        ----------
        where, first
            What messages call these rows, and the first ones.
        own, given
            The columns of the rows, and those that the name of their folder gives.
        known
            All columns that there may be; None: any.
        """
        for name in self.needed:
            if name in own and name in given:
                raise DataError(f"{where} has a column {name!r}, and so has the name of its folder; rename one")
            if name not in own and name not in given:
                raise DataError(
                    f"{where} has no column {name!r}, which {first} has; give tables with the same columns, or "
                    "say with columns=… (--columns) which are meant"
                )
        further = [] if known is None else [name for name in own if name not in known]
        if further:
            raise DataError(
                f"{where} has a column {further[0]!r} that {first} does not have; say with columns=… (--columns) "
                "which are meant"
            )


@dataclass(frozen=True)
class Choice:
    """What of a source is read."""

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


def block_rows(n_columns: int) -> int:
    """Return how many rows are in memory at a time."""
    least, most = _BLOCK_ROWS
    usual = max(least, min(most, _BLOCK_CELLS // max(1, n_columns)))
    return at_most(usual, _CELL_BYTES * max(1, n_columns))


def row_ranges(n_rows: int, most: int) -> list[tuple[int, int]]:
    """Return first and last row of ranges of equal size, up to ``most`` rows."""
    n_parts = -(-n_rows // most)
    return [(n_rows * part // n_parts, n_rows * (part + 1) // n_parts - 1) for part in range(n_parts)]
