"""Greedy hill climbing, K2 and MIIC from pyAgrum. Its default score is BDeu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kgmi.bench.equivalence import equivalence_class
from kgmi.bench.libraries.frames import category_frame, node_names, state_names
from kgmi.bench.peer import Edges, Given, Peer
from kgmi.types import Rows

__all__ = ["PYAGRUM"]

_DEFAULT = "its default score, at most K parents"


def _learner(rows: Rows, given: Given) -> Any:
    """Its learner with the rows read in; that reading takes longer than the learning, and is not timed.

    A network without arcs declares the states; without it, it would know only those that occur, and give parents
    to a column that has a single one.
    """
    import pyagrum

    declared = pyagrum.BayesNet()
    for name, states in state_names(given).items():
        declared.add(pyagrum.LabelizedVariable(name, "", states))
    return pyagrum.BNLearner(category_frame(rows, given), declared)


def _k2(learner: Any, given: Given) -> Any:
    learner.setMaxIndegree(given.n_parents)
    learner.useK2(list(range(len(given.n_states))))
    return learner.learnDAG()


def _k2_alone(learner: Any, given: Given) -> Any:
    learner.setNumberOfThreads(1)  # on few nodes its threads cost more than they bring
    return _k2(learner, given)


def _k2_bic(learner: Any, given: Given) -> Any:
    learner.useScoreBIC()
    return _k2(learner, given)


def _k2_original(learner: Any, given: Given) -> Any:
    learner.useScoreK2()
    return _k2(learner, given)


def _greedy(learner: Any, given: Given) -> Any:
    learner.setMaxIndegree(given.n_parents)
    learner.useGreedyHillClimbing()
    return learner.learnDAG()


def _greedy_in_order(learner: Any, given: Given) -> Any:
    learner.setTotalOrder(node_names(len(given.n_states)))
    return _greedy(learner, given)


def _greedy_k2_in_order(learner: Any, given: Given) -> Any:
    learner.useScoreK2()
    return _greedy_in_order(learner, given)


def _tabu_in_order(learner: Any, given: Given) -> Any:
    learner.setTotalOrder(node_names(len(given.n_states)))
    learner.setMaxIndegree(given.n_parents)
    learner.useLocalSearchWithTabuList()
    return learner.learnDAG()


def _miic_in_order(learner: Any, given: Given) -> Any:
    learner.setTotalOrder(node_names(len(given.n_states)))
    learner.useMIIC()
    return learner.learnDAG()


def _miic(learner: Any, given: Given) -> Any:
    """Its graph with the directions that it is sure of, which are its own: it tests for colliders."""
    learner.useMIIC()
    return learner.learnPDAG()


def _mixed_edges(graph: Any) -> Edges:
    return Edges.of(graph.arcs(), graph.edges())


def _dag_edges(dag: Any) -> Edges:
    return Edges.of(dag.arcs())


def _class_edges(dag: Any) -> Edges:
    return equivalence_class(dag.arcs())


def _ordered(key: str, name: str, setting: str, fit: Callable[[Any, Given], Any]) -> Peer:
    return Peer(
        key=key,
        name=name,
        library="pyAgrum",
        ordered=True,
        setting=setting,
        prepare=_learner,
        fit=fit,
        read=_dag_edges,
    )


PYAGRUM = (
    _ordered("pyagrum-k2", "K2", _DEFAULT, _k2),
    _ordered("pyagrum-k2-one-thread", "K2, one thread", _DEFAULT, _k2_alone),
    _ordered("pyagrum-k2-bic", "K2, BIC", "BIC, at most K parents", _k2_bic),
    _ordered("pyagrum-k2-original", "K2, K2 score", "its own score, at most K parents", _k2_original),
    _ordered("pyagrum-greedy-order", "greedy", _DEFAULT, _greedy_in_order),
    _ordered("pyagrum-greedy-k2-order", "greedy, K2 score", "score of K2, at most K parents", _greedy_k2_in_order),
    _ordered("pyagrum-tabu-order", "tabu search", _DEFAULT, _tabu_in_order),
    _ordered("pyagrum-miic-order", "MIIC", "its default correction; it knows no limit on parents", _miic_in_order),
    Peer(
        key="pyagrum-greedy",
        name="greedy hill climbing",
        library="pyAgrum",
        ordered=False,
        setting=_DEFAULT,
        prepare=_learner,
        fit=_greedy,
        read=_class_edges,
    ),
    Peer(
        key="pyagrum-miic",
        name="MIIC, no order",
        library="pyAgrum",
        ordered=False,
        setting="its default correction; it knows no limit on parents",
        prepare=_learner,
        fit=_miic,
        read=_mixed_edges,
    ),
)
