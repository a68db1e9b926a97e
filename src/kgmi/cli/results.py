"""The files of a result: record, graph in three forms, pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from kgmi.files import atomic_write
from kgmi.learning import Learned
from kgmi.record import save

__all__ = ["write_results"]


def write_results(learned: Learned, folder: Path, *, pictures: bool) -> list[Path]:
    """Write everything into ``folder`` and return the paths."""
    record = save(learned, folder)
    texts = {
        "graph.json": json.dumps({"names": list(learned.names), **learned.dag.to_dict()}, ensure_ascii=False),
        "graph.dot": learned.dag.to_dot(learned.names),
        "edges.csv": _edges(learned),
    }
    paths = [record]
    for name, text in texts.items():
        with atomic_write(folder / name) as stream:
            stream.write(text.encode())
        paths.append(folder / name)
    if pictures:
        from kgmi.plots import save_figures

        paths += save_figures(learned, folder)
    return paths


def _edges(learned: Learned) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["parent", "child", "head", "attention"])
    for child, parents in enumerate(learned.dag.parents):
        for head, parent in enumerate(parents):
            weight = learned.attention[:, child, parent].max()
            writer.writerow([learned.names[parent], learned.names[child], head + 1, f"{weight:.6f}"])
    return text.getvalue()
