"""Sentences on who shares kernels: all nodes, classes of them, or nobody; and by how much that is better."""

from __future__ import annotations

from collections.abc import Sequence

from kgmi.graph.naming import quoted
from kgmi.learning.kernels import KernelEstimate
from kgmi.learning.status import listed
from kgmi.search import Solution

__all__ = ["tell_classes", "tell_sharing"]

_MOST_CLASSES = 8  # whose nodes are named


def tell_classes(names: Sequence[str], estimates: Sequence[KernelEstimate], *, given: bool) -> list[str]:
    """Which nodes have a kernel in common."""
    by_class: dict[str, list[int]] = {}
    for one in estimates:
        if one.class_name is not None:
            by_class.setdefault(one.class_name, []).extend(one.children)
    if not by_class:
        return []
    alone = sorted(nodes[0] for nodes in by_class.values() if len(nodes) == 1 and not given)
    several = {name: sorted(nodes) for name, nodes in by_class.items() if given or len(nodes) > 1}
    ranked = sorted(several.items(), key=lambda item: (-len(item[1]), item[1]))
    shown = "; ".join(f"{quoted(name)}: {listed(names, nodes)}" for name, nodes in ranked[:_MOST_CLASSES])
    more = f"; and {len(ranked) - _MOST_CLASSES} more" if len(ranked) > _MOST_CLASSES else ""
    count = "1 kernel class" if len(ranked) == 1 else f"{len(ranked)} kernel classes"
    count += " as given" if given else ""
    own = f"; with a kernel to itself: {listed(names, alone)}" if alone else ""
    return [f"{count} ({shown}{more}){own}."]


def tell_sharing(found: Solution) -> list[str]:
    """Whether one kernel for all nodes of an in-degree holds, or one for each class, and by how much."""
    shared, node = found.scores.get("shared"), found.scores.get("node")
    if shared is None or node is None or sum(map(bool, found.parents)) < 2:
        return []
    exact = found.problem.is_exact
    unit = "nats a row" if exact else "nats"
    if found.share == "classes":
        one, each = (found.score.total - score for score in (shared, node))
        if exact:
            return [
                "Classes explain the law as well as a kernel for each node, and better than one for all nodes of "
                f"an in-degree, by {one:,.3g} {unit}."
            ]
        return [
            f"Classes describe the data better than one kernel for all nodes of an in-degree, by {one:,.1f} "
            f"{unit}, and than one for each node, by {each:,.1f} {unit}."
        ]
    apart = abs(shared - node)
    if exact and found.share == "shared":
        return ["Shared kernels explain the law as well as one for each node."]
    if found.share == "shared":
        return [f"Sharing kernels describes the data better than one for each node, by {apart:,.1f} {unit}."]
    return [
        f"Sharing does not hold: a kernel for each node describes the data better than one for all nodes of an "
        f"in-degree, by {apart:,.1f} {unit} of penalised log-likelihood, so every node has its own."
    ]
