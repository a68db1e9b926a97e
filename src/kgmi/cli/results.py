"""The files of a result: record, graph in three forms, pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from kgmi.errors import SettingError
from kgmi.files import atomic_write
from kgmi.learning import Learned
from kgmi.record import save

__all__ = ["check_folder", "write_results"]


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be one, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file; --out needs a folder")


def write_results(learned: Learned, folder: Path, *, pictures: bool) -> list[Path]:
    """Write everything into ``folder`` and return the paths.

    Pictures of an earlier result in the same folder are removed: they would show another graph.
    """
    if (folder / "record.json").exists():
        from kgmi.plots import FIGURE_NAMES

        for name in FIGURE_NAMES:
            (folder / f"{name}.png").unlink(missing_ok=True)
    record = save(learned, folder)
    graph = {"names": list(learned.names), **learned.dag.to_dict()}
    texts = {
        "graph.json": json.dumps(graph, ensure_ascii=False) + "\n",
        "graph.dot": learned.dag.to_dot(learned.names),
        "edges.csv": _edges(learned),
    }
    paths = [record, *folder.glob("arrays-*.npz")]
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
    numbers = ["attention", "margin", *(["direction"] if learned.directions is not None else [])]
    writer = csv.DictWriter(text, ["parent", "child", "head", *numbers], lineterminator="\n")
    writer.writeheader()
    for edge in learned.edges:
        writer.writerow(edge | {key: "" if edge[key] is None else f"{edge[key]:.6f}" for key in numbers})
    return text.getvalue()
