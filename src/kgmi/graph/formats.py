"""Graphs to and from edge lists, networkx, JSON dictionaries and DOT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from kgmi.errors import GraphError
from kgmi.graph.dag import Dag
from kgmi.types import Names

if TYPE_CHECKING:
    import networkx

__all__ = ["from_dict", "from_dot", "from_edges", "from_networkx", "to_dict", "to_dot", "to_networkx"]

_MOST_NODES = 10_000_000  # checked before anything is allocated for a graph from a file


def from_edges(edges: Iterable[Sequence[int]], n_nodes: int) -> Dag:
    """Graph from (parent, child) pairs; the parents of a node take their roles in increasing order."""
    try:
        size = index(n_nodes)
    except TypeError:
        size = 0
    if not 1 <= size <= _MOST_NODES:
        raise GraphError(f"n_nodes must be a whole number from 1 to {_MOST_NODES:,}, got {n_nodes!r}")
    parents: list[list[int]] = [[] for _ in range(size)]
    for edge in edges:
        try:
            parent, child = map(index, edge)
        except (TypeError, ValueError):
            raise GraphError(f"an edge is a pair (parent, child) of node numbers, got {edge!r}") from None
        if not (0 <= child < size and 0 <= parent < size):
            raise GraphError(f"edge {parent} → {child} leaves the nodes 0..{size - 1}")
        parents[child].append(parent)
    return Dag(map(sorted, parents))


def to_networkx(dag: Dag, names: Names | None = None) -> networkx.DiGraph[Any]:
    """Graph as networkx ``DiGraph``, nodes named by number or by ``names``."""
    import networkx

    labels = list(range(dag.n_nodes)) if names is None else _checked_names(dag, names)
    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    graph.add_nodes_from(labels)
    for child, ps in enumerate(dag.parents):
        for head, parent in enumerate(ps):
            graph.add_edge(labels[parent], labels[child], head=head)
    return graph


def from_networkx(graph: networkx.DiGraph[Any], order: Sequence[Any] | None = None) -> Dag:
    """Graph from networkx; ``head`` attributes set the roles.

    Without ``order``, nodes 0..T-1 keep their numbers, and others the order that they have in the graph.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise GraphError(f"the graph must be a networkx.DiGraph, got {type(graph).__name__}")
    numbers = range(graph.number_of_nodes())
    if order is None:
        order = numbers if set(numbers) == set(graph.nodes) else list(graph.nodes)
    nodes = list(order)
    if set(nodes) != set(graph.nodes) or len(nodes) != len(numbers):
        raise GraphError("the order must list every node of the graph once; leave it out to keep that of the graph")
    number = {node: position for position, node in enumerate(nodes)}
    parents = []
    for node in nodes:
        found = [(data.get("head", number[p]), number[p]) for p, _, data in graph.in_edges(node, data=True)]
        parents.append([p for _, p in sorted(found)])
    return Dag(parents)


def to_dict(dag: Dag) -> dict[str, Any]:
    """Plain dictionary, ready for JSON."""
    return {"parents": [list(ps) for ps in dag.parents], "root_blocks": [list(b) for b in dag.root_blocks]}


def from_dict(content: Mapping[str, Any]) -> Dag:
    """Graph from a dictionary with ``parents`` (and ``root_blocks``), or with ``edges`` and ``n_nodes``."""
    if not isinstance(content, Mapping):
        raise GraphError("a graph in JSON is an object with 'parents', or with 'edges' and 'n_nodes'")
    if "parents" in content:
        return Dag(content["parents"], content.get("root_blocks"))
    if "edges" in content and "n_nodes" in content:
        return from_edges(content["edges"], content["n_nodes"])
    raise GraphError("a graph in JSON needs 'parents', or 'edges' and 'n_nodes'")


def to_dot(dag: Dag, names: Names | None = None) -> str:
    """DOT text: one line per node, one per edge; the parent's role, from 1, is the edge attribute ``head``."""
    labels = [str(i) for i in range(dag.n_nodes)] if names is None else _checked_names(dag, names)
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name in labels]
    lines = [f'  {node} [label="{label}"];' for node, label in enumerate(quoted)]
    for child, ps in enumerate(dag.parents):
        lines += [f"  {parent} -> {child} [head={head}];" for head, parent in enumerate(ps, start=1)]
    return "\n".join(["digraph kgmi {", *lines, "}", ""])


_DOT_NODE = re.compile(r"^(\d+)\s*(\[.*\])?\s*;?$")
_DOT_EDGE = re.compile(r"^(\d+)\s*->\s*(\d+)\s*(?:\[\s*head\s*=\s*(\d+)\s*\])?\s*;?$")


def from_dot(text: str) -> Dag:
    """Graph from DOT with numbered nodes, one statement a line (what :func:`to_dot` writes)."""
    # Split at line feeds only: a label may hold any other character that str.splitlines takes for a line end.
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) < 2 or not re.fullmatch(r"digraph\b.*\{", lines[0][1]) or lines[-1][1] != "}":
        raise GraphError("not a DOT digraph: its first line must be 'digraph … {' and its last '}'")
    nodes: set[int] = set()
    edges: list[tuple[int, int, int]] = []
    for number, line in lines[1:-1]:
        if edge := _DOT_EDGE.match(line):
            parent, child = int(edge[1]), int(edge[2])
            nodes |= {parent, child}
            edges.append((child, int(edge[3]) if edge[3] else parent, parent))
        elif node := _DOT_NODE.match(line):
            nodes.add(int(node[1]))
        else:
            raise GraphError(f"line {number} of the DOT text is not a numbered node or edge: {line!r}")
    if nodes != set(range(len(nodes))):
        raise GraphError(f"DOT nodes must be numbered 0..{len(nodes) - 1}")
    parents: list[list[int]] = [[] for _ in nodes]
    for child, _, parent in sorted(edges):
        parents[child].append(parent)
    return Dag(parents)


def _checked_names(dag: Dag, names: Names) -> list[str]:
    if len(names) != dag.n_nodes:
        raise GraphError(f"{dag.n_nodes} nodes need {dag.n_nodes} names, got {len(names)}")
    if len(set(names)) != dag.n_nodes:
        raise GraphError(f"two nodes are named {next(n for k, n in enumerate(names) if n in names[:k])!r}")
    return list(names)
