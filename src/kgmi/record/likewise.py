"""New rows read as those of a result were: the same columns, and numbers in arrays that mean the same states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgmi.counting import Counts
from kgmi.counting.noted import ARRAYS
from kgmi.errors import RecordError, SettingError
from kgmi.graph.naming import shown_list

if TYPE_CHECKING:
    from kgmi.streams import Stream
    from kgmi.streams.filters import UnknownColumn

__all__ = ["called_as_now", "check_numbers", "columns_before"]

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


def called_as_now(
    counts: Counts, rows: Any, error: UnknownColumn, given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The same where new rows have the names that the result has, and not those that its rows had; else None.

    Who can be read once only is not opened a second time.
    """
    once = hasattr(rows, "__next__") or hasattr(rows, "read_next_batch")
    if once or error.option != "columns" or "columns" in given or not {*counts.names} <= {*error.names}:
        return None
    return {"columns": list(counts.names), "names": None}


def check_numbers(counts: Counts, declared: list[str] | None, rows: Stream) -> None:
    """Refuse arrays of numbers that may mean other states than in the rows before: values there, or places.

    ``declared`` are the states that were declared for those; ``rows`` were opened without saying so again.
    """
    if declared is None or rows.form not in ARRAYS:
        return
    moved = any(_is_whole(state) and state != str(place) for place, state in enumerate(declared))
    as_before = counts.reading.get("placed", False) and rows.rules.states is not None
    if moved and not as_before:
        raise SettingError(
            f"the states of the result were declared ({_some(declared)}): numbers in arrays may be positions among "
            "them, or their values. If they are positions, give states=… again (to kgmi.stream, where that is "
            "used); if they are values, give a data frame"
        )


def _is_whole(state: str) -> bool:
    return state.removeprefix("-").isdecimal()


def _some(texts: tuple[str, ...] | list[str]) -> str:
    return shown_list(texts[:_SHOWN]) + (" …" if len(texts) > _SHOWN else "")
