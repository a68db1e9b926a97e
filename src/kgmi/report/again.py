"""How to run a fit again: the command, the call, and what it was run with."""

from __future__ import annotations

import platform
import re
import shlex
from typing import Any

import numpy as np

from kgmi.learning import Learned
from kgmi.learning.asked import READING, asked_of
from kgmi.learning.origin import origin_of, stream_of
from kgmi.penalty import PENALTIES
from kgmi.report.asked import option_words
from kgmi.version import __version__

__all__ = ["run_again"]

_TABLE, _KERNEL = "TABLE.csv", "KERNEL.json"


def run_again(learned: Learned, source: str | None = None, command: str | None = None) -> dict[str, Any]:
    """``command`` and ``python`` that give the same result, ``notes`` on what they cannot know, and versions.

    Where the ``command`` that made it is known, or the result knows it, it is the one; else it is put together from
    the settings.
    """
    settings = asked_of(learned)
    table, known_command, _ = origin_of(learned.configuration)
    source, command = source or table, command or known_command
    if source is not None and source.endswith(".counts"):  # rows that were read and counted before
        settings = _without_reading(settings)
    found = re.search(r" --example[ =](\w+)", command or "")
    example = found and found[1]
    kernel = settings.get("kernel_source") == "known"  # given, as a file or with the example
    words = [*(["--kernel", _KERNEL] if kernel else []), *option_words(settings)]
    return {
        "command": command or shlex.join(["kgmi", "learn", source or _TABLE, *words]),
        "python": _call(settings, _rows(learned, settings, source or _TABLE, example), kernel),
        "notes": _notes(learned, settings, named=bool(source or example), commanded=command is not None),
        "input": learned.fingerprint,
        "versions": {"kgmi": __version__, "numpy": np.__version__, "Python": platform.python_version()},
    }


def _notes(learned: Learned, settings: dict[str, Any], *, named: bool, commanded: bool) -> list[str]:
    """What the command and the call cannot know."""
    notes, told = [], learned.configuration
    if not named:
        notes.append(
            f"The result does not know the name of the table, nor how its file was read: put it in the place of "
            f"{_TABLE}, with the options it was read with."
        )
    if settings.get("kernel_source") == "known":
        notes.append(f"The kernel was given: put its file in the place of {_KERNEL}.")
    if "names" in settings and not commanded:
        notes.append(
            "The names of the nodes were given in Python; on the command line they are those in the first line of "
            "the file."
        )
    if "prepare" in settings:
        notes.append("The table is prepared first; what that does to it is told under «Configuration».")
    penalty = str(told.get("penalty", "nml"))
    if penalty not in PENALTIES and "penalty" not in settings:
        notes.append(f"The price of parameters was a function of its own ({penalty}), which has to be given again.")
    if not told.get("n_rows"):
        notes.append("This was learned from an exact population in Python; the command line learns from tables.")
    return notes


def _without_reading(settings: dict[str, Any]) -> dict[str, Any]:
    """What counts need not be told; that a kernel means their states, in this order, is said again."""
    known = settings.get("kernel_source") == "known" and "states" in settings
    return {name: one for name, one in settings.items() if name not in READING or (name == "states" and known)}


def _rows(learned: Learned, settings: dict[str, Any], where: str, example: str | None) -> str:
    """What reads the table in Python."""
    if example:
        return f"kgmi.examples.example({example!r}).table"
    if where.endswith(".counts"):
        return f"kgmi.CountedTable.load({where!r})"
    read = "kgmi.prepare" if "prepare" in settings else "kgmi.read_table"
    options = [f"{name}={settings[name]!r}" for name in READING if name in settings]
    shown = repr(where)
    if streamed := stream_of(learned.configuration):
        read, sources = "kgmi.stream", streamed.get("sources") or [where]
        shown = repr(sources[0] if len(sources) == 1 else sources)
        options += [f"{name}={streamed[name]!r}" for name in ("columns", "where") if streamed.get(name)]
    return f"{read}({', '.join([shown, *options])})"


def _call(settings: dict[str, Any], rows: str, kernel: bool) -> str:
    lines = ["import json\nfrom pathlib import Path\n\nimport kgmi" if kernel else "import kgmi", ""]
    if kernel:
        lines.append(f"kernel = kgmi.Kernel.from_dict(json.loads(Path({_KERNEL!r}).read_text()))")
    given = {name: value for name, value in settings.items() if name not in (*READING, "kernel_source", "prepare")}
    options = ["kernel=kernel"] if kernel else []
    if settings.get("guide") == "labelled" or settings.get("kernel_source") == "labelled":
        lines.insert(1, "from kgmi.guides.labelled import split_tail")
        lines.append(f"rows, names = split_tail({rows}, {settings['n_parents']})")
        rows = "rows"
        options.append("names=names")
        given.pop("names", None)
    if settings.get("kernel_source") == "labelled":
        given["kernel_source"] = "labelled"
    options += [f"{name}={value!r}" for name, value in given.items()]
    lines.append(f"learned = kgmi.learn({', '.join([rows, *options])})")
    return "\n".join(lines)
