"""The legend of a drawn graph: parents by their roles, how sure edges are, and kinds of nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from kgmi.graph import Dag
from kgmi.plots.nodes import node_handles
from kgmi.plots.strength import strength_handles
from kgmi.plots.style import head_colour, head_line, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["explain_graph"]


def explain_graph(ax: Axes, dag: Dag, open_nodes: Collection[int], strengths: Sequence[str] | None) -> None:
    """Put the legend above the axes."""
    from matplotlib.lines import Line2D

    handles: list[Any] = [
        Line2D([], [], color=head_colour(role), linestyle=head_line(role), label=f"parent {role + 1}")
        for role in range(dag.max_in_degree)
    ]
    handles += strength_handles(strengths)
    legend_above(ax, [*handles, *node_handles(dag, open_nodes)], 8)
