"""A result as a Bayesian network in BIF text.

The text is our own: pgmpy's writer puts names down as they are, so that its reader fails on many of them or mixes
them up, and sorts the nodes; pyAgrum's refuses the same names. Both readers read what is written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product

from kgmi.interchange.laws import Laws
from kgmi.interchange.names import bif_names, bif_states
from kgmi.types import Floats

__all__ = ["MARK", "bif_text", "original_names"]

MARK = "// kgmi: "
"""Before the JSON that says which names were changed."""


def bif_text(laws: Laws) -> str:
    """The network with all its tables; probabilities have all their digits."""
    names = bif_names(laws.names)
    states = [bif_states(alphabet) for alphabet in laws.alphabets]
    lines = ["// Bayesian network learned by kgmi.", *_notes(laws, names, states), "network kgmi {", "}"]
    for name, alphabet in zip(names, states, strict=True):
        lines += [f"variable {name} {{", f"  type discrete [ {len(alphabet)} ] {{ {', '.join(alphabet)} }};", "}"]
    for node, name in enumerate(names):
        given = laws.model.given[node]
        parents = f" | {', '.join(names[other] for other in given)}" if given else ""
        lines.append(f"probability ( {name}{parents} ) {{")
        lines += _lines_of(laws.model.tables[node], [states[other] for other in given])
        lines.append("}")
    return "\n".join([*lines, ""])


def _lines_of(table: Floats, given: Sequence[Sequence[str]]) -> Iterator[str]:
    """One line for every configuration of the parents, the last parent fastest, as the axes of the table."""
    if not given:
        yield f"  table {_numbers(table)};"
        return
    laws = table.reshape(-1, table.shape[-1])
    for chosen, law in zip(product(*given), laws, strict=True):
        yield f"  ({', '.join(chosen)}) {_numbers(law)};"


def _numbers(law: Floats) -> str:
    return ", ".join(map(repr, law.tolist()))


def _notes(laws: Laws, names: Sequence[str], states: Sequence[Sequence[str]]) -> Iterator[str]:
    for node in laws.drawn_together:
        others = ", ".join(names[other] for other in laws.model.given[node])
        yield f"// {names[node]} is a root that is drawn together with {others}: no edge of the learned graph."
    for node, name in enumerate(names):
        alphabet = laws.alphabets[node]
        changed = {new: old for new, old in zip(states[node], alphabet, strict=True) if new != old}
        if name != laws.names[node] or changed:
            note = {"node": name, "name": laws.names[node], "states": changed}
            yield MARK + json.dumps(note)


def original_names(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """For each node that :func:`bif_text` gave another name or other states: those that it had."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for line in text.splitlines():
        if not line.startswith(MARK):
            continue
        try:
            note = json.loads(line.removeprefix(MARK))
            node, name, states = note["node"], note["name"], note["states"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # a comment that somebody else wrote
        texts = isinstance(states, dict) and all(isinstance(state, str) for state in states.values())
        if isinstance(node, str) and isinstance(name, str) and texts:
            found[node] = name, states
    return found
