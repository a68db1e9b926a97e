"""Outcomes on networks as lines of a table for people, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from kgmi.bench.compare import Outcome
from kgmi.bench.networks.compare import most_parents
from kgmi.bench.order import Order
from kgmi.bench.plan import Plan
from kgmi.bench.report import WITHOUT_ORDER, count, library_of, outcome_values, plan_values
from kgmi.interchange.network import Network

__all__ = ["columns", "describe", "outcome_lines", "plain_values"]

_SHOWN_NAMES = 6


def columns(order: Order = "given") -> list[str]:
    """What :func:`outcome_lines` holds."""
    skeleton = ["F1 of skeleton"] if order == "learn" else []
    return ["rows", "method", "library", "F1", "min..max", *skeleton, "SHD", "min..max", "seconds"]


def describe(network: Network, n_parents: int | None = None, order: Order = "given") -> str:
    """A network in a few sentences: its size, and the order in which everybody gets its nodes."""
    few, many = min(network.n_states), max(network.n_states)
    states = f"{few} states" if few == many else f"{few} to {many} states"
    shown = ", ".join(network.names[:_SHOWN_NAMES]) + (", …" if network.n_nodes > _SHOWN_NAMES else "")
    roots, most = len(network.dag.roots), most_parents(network, n_parents)
    told = f"The order is told: topological, nearest to that of the file ({shown})."
    return (
        f"{network.name}: {count(network.n_nodes, 'node')} with {states}, {count(network.dag.n_edges, 'edge')}, "
        f"{count(roots, 'root')}; at most {count(most, 'parent')} per node. "
        f"{told if order == 'given' else WITHOUT_ORDER}"
    )


def outcome_lines(outcomes: Sequence[Outcome], order: Order = "given") -> list[list[str]]:
    """One line per size and method, as in ``columns``: means over the seeds, the range, and the median time."""
    return [
        [f"{outcome.n_rows:,}", outcome.method.key, library_of(outcome), *_numbers(outcome, order)]
        for outcome in outcomes
    ]


def plain_values(
    networks: Sequence[Network], plan: Plan, outcomes: Sequence[Outcome], n_parents: int | None = None
) -> dict[str, Any]:
    """Everything for JSON: what was measured, on what, and every single result."""
    return {
        **plan_values(plan),
        "networks": [_network(network, n_parents) for network in networks],
        "outcomes": [{"network": outcome.source, **outcome_values(outcome)} for outcome in outcomes],
    }


def _numbers(outcome: Outcome, order: Order) -> list[str]:
    if not outcome.scores:
        return ["–"] * (len(columns(order)) - 3)
    f1 = [score.f1 for score in outcome.scores]
    shd = [score.shd for score in outcome.scores]
    return [
        f"{fmean(f1):.3f}",
        f"{min(f1):.3f}..{max(f1):.3f}",
        *([f"{fmean(score.f1_skeleton for score in outcome.scores):.3f}"] if order == "learn" else []),
        f"{fmean(shd):.1f}",
        f"{min(shd):g}..{max(shd):g}",
        f"{median(outcome.seconds):.3g}",
    ]


def _network(network: Network, n_parents: int | None) -> dict[str, Any]:
    return {
        "name": network.name,
        "n_nodes": network.n_nodes,
        "n_edges": network.dag.n_edges,
        "n_roots": len(network.dag.roots),
        "max_in_degree": network.dag.max_in_degree,
        "most_parents": most_parents(network, n_parents),
        "order": list(network.names),
        "n_states": list(network.n_states),
        "edges": [[network.names[parent], network.names[child]] for parent, child in network.dag.edges],
    }
