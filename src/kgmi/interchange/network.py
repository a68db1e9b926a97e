"""``Network``: a Bayesian network whose nodes have alphabets and laws of their own, parents before children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.errors import DataError, GraphError
from kgmi.graph import Dag
from kgmi.graph.ordering import topological_order
from kgmi.types import Floats

__all__ = ["Network", "Node", "network_of"]

_TOLERANCE = 2e-3  # files round; three times 0.333 is still meant as a law


@dataclass(frozen=True, eq=False)
class Node:
    """One node as a file describes it: its states, its parents by name, and ``table[parents …, state]``."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: Floats


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network in topological order.

    Attributes
    ----------
    name
        What it is called in reports.
    names
        Of the nodes, parents before children.
    alphabets
        ``alphabets[node]``: the states of each node, in the order of the codes.
    dag
        The true graph. Every root is a block of its own, so that no edge between roots is excused.
    tables
        ``tables[node][state of the first parent, …, state of the node]``, with the parents in the order of
        ``dag.parents[node]``.
    """

    name: str
    names: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...]
    dag: Dag
    tables: tuple[Floats, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.names)

    @property
    def n_states(self) -> tuple[int, ...]:
        """States of each node."""
        return tuple(map(len, self.alphabets))


def network_of(name: str, nodes: Sequence[Node]) -> Network:
    """A network from its nodes in any order, after all checks.

    The nodes are put into the topological order that is nearest to theirs: of the nodes whose parents are all
    placed, the one that stands first is next. Nodes that are in order already stay where they are.
    """
    if not nodes:
        raise DataError(f"{name}: there is no variable in it")
    number: dict[str, int] = {}
    for place, node in enumerate(nodes):
        if number.setdefault(node.name, place) != place:
            raise DataError(f"{name}: the variable {node.name!r} is declared twice")
    for node in nodes:
        _check_node(name, node, nodes, number)
    parents = [[number[parent] for parent in node.parents] for node in nodes]
    try:
        order = topological_order(parents, lambda place: nodes[place].name)
    except GraphError as error:
        raise DataError(f"{name}: {error}") from None
    roots = [[place] for place, above in enumerate(parents) if not above]
    return Network(
        name=name,
        names=tuple(nodes[old].name for old in order),
        alphabets=tuple(nodes[old].states for old in order),
        dag=Dag(parents, roots).renumbered(np.argsort(order)),
        tables=tuple(_normalised(nodes[old].table) for old in order),
    )


def _check_node(name: str, node: Node, nodes: Sequence[Node], number: dict[str, int]) -> None:
    where = f"{name}: variable {node.name!r}"
    if len(node.states) < 2 or len(set(node.states)) < len(node.states):
        raise DataError(f"{where} needs two or more different states, it has {list(node.states)}")
    if len(set(node.parents)) < len(node.parents):
        raise DataError(f"{where} lists a parent twice: {', '.join(node.parents)}")
    for parent in node.parents:
        if parent not in number:
            raise DataError(f"{where} has the parent {parent!r}, which is not declared")
    shape = (*(len(nodes[number[parent]].states) for parent in node.parents), len(node.states))
    if node.table.shape != shape:
        raise DataError(f"{where}: its table has shape {node.table.shape}, states and parents need {shape}")
    if not (np.isfinite(node.table).all() and (node.table >= 0).all()):
        raise DataError(f"{where}: its table holds a value that is no probability")
    wrong = np.argwhere(np.abs(node.table.sum(axis=-1) - 1) > _TOLERANCE)
    if len(wrong):
        chosen = zip(node.parents, wrong[0], strict=True)
        given = ", ".join(f"{parent} = {nodes[number[parent]].states[code]}" for parent, code in chosen)
        total = node.table[tuple(wrong[0])].sum()
        raise DataError(
            f"{where}: its probabilities{f' given {given}' if given else ''} sum to {total:.6g}, not to 1; "
            "a line of its table is missing or wrong"
        )


def _normalised(table: Floats) -> Floats:
    exact: Floats = table / table.sum(axis=-1, keepdims=True)
    exact.flags.writeable = False
    return exact
