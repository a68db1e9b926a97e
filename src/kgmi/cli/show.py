"""``kgmi show``: a saved result, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli import output
from kgmi.record import load

__all__ = ["show"]


def show(
    record: Annotated[Path, typer.Argument(help="Folder of a result, or its record.json.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show a saved result: its graph, how it ended, and which assumptions hold.

    Example: kgmi show result
    """
    learned = load(record)
    if json:
        output.print_json(output.learned_dict(learned))
        return
    output.print_learned(learned)
    output.print_checks(learned.checks)
    if learned.assumptions is not None:
        output.print_assumptions(learned.assumptions)
    shown = {key: value for key, value in learned.configuration.items() if value is not None}
    output.print_table(["setting", "value"], [[key, str(value)] for key, value in shown.items()], right=9)
