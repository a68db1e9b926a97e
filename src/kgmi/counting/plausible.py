"""Whether counts can be those of rows: what a file says may fit in form, and still contradict itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, get_args

import numpy as np

from kgmi.counting.filtered import filters_fit
from kgmi.data.rules import Alphabet, Missing
from kgmi.statistics.sets import numbers_in
from kgmi.statistics.tally import Tally, pieces, tally_bytes

__all__ = ["adds_up", "margins_agree", "reading_fits", "states_fit", "wrong_name"]

_MOST_COUNT = 2**63 - 1
_MOST_BYTES = 512_000_000  # of the counts of smaller sets; only sets of nearly all of very many columns take more
_CHOICES = {"missing": get_args(Missing), "alphabet": get_args(Alphabet)}
# What acts on a terminal instead of being seen, or is half a letter; tables do have names of several lines.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def wrong_name(names: Sequence[str]) -> str | None:
    """What is wrong with the first name that no file of counts may have; None: nothing."""
    for number, name in enumerate(names, 1):
        if not name:
            return f"column {number} has no name"
        if _UNSEEN.search(name):
            return f"the name of column {number}, {name!a}, has a control character or half a letter"
    return None


def states_fit(states: Sequence[str], alphabets: Sequence[Sequence[str]] | None) -> bool:
    """Whether the states of all columns together are those that the columns have."""
    return alphabets is None or set(states) == {state for alphabet in alphabets for state in alphabet}


def reading_fits(reading: Any, states: Sequence[str], *, own: bool, has_gaps: bool) -> bool:
    """Whether rows that were read so give such counts; an estimator says nothing of it."""
    if not isinstance(reading, Mapping) or ("where" in reading and not filters_fit(reading["where"])):
        return False
    if any(told not in _CHOICES.get(key, ()) for key, told in reading.items() if key not in ("where", "gap")):
        return False
    gap = reading.get("gap")
    if "gap" in reading and not (isinstance(gap, str) and gap in states and reading.get("missing") == "category"):
        return False
    said = reading.get("alphabet", "auto")
    return (said == "auto" or (said == "own") == own) and (not has_gaps or reading.get("missing") == "pairwise")


def adds_up(tally: Tally) -> bool:
    """Whether no count is negative, and every table has each row once."""
    if not tally.cells.size:
        return tally.n_rows == 0
    if int(tally.cells.min()) < 0 or int(tally.cells.max()) > tally.n_rows:
        return False
    lengths = np.diff(tally.starts)
    filled = lengths > 0  # a column without any state, of no rows, has empty tables
    begins = tally.starts[:-1][filled]
    if tally.n_rows > _MOST_COUNT // int(lengths.max()):  # whole numbers may come round to the same; these do not
        sums = np.add.reduceat(tally.cells, begins, dtype=np.float64)
        if not (sums < 1.5 * 2.0**63).all():
            return False
    exact = bool((np.add.reduceat(tally.cells, begins) == tally.n_rows).all())
    return exact and (bool(filled.all()) or tally.n_rows == 0)


def margins_agree(tally: Tally) -> bool:
    """Whether tables agree on the columns that they have in common; each has to add up.

    Of all sets of a width, any two are joined by others that differ in one column each, so that the sets of one
    column less decide; where only some sets were counted, all smaller ones are looked at.
    """
    every = tally.sets is None
    while tally.n_rows and tally.width > 1 and len(tally.listed) > 1:
        needed = tally_bytes(tally.sizes, tally.width - 1, has_gaps=tally.has_gaps) if every else None
        if (8 * tally.n_cells * tally.width if needed is None else needed) > _MOST_BYTES:
            break
        smaller = tally.smaller(tally.width - 1)
        if not _agree(tally, smaller):
            return False
        if every:
            break
        tally = smaller
    return True


def _agree(tally: Tally, smaller: Tally) -> bool:
    """Whether every table, summed over any one of its columns, gives that of the smaller set."""
    places = range(tally.width)
    numbers = [numbers_in(smaller.sets, np.delete(tally.listed, place, axis=1)) for place in places]
    for shape, which in pieces(tally.codes, tally.listed):
        tables = tally.cells_of(which, prod(shape)).reshape(len(which), *shape)
        for place in places:
            sums = tables.sum(axis=1 + place).reshape(len(which), -1)
            if not np.array_equal(sums, smaller.cells_of(numbers[place][which], sums.shape[1])):
                return False
    return True
