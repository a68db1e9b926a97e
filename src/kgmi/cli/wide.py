"""A wide result (``kgmi learn --device`` with many nodes) on the screen and in files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import typer

from kgmi.cli import output
from kgmi.cli.results import graph_text
from kgmi.files import all_or_none, atomic_write
from kgmi.learning.wide import Wide
from kgmi.metrics import Comparison
from kgmi.outputs import Kind

__all__ = ["report_wide", "write_wide"]


def write_wide(wide: Wide, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the result, the graph and its edges into ``folder``, and return the paths."""
    content = {"format": "kgmi-wide", **wide.to_dict()}
    texts: dict[str, tuple[Kind, str]] = {
        "wide.json": ("wide", json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"),
        "graph.json": ("graph", graph_text(wide)),
        "edges.csv": ("edges", _edges(wide)),
    }
    with all_or_none(folder, last="wide.json", force=force) as new:
        for name, (kind, text) in texts.items():
            with atomic_write(new / name, kind) as stream:
                stream.write(text.encode())
    return [folder / name for name in texts]


def report_wide(wide: Wide, comparison: Comparison | None, written: list[Path], as_json: bool) -> None:
    """Print the result; node by node it would be too long, so that is in the files."""
    if as_json:
        content: dict[str, Any] = wide.to_dict() | {"files": [str(path) for path in written]}
        if comparison is not None:
            content["comparison"] = output.comparison_dict(comparison)
        output.print_json(content)
        return
    n_rows = wide.configuration["n_rows"]
    typer.echo(f"{wide.dag.n_edges:,} edges among {wide.n_nodes:,} nodes, from {n_rows:,} rows")
    typer.echo(wide.status)
    typer.echo("Seconds: " + ", ".join(f"{phase} {taken:.2f}" for phase, taken in wide.seconds.items()) + ".")
    if comparison is not None:
        output.print_comparison(comparison)
    for path in written:
        typer.echo(f"wrote {path}")


def _edges(wide: Wide) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["parent", "child", "head", "attention", "margin"], lineterminator="\n")
    writer.writeheader()
    for edge in wide.edges:
        numbers = {key: "" if edge[key] is None else f"{edge[key]:.6f}" for key in ("attention", "margin")}
        writer.writerow(edge | numbers)
    return text.getvalue()
