"""Theorem 3 as a comparison: the score of the parent against that of the best other candidate."""

from __future__ import annotations

from kgmi.graph import Dag
from kgmi.paper.assumptions.families import CONTROL, FAMILIES
from kgmi.paper.experiment import Run
from kgmi.paper.setting import paper_process, population_scores, rivals
from kgmi.paper.theorems.cases import Points, point
from kgmi.types import ScoreTable

__all__ = ["head_points"]

_KEY = 83
_WANTED = (CONTROL, "p", "graphs")


def head_points(run: Run, n_graphs: int) -> Points:
    """Chains, where the condition of theorem 3 holds, and graphs where it need not, the paper's among them."""
    points = _columns("paper's graph, p = 0", "general", population_scores(paper_process()), Dag.paper())
    for number, family in enumerate(FAMILIES):
        if family.name in _WANTED:
            rng = run.rng(_KEY, number)
            group = "chains" if family.name == CONTROL else "general"
            for _ in range(n_graphs):
                process = family.draw(rng)
                points += _columns(family.label, group, population_scores(process), process.dag)
    return points


def _columns(name: str, group: str, table: ScoreTable, dag: Dag) -> Points:
    """Every head of every child (of two parents, so there is another candidate): none should beat the parent."""
    return [
        point(f"{name}, node {child + 1}, head {head + 1}", group, other, parent)
        for head, child, parent, other in rivals(table, dag)
    ]
