"""How to run a fit again: the command, the call, and what it was run with."""

from __future__ import annotations

import inspect
import platform
import re
import shlex
from typing import Any

import numpy as np

from kgmi.graph.naming import quoted, shown_list
from kgmi.learning import Learned
from kgmi.learning.learn import learn
from kgmi.version import __version__

__all__ = ["run_again"]

# Settings whose option has the same name in the record, in Python and, with dashes, on the command line.
_PLAIN = frozenset(
    """guide divergence search list_length in_degree penalty share error labelled_form kappa solver rate epochs stop
    smoothing root_level starts rounds kernel_source device""".split()  # noqa: SIM905  (twenty lines otherwise)
)
_TABLE, _KERNEL = "TABLE.csv", "KERNEL.json"


def run_again(learned: Learned, source: str | None = None, command: str | None = None) -> dict[str, Any]:
    """``command`` and ``python`` that give the same result, ``notes`` on what they cannot know, and versions.

    Where the ``command`` that made it is known, it is the one; else it is put together from the settings.
    """
    settings = _settings(learned)
    example = re.search(r" --example[ =](\w+)", command or "")
    rows = f"kgmi.examples.example({example[1]!r}).table" if example else _rows(settings, source or _TABLE)
    notes = []
    if source is None and not example:
        notes.append(f"The result does not know the name of the table: put it in the place of {_TABLE}.")
    kernel = settings.get("kernel_source") == "known"  # given, as a file or with the example
    if kernel:
        notes.append(f"The kernel was given: put its file in the place of {_KERNEL}.")
    if "prepare" in settings:
        notes.append("The table is prepared first; what that does to it is told under «Configuration».")
    if not learned.configuration.get("n_rows"):
        notes.append("This was learned from an exact population in Python; the command line learns from tables.")
    return {
        "command": command or shlex.join(["kgmi", "learn", source or _TABLE, *_words(settings, kernel)]),
        "python": _call(settings, rows, kernel),
        "notes": notes,
        "input": learned.fingerprint,
        "versions": {"kgmi": __version__, "numpy": np.__version__, "Python": platform.python_version()},
    }


def _settings(learned: Learned) -> dict[str, Any]:
    """Settings that are not what they are by default, by the names of :func:`kgmi.learn`."""
    told = learned.configuration
    usual = {name: p.default for name, p in inspect.signature(learn).parameters.items()}
    usual |= {"guide": "likelihood", "divergence": "kl", "kernel_source": "learned"}
    usual["in_degree"] = "mixed" if told.get("kernel_source") == "learned" else "uniform"
    if told.get("guide") not in ("likelihood", "contextual"):
        usual["rate"] = 10.0
    found: dict[str, Any] = {"n_parents": learned.n_heads}
    found |= {name: told[name] for name in told if name in _PLAIN and told[name] not in (None, usual[name])}
    if told.get("guide") == "labelled":
        found.pop("divergence", None)  # it has no other
    if told.get("prepared"):
        found["prepare"] = True
    elif learned.alphabets is not None:
        found["alphabet"] = "own"
    if isinstance(told.get("roots"), list):
        found["roots"] = [learned.names[node] for node in told["roots"]]
    if told.get("classes"):
        mentioned = {name: one for name, one in told["classes"].items() if one != "rest"}
        found["classes"] = _groups(mentioned or told["classes"])
    return found | _limits(learned)


def _limits(learned: Learned) -> dict[str, Any]:
    """What was asked of the candidates, with the names of columns."""
    told = learned.configuration.get("candidates") or {}
    found: dict[str, Any] = {}
    column = {place: learned.names[node] for node, place in enumerate(learned.order)}
    if told.get("only_children") is not None:
        return {"windows": learned.n_nodes}
    for name in ("forbidden", "required"):
        if told.get(name):
            found[name] = [(column[parent], column[child]) for parent, child in told[name]]
    if told.get("tiers") is not None:
        found["tiers"] = _groups({column[place]: tier for place, tier in enumerate(told["tiers"])})
    if told.get("max_lag") is not None:
        found["max_lag"] = told["max_lag"]
    order = told.get("order")
    if learned.configuration.get("order") == "learn" or order == "learn":
        found["order"] = "learn"
    elif order is not None:
        found["order"] = [column[place] for place in order]
    return found


def _groups(label_of: dict[str, Any]) -> list[list[str]]:
    groups: dict[Any, list[str]] = {}
    for name, label in label_of.items():
        groups.setdefault(label, []).append(name)
    return [groups[label] for label in sorted(groups, key=lambda one: (len(str(one)), str(one)))]


def _words(settings: dict[str, Any], kernel: bool) -> list[str]:
    """The settings as options of the command line."""
    words = ["--kernel", _KERNEL] if kernel else []
    names = {"n_parents": "parents", "forbidden": "forbid", "required": "require"}
    for name, value in settings.items():
        if name == "kernel_source" and value == "known":
            continue  # what a kernel is by default
        if name == "prepare":
            words.append("--prepare")
            continue
        text = str(value)
        if name in ("forbidden", "required"):
            text = ",".join(f"{quoted(parent)}>{quoted(child)}" for parent, child in value)
        elif name in ("tiers", "classes"):
            text = "|".join(shown_list(group, ",") for group in value)
        elif isinstance(value, list):
            text = shown_list(value, ",")
        words += [f"--{names.get(name, name).replace('_', '-')}", text]
    return words


def _rows(settings: dict[str, Any], where: str) -> str:
    if "prepare" in settings:
        return f"kgmi.data.prepare({where!r})"
    reading = f", alphabet={settings['alphabet']!r}" if "alphabet" in settings else ""
    return f"kgmi.read_table({where!r}{reading})"


def _call(settings: dict[str, Any], rows: str, kernel: bool) -> str:
    lines = ["import json\n\nimport kgmi" if kernel else "import kgmi", ""]
    if kernel:
        lines.append(f"kernel = kgmi.Kernel.from_dict(json.load(open({_KERNEL!r})))")
    given = {
        name: value for name, value in settings.items() if name not in ("alphabet", "kernel_source", "prepare")
    }
    if settings.get("kernel_source") == "labelled":
        given["kernel_source"] = "labelled"
    options = [*(["kernel=kernel"] if kernel else []), *(f"{name}={value!r}" for name, value in given.items())]
    lines.append(f"learned = kgmi.learn({', '.join([rows, *options])})")
    return "\n".join(lines)
