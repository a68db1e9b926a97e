"""The files of a result: record, report, graph in three forms, pictures."""

from __future__ import annotations

import json
from pathlib import Path

from kgmi.counting import Counts
from kgmi.errors import SettingError
from kgmi.files import all_or_none, atomic_write
from kgmi.interchange import export
from kgmi.learning import Learned
from kgmi.progress import tell
from kgmi.record import save
from kgmi.record.kept import COUNTS_PATTERN, kept_name
from kgmi.report import write_report

__all__ = ["REPORT", "check_folder", "write_results"]

REPORT = "report.html"
"""Of a result, in its folder."""


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be one, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file; --out needs a folder")


def write_results(learned: Learned, folder: Path, *, pictures: bool, counts: Counts | None = None) -> list[Path]:
    """Write everything into ``folder`` and return the paths; whatever happens, all files belong to one result.

    ``counts`` of a table are kept with it; a result of a stream or of counts has its own (:func:`kgmi.save`).
    Pictures, arrays and the report of an earlier result in the same folder are removed: they would show another.
    """
    graph = {"names": list(learned.names), **learned.dag.to_dict()}
    texts = {
        "graph.json": json.dumps(graph, ensure_ascii=False) + "\n",
        "graph.dot": export(learned, "dot"),
        "edges.csv": export(learned, "csv"),
    }
    with all_or_none(folder, last="record.json", replaces=_earlier(folder)) as new:
        record = save(learned, new, counts=counts)
        paths = [record, *new.glob("arrays-*.npz"), *new.glob(COUNTS_PATTERN)]
        for name, text in texts.items():
            with atomic_write(new / name) as stream:
                stream.write(text.encode())
            paths.append(new / name)
        tell("report.html", 0, None, "")
        paths.append(write_report(learned, new / REPORT))
        if pictures:
            from kgmi.plots import save_figures

            paths += save_figures(learned, new)
    return [folder / path.name for path in paths]


def _earlier(folder: Path) -> list[str]:
    """Files of a result that is in the folder already."""
    if not (folder / "record.json").exists():
        return []
    from kgmi.plots import FIGURE_NAMES
    from kgmi.plots.canvas import FORMATS

    counts = kept_name(folder)
    return [
        COUNTS_PATTERN,
        *([] if counts is None else [counts]),
        f"arrays-{'[0-9a-f]' * 16}.npz",
        REPORT,
        *(f"{name}.{kind}" for name in FIGURE_NAMES for kind in FORMATS),
    ]
