"""``Block``: some columns against some others, and where in the table of pairs they are."""

from __future__ import annotations

from typing import NamedTuple

from kgmi.types import Ints

__all__ = ["Block"]


class Block(NamedTuple):
    """Columns ``rows`` of one side against ``columns`` of another.

    Attributes
    ----------
    rows, columns
        Which columns of each side.
    at
        Where they are among the rows and columns of the table [i, j, s', s].
    is_half
        Whether both are the same columns, so that j ≥ i will do.
    has_mirror
        Whether the table holds [j, i, s, s'] as well; always so for a half.
    """

    rows: slice
    columns: slice
    at: tuple[Ints, Ints]
    is_half: bool
    has_mirror: bool = True
