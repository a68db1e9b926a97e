"""What the paper's experiments share: its graph and kernel, its rate, the population scores, and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.decode import decode
from kgmi.divergence import Divergence
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.kernel import Kernel
from kgmi.process import Process
from kgmi.types import Attention, Bools, Floats, ScoreTable

__all__ = [
    "NAMES",
    "RATE",
    "Line",
    "child_columns",
    "edges_found",
    "fit_line",
    "heads_right",
    "paper_process",
    "population_scores",
    "rivals",
]

RATE = 10.0  # η of all experiments
NAMES = tuple(str(node) for node in range(1, 11))  # nodes are numbered from 1, as in the paper


def paper_process(n_nodes: int = 10, p: Sequence[float] | float = 0.0, copies: int = 1) -> Process:
    """Copies of the 5- or 10-node graph with the paper's kernel; all p = 0 by default (the paper gives none)."""
    return Process(Dag.paper(n_nodes).copies(copies), Kernel.paper(p))


def child_columns(dag: Dag, n_heads: int) -> Bools:
    """[head, child]: True for the columns of nodes that have parents."""
    return np.broadcast_to(np.array([bool(parents) for parents in dag.parents]), (n_heads, dag.n_nodes))


def population_scores(
    process: Process, divergence: str | Divergence = "kl", guide: str = "stationary"
) -> ScoreTable:
    """Score table of the exact pair laws: no sampling error at all."""
    heads = process.kernel.n_parents
    return scores(exact_joint(process), process.kernel, divergence, guide, n_heads=heads)


def heads_right(table: ScoreTable | Attention, dag: Dag) -> int:
    """Number of (head ℓ, child i) whose best candidate is p(i)^ℓ, the conclusion of theorem 3."""
    best = np.where(np.isnan(table), -np.inf, table).argmax(axis=-1)
    return sum(int(best[head, i] == parent) for i, ps in enumerate(dag.parents) for head, parent in enumerate(ps))


def rivals(table: ScoreTable, dag: Dag) -> list[tuple[int, int, float, float]]:
    """(head, child, score of p(i)^ℓ, best score of any other candidate) for every head of every child.

    A child needs two candidates at least, so that there is another one.
    """
    found = []
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents):
            column = table[head, child, :child]
            found.append((head, child, float(column[parent]), float(np.delete(column, parent).max())))
    return found


def edges_found(attention: Attention, dag: Dag) -> tuple[int, int]:
    """Edges of ``dag`` that the heads name, and edges they name besides; the roots are taken as known."""
    found = set(decode(attention, roots=dag.roots).edges)
    true = set(dag.edges)
    return len(found & true), len(found - true)


@dataclass(frozen=True)
class Line:
    """Least squares y ≈ slope · x + intercept, and the share R² of the variance of y that it explains."""

    slope: float
    intercept: float
    r_squared: float


def fit_line(x: Floats, y: Floats) -> Line:
    """The least-squares line through points."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - (slope * x + intercept)
    return Line(float(slope), float(intercept), float(1 - rest.var() / y.var()))
