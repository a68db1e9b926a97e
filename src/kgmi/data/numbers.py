"""Tables from arrays of whole numbers: the codes themselves, without a look at single cells."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kgmi.data.codes import checked_codes
from kgmi.data.origin import MEMORY, Origin, column_label
from kgmi.data.recode import gaps_as_state, with_own_alphabets
from kgmi.data.rules import Rules
from kgmi.data.states import MOST_STATES, choose_states
from kgmi.data.table import Table, checked_names
from kgmi.errors import DataError
from kgmi.types import Names

__all__ = ["table_of_numbers"]


def table_of_numbers(rows: ArrayLike, rules: Rules, names: Names | None = None, origin: Origin = MEMORY) -> Table:
    """Whole numbers 0..S-1 as codes; the states are called by their numbers unless they are declared."""
    declared = None if rules.states is None else tuple(rules.states)
    n_states = rules.n_states if declared is None else len(declared)
    try:
        codes, size = checked_codes(rows, n_states, names, missing=rules.missing)
    except DataError as error:
        raise (error if origin is MEMORY else DataError(f"{origin}: {error}")) from None
    if n_states is None and size > MOST_STATES:
        column = int(codes.max(axis=0).argmax())
        label = column_label(None if names is None else names[column], column)
        raise DataError(
            f"{origin} has a code of {size - 1}; it looks like a measurement or an identifier, not a state. Leave "
            f"{label} out, recode it, or declare n_states"
        )
    states = choose_states((), None, size) if declared is None else declared
    table = Table(codes, checked_names(names, codes.shape[1]), states)
    if rules.own:
        table = with_own_alphabets(table)
    return gaps_as_state(table, declared=declared is not None) if rules.missing == "category" else table
