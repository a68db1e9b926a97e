"""``Verdict``: what becomes of a column, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.data.bins import Bins
from kgmi.data.columns import Column
from kgmi.data.preparing.raw import Raw
from kgmi.types import Floats

__all__ = ["Verdict", "kept", "left_out"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What becomes of a column.

    Attributes
    ----------
    name
        Its name.
    why
        The rule that was followed: columns of one rule are told of together where they are many.
    sentence
        What was done, to stand behind the name; nothing where it is kept as it is.
    column
        Its states; None where it is left out.
    bins
        Where it was cut, if it was.
    numbers
        The numbers that its states write, where it is kept as it is and all of them are numbers.
    remarks
        What else has to be said of it, to stand behind the name.
    """

    name: str
    why: str
    sentence: str
    column: Column | None = None
    bins: Bins | None = None
    numbers: Floats | None = None
    remarks: tuple[str, ...] = ()

    @property
    def n_gaps(self) -> int:
        """Rows without a value, of a column that is kept."""
        return 0 if self.column is None else int(np.count_nonzero(self.column.index < 0))


def left_out(raw: Raw, why: str, reason: str) -> Verdict:
    """The column is of no use, for this reason."""
    return Verdict(raw.name, why, f"left out: {reason}")


def kept(raw: Raw, numbers: Floats | None = None) -> Verdict:
    """The column is taken as it is."""
    return Verdict(raw.name, "kept", "", raw.as_column(), numbers=numbers)
