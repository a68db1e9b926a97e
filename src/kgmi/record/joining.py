"""Which rows may join those of a result: others, that went through the same filter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgmi.counting import Counts
from kgmi.counting.filtered import filters_of, joined_filters, shown_filters
from kgmi.errors import CountsError, DataError, RecordError
from kgmi.graph.naming import shown_list

if TYPE_CHECKING:
    from kgmi.streams import Stream
    from kgmi.streams.filters import UnknownColumn

__all__ = ["check_filter", "check_grown", "check_new", "filter_before", "lacking"]

_SHOWN = 8  # columns in a message


def check_new(counts: Counts, found: Iterable[tuple[str, str]]) -> None:
    """Refuse rows (mark, label) that are among those of the result."""
    known = {*counts.marks, *counts.contents}
    twice = [label for mark, label in found if mark in known]
    if twice:
        more = f" and {len(set(twice)) - 1:,} more" if len(set(twice)) > 1 else ""
        raise CountsError(
            f"the rows of {twice[0]}{more} are among those of the result already, and would count twice; leave "
            "them out"
        )


def check_grown(counts: Counts, rows: Stream) -> None:
    """Refuse files that have rows of the result and more."""
    from kgmi.streams.grown import grown_files

    if grown := grown_files(rows, counts.contents):
        more = f" (and {len(grown) - 1:,} more)" if len(grown) > 1 else ""
        raise CountsError(
            f"{grown[0]}{more} begins like a file that is in the result already, and goes on: its first rows would "
            "count twice; give only the new rows, in a file of their own"
        )


def check_filter(counts: Counts, reading: dict[str, Any]) -> None:
    """Refuse rows that went through another filter than those of the result."""
    if joined_filters([counts.reading]) != joined_filters([reading]):
        raise CountsError(
            f"the rows of the result were counted {shown_filters(counts.reading)}, the new ones "
            f"{shown_filters(reading)}: read or count them with the same filter (where, --where), or learn from "
            "all rows at once"
        )


def filter_before(counts: Counts) -> list[Any] | None:
    """The filter that the rows before went through."""
    filters = filters_of(counts.reading)
    if len(filters) > 1:
        raise RecordError(
            f"the rows of the result were counted {shown_filters(counts.reading)}, and which of these goes for the "
            "new ones is not known: count them (kgmi count), add them to the counts that the result was learned "
            "from (kgmi merge --allow-repeats), and learn from the sum"
        )
    if isinstance(filters[0], str):
        raise RecordError(
            f"the rows of the result were counted where {filters[0]}, which is kept in words only: give the same "
            "where=… to kgmi.update"
        )
    return [tuple(one) for one in filters[0]] or None


def lacking(counts: Counts, rows: Any, error: UnknownColumn, label: str) -> DataError:
    """The error on new rows that lack a column of the result, which people call ``label``, or of its filter."""
    there = shown_list(list(error.names)[:_SHOWN]) + (" …" if len(error.names) > _SHOWN else "")
    one = rows if isinstance(rows, str | Path) else None
    lacks = f"{'the new rows have' if one is None else f'{one} has'} no column {error.column!r}"
    there = f"{'they have' if one is None else 'it has'} {there}"
    if error.option == "where":
        return DataError(
            f"the rows of {label} were counted {shown_filters(counts.reading)}, but {lacks}; {there}. Give rows "
            "that have this column too, or learn from all rows at once"
        )
    own = counts.reading.get("names", {})
    if called := next((name for name, before in own.items() if before == error.column), None):
        return DataError(
            f"{lacks}, which {label} has as {called!r} (names=…); {there}. Say which of these are its columns "
            f"{shown_list(counts.names[:_SHOWN])}{' …' * (len(counts.names) > _SHOWN)}, in this order, with "
            "columns=[…] and names=[…]"
        )
    return DataError(f"{lacks}, which {label} has; {there}")
