"""What was asked for when a result was learned, as options of a command."""

from __future__ import annotations

from typing import Any

from kgmi.graph.naming import quoted, shown_list

__all__ = ["option_words"]


def option_words(settings: dict[str, Any]) -> list[str]:
    """The settings as options of the command line."""
    words: list[str] = []
    names = {"n_parents": "parents", "forbidden": "forbid", "required": "require"}
    for name, value in settings.items():
        if (name == "kernel_source" and value == "known") or name in ("n_states", "names"):
            continue  # what a kernel is by default, and what it says; and what only Python can say
        if name in ("prepare", "header"):
            words.append("--prepare" if name == "prepare" else "--no-header")
            continue
        text = f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
        if name in ("forbidden", "required"):
            text = ",".join(f"{quoted(parent)}>{quoted(child)}" for parent, child in value)
        elif name in ("tiers", "classes"):
            text = "|".join(shown_list(group, ",") for group in value)
        elif isinstance(value, list):
            text = shown_list(value, ",")
        words += [f"--{names.get(name, name).replace('_', '-')}", text]
    return words
