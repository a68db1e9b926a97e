"""A learned graph for networkx, GraphML, DAGitty, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kgmi.interchange.laws import alphabets_of
from kgmi.interchange.names import csv_names, dagitty_names, xml_names
from kgmi.learning import Learned
from kgmi.values import plain_values

if TYPE_CHECKING:
    import networkx

__all__ = ["blocks_of", "csv_text", "dagitty_text", "edges_text", "graphml_text", "json_text", "to_networkx"]

_BAREWORD = re.compile(r"[A-Za-z0-9_.]+")


def blocks_of(learned: Learned) -> tuple[tuple[int, ...], ...]:
    """Roots that were found to be drawn together; a guide of pairs does not look for them."""
    return () if learned.fit is None else tuple(block for block in learned.dag.root_blocks if len(block) > 1)


def to_networkx(learned: Learned) -> networkx.DiGraph[Any]:
    """The learned graph as a networkx ``DiGraph``, nodes by name in their order.

    Nodes have ``position`` (from 0), ``n_states``, ``root``, ``undecided`` and, where roots are drawn together, the
    number of their ``block``. Edges have ``role`` (which argument of the kernel the parent is, from 1), and
    ``head``, ``attention`` and ``margin`` as in ``learned.edges``; ``direction`` where the order was learned; and
    ``strength`` (certain, clear or weak) as in ``learned.trust``.
    """
    return _networkx(learned, learned.names)


def _networkx(learned: Learned, names: tuple[str, ...]) -> networkx.DiGraph[Any]:
    import networkx

    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    roots = {node for node in learned.dag.roots if node not in learned.undecided}
    blocks = {node: number for number, block in enumerate(blocks_of(learned), start=1) for node in block}
    for node, alphabet in enumerate(alphabets_of(learned)):
        graph.add_node(
            names[node],
            position=node,
            n_states=len(alphabet),
            root=node in roots,
            undecided=node in learned.undecided,
            **({"block": blocks[node]} if node in blocks else {}),
        )
    for (parent, child), edge in zip(learned.dag.edges, learned.edges, strict=True):
        told = {key: value for key, value in edge.items() if key not in ("parent", "child") and value is not None}
        told["strength"] = learned.trust.edges[edge["parent"], edge["child"]]
        role = learned.dag.parents[child].index(parent) + 1
        graph.add_edge(names[parent], names[child], role=role, **told)
    return graph


def graphml_text(learned: Learned) -> str:
    """GraphML: what :func:`to_networkx` has, but for infinite margins, which other readers of numbers refuse."""
    import networkx

    names = xml_names(learned.names)
    graph = _networkx(learned, names)
    for name in names:
        graph.nodes[name]["name"] = name
    for _, _, values in graph.edges(data=True):
        for key in [key for key, value in values.items() if value == math.inf]:
            del values[key]
    stream = io.BytesIO()
    networkx.write_graphml_xml(graph, stream)
    head, text = stream.getvalue().decode("utf-8").split("\n", 1)
    return f"{head}\n<!-- kgmi -->\n{text}\n"


def dagitty_text(learned: Learned) -> str:
    """DAGitty: nodes and edges; ↔ joins roots that are drawn together, which says that they are dependent."""
    names = [name if _BAREWORD.fullmatch(name) else f'"{name}"' for name in dagitty_names(learned.names)]
    edges = [f"{names[parent]} -> {names[child]}" for parent, child in learned.dag.edges]
    pairs = [pair for block in blocks_of(learned) for pair in combinations(block, 2)]
    edges += [f"{names[one]} <-> {names[other]}" for one, other in pairs]
    return "\n".join(["dag kgmi {", *names, *edges, "}", ""])


def csv_text(learned: Learned) -> str:
    """One line for each edge: head, attention, margin, ``direction`` where the order was learned, and strength.

    A name that a spreadsheet would calculate has an apostrophe before it: see :func:`csv_names`.
    """
    strengths = learned.trust.edges
    direction = ["direction"] if learned.directions is not None else []
    edges = [edge | {"strength": strengths[edge["parent"], edge["child"]]} for edge in learned.edges]
    return edges_text(edges, ["parent", "child", "head", "attention", "margin", *direction, "strength"])


def edges_text(edges: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Edges as CSV with these columns; the texts ``parent`` and ``child`` are written as :func:`csv_names`."""
    text = io.StringIO()
    # Before Python 3.13 a carriage return is quoted only where it ends lines, and a reader ends its line there.
    odd = any("\r" in edge["parent"] + edge["child"] for edge in edges)
    writer = csv.DictWriter(text, columns, lineterminator="\n", quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL)
    writer.writeheader()
    numbers = {"attention", "margin", "direction"} & {*columns}
    for edge in edges:
        shown = {key: "" if edge[key] is None else f"{edge[key]:.6f}" for key in numbers}
        parent, child = csv_names((edge["parent"], edge["child"]))
        writer.writerow(edge | shown | {"parent": parent, "child": child})
    return text.getvalue()


def json_text(learned: Learned) -> str:
    """JSON: the graph as ``Dag.from_dict`` reads it, with names, states, edges and kernels; infinities are null."""
    content = {
        "format": "kgmi-graph",
        "names": list(learned.names),
        **learned.dag.to_dict(),
        "states": [list(alphabet) for alphabet in alphabets_of(learned)],
        "undecided": list(learned.undecided),
        "edges": learned.edges,
        "kernels": [
            {
                "children": list(one.children),
                "table": one.table,
                "standard_errors": one.standard_errors,
                "cases": one.cases,
                "symmetric": one.symmetric,
                "implied": one.implied,
                "known": one.known,
                "error": one.error,
                "class_name": one.class_name,
            }
            for one in learned.kernels
        ],
        "trust": learned.trust.to_dict(),
        "status": learned.status,
    }
    return json.dumps(plain_values(content), ensure_ascii=False, allow_nan=False) + "\n"
