"""Hill climbing and MMHC from pgmpy."""

from __future__ import annotations

from typing import Any

from kgmi.bench.equivalence import equivalence_class
from kgmi.bench.libraries.frames import backward, category_frame, node_edges, state_names
from kgmi.bench.peer import Edges, Given, Peer

__all__ = ["PGMPY"]


def _hill_climbing(frame: Any, given: Given, forbidden: list[tuple[str, str]]) -> Any:
    from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
    from pgmpy.structure_score import BIC

    search = HillClimbSearch(
        scoring_method=BIC(frame, state_names=state_names(given)),
        tabu_length=0,  # with the default of 100 it stops short of its own optimum
        max_indegree=given.n_parents,
        expert_knowledge=ExpertKnowledge(forbidden_edges=forbidden),
        return_type="dag",
        show_progress=False,
    )
    return search.fit(frame).causal_graph_


def _in_order(frame: Any, given: Given) -> Any:
    return _hill_climbing(frame, given, backward(frame.shape[1]))


def _in_any_order(frame: Any, given: Given) -> Any:
    return _hill_climbing(frame, given, [])


def _dag_edges(dag: Any) -> Edges:
    return Edges.of(node_edges(dag.edges()))


def _mmhc(frame: Any, given: Given) -> Any:
    from pgmpy.estimators import MmhcEstimator

    return MmhcEstimator(frame).estimate()


def _class_edges(dag: Any) -> Edges:
    return equivalence_class(node_edges(dag.edges()))


PGMPY = (
    Peer(
        key="pgmpy-hc",
        name="HC",
        library="pgmpy",
        ordered=True,
        setting="BIC, at most K parents, no tabu list",
        prepare=category_frame,
        fit=_in_order,
        read=_dag_edges,
        paper="HC",
    ),
    Peer(
        key="pgmpy-hc-free",
        name="HC, no order",
        library="pgmpy",
        ordered=False,
        setting="BIC, at most K parents, no tabu list",
        prepare=category_frame,
        fit=_in_any_order,
        read=_class_edges,
    ),
    Peer(
        key="pgmpy-mmhc",
        name="MMHC",
        library="pgmpy",
        ordered=False,
        setting="BDeu",
        prepare=category_frame,
        fit=_mmhc,
        read=_class_edges,
        paper="MMHC",
        limit=20.0,  # it was seen to run past 150 s on one data set; there is no point in waiting for it
    ),
)
