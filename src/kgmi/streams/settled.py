"""``Settled``: the final alphabets, found by reading a small table in which every state occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.data.checks import check_variety
from kgmi.data.columns import TRUTH, Column
from kgmi.data.convert import table_of_cells, table_of_frame
from kgmi.data.encode import table_of
from kgmi.data.numbers import table_of_numbers
from kgmi.data.origin import Origin, column_label
from kgmi.data.rules import Rules
from kgmi.data.table import Table
from kgmi.errors import DataError, TooFewRowsError
from kgmi.streams.alphabets import Alphabets
from kgmi.streams.seen import TEXT, TRUTH_VALUE, Seen
from kgmi.types import Ints, Names

__all__ = ["ROWS", "Settled", "settle"]

ROWS = "the rows"
"""What messages call a stream where they cannot name a file."""


@dataclass(frozen=True, eq=False)
class Settled:
    """What the states are in the end, and which of them every code stands for.

    Attributes
    ----------
    states, alphabets
        As in :class:`kgmi.data.Table`.
    maps
        ``maps[column][old code]``: the code in the final alphabet of the column.
    gap_codes
        ``gap_codes[column]``: the state that gaps are, where they are one; of a column without gaps it means
        nothing. None where gaps are no state, or where there are none.
    gap
        The name of that state, also where it was declared and there are no gaps; None where gaps are none.
    """

    states: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...] | None
    maps: tuple[Ints, ...]
    gap_codes: tuple[int, ...] | None
    gap: str | None


def settle(alphabets: Alphabets, names: Names, rules: Rules, filled: Sequence[int] | Ints) -> Settled:
    """The final alphabets; see :meth:`Alphabets.settled`.

    :mod:`kgmi.data` reads a table of all different values instead of all rows, so that its rules hold here.
    """
    if len(names) != len(alphabets.columns) or len(filled) != len(names):
        raise DataError(f"{len(alphabets.columns)} columns need as many names and counts of values")
    if all(seen.is_empty for seen in alphabets.columns):
        raise TooFewRowsError("there are no rows")
    origin = Origin(
        ROWS,
        lambda _, label: label,
        is_text=alphabets.form.endswith("text"),
        has_header=alphabets.form == "headed text",
    )
    labels = [column_label(name, 0) for name in names]
    for seen, label, n_filled in zip(alphabets.columns, labels, filled, strict=True):
        n_declared = max(rules.n_declared, len(seen.categories or ()))
        check_variety(origin, label, len(seen.texts), int(n_filled), n_declared)
    table = _table(alphabets, labels, rules, origin)
    maps = tuple(
        table.codes[: len(seen.texts), column].astype(np.int64) for column, seen in enumerate(alphabets.columns)
    )
    if any(codes.min(initial=0) < 0 for codes in maps):
        raise DataError(
            "-1 stands among texts or objects and may be a missing value; give an array of whole numbers"
        )
    is_state = rules.missing == "category" and alphabets.has_gaps
    last = [
        int(code) if seen.has_gaps else 0 for code, seen in zip(table.codes[-1], alphabets.columns, strict=True)
    ]
    return Settled(table.states, table.alphabets, maps, tuple(last) if is_state else None, table.gap)


def _table(alphabets: Alphabets, labels: Sequence[str], rules: Rules, origin: Origin) -> Table:
    """A table in whose first rows every state of every column stands, in the order of codes; the last has gaps."""
    # Twice as many rows as values: no column looks like one of identifiers, which was judged by all rows already.
    n_rows = 2 * max(len(seen.texts) for seen in alphabets.columns) + 1
    columns = [_column(seen, label, n_rows) for seen, label in zip(alphabets.columns, labels, strict=True)]
    if alphabets.form == "numbers":
        _check_numbers(columns, rules)
        return table_of_numbers(_numbers(alphabets, columns), rules)
    if alphabets.form in ("text", "headed text"):
        return table_of(columns, rules, origin)
    plain = all(column.numbers is not None for column in columns)
    if alphabets.form == "cells":
        if plain:
            _check_numbers(columns, rules)
        return table_of_cells(columns, rules, None, origin)
    by_text = rules.n_declared == 0 or any(state.isdecimal() for state in rules.states or ())
    if plain and not by_text and all(c.declared is None and min(c.numbers or (0,)) >= 0 for c in columns):
        _check_numbers(columns, rules)
    return table_of_frame(columns, rules, None, origin)


def _column(seen: Seen, label: str, n_rows: int) -> Column:
    """A column in which every text occurs, and a gap where there was one."""
    n_texts = len(seen.texts)
    index = np.arange(n_rows, dtype=np.int64) % n_texts if n_texts else np.full(n_rows, -1, dtype=np.int64)
    if seen.has_gaps:
        index[-1] = -1
    declared = seen.categories
    if declared is None and seen.kinds == TRUTH_VALUE:
        declared = TRUTH
    is_whole = bool(seen.kinds) and not seen.kinds & TEXT
    numbers = tuple(TRUTH.index(text) if text in TRUTH else int(text) for text in seen.texts) if is_whole else None
    return Column(seen.name, label, seen.texts, index, declared, numbers)


def _numbers(
    alphabets: Alphabets, columns: Sequence[Column]
) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.generic]]:
    """The columns as one array of numbers, or of truth values where all of them are."""
    kinds = {seen.kinds for seen in alphabets.columns if seen.kinds}
    is_large = any(number > np.iinfo(np.int64).max for column in columns for number in column.numbers or ())
    dtype = np.uint64 if is_large else np.int64
    known = [np.array([*(column.numbers or ()), 0], dtype=dtype) for column in columns]  # a gap looks at the last
    cells = np.stack([values[column.index] for values, column in zip(known, columns, strict=True)], axis=1)
    gaps = np.stack([column.index < 0 for column in columns], axis=1)
    return np.ma.MaskedArray(cells.astype(np.bool_) if kinds == {TRUTH_VALUE} else cells, gaps)


def _check_numbers(columns: Sequence[Column], rules: Rules) -> None:
    """Refuse what arrays of numbers may not hold, without a row: which one it is was not kept."""
    every = [(number, column.label) for column in columns for number in column.numbers or ()]
    lowest, label = min(every, default=(0, ""))
    if rules.n_declared:
        outside = next((pair for pair in every if not 0 <= pair[0] < rules.n_declared), None)
        if outside is not None:
            raise DataError(
                f"{outside[1]} holds {outside[0]}, outside the alphabet 0..{rules.n_declared - 1}; recode it"
                + ("" if outside[0] < 0 else " or raise n_states")
            )
    elif lowest == -1 and rules.missing == "error":
        raise DataError(
            f"{label} holds -1, the only number below 0; if -1 means that the value is missing, say so with "
            "missing='pairwise'; if it is a state, recode it or give texts"
        )
