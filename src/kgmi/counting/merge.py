"""Counts of different rows added up; what does not fit together, or would count rows twice, is refused."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from kgmi.counting.counts import Counts
from kgmi.data.states import in_order
from kgmi.errors import CountsError, TooLargeError
from kgmi.graph.naming import quoted, shown_list
from kgmi.statistics.tally import Tally

__all__ = ["merge"]

_MOST_ROWS = 2**63 - 1
_SHOWN = 8  # states that a message lists
_LISTED = 100  # states of a command that a message gives to be copied


def merge(counts: Iterable[Counts], *, labels: Iterable[str] | None = None, repeats: bool = False) -> Counts:
    """The counts of all rows together; in whatever order they come, the result is the same.

    Parameters
    ----------
    counts
        Counts of different rows of the same columns, with the same states, read by the same rules.
    labels
        What errors call them, such as the names of their files.
    repeats
        Whether the same rows may be counted several times.

    Raises
    ------
    CountsError
        They do not fit together, or have rows in common: which, in what, and how to mend it.
    """
    named = zip(counts, labels or (f"the counts number {number}" for number in count(1)), strict=False)
    first, label = next(named, (None, ""))
    if first is None:
        raise CountsError("there are no counts to merge")
    holders = dict.fromkeys(first.marks, label)
    marks, total = list(first.marks), first.tally
    for other, its in named:
        _check_alike(first, other, label, its)
        if not repeats:
            _check_new(other, its, holders)
        if total.n_rows + other.n_rows > _MOST_ROWS:
            raise TooLargeError(f"with {its} there are more rows than can be counted (2^63 - 1)")
        total = _with_gaps(total, other.tally.has_gaps) + _with_gaps(other.tally, total.has_gaps)
        marks += other.marks
        holders |= dict.fromkeys(other.marks, its)
    return replace(first, tally=total, marks=tuple(sorted(marks)))


def _with_gaps(tally: Tally, wanted: bool) -> Tally:
    """The same, with a code for «no value» where the other counts have one."""
    if tally.has_gaps or not wanted:
        return tally
    return tally.recoded([np.arange(size) for size in tally.sizes], tally.sizes, has_gaps=True)


def _check_new(other: Counts, its: str, holders: dict[str, str]) -> None:
    common = [mark for mark in other.marks if mark in holders]
    if common:
        some = "all" if len(common) == len(other.marks) else f"{len(common):,} of {len(other.marks):,}"
        raise CountsError(
            f"{its} has rows that {holders[common[0]]} has too ({some} of its fragments), and they would count "
            "twice; leave one of them out, or allow it: repeats=True (--allow-repeats)"
        )


def _check_alike(first: Counts, other: Counts, label: str, its: str) -> None:
    """Refuse counts of other columns, states, rules or sets, saying what to do about it."""
    if first.names != other.names:
        raise CountsError(_other_columns(first, other, label, its))
    for key in sorted({*first.reading, *other.reading}):
        here, there = first.reading.get(key), other.reading.get(key)
        if here != there:
            raise CountsError(
                f"{its} was counted with {key}={there!r}, {label} with {key}={here!r}: count again with the same "
                f"--{key}"
            )
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
        states = in_order({*first.states, *other.states})
        union = shlex.quote(shown_list(states, ",")) if len(states) <= _LISTED else f"with all {len(states):,}"
        return (
            f"{its} has the states {_some(other.states)}, {label} has {_some(first.states)}: count both again "
            f"with all states in the same order, --states {union}"
        )
    pairs = zip(first.names, first.alphabets, other.alphabets, strict=True)
    name, here, there = next(one for one in pairs if one[1] != one[2])
    union = _some(in_order({*here, *there}))
    return (
        f"column {quoted(name)} has the states {_some(there)} in {its}, and {_some(here)} in {label}: write the "
        f"column with the same categories into both tables ({union}), or count both with --alphabet shared and "
        "--states"
    )


def _some(texts: Iterable[str]) -> str:
    listed = list(texts)
    return shown_list(listed[:_SHOWN]) + (f" … ({len(listed):,} in all)" if len(listed) > _SHOWN else "")
