"""Rows as data frames with named category columns, and the names back to node numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kgmi.bench.peer import Given
from kgmi.types import Rows

__all__ = ["backward", "category_frame", "node_edges", "node_names", "state_names"]


def category_frame(rows: Rows, given: Given) -> Any:
    """A pandas frame of category columns n0, n1, …, the form in which no library takes the codes for numbers.

    The categories are the declared states, whether they occur or not.
    """
    import pandas

    columns = {
        name: pandas.Categorical.from_codes(rows[:, node], categories=states)
        for node, (name, states) in enumerate(state_names(given).items())
    }
    return pandas.DataFrame(columns)


def state_names(given: Given) -> dict[str, list[str]]:
    """The declared states of each column, by its name."""
    return {_name(node): [str(code) for code in range(n)] for node, n in enumerate(given.n_states)}


def node_names(n_nodes: int) -> list[str]:
    """The names of the columns in their order."""
    return [_name(node) for node in range(n_nodes)]


def backward(n_nodes: int) -> list[tuple[str, str]]:
    """Every edge, by name, that points backwards in the order of the columns."""
    return [(_name(parent), _name(child)) for child in range(n_nodes) for parent in range(child + 1, n_nodes)]


def node_edges(edges: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """Edges between names as edges between node numbers."""
    return [(int(parent[1:]), int(child[1:])) for parent, child in edges]


def _name(node: int) -> str:
    return f"n{node}"
