"""What counts note of how their rows were read without having to agree in it: keys of ``reading``.

``gap``: the state that missing values are, where they are one. ``states``: the alphabet, where it was declared;
``placed`` (True) where all rows were arrays, whose numbers are then places in it and not values.
``names``: of each column that was given another name, the one that it has where it comes from; empty where that
differs from one part of the rows to the other. A key that is not there says that there was nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgmi.counting.counts import Counts
from kgmi.errors import CountsError
from kgmi.graph.naming import quoted
from kgmi.streams import Settled, Stream

__all__ = ["ARRAYS", "NOTED", "check_gaps", "joined_notes", "notes_fit", "notes_of"]

NOTED = ("gap", "names", "states", "placed")
"""The keys."""

ARRAYS = ("numbers", "cells")
"""Forms of rows in which numbers are places among states that are declared."""


def notes_of(stream: Stream, settled: Settled) -> dict[str, Any]:
    """What there is to note of a stream that was counted."""
    states = stream.rules.states
    own = {name: column for name, column in zip(stream.names, stream.source.columns, strict=True) if name != column}
    found: dict[str, Any] = {"gap": settled.gap, "names": own or None}
    if states is not None:
        found |= {"states": list(states), "placed": stream.form in ARRAYS or None}
    return {key: told for key, told in found.items() if told is not None}


def joined_notes(first: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What is noted of the rows of both, which have the same states, and the same one for gaps."""
    found = {key: first.get(key, other.get(key)) for key in NOTED}
    if (mine := first.get("names")) != (its := other.get("names")):
        one = mine or its or {}
        # Rows that have the new names already may join renamed ones, where no name can be taken for another.
        found["names"] = one if None in (mine, its) and not {*one} & {*one.values()} else {}
    found["placed"] = (first.get("placed") and other.get("placed")) or None
    declared = [one["states"] for one in (first, other) if "states" in one]
    found["states"] = max(declared, key=len, default=None)  # one may leave out the state of gaps
    return {key: told for key, told in found.items() if told is not None}


def notes_fit(reading: Mapping[str, Any], names: Sequence[str], states: Sequence[str]) -> bool:
    """Whether rows of such columns and states can have been read so."""
    gap, own, declared, placed = (reading.get(key) for key in NOTED)
    if any(key in reading and reading[key] is None for key in NOTED):
        return False
    if gap is not None and (not isinstance(gap, str) or gap not in states or reading.get("missing") != "category"):
        return False
    if own is not None and not (isinstance(own, dict) and own.keys() <= {*names}):
        return False
    if not all(isinstance(name, str) for name in (own or {}).values()):
        return False
    if placed is not None and (placed is not True or declared is None):
        return False
    fits = list(states) in (declared, [*declared, gap]) if isinstance(declared, list) else declared is None
    return fits and (declared is None or reading.get("alphabet") != "own")


def check_gaps(first: Counts, other: Counts, label: str, its: str) -> None:
    """Refuse counts of which one has a state of rows by the name that missing values have in the other."""
    for one, called, two, those in ((first, label, other, its), (other, its, first, label)):
        gap = one.reading.get("gap")
        if gap is not None and gap in two.states and two.reading.get("gap") != gap:
            raise CountsError(
                f"missing values are the state {quoted(gap)} in {called}, and a state of the rows has this name in "
                f"{those}: added up, nobody could tell them apart. Give that state another name in the rows; or, "
                "if it means the same, declare it as the last of the states (--states) wherever rows are counted"
            )
