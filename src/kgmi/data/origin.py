"""``Origin``: where a table comes from, for messages that name the cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["MEMORY", "Origin", "column_label", "row_place"]


@dataclass(frozen=True)
class Origin:
    """What messages call a table and its cells.

    Attributes
    ----------
    name
        The path of a file, or «the table».
    place
        Where a cell stands, in words, from its row and the label of its column.
    is_text
        Whether the table was read from a text file, where a quote may have been left open.
    has_header
        Whether the names were read from the first line, which is refused where it is probably data.
    """

    name: str
    place: Callable[[int, str], str]
    is_text: bool = False
    has_header: bool = False

    def __str__(self) -> str:
        return self.name


def column_label(name: str | None, column: int) -> str:
    """What messages call a column: by its name, or by its number from 0 where it has none."""
    return f"column {column}" if name is None else f"column '{name}'"


def row_place(row: int, label: str) -> str:
    """Where a cell of an array or of a data frame stands; rows are numbered from 0 as in NumPy."""
    return f"row {row}, {label}"


MEMORY = Origin("the table", row_place)
"""Arrays and data frames."""
