"""A wide result (``kgmi learn --device`` with many nodes) on the screen and in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kgmi.cli import output
from kgmi.cli.results import graph_text
from kgmi.cli.terminal import say
from kgmi.files import all_or_none, atomic_write
from kgmi.interchange.graphs import edges_text
from kgmi.learning.wide import Wide
from kgmi.metrics import Comparison
from kgmi.outputs import Kind

__all__ = ["report_wide", "write_wide"]


def write_wide(wide: Wide, folder: Path, *, force: bool = False) -> list[Path]:
    """Write the result, the graph and its edges into ``folder``, and return the paths."""
    content = {"format": "kgmi-wide", **wide.to_dict()}
    edges = edges_text(wide.edges, ["parent", "child", "head", "attention", "margin"])
    texts: dict[str, tuple[Kind, str]] = {
        "wide.json": ("wide", json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"),
        "graph.json": ("graph", graph_text(wide)),
        "edges.csv": ("edges", edges),
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
    say(f"{wide.dag.n_edges:,} edges among {wide.n_nodes:,} nodes, from {n_rows:,} rows")
    say(wide.status)
    say("Seconds: " + ", ".join(f"{phase} {taken:.2f}" for phase, taken in wide.seconds.items()) + ".")
    if comparison is not None:
        output.print_comparison(comparison)
    for path in written:
        say(f"wrote {path}")
