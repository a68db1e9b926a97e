"""What an estimator keeps of the rows that it was given: their codes, and once these are many, counts of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.counting import Counts
from kgmi.errors import SettingError
from kgmi.estimator.reader import Reader
from kgmi.statistics.tally import tally_bytes
from kgmi.statistics.tallying import Tallier
from kgmi.types import Codes

__all__ = ["MOST_BYTES", "check_counted", "followed_by"]

MOST_BYTES = 64_000_000
"""Of codes, a byte for each cell, that are kept."""

_ROWS = 262_144  # that are turned around at a time, as columns are counted
_FIRST_ROWS = 20_000  # that are kept for the checks


def followed_by(reader: Reader, before: Codes | Counts, rows: Codes, n_parents: int) -> Codes | Counts:
    """All rows: their codes, or counts for so many parents where the codes would take too much memory.

    Counts cannot stand in for rows with gaps that are left out of them, nor are they smaller than the rows where
    there are too many sets of columns; then the codes are kept.
    """
    from kgmi.counting.part import MOST_BYTES as MOST_COUNTED

    if isinstance(before, Counts):
        return replace(before + _counted(reader, rows, before.tally.width), first=before.first)
    width = min(n_parents + 1, rows.shape[1])
    needed = tally_bytes(reader.table(rows[:0]).sizes, width)
    fits = before.nbytes + rows.nbytes <= max(MOST_BYTES, needed)
    if fits or needed > MOST_COUNTED or reader.missing == "pairwise":
        return np.concatenate([before, rows])
    first = np.concatenate([before[:_FIRST_ROWS], rows[:_FIRST_ROWS]])[:_FIRST_ROWS]
    return replace(_counted(reader, before, width) + _counted(reader, rows, width), first=first)


def _counted(reader: Reader, rows: Codes, width: int) -> Counts:
    table = reader.table(rows)
    tallier = Tallier(table.sizes, width)
    for start in range(0, len(rows), _ROWS):
        tallier.add(np.ascontiguousarray(rows[start : start + _ROWS].T))
    reading = {"missing": reader.missing, "alphabet": "shared" if table.alphabets is None else "own"}
    if reader.gap_state is not None:
        reading["gap"] = reader.gap_state
    return Counts(table.names, table.states, table.alphabets, tallier.tally(), reading=reading)


def check_counted(counts: Counts, n_parents: int | None) -> None:
    """Refuse more parents than the counts were made for: the option may have been changed since."""
    if n_parents is not None and n_parents > counts.n_parents:
        raise SettingError(
            f"{n_parents} parents need the rows again: of the {counts.n_rows:,} rows so far only counts for up to "
            f"{counts.n_parents} parents were kept; fit anew"
        )
