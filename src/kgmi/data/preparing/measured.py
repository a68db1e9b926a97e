"""Columns of numbers: numbers of rows, few values that are states, and measurements, which are cut."""

from __future__ import annotations

import re

import numpy as np

from kgmi.data.bins import quantile_bins
from kgmi.data.columns import Column
from kgmi.data.origin import column_label
from kgmi.data.preparing.raw import Raw
from kgmi.data.preparing.verdict import Verdict, kept, left_out
from kgmi.types import Floats

__all__ = ["judge_numbers"]

_FEW_WHOLE = 12  # whole numbers that are still states, such as months
_FEW_BROKEN = 5  # other numbers that are, such as doses
_ROWS_PER_STATE = 5  # of few rows even few numbers are cut
_LEAST_ROWS = 5  # of which it can be said that their numbers count them
_MANY_ROWS = 20
_LONG = 7  # digits of a number that identifies something
_FOUR_BINS = 400  # rows from which on four bins are not too thin
_IDENTIFIER = re.compile(r"(^|[ _.-])(?i:id|index|key|uuid|guid|nr|no)$|[a-z](Id|ID|Index|Key|Nr|No)$")


def judge_numbers(raw: Raw, numbers: Floats, n_bins: int | None, remark: str) -> Verdict:
    """What becomes of a column of numbers; ``numbers[value]`` is NaN where the value is none."""
    present = np.unique(numbers[~np.isnan(numbers) & (raw.counts > 0)])
    n_filled = int(raw.counts[~np.isnan(numbers)].sum())
    if present.size < 2:
        return left_out(raw, "constant", f"one number only in the {n_filled:,} rows that have one")
    whole = bool((present == np.rint(present)).all())
    if whole and (reason := _names_rows(raw, numbers, present, n_filled)):
        return left_out(raw, "names rows", reason)
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    few = present.size <= (_FEW_WHOLE if whole else _FEW_BROKEN) and _ROWS_PER_STATE * present.size <= n_filled
    if few or present.size <= n_bins:
        return _as_states(raw, numbers)
    values = np.append(numbers, np.nan)[raw.index]  # a gap (-1) looks at the last
    bins = quantile_bins(values, n_bins, column_label(raw.name, 0))
    labels = bins.labels(whole=whole)
    places = np.searchsorted(bins.edges, np.append(numbers, 0.0), side="right")
    places[np.isnan(np.append(numbers, np.nan))] = -1
    column = Column(raw.name, column_label(raw.name, 0), labels, places[raw.index], labels)
    at = ", ".join(bins.shown_edges)
    sentence = f"cut into {len(labels)} bins at {at}: it is a measurement ({present.size:,} different numbers)"
    remarks = (*([remark] if remark else []), *_told_gaps(raw, numbers))
    return Verdict(raw.name, "cut", sentence, column, bins, remarks=remarks)


def _names_rows(raw: Raw, numbers: Floats, present: Floats, n_filled: int) -> str:
    """Why a column of whole numbers only names the rows; nothing where it does not."""
    if present.size < n_filled or n_filled < _LEAST_ROWS:
        return ""
    if present[-1] - present[0] == present.size - 1:
        rising = n_filled == raw.index.size and bool((np.diff(numbers[raw.index]) > 0).all())
        if rising or n_filled >= _MANY_ROWS:  # a few numbers may be next to each other by chance
            return f"it counts the rows, from {int(present[0])} to {int(present[-1])}"
    if n_filled < _MANY_ROWS:
        return ""
    different = f"{n_filled:,} different whole numbers in {n_filled:,} rows"
    if _IDENTIFIER.search(raw.name):
        return f"{different}, it names the rows"
    if present[0] > 0 and len(str(int(present[0]))) == len(str(int(present[-1]))) >= _LONG:
        return f"{different}, all of {len(str(int(present[0])))} digits, it names the rows"
    return ""


def _as_states(raw: Raw, numbers: Floats) -> Verdict:
    """Few numbers are states by their text; cells that hold none are gaps."""
    verdict = kept(raw, numbers)
    gaps = _told_gaps(raw, numbers)
    if not gaps or verdict.column is None:
        return verdict
    index = np.where(np.append(np.isnan(numbers), True)[raw.index], -1, raw.index)
    column = Column(raw.name, verdict.column.label, verdict.column.texts, index)
    return Verdict(raw.name, "kept", "", column, numbers=numbers, remarks=gaps)


def _told_gaps(raw: Raw, numbers: Floats) -> tuple[str, ...]:
    """The sentence on cells that are not numbers, if there are any."""
    strange = np.flatnonzero(np.isnan(numbers) & (raw.counts > 0))
    if not strange.size:
        return ()
    n_cells = int(raw.counts[strange].sum())
    some = ", ".join(f"«{raw.texts[place]}»" for place in strange[:3]) + (" …" if strange.size > 3 else "")
    cells = "1 cell is no number" if n_cells == 1 else f"{n_cells:,} cells are no numbers"
    return (f"{cells} ({some}) and read as missing",)
