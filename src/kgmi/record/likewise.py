"""New rows read as those of a result were: the same columns, and numbers in arrays that mean the same states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgmi.counting import Counts
from kgmi.errors import RecordError, SettingError
from kgmi.graph.naming import shown_list

if TYPE_CHECKING:
    from kgmi.streams import Stream

__all__ = ["check_numbers", "columns_before"]

_ARRAYS = ("numbers", "cells")
_SHOWN = 8  # columns or states in a message


def columns_before(counts: Counts, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of :func:`kgmi.stream` that choose the columns of a result, by the names that its rows had."""
    if "columns" in given:
        return {}
    own = counts.reading.get("names")
    if own is None:
        return {"columns": list(counts.names)}
    if not own:
        raise RecordError(
            "the columns of the result had other names in some of its rows than in others (names=…), and which go "
            f"for the new ones is not known: say which columns of these are {_some(counts.names)}, in this order, "
            "with columns=[…] and names=[…]; or count them (kgmi.count) and give the counts"
        )
    return {"columns": [own.get(name, name) for name in counts.names], "names": list(counts.names)}


def check_numbers(declared: list[str] | None, rows: Stream) -> None:
    """Refuse arrays of numbers that would be read by value where those before were positions in declared states."""
    if declared is None or rows.rules.states is not None or rows.form not in _ARRAYS:
        return
    moved = any(_is_whole(state) and state != str(place) for place, state in enumerate(declared))
    if moved:
        raise SettingError(
            f"the states of the result were declared ({_some(declared)}), so that numbers in arrays are positions "
            "among them, and these rows would be read by value: give states=… again, the same to kgmi.stream"
        )


def _is_whole(state: str) -> bool:
    return state.removeprefix("-").isdecimal()


def _some(texts: tuple[str, ...] | list[str]) -> str:
    return shown_list(texts[:_SHOWN]) + (" …" if len(texts) > _SHOWN else "")
