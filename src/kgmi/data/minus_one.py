"""-1 as a state: right for spins, but in many tables it stands for a missing value."""

from __future__ import annotations

import numpy as np

from kgmi.data.table import Table

__all__ = ["minus_one_columns"]


def minus_one_columns(table: Table) -> list[int]:
    """Columns in which -1 is a state and may be a gap: all else in them is a whole number from 0.

    None are where the table has other numbers below 0: then -1 is one of them.
    """
    if "-1" not in table.states or any(_is_below_zero(state) for state in table.states if state != "-1"):
        return []
    found = []
    for column, states in enumerate(table.column_states):
        values = table.codes[:, column]
        seen = {states[code] for code in np.unique(values[values >= 0])}
        if "-1" in seen and all(state.isdecimal() or state in ("-1", "missing") for state in seen):
            found.append(column)
    return found


def _is_below_zero(state: str) -> bool:
    return state.startswith("-") and state[1:].isdecimal()
