"""What learning from a stream takes: rows, passes, the size of the counts and the time of counting."""

from __future__ import annotations

from math import comb
from typing import Any

from kgmi.cli import output
from kgmi.counting.part import MOST_BYTES
from kgmi.learning.counted import counted_parents
from kgmi.learning.settings import SEARCHING
from kgmi.memory import free_bytes, shown_bytes
from kgmi.statistics.tally import family_width, tally_bytes
from kgmi.streams import Stream
from kgmi.threads import n_workers

__all__ = ["has_room", "print_stream_plan", "tell_stream"]

_CELL_SECONDS = 1e-8  # to read a cell from a file, on one core; and
_CELLS_COUNTED = 3e11  # cells of tables of counts that one core looks through in a second (November 2026)


def tell_stream(stream: Stream, options: dict[str, Any], quiet: bool) -> None:
    """Say in a line, before it begins, what is streamed and how often it is read."""
    if not quiet:
        output.print_wrapped(_sentence(stream, has_room(stream, options)))


def has_room(stream: Stream, options: dict[str, Any]) -> bool:
    """Whether counts of all sets of columns, with the states of the first rows, fit into memory."""
    guide = options["guide"] or "likelihood"
    return guide not in SEARCHING or tally_bytes(_first_sizes(stream), _width(stream, options)) <= MOST_BYTES


def _width(stream: Stream, options: dict[str, Any]) -> int:
    heads, guide = (
        options["n_parents"] or getattr(options["kernel"], "n_parents", None),
        options["guide"] or "likelihood",
    )
    n_nodes, gaps = len(stream.names), stream.rules.missing == "pairwise" and guide in SEARCHING
    return family_width(counted_parents(n_nodes, guide, heads), n_nodes, has_gaps=gaps)


def print_stream_plan(stream: Stream, options: dict[str, Any], json: bool) -> None:
    """Say what it would take, after a look at the first rows only."""
    plan = _planned(stream, options)
    if json:
        output.print_json(plan)
        return
    output.print_wrapped(_sentence(stream, plan["passes"] == 1))
    sets, width = plan["sets"], plan["width"]
    much = "" if plan["passes"] == 1 else "; too much, so that they are made for short lists of candidates"
    output.print_wrapped(
        f"Counts of {sets:,} sets of {width} columns, with the states of the first rows: "
        f"{shown_bytes(plan['bytes'])}{much}."
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
    n_nodes, width = len(stream.names), _width(stream, options)
    sizes, sets, cores = _first_sizes(stream), comb(n_nodes, width), n_workers()
    n_bytes = tally_bytes(sizes, width)
    each = n_nodes * _CELL_SECONDS + min(n_bytes, MOST_BYTES) / 8 / _CELLS_COUNTED
    return {
        "stream": stream.description,
        "rows": stream.n_rows,
        "columns": n_nodes,
        "passes": 1 if has_room(stream, options) else 2,
        "width": width,
        "sets": sets,
        "bytes": n_bytes,
        "cores": cores,
        "seconds": None if stream.n_rows is None else stream.n_rows * each / cores,
        "free_bytes": free_bytes(),
    }


def _first_sizes(stream: Stream) -> tuple[int, ...]:
    """How many states each column has: as declared, or in the first rows, where these can be read again."""
    n_nodes, declared = len(stream.names), stream.rules.n_declared
    if declared or not stream.rereadable:
        return (declared or 2,) * n_nodes
    first = next((batch for one in stream.fragments for batch in stream.batches(one)), None)
    texts = ((),) * n_nodes if first is None else first.alphabets.texts
    if stream.rules.own:
        return tuple(max(2, len(one)) for one in texts)
    return (max(2, len({text for one in texts for text in one})),) * n_nodes


def _sentence(stream: Stream, is_short: bool) -> str:
    rows = "rows" if stream.n_rows is None else f"{stream.n_rows:,} rows"
    passing = f" where {stream.where}" if stream.where else ""
    passes = "in one pass" if is_short else "some of them first, to choose candidates, and then all in one pass"
    return f"Streaming {stream.description}: {rows} of {len(stream.names)} columns{passing}, {passes}."
