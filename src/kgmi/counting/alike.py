"""Whether counts fit together; where they do not, what differs, and how to count so that they do."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import numpy as np

from kgmi.counting.counts import Counts
from kgmi.data.states import gap_state, in_order
from kgmi.errors import CountsError
from kgmi.graph.naming import quoted, shown_list

__all__ = ["check_alike"]

_GAP = gap_state(())  # what missing values are called where they are a state, and where that is one already
_OTHER_GAP = gap_state((_GAP,))
_SHOWN = 8  # states that a message lists
_LISTED = 100  # states of a command that a message gives to be copied


def check_alike(first: Counts, other: Counts, label: str, its: str) -> None:
    """Refuse counts of other columns, states, rules or sets, saying what to do about it."""
    if first.names != other.names:
        raise CountsError(_other_columns(first, other, label, its))
    for key in sorted({*first.reading, *other.reading} - {"where", "gap"}):  # which are compared elsewhere
        here, there = first.reading.get(key), other.reading.get(key)
        if here != there:
            raise CountsError(
                f"{its} was counted with {key}={there!r}, {label} with {key}={here!r}: count again with the same "
                f"--{key}"
            )
    _check_gaps(first, other, label, its)
    if first.states != other.states or first.alphabets != other.alphabets:
        raise CountsError(_other_states(first, other, label, its))
    if first.tally.width != other.tally.width:
        raise CountsError(
            f"{its} was counted with --parents {other.n_parents}, {label} with --parents {first.n_parents}: count "
            "again with the same"
        )
    mine, theirs = first.tally.sets, other.tally.sets
    if not (mine is theirs if mine is None or theirs is None else np.array_equal(mine, theirs)):
        raise CountsError(f"{its} has counts of other sets of columns than {label}: count again for the same sets")


def _check_gaps(first: Counts, other: Counts, label: str, its: str) -> None:
    """Refuse counts of which one has a state of rows by the name that missing values have in the other."""
    for one, called, two, those in ((first, label, other, its), (other, its, first, label)):
        gap = one.reading.get("gap")
        if gap is not None and gap in two.states and two.reading.get("gap") != gap:
            raise CountsError(
                f"missing values are the state {quoted(gap)} in {called}, and a state of the rows has this name in "
                f"{those}: added up, nobody could tell them apart. Give that state another name in the rows; or, "
                "if it means the same, declare it as the last of the states (--states) wherever rows are counted"
            )


def _other_columns(first: Counts, other: Counts, label: str, its: str) -> str:
    names = shlex.quote(shown_list(first.names, ","))
    if sorted(first.names) == sorted(other.names):
        return f"{its} has the columns of {label} in another order: count it again with --columns {names}"
    missing = [name for name in first.names if name not in other.names]
    extra = [name for name in other.names if name not in first.names]
    told = [f"lacks {_some(missing)}"] * bool(missing) + [f"has {_some(extra)} too"] * bool(extra)
    common = [name for name in first.names if name not in missing]
    advice = (
        f"count both with --columns {shlex.quote(shown_list(common, ','))}" if common else "they cannot be merged"
    )
    return f"{its} has other columns than {label}: it {' and '.join(told)}; {advice}"


def _other_states(first: Counts, other: Counts, label: str, its: str) -> str:
    if first.alphabets is None or other.alphabets is None:
        return (
            f"{its} has the states {_some(other.states)}, {label} has {_some(first.states)}: "
            f"{_with_all_states(first, other)}"
        )
    pairs = zip(first.names, first.alphabets, other.alphabets, strict=True)
    name, here, there = next((one for one in pairs if one[1] != one[2]), ("", (), ()))
    if not name:
        return (
            f"the columns of {its} and {label} have the same states, but not all declare them in both: write all "
            "columns with categories into both tables, or with none"
        )
    told = f"column {quoted(name)} has the states {_some(there)} in {its}, and {_some(here)} in {label}: "
    if _are_states(first) and (_GAP in here) != (_GAP in there):  # which categories do not declare
        return f"{told}{_with_all_states(first, other, ' --alphabet shared')}"
    union = _some(in_order({*here, *there}))
    return (
        f"{told}write the column with the same categories into both tables ({union}), or count both with "
        "--alphabet shared and --states"
    )


def _with_all_states(first: Counts, other: Counts, also: str = "") -> str:
    """How both are counted so that their states are the same."""
    known = {*first.states, *other.states}
    states = in_order(known)
    if _are_states(first) and _GAP in known:
        if _OTHER_GAP in known:
            return (
                f"the rows have a state {_GAP} of their own, so that missing values are called {_OTHER_GAP} where "
                "there are any; give that state another name in the rows, and count both again"
            )
        states = (*in_order(known - {_GAP}), _GAP)  # declared as the last, it is that of missing values
        also += " --missing category"
    union = shlex.quote(shown_list(states, ",")) if len(states) <= _LISTED else f"with all {len(states):,}"
    return f"count both again with all states in the same order,{also} --states {union}"


def _are_states(counts: Counts) -> bool:
    """Whether missing values were counted as a state."""
    return bool(counts.reading.get("missing") == "category")


def _some(texts: Iterable[str]) -> str:
    listed = list(texts)
    return shown_list(listed[:_SHOWN]) + (f" … ({len(listed):,} in all)" if len(listed) > _SHOWN else "")
