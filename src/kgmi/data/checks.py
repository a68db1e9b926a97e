"""Checks on a text table as it was read, before its texts become codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from kgmi.data.columns import Column
from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.data.origin import Origin
from kgmi.data.rules import MISSING_ADVICE, Missing
from kgmi.data.states import same_number
from kgmi.errors import DataError, TooFewRowsError
from kgmi.types import Bools, Names

__all__ = [
    "FEW_STATES",
    "MANY_STATES",
    "NUL_ADVICE",
    "check_delimiter",
    "check_header",
    "check_lines",
    "check_missing",
    "check_names",
    "check_numbers",
    "check_variety",
]

_SHOWN = 8  # names in a message

MANY_STATES = 1_000
"""More different texts than this are measurements or identifiers, not states."""
FEW_STATES = 20
"""Up to here, a short table may well show a new state in every other row."""

_ADVICE = {
    ",": "save it with commas, or name a tab-separated file .tsv",
    "\t": "save it with tabs, or name a comma-separated file .csv",
}


NUL_ADVICE = "contains a NUL byte; the file is damaged or not UTF-8 text: correct it or save it as UTF-8"
"""What is wrong with a text that has one, and what to do."""


def check_delimiter(path: Path, delimiter: str, first_line: str) -> None:
    """Refuse a table of one column whose first line holds what others put between columns."""
    other = next((mark for mark in ";\t," if mark != delimiter and mark in first_line), None)
    if other is not None:
        shown = "a tab" if other == "\t" else repr(other)
        raise DataError(
            f"{path} has one column only, and its first line contains {shown}: {_ADVICE[delimiter]}, "
            f"{PREPARE_ADVICE}"
        )


def check_names(origin: object, names: Sequence[str], *, header: bool = True) -> None:
    """Refuse columns without a name, or with the name of another; a ``header`` may be data taken for names."""
    if "" in names:
        place = names.index("") + 1
        raise DataError(f"column {place} of {origin} has no name (an index column? leave it out, {PREPARE_ADVICE})")
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise DataError(
            f"two columns of {origin} are named {twice!r}; rename one"
            + (", or, if the first line is data, say so with header=False (--no-header)" if header else "")
        )


def check_header(origin: Origin, names: Sequence[str], states: Collection[str]) -> None:
    """Refuse a header whose every name is a state: it is a row, and reading it as names would lose it."""
    if not set(names) <= set(states):
        return
    shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    also = "is also a state" if len(names) == 1 else "are also states"
    raise DataError(
        f"the first line of {origin} looks like data ({shown} {also}): if it is, say so with header=False "
        "(--no-header); if not, rename the columns"
    )


def check_lines(origin: Origin, column: Column) -> None:
    """Refuse a value with a NUL byte, and one of several lines: a quote that was not closed took the next rows."""
    harmed = np.array([text is not None and "\0" in text for text in column.texts])
    if harmed.any():
        row = int(np.flatnonzero(harmed[column.index])[0])
        raise DataError(
            f"{origin.place(row, column.label)}: the value {column.texts[column.index[row]]!r} {NUL_ADVICE}"
        )
    broken = np.array([text is not None and ("\n" in text or "\r" in text) for text in column.texts])
    if broken.any():
        row = int(np.flatnonzero(broken[column.index])[0])
        value = column.texts[column.index[row]] or ""
        raise DataError(
            f"{origin.place(row, column.label)}: the value runs over the end of the line ({value[:30]!r}); "
            "is a quote not closed?"
        )


def check_missing(origin: Origin, label: str, gaps: Bools, missing: Missing, shown: Callable[[int], str]) -> None:
    """Refuse a column without any value and, where missing values are errors, one with gaps.

    ``gaps[row]`` marks the rows that lack a value; ``shown`` says how such a cell reads.
    """
    n_gaps = int(np.count_nonzero(gaps))
    if n_gaps == gaps.size:
        failure = DataError if missing == "error" else TooFewRowsError  # a gap that is an error stays one
        raise failure(f"{label} of {origin} has no value in any row; leave it out, {PREPARE_ADVICE}")
    if n_gaps and missing == "error":
        row = int(np.flatnonzero(gaps)[0])
        many = "1 such cell" if n_gaps == 1 else f"{n_gaps} such cells"
        raise DataError(
            f"{origin.place(row, label)}: the value is missing ({shown(row)}; {many} in this column). Fill it "
            f"in or drop the row, or say what it means: {MISSING_ADVICE}, {PREPARE_ADVICE}"
        )


def check_variety(origin: Origin, label: str, n_values: int, n_rows: int, n_declared: int) -> None:
    """Refuse a column of measurements or identifiers: many values, or a new one in more than every other row.

    A declared alphabet that is large enough says that they are states after all.
    """
    many = n_values > MANY_STATES or (n_values > FEW_STATES and 2 * n_values > n_rows)
    if many and n_values > n_declared:
        may_be_mended = n_values <= MANY_STATES and not n_declared
        failure = TooFewRowsError if may_be_mended else DataError
        raise failure(
            f"{label} of {origin} has {n_values:,} different values in {n_rows:,} rows; it looks like a "
            "measurement or an identifier, not a state. Leave it out, bin it, or declare the states, "
            f"{PREPARE_ADVICE}"
        )


def check_numbers(origin: Origin, labels: Sequence[str], texts: Sequence[Names]) -> None:
    """Refuse one number written in two ways: as texts they would be two states."""
    label = {text: label for label, column in zip(labels, texts, strict=True) for text in column}
    same = same_number(sorted(label))
    if same is not None:
        one, other = (f"{text!r} ({label[text]})" for text in same)
        raise DataError(
            f"{one} and {other} in {origin} are the same number: write them alike, or declare the states, "
            f"{PREPARE_ADVICE}"
        )
