"""Greedy hill climbing and K2 from pyAgrum."""

from __future__ import annotations

from typing import Any

from kgmi.bench.equivalence import equivalence_class
from kgmi.bench.libraries.frames import category_frame
from kgmi.bench.peer import Edges, Peer
from kgmi.kernel import Kernel
from kgmi.types import Rows

__all__ = ["PYAGRUM"]


def _learner(rows: Rows) -> Any:
    """Its learner with the rows read in; that reading takes longer than the learning, and is not timed."""
    import pyagrum

    return pyagrum.BNLearner(category_frame(rows))


def _k2(learner: Any, kernel: Kernel) -> Any:
    learner.setMaxIndegree(kernel.n_parents)
    learner.useK2(list(range(len(learner.names()))))
    return learner.learnDAG()


def _greedy(learner: Any, kernel: Kernel) -> Any:
    learner.setMaxIndegree(kernel.n_parents)
    learner.useGreedyHillClimbing()
    return learner.learnDAG()


def _dag_edges(dag: Any) -> Edges:
    return Edges.of(dag.arcs())


def _class_edges(dag: Any) -> Edges:
    return equivalence_class(dag.arcs())


PYAGRUM = (
    Peer(
        key="pyagrum-k2",
        name="K2",
        library="pyAgrum",
        ordered=True,
        setting="its default score, at most K parents",
        prepare=_learner,
        fit=_k2,
        read=_dag_edges,
    ),
    Peer(
        key="pyagrum-greedy",
        name="greedy hill climbing",
        library="pyAgrum",
        ordered=False,
        setting="its default score, at most K parents",
        prepare=_learner,
        fit=_greedy,
        read=_class_edges,
    ),
)
