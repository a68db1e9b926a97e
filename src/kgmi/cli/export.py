"""``kgmi export``: a saved result in the format of another tool."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kgmi import outputs
from kgmi.cli.options import ForceOption
from kgmi.cli.terminal import escaped, put, say
from kgmi.files import atomic_write
from kgmi.interchange import export as exported
from kgmi.interchange import export_notes
from kgmi.record import load

__all__ = ["export"]


class Kind(StrEnum):
    """What --to takes: the formats of ``EXPORTS``."""

    GRAPHML = "graphml"
    DOT = "dot"
    JSON = "json"
    BIF = "bif"
    DAGITTY = "dagitty"
    CSV = "csv"


_FILES: dict[Kind, outputs.Kind] = {
    Kind.GRAPHML: "graphml",
    Kind.DOT: "dot",
    Kind.JSON: "graph",
    Kind.BIF: "bif",
    Kind.DAGITTY: "dagitty",
    Kind.CSV: "edges",
}


def export(
    record: Annotated[Path, typer.Argument(help="Folder of a result, or its record.json.", metavar="RESULT")],
    to: Annotated[
        Kind,
        typer.Option(
            help="graphml (networkx, igraph, Gephi), dot (Graphviz), json (graph and kernels), bif (a Bayesian "
            "network with its tables: pgmpy, pyAgrum, bnlearn), dagitty (dagitty.net), csv (list of edges)."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="File to write; standard output by default.")] = None,
    force: ForceOption = False,
) -> None:
    """Write a saved result in the format of another tool: GraphML, DOT, JSON, BIF, DAGitty or CSV.

    Example: kgmi export result --to bif --out network.bif

    Names of columns and states are kept as far as the format allows; where it does not, a note says what was
    changed. Nothing is learned again.
    """
    learned = load(record)
    text = exported(learned, to)
    content = text.encode("utf-8", errors="replace")
    if out is None and sys.stdout.isatty():  # looked at, not kept
        put("\n".join(map(escaped, text.removesuffix("\n").split("\n"))))
    elif out is None:
        typer.echo(content, nl=False)  # as bytes: a file is UTF-8, whatever the terminal speaks
    else:
        with atomic_write(out, _FILES[to], force=force) as stream:
            stream.write(content)
        say(f"wrote {out}")
    for note in export_notes(learned, to):
        say(f"kgmi: note: {note}", err=True)
