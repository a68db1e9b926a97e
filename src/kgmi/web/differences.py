"""How the graphs of several jobs differ, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgmi.graph.naming import quoted

__all__ = ["differences"]

_NAMED = 12  # edges that a sentence names

_Edge = tuple[str, str]


def differences(labels: Mapping[str, str], results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What several results have in common and what only some of them have.

    Parameters
    ----------
    labels
        What each job is called, by its id.
    results
        ``edges``, ``collapsed`` and ``heads`` of each job, by its id.
    """
    edges: dict[str, set[_Edge]] = {key: {(p, c) for p, c in result["edges"]} for key, result in results.items()}
    common = set.intersection(*edges.values())
    some = set.union(*edges.values())
    turned = {(parent, child) for parent, child in some if (child, parent) in some}
    only = {key: sorted(found - common) for key, found in edges.items()}
    sentences = [_in_common(len(edges), common, some)]
    for key, found in only.items():
        if found:
            sentences.append(f"Found by {labels[key]}, but not by all: {_list(found)}.")
    if turned:
        sentences.append(f"Turned round between them: {_list(sorted(turned))}.")
    for key, result in results.items():
        if result["collapsed"]:
            sentences.append(f"With {labels[key]} {result['heads'][:1].lower()}{result['heads'][1:]}")
    return {"sentences": sentences, "both": sorted(common), "only": only, "turned": sorted(turned)}


def _in_common(n_graphs: int, common: set[_Edge], some: set[_Edge]) -> str:
    who = "Both" if n_graphs == 2 else f"All {n_graphs}"
    if common == some:
        return f"{who} found the same graph: {_number(len(common))}."
    return f"{who} agree on {_number(len(common))}; {_number(len(some) - len(common))} more are found by some only."


def _number(n_edges: int) -> str:
    return "1 edge" if n_edges == 1 else f"{n_edges} edges"


def _list(edges: Sequence[_Edge]) -> str:
    named = ", ".join(f"{quoted(parent)} → {quoted(child)}" for parent, child in edges[:_NAMED])
    return named if len(edges) <= _NAMED else f"{named} and {len(edges) - _NAMED} more"
