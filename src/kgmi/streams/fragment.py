"""``Fragment``: a piece of a stream that is read by itself; ``Choice``: what of a source is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from kgmi.data.rules import listed, whole
from kgmi.errors import SettingError
from kgmi.memory import at_most
from kgmi.streams.filters import unknown_column
from kgmi.streams.raw import Raw
from kgmi.types import Names

__all__ = [
    "FRAGMENT_ROWS",
    "Choice",
    "Cuts",
    "Fragment",
    "Piece",
    "block_rows",
    "chosen",
    "row_ranges",
]

FRAGMENT_ROWS = 1 << 21
"""Rows that a fragment has by default, about."""
_BLOCK_CELLS = 1 << 21  # cells that are in memory at a time; with 64 bits each these are 16 MB
_BLOCK_ROWS = 1 << 12, 1 << 18
_CELL_BYTES = 24  # of a cell with all its copies, from the file to its code

Piece: TypeAlias = tuple[Sequence[Raw], int]
"""Some rows: their columns, and how many they are."""

Cuts: TypeAlias = list[tuple[tuple[int, ...], int | None, int | None]]
"""Where a file is cut in fragments: for each its pieces, its first row, and its number of rows, where known."""


@dataclass(frozen=True)
class Fragment:
    """A piece of a stream.

    Attributes
    ----------
    number
        Its place in the stream.
    mark
        Fingerprint of the rows: rows that changed have another. Empty where it is known only after reading
        (:meth:`Stream.mark_of`).
    n_rows
        How many rows it has, where that is known before reading.
    label
        What people call it.
    file
        The number of its file, for files.
    pieces
        Which row groups, record batches or rows of it.
    first_row
        The place of its first row in the file, as far as that is known.
    raw_rows
        Rows before filtering, where that is known.
    written
        When its file was last written, in nanoseconds; 0 where there is no file. It is no part of the mark.
    """

    number: int
    mark: str
    n_rows: int | None
    label: str
    file: int = 0
    pieces: tuple[int, ...] = ()
    first_row: int | None = None
    raw_rows: int | None = None
    written: int = 0


@dataclass(frozen=True)
class Choice:
    """What of a source is read.

    Attributes
    ----------
    columns
        Names of columns, in the order in which they are wanted; None: all.
    where
        Conditions on rows, as the user gave them.
    header
        Whether the first line of a text file has the names.
    fragment_rows
        About how many rows a fragment should have.
    """

    columns: Names | None = None
    where: Any = None
    header: bool = True
    fragment_rows: int = FRAGMENT_ROWS

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            raise SettingError(f"columns must be a list of names, got the text {self.columns!r}")
        if self.columns is not None:
            object.__setattr__(self, "columns", listed("columns", self.columns))
        if whole("fragment_rows", self.fragment_rows) < 1:
            raise SettingError(f"fragment_rows must be at least 1, got {self.fragment_rows}")


def chosen(names: Sequence[str], columns: Names | None) -> tuple[str, ...]:
    """The columns that are read: all, or those that were named, in their order."""
    if columns is None:
        return tuple(names)
    wanted = tuple(columns)
    if not wanted:
        raise SettingError("columns: name at least one column")
    for place, name in enumerate(wanted):
        if name not in names:
            raise unknown_column(name, names, "columns")
        if name in wanted[:place]:
            raise SettingError(f"columns: {name!r} is named twice")
    return wanted


def block_rows(n_columns: int) -> int:
    """How many rows are looked at at a time."""
    least, most = _BLOCK_ROWS
    usual = max(least, min(most, _BLOCK_CELLS // max(1, n_columns)))
    return at_most(usual, _CELL_BYTES * max(1, n_columns))


def row_ranges(n_rows: int, most: int) -> list[tuple[int, int]]:
    """Ranges of at most so many rows, as equal as can be."""
    if n_rows == 0:
        return []
    n_ranges = -(-n_rows // most)
    ends = [n_rows * number // n_ranges for number in range(n_ranges + 1)]
    return list(pairwise(ends))
