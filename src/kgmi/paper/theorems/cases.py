"""What the theorems are measured on: processes with their exact scores, and the points that come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import RATE, population_scores
from kgmi.process import Process
from kgmi.theory import column_epochs, information_gap, tau_star
from kgmi.types import ScoreTable

__all__ = ["Case", "Points", "case_of", "cyclic_kernel", "point", "training_cases"]

Points: TypeAlias = list[Numbers]
"""Measured values beside their bounds; see :func:`point`."""

_ROUNDING = 1e-12
_LEAST_GAP = 0.002  # of random cases; Δ of the paper's own graph. A smaller one would only mean more epochs


def point(case: str, group: str, measured: float, bound: float) -> Numbers:
    """One measurement. It is within the bound when it is at most the bound, rounding apart."""
    within = bool(measured <= bound * (1 + 1e-9) + _ROUNDING)
    values = {"measured": float(f"{measured:.6g}"), "bound": float(f"{bound:.6g}")}
    return {"case": case, "group": group, **values, "within": within}


@dataclass(frozen=True, eq=False)
class Case:
    """A process whose heads are trained.

    Attributes
    ----------
    name
        As in the tables.
    process
        Graph and kernel.
    table
        Exact KL scores.
    gap
        Δ.
    top
        I_max, the largest score.
    """

    name: str
    process: Process
    table: ScoreTable
    gap: float
    top: float

    @property
    def n_heads(self) -> int:
        """K."""
        return int(self.table.shape[0])

    @property
    def n_nodes(self) -> int:
        """T."""
        return int(self.table.shape[1])

    def tau(self, eps_attn: float) -> float:
        """τ* of theorem 1 at the paper's rate."""
        sizes = {"n_heads": self.n_heads, "n_nodes": self.n_nodes}
        return tau_star(gap=self.gap, max_information=self.top, eps_attn=eps_attn, rate=RATE, **sizes)

    def epochs(self, child: int, eps_attn: float, gap: float | None = None) -> float:
        """Epochs of theorem 2 for a column of ``child`` at the paper's rate; with the gap Δ by default."""
        sizes = {"n_heads": self.n_heads, "n_nodes": self.n_nodes}
        return column_epochs(child, gap=self.gap if gap is None else gap, eps_attn=eps_attn, rate=RATE, **sizes)


def case_of(name: str, dag: Dag, kernel: Kernel) -> Case:
    """A case with its scores."""
    process = Process(dag, kernel)
    table = population_scores(process)
    return Case(name, process, table, information_gap(table, dag), float(np.nanmax(table)))


def cyclic_kernel(n_states: int, n_parents: int = 1, slip: float = 0.03) -> Kernel:
    """Nearly deterministic: the state after that of the last parent; other parents act a little, all states slip.

    Information is then above 1 nat, which the paper's own kernel (0.02 nats) is far from.
    """
    step = np.roll(np.eye(n_states), 1, axis=1) * (1 - slip) + slip / n_states
    weights = [0.15 / max(n_parents - 1, 1)] * (n_parents - 1) + [0.85 if n_parents > 1 else 1.0]
    return Kernel.chain(step, weights)


def training_cases(rng: np.random.Generator, quick: bool) -> list[Case]:
    """Chains, trees, the paper's graphs and random ones; weak and strong dependence."""
    weak, paper = Kernel([[0.55, 0.45], [0.45, 0.55]]), Kernel.paper()
    cases = [
        case_of("weak chain, 3 nodes", Dag.chain(3), weak),
        case_of("cyclic chain, 4 states, 5 nodes", Dag.chain(5), cyclic_kernel(4)),
        case_of("paper's graph, 5 nodes", Dag.paper(5), paper),
    ]
    if quick:
        return cases
    return [
        *cases,
        case_of("cyclic chain, 8 states, 6 nodes", Dag.chain(6), cyclic_kernel(8)),
        case_of("cyclic tree, 6 states, 8 nodes", Dag.random(8, 1, rng=rng), cyclic_kernel(6)),
        case_of("cyclic order-2 chain, 8 states", Dag.chain(6, 2), cyclic_kernel(8, 2)),
        *(_drawn(f"random tree {k + 1}", lambda: Dag.random(8, 1, rng=rng), 1, rng) for k in range(2)),
        *(_drawn(f"random order-2 chain {k + 1}", lambda: Dag.chain(7, 2), 2, rng) for k in range(2)),
        case_of("order-2 chain, paper's kernel", Dag.chain(8, 2), paper),
        case_of("paper's graph, 10 nodes", Dag.paper(10), paper),
        case_of("paper's graph, 2 × 5 nodes", Dag.paper(5).copies(2), paper),
        case_of("paper's graph, 2 × 10 nodes", Dag.paper(10).copies(2), paper),
        *(_drawn(f"random graph {k + 1}", lambda: Dag.random(8, 2, rng=rng), 2, rng) for k in range(2)),
    ]


def _drawn(name: str, dag: Callable[[], Dag], n_parents: int, rng: np.random.Generator) -> Case:
    """A random case, drawn again until its gap is not too small."""
    while True:
        case = case_of(name, dag(), Kernel.random(3, n_parents, rng=rng))
        if case.gap >= _LEAST_GAP:
            return case
