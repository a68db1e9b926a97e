"""``as_table``: rows in any form as a ``Table``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kgmi.data.checks import check_missing
from kgmi.data.codes import checked_codes
from kgmi.data.columns import Column, read_cells
from kgmi.data.encode import table_of
from kgmi.data.frames import as_frame, frame_columns
from kgmi.data.numbers import table_of_numbers
from kgmi.data.origin import MEMORY, Origin, column_label
from kgmi.data.recode import gaps_as_state, with_alphabets
from kgmi.data.rows import as_array
from kgmi.data.rules import Alphabet, Missing, Rules
from kgmi.data.table import Table, checked_names
from kgmi.errors import DataError, SettingError
from kgmi.types import Names

__all__ = ["as_table", "table_of_cells", "table_of_frame"]


def as_table(
    source: object,
    *,
    states: Names | None = None,
    n_states: int | None = None,
    names: Names | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
) -> Table:
    """Rows in any form as a table of state codes; the source is not changed.

    Parameters
    ----------
    source
        - An array or lists [row, column] of whole numbers (also as floats) or truth values. The numbers that occur
          are the states, in their order, as in a file; with ``states`` or ``n_states`` they are codes 0..S-1,
          positions in the alphabet. NaN, None and masked cells are missing, and so is -1 where that is allowed.
        - An array or lists of texts, or of texts and numbers: the texts are the states, as in a file.
        - A data frame (pandas, polars, PyArrow and others that narwhals knows; lazy ones are computed). Categories
          that a column declares are states even where they never occur. Whole numbers, -1 too, are states by
          their text, as in a file, and so are truth values; with ``n_states`` whole numbers from 0 are codes.
        - A :class:`Table`, which keeps the gaps and the alphabets it was made with.
    states
        The alphabet in its order. A data frame of whole numbers is read by text where a declared state is a
        whole number, and as positions in the alphabet otherwise.
    n_states
        The size of the alphabet, so that whole numbers 0..S-1 are codes even where one never occurs; by default
        the states are what occurs.
    names
        Names of the columns; by default those of the data frame, or X1, X2, ….
    missing
        What a cell without a value is: an ``error``, a ``category`` (one more state, named ``missing``), or nothing
        (``pairwise``: code -1, and the row drops out of exactly the counts that need the value).
    alphabet
        Whether all columns share one alphabet (``shared``: the union over the columns, or as declared) or each
        has its ``own``: its categories, or what occurs in it. With ``auto`` columns over one set of values share
        it, and columns whose values have nothing in common have their own.
    """
    rules = Rules(states, n_states, missing, alphabet)
    if isinstance(source, Table):
        return _from_table(source, rules, names)
    frame = as_frame(source)
    if frame is not None:
        return table_of_frame(frame_columns(frame), rules, names)
    array = as_array(source)
    columns = getattr(source, "columns", None)
    if names is None and isinstance(columns, Iterable):  # what only looks like a data frame has names too
        names = [str(name) for name in columns]
    if names is not None:
        names = checked_names(names, array.shape[1])
    cells = source if isinstance(source, np.ma.MaskedArray) else array
    mixed = array.dtype.kind in "USTO"
    if not mixed and array.dtype.kind not in "iubf":
        raise DataError(
            f"all columns are of type {array.dtype}; states are texts, whole numbers or truth values: recode them"
        )
    return _from_cells(source, array, rules, names) if mixed else table_of_numbers(cells, rules, names)


def _from_table(table: Table, rules: Rules, names: Names | None) -> Table:
    """A table that was made before, checked; its own alphabets and its gaps stay what they are."""
    if rules.n_states not in (None, table.n_states):
        raise SettingError(f"n_states is {rules.n_states}, but there are {table.n_states} states in the table")
    if rules.states is not None and tuple(rules.states) != table.states:
        raise SettingError(f"the table has states of its own ({', '.join(table.states[:8])}); leave states out")
    if names is not None:
        table = replace(table, names=checked_names(names, len(table.names)))
    codes, _ = checked_codes(table.codes, max(2, *table.sizes), table.names, missing="pairwise")
    beyond = np.flatnonzero(codes.max(axis=0) >= np.array(table.sizes)) if table.own_alphabets else ()
    for column in beyond:
        checked_codes(codes[:, [column]], table.sizes[column], [table.names[column]], missing="pairwise")
    table = replace(table, codes=codes)
    if rules.own and not table.own_alphabets:
        table = with_alphabets(table, rules)
    return gaps_as_state(table) if rules.missing == "category" else table


def table_of_frame(columns: list[Column], rules: Rules, names: Names | None, origin: Origin = MEMORY) -> Table:
    """A data frame: text as in a file, but whole numbers from 0 are codes where that is what was declared."""
    if names is not None:
        chosen = checked_names(names, len(columns))
        columns = [
            replace(column, name=name, label=column_label(name, 0))
            for column, name in zip(columns, chosen, strict=True)
        ]
    by_text = rules.n_declared == 0 or any(state.isdecimal() for state in rules.states or ())
    plain = all(column.declared is None and column.numbers is not None for column in columns)
    if by_text or not plain or any(min(_present(column)) < 0 for column in columns):
        return table_of(columns, rules, origin)
    return _as_codes(columns, rules, [column.name for column in columns])


def _from_cells(source: Any, array: np.ndarray[Any, Any], rules: Rules, names: Names | None) -> Table:
    """An array of texts or of Python objects; where all of them are numbers, it is one of numbers."""
    if not isinstance(source, np.ndarray) and array.dtype.kind in "US":
        array = as_array(np.asarray(source, dtype=object))  # NumPy wrote the numbers among the texts as texts
    if isinstance(source, np.ma.MaskedArray):
        array = array.astype(object)  # a copy
        array[np.ma.getmaskarray(source)] = None
    labels = [column_label(None if names is None else names[k], k) for k in range(array.shape[1])]
    called = checked_names(names, array.shape[1])
    columns = [read_cells(called[k], label, array[:, k].tolist()) for k, label in enumerate(labels)]
    return table_of_cells(columns, rules, names)


def table_of_cells(columns: list[Column], rules: Rules, names: Names | None, origin: Origin = MEMORY) -> Table:
    """Columns of texts or of Python objects; where all of them are numbers, it is a table of numbers."""
    if all(column.numbers is not None for column in columns):
        truth = all(column.declared is not None for column in columns) and not (rules.own or rules.n_declared)
        return _as_codes(columns, replace(rules, n_states=2) if truth else rules, names)
    return table_of(columns, rules, origin)


def _present(column: Column) -> list[int]:
    """The whole numbers of a column, without what stands at the place of a gap."""
    pairs = zip(column.numbers or (), column.texts, strict=True)
    return [number for number, text in pairs if text is not None]


def _as_codes(columns: Sequence[Column], rules: Rules, names: Names | None) -> Table:
    """Columns of whole numbers as one array of them."""
    widest = max(columns, key=lambda column: max(map(abs, _present(column))))
    extreme = max(_present(widest), key=abs)
    dtype = np.min_scalar_type(-1 - abs(extreme))
    if dtype.kind != "i":
        raise DataError(
            f"{widest.label} holds {extreme}; it looks like an identifier, not a state. Leave it out or recode it"
        )
    cells = np.empty((columns[0].index.size, len(columns)), dtype=dtype)
    for place, column in enumerate(columns):
        gap_or_number = zip(column.texts, column.numbers or (), strict=True)
        known = [-1 if text is None else number for text, number in gap_or_number]
        gaps = np.array([*(text is None for text in column.texts), True])[column.index]  # -1 looks at the last
        check_missing(MEMORY, column.label, gaps, rules.missing, lambda _: "no value")
        cells[:, place] = np.array([*known, -1], dtype=dtype)[column.index]
    return table_of_numbers(cells, rules, names)
