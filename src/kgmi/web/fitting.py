"""Learn as a job of the web page asks, and write all that the page, its downloads and its report need."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from kgmi.errors import KgmiError, SettingError
from kgmi.files import atomic_write
from kgmi.graph.naming import shown_list
from kgmi.kernel import Kernel
from kgmi.learning import Learned
from kgmi.learning.learn import learn
from kgmi.learning.origin import keep_origin
from kgmi.memory import peak_bytes
from kgmi.prepare import Prepared
from kgmi.progress import tell
from kgmi.web.gallery import Known
from kgmi.web.heads import collapsed, heads_sentence
from kgmi.web.reading import read, table_file

__all__ = ["fit"]

_NEED_KERNEL = ("stationary", "uniform")
_DEFLATED = zipfile.ZIP_DEFLATED
_LEAST_ROOM = 100_000_000  # bytes that a fit may take in any case; the system's own limit holds beside it


def fit(folder: Path, task: dict[str, Any]) -> None:
    """Learn, and write ``result.json``, ``report.html``, ``record.zip`` and the graph in all formats."""
    asked = task["fit"]
    tell("reading", 0, None, "")
    path, known = table_file(folder, task)
    kernel = _kernel(asked, known)
    found = read(path, task, asked, None if kernel is None else kernel.n_states)
    if kernel is not None and found.table.states != tuple(map(str, range(kernel.n_states))):
        raise SettingError(
            f"the kernel numbers its states from 0 to {kernel.n_states - 1}, and the table has "
            f"{shown_list(found.table.states[:8])}: write its states as these numbers, or choose another guide"
        )
    room = max(_LEAST_ROOM, int(task["memory_bytes"]) - (peak_bytes() or 0))
    rows = found if found.notes else found.table  # what was done to it belongs into the record
    learned = learn(rows, kernel=kernel, memory_limit=room, **_options(asked, found), **known.options)
    keep_origin(learned.configuration, str(task["name"]), _reading(asked))
    tell("writing", 0, None, "")
    _write_files(folder, learned, found, known, str(task["name"]))


def _kernel(asked: dict[str, Any], known: Known) -> Kernel | None:
    """The kernel that the guide needs, or that is asked for."""
    wanted = asked["kernel"] or ("example" if asked["guide"] in _NEED_KERNEL else None)
    if wanted is None or (wanted == "example" and known.kernel is not None):
        return None if wanted is None else known.kernel
    if wanted == "example":
        raise SettingError(
            f"the guide {asked['guide']} needs to be told the kernel, and of this table none is known: choose "
            "another guide, or one of the named kernels if that is how your data came about"
        )
    return Kernel.paper() if wanted == "paper" else Kernel.mendelian()


def _options(asked: dict[str, Any], found: Prepared) -> dict[str, Any]:
    """Settings of the fit; those that are as usual are left out, as some guides refuse what would do nothing."""
    n_columns = asked["windows"] or len(found.table.names)
    # The most parents are no more than there are other columns; a small table needs no other setting.
    options: dict[str, Any] = {"n_parents": min(asked["parents"], max(1, n_columns - 1)), "guide": asked["guide"]}
    usual: dict[str, Any] = {"divergence": None, "order": "given", "windows": None, "in_degree": None}
    usual |= {"penalty": "nml", "share": "auto", "epochs": 50_000}
    options |= {name: asked[name] for name, value in usual.items() if asked[name] != value}
    if found.table.n_missing:
        options["missing"] = "pairwise"
    return options


def _reading(asked: dict[str, Any]) -> dict[str, Any]:
    """How the file was read, as far as that is not as usual."""
    usual = {"missing": "error", "alphabet": "auto"}
    return {name: asked[name] for name, value in usual.items() if asked.get(name) not in (None, value)}


def _write_files(folder: Path, learned: Learned, found: Prepared, known: Known, name: str) -> None:
    from kgmi.record import save
    from kgmi.report import report_html, view_of

    (folder / "exports").mkdir(exist_ok=True)
    result = {
        "view": view_of(learned, source=name),
        "edges": [[parent, child] for child, parents in learned.parents.items() for parent in parents],
        "heads": heads_sentence(learned),
        "collapsed": collapsed(learned),
        "truth": _against(learned, known),
        "notes": list(found.notes),
        "exports": _write_exports(folder / "exports", learned),
    }
    _write(folder / "report.html", report_html(learned, source=name).encode("utf-8", "replace"))
    save(learned, folder / "record")
    with (
        atomic_write(folder / "record.zip", "internal") as stream,
        zipfile.ZipFile(stream, "w", _DEFLATED) as packed,
    ):
        for path in sorted((folder / "record").iterdir()):
            packed.write(path, path.name)
    _write(folder / "result.json", json.dumps(result).encode())


def _write_exports(folder: Path, learned: Learned) -> dict[str, str]:
    """The graph in all formats; where one cannot say it, the reason takes its place."""
    from kgmi.interchange import EXPORTS, export

    reasons = {}
    for kind in EXPORTS:
        try:
            _write(folder / kind, export(learned, kind).encode())
            reasons[kind] = ""
        except KgmiError as error:
            reasons[kind] = str(error)
    return reasons


def _against(learned: Learned, known: Known) -> str:
    """How the graph compares with the true one, where that is known."""
    if known.truth is None:
        return ""
    true = {(parent, child) for child, parents in known.truth.items() for parent in parents}
    found = {(parent, child) for child, parents in learned.parents.items() for parent in parents}
    wrong = len(found - true)
    extra = "and none besides" if not wrong else f"and {wrong} that {'is' if wrong == 1 else 'are'} not in it"
    return f"{len(found & true)} of the {len(true)} edges of the true graph were found, {extra}."


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path, "internal") as stream:
        stream.write(content)
