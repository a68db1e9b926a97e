"""``kgmi merge``: files of counts to one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli import output
from kgmi.cli.count import described, print_counts
from kgmi.cli.counts_files import check_file, find_counts
from kgmi.cli.options import ForceOption, JsonOption
from kgmi.counts.counted import CountedTable
from kgmi.counts.counted import merge as merge_counts
from kgmi.errors import SettingError
from kgmi.outputs import note_read

__all__ = ["merge"]


def merge(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Files of counts that kgmi count wrote, or patterns like 'parts/*.counts'."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the sum, such as all.counts.")] = None,
    force: ForceOption = False,
    allow_repeats: Annotated[
        bool,
        typer.Option(
            "--allow-repeats",
            help="Add counts of the same rows too, which then count several times, and counts of rows that went "
            "through different filters.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add up files of counts, so that rows may stay where they are.

    Example: kgmi merge january.counts february.counts --out all.counts

    The files must have the same columns and states, read in the same way; where they have not, it says which
    differs in what, and how to count it again. Files that were counted from the same table, or from a copy of it,
    are refused too. The order of the files makes no difference.
    """
    if not files:
        raise SettingError("give the files of counts to merge, such as *.counts")
    found = find_counts(files)
    for file in found:
        note_read(file)
    path = check_file(out, "all.counts", force=force)
    counts = merge_counts(map(CountedTable.load, found), labels=found, repeats=allow_repeats)
    counts.save(path, force=force)
    content = described(counts, path) | {"merged": found}
    if json:
        output.print_json(content)
    else:
        print_counts(content, f"{len(found)} files of counts: " if len(found) > 1 else "1 file of counts: ")
