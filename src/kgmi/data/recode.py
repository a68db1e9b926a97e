"""The same cells by other rules: gaps as a state, or an alphabet for each column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.data.rules import Rules
from kgmi.data.states import gap_state
from kgmi.data.table import Table

__all__ = ["gaps_as_state", "with_alphabets"]


def gaps_as_state(table: Table, *, declared: bool = False) -> Table:
    """Gaps as one more state at the end of every alphabet that needs it.

    It is called ``missing``, or ``missing_2``, … where that is a state already. Where the alphabet was ``declared``
    with «missing» at its end, that is the state that gaps are meant to be, and no other is added.
    """
    is_declared = declared and table.states[-1] == "missing"
    if table.n_missing == 0:
        return replace(table, gap="missing") if is_declared else table
    if is_declared:
        extra, states = "missing", table.states
    else:
        extra = gap_state(table.states)
        states = (*table.states, extra)
    alphabets = table.alphabets
    if alphabets is not None:
        pairs = zip(alphabets, table.missing_by_column, strict=True)
        alphabets = tuple((*alphabet, extra) if n_gaps else alphabet for alphabet, n_gaps in pairs)
    made = replace(table, states=states, alphabets=alphabets, gap=extra)
    last = np.array(made.sizes) - 1  # the new state, in every column that has gaps
    codes = np.where(table.codes < 0, last, table.codes).astype(np.min_scalar_type(-max(made.sizes)))
    return replace(made, codes=codes)


def with_alphabets(table: Table, rules: Rules) -> Table:
    """A table over one alphabet, with the alphabets that the rules give to the states that occur in each column."""
    if rules.alphabet == "shared" or (rules.n_declared and not rules.own):
        return table
    occurring = [np.flatnonzero(np.bincount(values[values >= 0])) for values in table.codes.T]
    wanted = rules.column_states([[table.states[code] for code in some] for some in occurring])
    if len({*wanted}) == 1 and not rules.own:
        return table
    codes = np.empty(table.codes.shape, dtype=np.min_scalar_type(-table.n_states))
    alphabets = tuple(tuple(state for state in table.states if state in some) for some in wanted)
    number = {state: code for code, state in enumerate(table.states)}
    for column, alphabet in enumerate(alphabets):
        position = np.full(table.n_states + 1, -1, dtype=codes.dtype)  # the last is what a gap (-1) looks up
        position[[number[state] for state in alphabet]] = np.arange(len(alphabet))
        codes[:, column] = position[table.codes[:, column]]
    used = {state for alphabet in alphabets for state in alphabet}
    states = tuple(state for state in table.states if state in used)
    return Table(codes, table.names, states, alphabets, table.gap if table.gap in used else None)
