"""What a table is and what can be learned from it, as it is and prepared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgmi.errors import KgmiError
from kgmi.prepare import Prepared
from kgmi.web.gallery import GALLERY
from kgmi.web.preview import preview
from kgmi.web.reading import read, table_file
from kgmi.web.wording import worded

__all__ = ["describe"]

_WINDOWS = 6  # positions of a sequence that are looked at together
_STATES = 8  # of a column that are shown


def describe(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    """The table of a task in plain values: how it begins, its columns, and what the preparation would do."""
    path, _ = table_file(folder, task)
    exhibit = GALLERY.get(task.get("example", ""))
    as_it_is = _offer(folder, task, path, {"prepare": False, "missing": "pairwise"})
    prepared = _offer(folder, task, path, {"prepare": True})
    n_rows = as_it_is["n_rows"] or prepared["n_rows"] or None
    return {
        **preview(path),
        "n_bytes": path.stat().st_size,
        "n_rows": n_rows,
        "as_it_is": as_it_is,
        "prepared": prepared,
        "suggested": _suggested(as_it_is) if exhibit is None else exhibit.suggested,
        "kernel": exhibit is not None and exhibit.has_kernel,
    }


def _suggested(as_it_is: dict[str, Any]) -> dict[str, Any]:
    """What suits a table that was sent: one column is a sequence, if anything."""
    return {"windows": _WINDOWS, "prepare": False} if len(as_it_is["columns"]) == 1 else {}


def _offer(folder: Path, task: dict[str, Any], path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        found = read(path, task, asked)
    except KgmiError as error:
        return {
            "n_rows": 0,
            "columns": [],
            "shared": True,
            "notes": [],
            "failure": worded(error, folder, task["name"]),
        }
    return _described(found)


def _described(found: Prepared) -> dict[str, Any]:
    table = found.table
    columns = [
        {
            "name": name,
            "n_states": len(states),
            "states": list(states[:_STATES]),
            "n_missing": int(missing),
        }
        for name, states, missing in zip(table.names, table.column_states, table.missing_by_column, strict=True)
    ]
    return {
        "n_rows": len(table.codes),
        "columns": columns,
        "shared": not table.own_alphabets,
        "notes": list(found.notes),
        "failure": None,
    }
