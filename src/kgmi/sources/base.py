"""What all sources of rows have in common: fragments, blocks of rows, and what of them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from kgmi.cells import Cells, Form
from kgmi.errors import SettingError
from kgmi.memory import at_most
from kgmi.where import Filter, read_filter, unknown_column

__all__ = ["FRAGMENT_ROWS", "Block", "Choice", "Form", "Fragment", "Source", "block_rows"]

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
    number
        Its place in the source.
    label
        What messages call it.
    mark
        Fingerprint of its rows; empty where it is known only after reading.
    n_rows
        Number of rows, where it is known before reading and no filter is set.
    file
        Number of its file.
    pieces
        Which row groups of the file, or first and last row; empty: all of it.
    first
        Number of its first row in the file or table; 0 where that is not known, or a filter is set.
    """

    number: int
    label: str
    mark: str = ""
    n_rows: int | None = None
    file: int = 0
    pieces: tuple[int, ...] = ()
    first: int = 0


class Source(Protocol):
    """Where rows come from; made for one choice of columns and rows."""

    @property
    def form(self) -> Form:
        """How cells are read."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""

    @property
    def filter(self) -> Filter | None:
        """Which rows are read."""

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The pieces; they can be read in any order, and several at a time."""

    @property
    def description(self) -> str:
        """What messages call it."""

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read more than once."""

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files behind it, and their paths; a copy of a file has the same one."""

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment, in blocks that fit into memory."""

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a row, counted from 0 as ``Fragment.first`` is, and a column are."""


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
