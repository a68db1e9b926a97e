"""``export``: a result in the format of another tool, as text, and what that format could not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgmi.errors import SettingError
from kgmi.graph.naming import shown_list
from kgmi.interchange.bif_text import bif_text
from kgmi.interchange.graphs import blocks_of, csv_text, dagitty_text, graphml_text, json_text
from kgmi.interchange.laws import alphabets_of, laws_of
from kgmi.interchange.names import bif_names, bif_states, csv_names, dagitty_names, xml_names
from kgmi.learning import Learned
from kgmi.types import Names

__all__ = ["EXPORTS", "EXPORT_SUFFIXES", "export", "export_notes"]

_WRITERS: dict[str, Callable[[Learned], str]] = {
    "graphml": graphml_text,
    "dot": lambda learned: learned.dag.to_dot(learned.names),
    "json": json_text,
    "bif": lambda learned: bif_text(laws_of(learned)),
    "dagitty": dagitty_text,
    "csv": csv_text,
}
EXPORTS = tuple(_WRITERS)
"""The formats, by name."""
EXPORT_SUFFIXES = {kind: {"dagitty": ".dagitty.txt"}.get(kind, f".{kind}") for kind in EXPORTS}
"""How a file of each format is called."""

_TITLES = {"graphml": "GraphML", "bif": "BIF", "dagitty": "DAGitty", "csv": "CSV"}
_NAMES: dict[str, Callable[[Names], Sequence[str]]] = {
    "graphml": xml_names,
    "bif": bif_names,
    "dagitty": dagitty_names,
    "csv": csv_names,
}
_MOST_SHOWN = 5


def export(learned: Learned, kind: str) -> str:
    """A result as text in the format of another tool.

    Parameters
    ----------
    learned
        The result.
    kind
        ``graphml`` (graph, names, attention and margins; networkx, igraph, Gephi, yEd), ``dot`` (graph and names;
        Graphviz, pydot), ``json`` (graph, names, states, edges and kernels), ``bif`` (a complete Bayesian network;
        pgmpy, pyAgrum, bnlearn), ``dagitty`` (graph; DAGitty) or ``csv`` (a list of edges).

    Examples
    --------
    >>> Path("graph.graphml").write_text(export(learned, "graphml"), encoding="utf-8")  # doctest: +SKIP
    """
    return _WRITERS[_checked(kind)](learned)


def export_notes(learned: Learned, kind: str) -> tuple[str, ...]:
    """What a reader of the text has to know: names that were changed, and roots that are drawn together."""
    kind = _checked(kind)
    notes = []
    if kind in _NAMES:
        pairs = zip(learned.names, _NAMES[kind](learned.names), strict=True)
        changed = [f"{shown_list([old])} is {new}" for old, new in pairs if old != new]
        if kind == "bif":
            for name, states in zip(learned.names, alphabets_of(learned), strict=True):
                both = zip(states, bif_states(states), strict=True)
                changed += [f"state {shown_list([old])} of {name} is {new}" for old, new in both if old != new]
        if changed:
            notes.append(f"{_TITLES[kind]} cannot say all names as they are: {_some(changed)}.")
    if kind == "bif":
        laws = laws_of(learned)
        blocks = [shown_list(learned.names[one] for one in (*laws.model.given[k], k)) for k in laws.drawn_together]
        if blocks:
            notes.append(
                f"Roots that are drawn together ({_some(blocks)}) are joined by edges there: a network can "
                "say it only so. These are no edges of the learned graph."
            )
        if (learned.configuration.get("candidates") or {}).get("only_children") is not None:
            notes.append(
                "The network is that of one window: earlier positions of the sequence are independent roots there, "
                "though each depends on those before it as the newest does. Rows drawn from it are no sequences."
            )
    elif kind in ("dagitty", "csv", "dot") and (found := blocks_of(learned)):
        blocks = [shown_list(learned.names[node] for node in block) for block in found]
        how = "are joined by <-> there" if kind == "dagitty" else "stand there like any others"
        notes.append(f"Roots that are drawn together ({_some(blocks)}) {how}.")
    return tuple(notes)


def _some(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - _MOST_SHOWN} more" if len(parts) > _MOST_SHOWN else ""
    return "; ".join(parts[:_MOST_SHOWN]) + more


def _checked(kind: str) -> str:
    if kind not in _WRITERS:
        raise SettingError(f"there is no format {kind!r} to export to; choose one of {', '.join(EXPORTS)}")
    return kind
