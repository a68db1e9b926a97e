"""What learning from a stream takes: rows, passes, the size of the counts and the time of counting."""

from __future__ import annotations

from math import comb
from typing import Any

from kgmi.cli import output
from kgmi.counting.first import Seen, first_seen
from kgmi.counting.part import MOST_BYTES, check_alphabets, check_size
from kgmi.errors import DataError, SettingError
from kgmi.learning.counted import counted_parents
from kgmi.learning.settings import SEARCHING
from kgmi.learning.shortlist import check_listed
from kgmi.memory import free_bytes, shown_bytes
from kgmi.statistics.tally import family_width, tally_bytes
from kgmi.streams import Stream
from kgmi.threads import n_workers

__all__ = ["has_room", "print_stream_plan", "tell_stream"]

_CELL_SECONDS = 1e-8  # to read a cell from a file, on one core; and
_CELLS_COUNTED = 3e11  # cells of tables of counts that one core looks through in a second (November 2026)


def tell_stream(stream: Stream, options: dict[str, Any], quiet: bool) -> None:
    """Say in a line, before it begins, what is streamed and how often; what cannot be done is refused."""
    is_short = _fits(stream, options, first_seen(stream))
    if not quiet:
        output.print_wrapped(_sentence(stream, is_short))


def has_room(stream: Stream, options: dict[str, Any]) -> bool:
    """Whether counts of all sets of columns, with the states of the first rows, fit into memory."""
    return not _is_searching(options) or _n_bytes(stream, options, first_seen(stream)) <= MOST_BYTES


def _is_searching(options: dict[str, Any]) -> bool:
    return (options["guide"] or "likelihood") in SEARCHING


def _asked(options: dict[str, Any]) -> int | None:
    return options["n_parents"] or getattr(options["kernel"], "n_parents", None)


def _n_heads(stream: Stream, options: dict[str, Any]) -> int:
    return counted_parents(len(stream.names), options["guide"] or "likelihood", _asked(options))


def _width(stream: Stream, options: dict[str, Any]) -> int:
    gaps = stream.rules.missing == "pairwise" and _is_searching(options)
    return family_width(_n_heads(stream, options), len(stream.names), has_gaps=gaps)


def _n_bytes(stream: Stream, options: dict[str, Any], seen: Seen) -> int:
    """Of the counts of all sets of columns."""
    return tally_bytes(seen.sizes, _width(stream, options), has_gaps=seen.has_gaps)


def _fits(stream: Stream, options: dict[str, Any], seen: Seen) -> bool:
    """Whether all sets of columns are counted, not short lists; what learning would refuse is refused here."""
    n_nodes, asked = len(stream.names), _asked(options)
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    if asked is not None and asked >= n_nodes:
        raise SettingError(f"{asked} parents need at least {asked + 1} columns, got {n_nodes}")
    if _n_bytes(stream, options, seen) <= MOST_BYTES:
        return True
    if not _is_searching(options) or stream.rules.missing == "pairwise":
        width = _width(stream, options)
        if seen.alphabets is not None:
            check_alphabets(seen.alphabets, stream.rules, width, None)
        check_size(seen.sizes, width, seen.has_gaps, None)
    n_heads, own = _n_heads(stream, options), stream.rules.own
    check_listed(n_nodes, max(seen.sizes), n_heads, options["order"], own=own)
    return False


def print_stream_plan(stream: Stream, options: dict[str, Any], json: bool) -> None:
    """Say what it would take, after a look at the first rows only."""
    plan = _planned(stream, options)
    if json:
        output.print_json(plan)
        return
    output.print_wrapped(_sentence(stream, plan["passes"] == 1))
    sets, width = _many(plan["sets"], "set"), _many(plan["width"], "column")
    much = "" if plan["passes"] == 1 else "; too much, so that they are made for short lists of candidates"
    output.print_wrapped(
        f"Counts of {sets} of {width}, with the states of the first rows: {shown_bytes(plan['bytes'])}{much}."
    )
    if (with_gaps := plan["bytes_with_gaps"]) is not None:
        over = f", and {shown_bytes(MOST_BYTES)} are allowed" if with_gaps > MOST_BYTES else ""
        output.print_wrapped(
            f"The first rows lack no value; where later ones do, it is {shown_bytes(with_gaps)}{over}."
        )
    if plan["seconds"] is None:
        output.print_wrapped("How many rows there are is known after reading them, and so is how long it takes.")
    else:
        seconds = f"about {plan['seconds']:,.0f} seconds" if plan["seconds"] >= 1 else "less than a second"
        output.print_wrapped(f"Counting: {seconds} on {plan['cores']} cores.")
    if plan["free_bytes"] is not None:
        output.print_wrapped(f"This machine has {shown_bytes(plan['free_bytes'])} free.")
    output.print_wrapped("Nothing was counted or learned: leave out --plan to learn.")


def _planned(stream: Stream, options: dict[str, Any]) -> dict[str, Any]:
    n_nodes, width, seen = len(stream.names), _width(stream, options), first_seen(stream)
    sets, cores, n_bytes = comb(n_nodes, width), n_workers(), _n_bytes(stream, options, seen)
    passes = 1 if _fits(stream, options, seen) else 2
    each = n_nodes * _CELL_SECONDS + min(n_bytes, MOST_BYTES) / 8 / _CELLS_COUNTED
    with_gaps = None
    if stream.rules.missing != "error" and not seen.has_gaps:  # there may be some further on
        with_gaps = tally_bytes(seen.sizes, width, has_gaps=True)
    return {
        "stream": stream.description,
        "rows": stream.n_rows,
        "columns": n_nodes,
        "passes": passes,
        "width": width,
        "sets": sets,
        "bytes": n_bytes,
        "bytes_with_gaps": with_gaps,
        "cores": cores,
        "seconds": None if stream.n_rows is None else stream.n_rows * each / cores,
        "free_bytes": free_bytes(),
    }


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _sentence(stream: Stream, is_short: bool) -> str:
    rows = "rows" if stream.n_rows is None else f"{stream.n_rows:,} rows"
    columns = _many(len(stream.names), "column")
    passing = f" where {stream.where}" if stream.where else ""
    passes = "in one pass" if is_short else "some of them first, to choose candidates, and then all in one pass"
    return f"Streaming {stream.description}: {rows} of {columns}{passing}, {passes}."
