"""Rows as data frames with named category columns, and the names back to node numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kgmi.types import Rows

__all__ = ["backward", "category_frame", "node_edges"]


def category_frame(rows: Rows) -> Any:
    """A pandas frame of category columns n0, n1, …, the form in which no library takes the codes for numbers."""
    import pandas

    frame = pandas.DataFrame(rows.astype(str), columns=[_name(node) for node in range(rows.shape[1])])
    return frame.astype("category")


def backward(n_nodes: int) -> list[tuple[str, str]]:
    """Every edge, by name, that points backwards in the order of the columns."""
    return [(_name(parent), _name(child)) for child in range(n_nodes) for parent in range(child + 1, n_nodes)]


def node_edges(edges: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """Edges between names as edges between node numbers."""
    return [(int(parent[1:]), int(child[1:])) for parent, child in edges]


def _name(node: int) -> str:
    return f"n{node}"
