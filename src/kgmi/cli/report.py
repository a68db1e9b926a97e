"""``kgmi report``: a saved result as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli.display import live
from kgmi.cli.options import ForceOption, JsonOption
from kgmi.cli.output import print_json
from kgmi.cli.results import REPORT
from kgmi.cli.terminal import say
from kgmi.record import load
from kgmi.report import write_report

__all__ = ["report"]


def report(
    record: Annotated[Path, typer.Argument(help="Folder of a result, or its record.json.")],
    out: Annotated[Path | None, typer.Option(help="File to write; by default report.html in the folder.")] = None,
    force: ForceOption = False,
    title: Annotated[str | None, typer.Option(help="Title of the page; by default what was found.")] = None,
    json: JsonOption = False,
) -> None:
    """Write a saved result as one page to click through: report.html, which needs no network.

    Example: kgmi report result --title "Herd 7" --out herd-7.html

    The page says how far to trust the graph, shows it (click a node for its candidates), plays how the heads came
    to their choice, and has kernels, checks, settings and how to run it again. It works from the file system, in
    print and without JavaScript. kgmi learn --out writes one too.
    """
    path = out or (record if record.is_dir() else record.parent) / REPORT
    with live("report", quiet=json):
        write_report(load(record), path, title=title, force=force)
    size = path.stat().st_size
    if json:
        print_json({"file": str(path), "bytes": size})
    else:
        say(f"wrote {path} ({size / 1e3:,.0f} kB); open it in a browser")
