"""``--prepare``: any table made fit for learning, and what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kgmi.cli.choices import AlphabetName, MissingName
from kgmi.cli.output import print_wrapped
from kgmi.cli.sources import Source
from kgmi.cli.terminal import say
from kgmi.cli.wording import as_said
from kgmi.errors import SettingError
from kgmi.prepare import Prepared, prepare

__all__ = ["PrepareOption", "prepared_source", "print_notes", "print_told"]

PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare",
        help="Make any table fit for learning: cut measurements, leave out names of rows, allow gaps; and say so.",
    ),
]


def prepared_source(
    file: Path,
    parents: int | None,
    header: bool,
    missing: MissingName,
    alphabet: AlphabetName,
    told: dict[str, Any],
) -> Source:
    """A table from a file, made fit for learning; ``told`` are options that do not go with that, as given."""
    for option, given in told.items():
        if given:
            raise SettingError(f"--prepare finds out what the states are, and --{option} knows it; leave one out")
    prepared = prepare(
        file,
        header=header,
        missing="category" if missing is MissingName.category else "pairwise",
        alphabet=alphabet.value,
    )
    return Source(prepared, prepared.table.names, None, parents)


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
