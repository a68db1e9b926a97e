"""``kgmi show``: a saved result, read back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli import output
from kgmi.cli.preparing import print_told
from kgmi.cli.terminal import say
from kgmi.files import UNFINISHED
from kgmi.learning.origin import flat_settings
from kgmi.record import load

__all__ = ["show"]


def show(
    record: Annotated[Path, typer.Argument(help="Folder of a result, or its record.json.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show a saved result: its graph, how it ended, and which assumptions hold.

    Example: kgmi show result

    The first sentence says how far to trust the graph. Nothing is learned again: what is shown was saved by kgmi
    learn --out. For pictures see kgmi plot, for a page to click through kgmi report, for other tools kgmi export.
    """
    learned = load(record)
    home = record if record.is_dir() else record.parent
    if json:
        output.print_json(output.learned_dict(learned))
        return
    output.print_wrapped(learned.trust.sentence, hang="")
    say("")
    output.print_learned(learned, trust=False)
    output.print_checks(learned.checks, learned.names)
    if learned.assumptions is not None:
        output.print_assumptions(learned.assumptions)
    shown = {key: value for key, value in flat_settings(learned.configuration).items() if value is not None}
    print_told(shown.pop("prepared", ()))
    output.print_table(["setting", "value"], [[key, str(value)] for key, value in shown.items()], right=9)
    if (home / UNFINISHED).exists():
        output.print_wrapped(
            f"Beware: {home / UNFINISHED} says that the other files there may be of another result."
        )
    report = home / "report.html"
    how = f"open {report}" if report.exists() else f"kgmi report {shlex.quote(str(home))}"
    output.print_wrapped(f"To look at it node by node, with the evidence: {how}")
