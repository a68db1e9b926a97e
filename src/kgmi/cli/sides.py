"""What ``kgmi compare`` compares: two graphs with the names of their nodes, and what their results say of edges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.cli.learning_source import COUNTS_ENDING
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.graph.naming import shown_list
from kgmi.learning import Learned
from kgmi.learning.origin import flat_settings
from kgmi.metrics import Comparison, compare
from kgmi.record import load
from kgmi.specs import read_named_graph
from kgmi.table import default_names

__all__ = ["Edge", "Side", "compared", "kernel_difference", "opinion", "read_sides", "settings_apart"]

Edge = tuple[str, str]
"""Parent and child, by name."""


@dataclass(frozen=True, eq=False)
class Side:
    """A graph, the names of its nodes, and the result that it comes from, if it does."""

    spec: str
    dag: Dag
    names: tuple[str, ...]
    learned: Learned | None = None

    @property
    def edges(self) -> set[Edge]:
        """All edges by name."""
        return {(self.names[parent], self.names[child]) for parent, child in self.dag.edges}

    def only(self, kept: set[str]) -> Side:
        """The same graph without the nodes that are not kept."""
        if kept >= {*self.names}:
            return self
        nodes = [node for node, name in enumerate(self.names) if name in kept]
        place = {node: number for number, node in enumerate(nodes)}
        parents = [tuple(place[one] for one in self.dag.parents[node] if one in place) for node in nodes]
        return Side(self.spec, Dag(parents), tuple(self.names[node] for node in nodes), self.learned)


def read_sides(first: str, second: str) -> tuple[Side, Side]:
    """Both sides; where only one names its nodes, those of the other are the columns in the same places."""
    sides = [_read(spec) for spec in (first, second)]
    for number in (0, 1):
        side, other = sides[number], sides[1 - number]
        if not side.names:
            names = other.names if other.names else default_names(side.dag.n_nodes)
            if len(names) != side.dag.n_nodes:
                raise SettingError(
                    f"{side.spec} has {side.dag.n_nodes} nodes without names, {other.spec} has {len(names)} nodes: "
                    "without names they are compared by their places, so there must be as many"
                )
            sides[number] = Side(side.spec, side.dag, names, side.learned)
    a, b = sides
    if not {*a.names} & {*b.names}:
        raise SettingError(
            f"no node has the same name in both: {shown_list(a.names[:5])} … in {a.spec}, "
            f"{shown_list(b.names[:5])} … in {b.spec}"
        )
    return a, b


def _read(spec: str) -> Side:
    path = Path(spec)
    if path.is_dir() and not (path / "record.json").exists() and (path / "graph.json").exists():
        path, spec = path / "graph.json", str(path / "graph.json")  # of a result with very many nodes
    elif path.is_dir() or path.name == "record.json" or path.suffix == COUNTS_ENDING:  # which load refuses
        learned = load(path)
        return Side(spec, learned.dag, learned.names, learned)
    if spec.endswith((".bif", ".bif.gz")):
        from kgmi.interchange import from_bif

        dag, names, *_ = from_bif(path)
        return Side(spec, dag, tuple(names))
    dag, known = read_named_graph(spec, also="the folder that kgmi learn --out wrote, a .bif file, ")
    return Side(spec, dag, tuple(known or ()))


def compared(found: Side, reference: Side) -> Comparison:
    """The edges of ``found`` against those of ``reference``, over the nodes that both have."""
    both = {*found.names} & {*reference.names}
    found, reference = found.only(both), reference.only(both)
    return compare(found.dag, reference.dag, [reference.names.index(name) for name in found.names])


def opinion(side: Side, edge: Edge) -> dict[str, Any] | None:
    """What a result thinks of an edge, whether it has it or not; None where there is no result or no such node.

    ``margin`` is by how much the parent beats the next candidate, or, below 0, how far it is behind the best.
    """
    learned = side.learned
    if learned is None or not {*edge} <= {*learned.names}:
        return None
    parent, child = (learned.names.index(name) for name in edge)
    there = parent in learned.dag.parents[child]
    attention = learned.attention[:, child, parent]
    if there:
        margin = float(learned.margins[int(attention.argmax()), child])
    else:
        rows = learned.scores[:, child]
        behind = [row[parent] - np.nanmax(row) for row in rows if not np.isnan(row[parent])]
        margin = float(max(behind)) if behind else float("nan")
    return {
        "there": there,
        "strength": learned.trust.edges.get(edge),
        "attention": float(attention.max()),
        "margin": margin,
    }


def kernel_difference(a: Side, b: Side) -> tuple[float, str] | None:
    """The largest difference of a probability of a node with the same parents in both, and its name; or None."""
    if a.learned is None or b.learned is None:
        return None
    laws, others = _laws(a.learned), _laws(b.learned)
    found = []
    for name, (parents, states, table) in laws.items():
        if name in others and {*parents} == {*others[name][0]} and parents:
            theirs, their_states, other = others[name]
            order = [theirs.index(parent) for parent in parents]
            if states == [*(their_states[place] for place in order), their_states[-1]]:
                turned = np.transpose(other, [*order, len(order)])
                found.append((float(np.abs(table - turned).max()), name))
    return max(found, default=None)


def _laws(learned: Learned) -> dict[str, tuple[tuple[str, ...], list[Any], Any]]:
    """Of every node with a kernel: its parents, their states and its own, and the table."""
    alphabets = learned.alphabets or (learned.states,) * learned.n_nodes
    found = {}
    for kernel in learned.kernels:
        for child in kernel.children:
            parents = learned.dag.parents[child]
            states = [alphabets[node] for node in (*parents, child)]
            found[learned.names[child]] = (tuple(learned.names[p] for p in parents), states, kernel.table)
    return found


def settings_apart(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    """Settings, and the number of rows, that are not the same in two results."""
    if a.learned is None or b.learned is None:
        return {}
    first, second = (flat_settings(side.configuration) for side in (a.learned, b.learned))
    names = [*first, *(name for name in second if name not in first)]
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}
