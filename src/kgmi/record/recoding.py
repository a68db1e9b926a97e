"""New rows in the codes of those before: the same columns, and no state that these do not know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kgmi.counting import Counts
from kgmi.counting.noted import NOTED, check_gaps
from kgmi.errors import CountsError
from kgmi.graph.naming import quoted, shown_list
from kgmi.types import Ints

__all__ = ["recoded"]

_SHOWN = 8  # states in a message


def recoded(counts: Counts, rows: Counts) -> Counts:
    """The new rows in the codes of those before."""
    if rows.names != counts.names or _agreed(rows) != _agreed(counts):
        return rows  # merging says what is wrong
    check_gaps(counts, rows, "the result", "the new rows")
    tally = rows.tally.recoded(_maps(counts, rows), counts.tally.sizes, has_gaps=rows.tally.has_gaps)
    notes = {key: told for key, told in counts.reading.items() if key in ("gap", "states")}  # go with the states
    notes |= {"names": rows.reading["names"]} if "names" in rows.reading else {}
    return replace(
        rows,
        states=counts.states,
        alphabets=counts.alphabets,
        tally=tally,
        reading=_agreed(rows) | notes,
        first=None,
    )


def _agreed(counts: Counts) -> dict[str, Any]:
    """How rows were read, as far as all have to be read so."""
    return {key: told for key, told in counts.reading.items() if key not in NOTED}


def _maps(old: Counts, new: Counts) -> list[Ints]:
    """``maps[column][code]`` of the new rows to the codes of those before; a state that is new is refused."""
    for node, (name, known, states) in enumerate(_by_column(old, new)):
        occurs = new.tally.family((node,))
        met = [state for state, n_rows in zip(states, occurs.tolist(), strict=True) if n_rows]
        listed = met if new.alphabets is None else states  # a category that never occurs is a state of its column
        if strange := [state for state in listed if state not in known]:
            raise _new_states(f"column {quoted(name)} has", strange, known)
    if strange := [state for state in new.states if state not in old.states]:
        raise _new_states("columns declare", strange, old.states)
    return [np.array([known.index(state) for state in states]) for _, known, states in _by_column(old, new)]


def _by_column(old: Counts, new: Counts) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return zip(old.names, old.column_states, new.column_states, strict=True)


def _new_states(where: str, strange: Iterable[str], known: Iterable[str]) -> CountsError:
    return CountsError(
        f"{where} {_some(strange)} in the new rows, which no row of the result had (its states are "
        f"{_some(known)}): learn from all rows at once, or declare all states beforehand (--states, or categories)"
    )


def _some(states: Iterable[str]) -> str:
    listed = list(states)
    return shown_list(listed[:_SHOWN]) + (" …" if len(listed) > _SHOWN else "")
