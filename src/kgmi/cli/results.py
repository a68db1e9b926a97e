"""The files of a result: record, report, graph in three forms, pictures."""

from __future__ import annotations

import json
from pathlib import Path

from kgmi.files import all_or_none, atomic_write
from kgmi.interchange import export
from kgmi.learning import Learned
from kgmi.outputs import Kind, check_replaceable, is_ours
from kgmi.progress import tell
from kgmi.record import save
from kgmi.report import write_report

__all__ = ["REPORT", "check_results", "graph_text", "write_results"]

REPORT = "report.html"
"""Of a result, in its folder."""

_FILES: dict[str, Kind] = {
    "record.json": "record",
    "graph.json": "graph",
    "graph.dot": "dot",
    "edges.csv": "edges",
    REPORT: "report",
}


def check_results(folder: Path, *, pictures: bool, force: bool = False) -> None:
    """Refuse a folder, before any work is done, where a result would replace what is no result, or what is read."""
    for name, kind in _FILES.items():
        check_replaceable(folder / name, kind, force=force)
    if pictures:
        from kgmi.plots.figures import check_figures

        check_figures(folder, force=force)


def write_results(learned: Learned, folder: Path, *, pictures: bool, force: bool = False) -> list[Path]:
    """Write everything into ``folder`` and return the paths; whatever happens, all files belong to one result.

    Pictures, arrays and the report of an earlier result in the same folder are removed: they would show another.
    """
    texts = {
        "graph.json": graph_text(learned),
        "graph.dot": export(learned, "dot"),
        "edges.csv": export(learned, "csv"),
    }
    with all_or_none(folder, last="record.json", replaces=_earlier(folder), force=force) as new:
        record = save(learned, new)
        paths = [record, *new.glob("arrays-*.npz")]
        for name, text in texts.items():
            with atomic_write(new / name, _FILES[name]) as stream:
                stream.write(text.encode())
            paths.append(new / name)
        tell("report.html", 0, None, "")
        paths.append(write_report(learned, new / REPORT))
        if pictures:
            from kgmi.plots import save_figures

            paths += save_figures(learned, new)
    return [folder / path.name for path in paths]


def graph_text(learned: Learned) -> str:
    """The graph of a result, with its names, as JSON."""
    content = {"format": "kgmi-graph", "names": list(learned.names), **learned.dag.to_dict()}
    return json.dumps(content, ensure_ascii=False) + "\n"


def _earlier(folder: Path) -> dict[str, Kind]:
    """Files of a result that is in the folder already, with their kinds."""
    if not is_ours(folder / "record.json", "record"):
        return {}
    from kgmi.plots import FIGURE_NAMES
    from kgmi.plots.canvas import FORMATS

    return {
        f"arrays-{'[0-9a-f]' * 16}.npz": "arrays",
        REPORT: "report",
        **{f"{name}.{kind}": kind for name in FIGURE_NAMES for kind in FORMATS},
    }
