"""PC, exact search, GES, BOSS and GRaSP from causal-learn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from kgmi.bench.peer import Edges, Given, Peer
from kgmi.types import Floats, Ints, Rows

__all__ = ["CAUSAL_LEARN"]


def _codes(rows: Rows, given: Given) -> Ints:
    return rows.astype(np.int64)


def _numbers(rows: Rows, given: Given) -> Floats:
    return rows.astype(np.float64)


def _pc(rows: Ints, given: Given) -> Any:
    from causallearn.search.ConstraintBased.PC import pc

    return pc(rows, indep_test="chisq", show_progress=False).G


def _pc_in_order(rows: Ints, given: Given) -> Any:
    """PC that is told the order as background knowledge: every node is a tier of its own."""
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

    known = BackgroundKnowledge()
    for node in range(rows.shape[1]):
        known.add_node_to_tier(GraphNode(f"X{node + 1}"), node)  # the names that it gives to columns
    return pc(rows, indep_test="chisq", background_knowledge=known, show_progress=False).G


def _ges(rows: Ints, given: Given) -> Any:
    from causallearn.search.ScoreBased.GES import ges

    return ges(rows, score_func="local_score_BDeu", maxP=given.n_parents)["G"]


def _boss(rows: Ints, given: Given) -> Any:
    from causallearn.search.PermutationBased.BOSS import boss

    random.seed(0)  # it shuffles with the global generator of this process, which is its alone
    return boss(rows, score_func="local_score_BDeu", verbose=False)


def _grasp(rows: Ints, given: Given) -> Any:
    from causallearn.search.PermutationBased.GRaSP import grasp

    random.seed(0)  # as BOSS does
    return grasp(rows, score_func="local_score_BDeu", verbose=False)


def _class_edges(graph: Any) -> Edges:
    """Edges of a graph whose ``graph[i, j]`` is the mark at i's end of i – j: −1 a tail, 1 an arrow head.

    Heads at both ends (tests that contradict each other) count as no direction.
    """
    marks = np.asarray(graph.graph)
    same = np.triu((marks != 0) & (marks == marks.T), 1)
    return Edges.of(np.argwhere((marks == -1) & (marks.T == 1)), np.argwhere(same))


def _exact(rows: Floats, given: Given) -> Any:
    """A* search; it scores with a Gaussian BIC, codes taken as numbers, because it has no other score."""
    from causallearn.search.ScoreBased.ExactSearch import bic_exact_search

    allowed = np.triu(np.ones((rows.shape[1],) * 2), 1)
    return bic_exact_search(rows, super_graph=allowed, max_parents=given.n_parents)[0]


def _matrix_edges(matrix: Any) -> Edges:
    return Edges.of(np.argwhere(matrix))


CAUSAL_LEARN = (
    Peer(
        key="causal-learn-pc",
        name="PC",
        library="causal-learn",
        ordered=False,
        setting="χ² tests at level 0.05",
        prepare=_codes,
        fit=_pc,
        read=_class_edges,
        paper="PC",
    ),
    Peer(
        key="causal-learn-pc-order",
        name="PC, order told",
        library="causal-learn",
        ordered=True,
        setting="χ² tests at level 0.05; it knows no limit on parents",
        prepare=_codes,
        fit=_pc_in_order,
        read=_class_edges,
    ),
    Peer(
        key="causal-learn-exact",
        name="A*, Gaussian score",
        library="causal-learn",
        ordered=True,
        setting="at most K parents; Gaussian BIC, the only score it has",
        prepare=_numbers,
        fit=_exact,
        read=_matrix_edges,
        paper="A*",
    ),
    Peer(
        key="causal-learn-ges",
        name="GES",
        library="causal-learn",
        ordered=False,
        setting="BDeu, at most K parents",
        prepare=_codes,
        fit=_ges,
        read=_class_edges,
    ),
    Peer(
        key="causal-learn-boss",
        name="BOSS",
        library="causal-learn",
        ordered=False,
        setting="BDeu",
        prepare=_codes,
        fit=_boss,
        read=_class_edges,
    ),
    Peer(
        key="causal-learn-grasp",
        name="GRaSP",
        library="causal-learn",
        ordered=False,
        setting="BDeu",
        prepare=_codes,
        fit=_grasp,
        read=_class_edges,
    ),
)
