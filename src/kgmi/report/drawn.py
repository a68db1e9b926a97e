"""Nodes and edges as they are drawn: where they stand, and what each of them is."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np

from kgmi.graph.layout import Layout
from kgmi.learning import Learned
from kgmi.types import Floats

__all__ = ["drawn_edges", "drawn_nodes", "drawn_size", "folded"]

_DEEP = 24  # layers from which a narrow drawing is folded
_SLIM = 4.0  # times as high as wide


def folded(layout: Layout) -> Layout:
    """A drawing that is deep and narrow, such as that of a long chain, in several columns beside each other."""
    if layout.height < max(_DEEP, _SLIM * (layout.width + 1)):
        return layout
    wide = layout.width + 1.5  # of a column, with what keeps it apart from the next
    n_columns = ceil(sqrt(0.8 * layout.height / wide))
    n_rows = ceil((layout.height + 1) / n_columns)
    size = np.array([n_columns * wide - 1.5, n_rows - 1.0])

    def fold(x: Floats, y: Floats) -> Floats:
        column, row = np.divmod(np.rint(y * layout.height), n_rows)
        offset = x * layout.width if layout.width else np.zeros(len(x))
        return np.column_stack([(column * wide + offset) / max(size[0], 1.0), row / max(size[1], 1.0)])

    points = fold(layout.x, layout.y)
    bends = tuple(fold(line[:, 0], line[:, 1]) for line in layout.bends)
    width, height = map(float, size)
    return replace(layout, x=points[:, 0], y=points[:, 1], bends=bends, width=width, height=height)


def drawn_nodes(learned: Learned, layout: Layout) -> list[dict[str, Any]]:
    """Every node with its parents, what it is (root, child, undecided), and where it stands in the drawings.

    ``place`` is its place in an order with parents before children; ``with`` are the other roots that it is drawn
    together with, where a search looked at that.
    """
    place = np.argsort(learned.dag.order).tolist()
    together = {node: block for block in learned.dag.root_blocks for node in block}
    nodes = []
    for node, parents in enumerate(learned.dag.parents):
        kind = "child" if parents else "undecided" if node in learned.undecided else "root"
        others = [other for other in together.get(node, ()) if other != node]
        nodes.append(
            {
                "parents": list(parents),
                "kind": kind,
                "with": others if kind == "root" and learned.fit is not None else [],
                "x": round(float(layout.x[node]), 4),
                "y": round(float(layout.y[node]), 4),
                "layer": int(layout.layer[node]),
                "place": place[node],
            }
        )
    return nodes


def drawn_edges(learned: Learned, layout: Layout) -> list[dict[str, Any]]:
    """Every edge with the head that names it, attention, margin, direction, strength, and the bends of its line.

    ``strength`` is what the result's trust says of it: certain, clear or weak.
    """
    strengths = learned.trust.edges
    edges = []
    rows = zip(learned.dag.edges, learned.edges, layout.bends, strict=True)
    for (parent, child), told, bends in rows:
        edges.append(
            {
                "parent": parent,
                "child": child,
                "head": told["head"],
                "attention": told["attention"],
                "margin": told["margin"],
                "direction": told.get("direction"),
                "strength": strengths.get((told["parent"], told["child"])),
                "bends": [[round(float(x), 4), round(float(y), 4)] for x, y in bends],
            }
        )
    return edges


def drawn_size(layout: Layout) -> dict[str, Any]:
    """Size of the layered drawing, in distances between neighbouring nodes and between layers."""
    return {"width": layout.width, "height": layout.height, "layers": layout.n_layers}
