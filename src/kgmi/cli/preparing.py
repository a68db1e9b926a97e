"""``--prepare``: any table made fit for learning, and what was done to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from kgmi.cli.limits import QUOTES, read_names
from kgmi.cli.output import print_wrapped
from kgmi.cli.terminal import say
from kgmi.cli.wording import as_said
from kgmi.prepare import Prepared

__all__ = ["DropOption", "MissingValuesOption", "PrepareOption", "preparation", "print_notes", "print_told"]

PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare",
        help="Make any table fit for learning: cut measurements, leave out names of rows, allow gaps; and say so.",
    ),
]


DropOption = Annotated[str | None, typer.Option(help=f"With --prepare: leave out these columns, A,B. {QUOTES}")]
MissingValuesOption = Annotated[
    str | None,
    typer.Option(help="With --prepare: further values that are missing values, such as '-9,unknown'."),
]


def preparation(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of :func:`kgmi.prepare` that are lists of names, those that were given."""
    lists = ("columns", "drop", "missing_values")
    return {name: read_names(told[name], f"--{name.replace('_', '-')}") for name in lists if told[name]}


def print_notes(rows: Any, order: object, tiers: object) -> None:
    """What was done to a prepared table; nothing for all others."""
    if isinstance(rows, Prepared):
        print_told(rows.notes_for(order, tiers))


def print_told(notes: Sequence[str]) -> None:
    """The notes on a prepared table, if there are any."""
    if not notes:
        return
    say("Prepared:")
    for note in notes:
        print_wrapped(as_said(note), indent="  ", hang="  ")
    say("")
