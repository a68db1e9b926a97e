"""In what one count differs from another, in words: the options that were given then, and now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kgmi.graph.naming import shown_list

__all__ = ["told_difference"]

_SHOWN = 5  # columns or states that are named
_MOST = 80  # letters of what is shown as it is
_FORMS = {
    "headed text": "with a first line of names (header=True)",
    "text": "without a first line of names (header=False)",
    "frame": "from typed columns, as Parquet has",
    "cells": "from an array of texts",
    "numbers": "from an array of numbers",
}
Identity = Mapping[str, Any]


def told_difference(there: Identity, here: Identity) -> str:
    """The first thing in which ``there``, what was counted, and ``here``, what is to be counted now, differ."""
    if there.get("columns") != here.get("columns") and _are_names(there, here):
        return _other_columns(there["columns"], here["columns"])
    mine, theirs = _flat(here), _flat(there)
    key = next((key for key in (*_SAID, *mine, *theirs) if mine.get(key) != theirs.get(key)), "")
    if key not in _SAID or key not in theirs or key not in mine:
        return "it was written by another version of kgmi"
    before, now = _SAID[key](theirs), _SAID[key](mine)
    if before == now:  # such as two lists of candidates, of which only hashes are known
        return f"it was counted {before} too, but of others"
    return f"it was counted {before}, now {now}"


def _are_names(*identities: Identity) -> bool:
    return all(
        isinstance(one.get("columns"), list) and all(isinstance(name, str) for name in one["columns"])
        for one in identities
    )


def _other_columns(there: list[str], here: list[str]) -> str:
    gone, new = ([name for name in one if name not in {*other}] for one, other in ((there, here), (here, there)))
    if not gone and not new:
        return f"it has the same columns in another order: {_some(there)} (columns=…)"
    told = [f"it has {_which(gone)} left out now"] * bool(gone)
    told += [f"it has not {_which(new)} there now"] * bool(new)
    return f"{', and '.join(told)} (columns=…)"


def _which(names: list[str]) -> str:
    column, are = ("column", "is") if len(names) == 1 else ("columns", "are")
    return f"the {column} {_some(names)}, which {are}"


def _flat(identity: Identity) -> dict[str, Any]:
    """With the rules for cells beside the rest."""
    rules = identity.get("rules")
    if not isinstance(rules, dict):
        return dict(identity)
    return {key: one for key, one in identity.items() if key != "rules"} | rules


def _chosen(name: str) -> Callable[[Identity], str]:
    """One of a few words, with the option as it is called in Python and on the command line."""
    return lambda one: f"with {name}={_cut(one.get(name), repr)} (--{name} {_cut(one.get(name), str)})"


def _states(one: Identity) -> str:
    states = one.get("states")
    if states is None:
        return "without declared states"
    return f"with the states {_some(states) if isinstance(states, list) else _cut(states, str)} (states=…)"


def _categories(one: Identity) -> str:
    """Which columns have types that list their states: one file with plain text ends that for all."""
    columns = one.get("categories")
    if not columns:
        return "without any categories, as some file has plain text"
    listed = _some(columns) if isinstance(columns, list) else _cut(columns, str)
    return f"with the categories of {listed}, wherever files declare some"


def _sets(one: Identity) -> str:
    return "for all sets of columns" if one.get("sets") is None else "for short lists of likely parents"


def _where(one: Identity) -> str:
    return f"where {_cut(one['where'], str)} (where=…)" if one.get("where") else "without a filter"


def _width(one: Identity) -> str:
    """For how many parents the sets are wide enough; with missing values one column more is counted."""
    width, columns = one.get("width"), one.get("columns")
    if type(width) is not int or not isinstance(columns, list):
        return f"for sets of {_cut(width, str)} columns"
    parents = max(1, width - 1 - (one.get("missing") == "pairwise" and width < len(columns)))
    return f"for n_parents = {parents} (--parents {parents}), which are sets of {width} columns"


def _some(texts: list[Any]) -> str:
    listed = shown_list(str(text) for text in texts[:_SHOWN])
    return listed + (f" … ({len(texts):,} in all)" if len(texts) > _SHOWN else "")


def _cut(value: Any, shown: Callable[[Any], str]) -> str:
    text = shown(value)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


_SAID: dict[str, Callable[[Identity], str]] = {
    "form": lambda one: _FORMS.get(str(one.get("form")), f"from {_cut(one.get('form'), str)}"),
    "categories": _categories,
    "missing": _chosen("missing"),
    "alphabet": _chosen("alphabet"),
    "states": _states,
    "n_states": lambda one: f"for {_cut(one['n_states'], str)} states" if one.get("n_states") else "for any states",
    "where": _where,
    "width": _width,
    "sets": _sets,
}
"""What is said behind «it was counted», in the order in which it is looked at."""
