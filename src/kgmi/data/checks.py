"""Checks on a text table as it was read, before its texts become codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.data.table import same_number
from kgmi.errors import DataError
from kgmi.types import Bools

__all__ = [
    "check_delimiter",
    "check_header",
    "check_lines",
    "check_missing",
    "check_names",
    "check_numbers",
    "check_variety",
]

_MOST_STATES = 1_000  # more different texts than this are measurements or identifiers, not states
_FEW_STATES = 20  # up to here, a short table may well show a new state in every other row
_SHOWN = 8  # names in a message

_ADVICE = {
    ",": "save it with commas, or name a tab-separated file .tsv",
    "\t": "save it with tabs, or name a comma-separated file .csv",
}


def check_delimiter(path: Path, delimiter: str, first_line: str) -> None:
    """Refuse a table of one column whose first line holds what others put between columns."""
    other = next((mark for mark in ";\t," if mark != delimiter and mark in first_line), None)
    if other is not None:
        shown = "a tab" if other == "\t" else repr(other)
        raise DataError(f"{path} has one column only, and its first line contains {shown}: {_ADVICE[delimiter]}")


def check_names(path: Path, names: tuple[str, ...]) -> None:
    """Refuse columns without a name, or with the name of another."""
    if "" in names:
        raise DataError(f"column {names.index('') + 1} of {path} has no name (an index column? leave it out)")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(
            f"two columns of {path} are named {twice!r}; rename one, or, if the first line is data, say so with "
            "header=False (--no-header)"
        )


def check_header(path: Path, names: Sequence[str], states: Collection[str]) -> None:
    """Refuse a header whose every name is a state: it is a row, and reading it as names would lose it."""
    if not set(names) <= set(states):
        return
    shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    also = "is also a state" if len(names) == 1 else "are also states"
    raise DataError(
        f"the first line of {path} looks like data ({shown} {also}): if it is, say so with header=False "
        "(--no-header); if not, rename the columns"
    )


def check_lines(name: str, texts: Any, indices: Any, place: Callable[[int, str], str]) -> None:
    """Refuse a value of several lines: it is a quote that was not closed and took the next rows with it."""
    broken = np.array(["\n" in text or "\r" in text for text in texts])
    if broken.any():
        row = int(np.flatnonzero(broken[indices])[0])
        raise DataError(
            f"{place(row, name)}: the value runs over the end of the line ({texts[indices[row]][:30]!r}); is a "
            "quote not closed?"
        )


def check_missing(
    path: Path, name: str, gaps: Bools, texts: Any, indices: Any, place: Callable[[int, str], str]
) -> None:
    """Refuse a column with gaps; ``gaps`` marks the texts that mean no value."""
    rows = np.flatnonzero(gaps[indices])
    if rows.size == indices.size:
        raise DataError(f"column '{name}' of {path} has no value in any row; leave it out")
    if rows.size:
        many = "1 such cell" if rows.size == 1 else f"{rows.size} such cells"
        raise DataError(
            f"{place(int(rows[0]), name)}: the value is missing ({texts[indices[rows[0]]]!r}; {many} in this "
            "column). Fill it in or drop the row"
        )


def check_variety(path: Path, name: str, n_values: int, n_rows: int, n_declared: int) -> None:
    """Refuse a column of measurements or identifiers: many values, or a new one in more than every other row.

    A declared alphabet that is large enough says that they are states after all.
    """
    many = n_values > _MOST_STATES or (n_values > _FEW_STATES and 2 * n_values > n_rows)
    if many and n_values > n_declared:
        raise DataError(
            f"column '{name}' of {path} has {n_values:,} different values in {n_rows:,} rows; it looks like a "
            "measurement or an identifier, not a state. Leave it out, bin it, or declare the states"
        )


def check_numbers(path: Path, names: Sequence[str], texts: Sequence[Any]) -> None:
    """Refuse one number written in two ways: as texts they would be two states."""
    column = {text: name for name, column in zip(names, texts, strict=True) for text in column}
    same = same_number(sorted(column))
    if same is not None:
        one, other = (f"{text!r} (column '{column[text]}')" for text in same)
        raise DataError(f"{one} and {other} in {path} are the same number: write them alike, or declare the states")
