"""Hill climbing and MMHC from pybnesian. Columns that are not categories crash its process."""

from __future__ import annotations

from typing import Any

from kgmi.bench.equivalence import equivalence_class
from kgmi.bench.libraries.frames import backward, category_frame, node_edges, node_names
from kgmi.bench.peer import Edges, Given, Peer

__all__ = ["PYBNESIAN"]


def _hill_climbing(frame: Any, given: Given, forbidden: list[tuple[str, str]]) -> Any:
    import pybnesian

    return pybnesian.hc(
        frame,
        bn_type=pybnesian.DiscreteBNType(),
        score="bic",
        operators=["arcs"],
        arc_blacklist=forbidden,
        max_indegree=given.n_parents,
    )


def _in_order(frame: Any, given: Given) -> Any:
    return _hill_climbing(frame, given, backward(frame.shape[1]))


def _bde_in_order(frame: Any, given: Given) -> Any:
    import pybnesian

    forbidden = backward(frame.shape[1])
    return pybnesian.GreedyHillClimbing().estimate(
        pybnesian.ArcOperatorSet(blacklist=forbidden, max_indegree=given.n_parents),
        pybnesian.BDe(frame, iss=1.0),
        pybnesian.DiscreteBN(node_names(frame.shape[1])),
        arc_blacklist=forbidden,
        max_indegree=given.n_parents,
    )


def _in_any_order(frame: Any, given: Given) -> Any:
    return _hill_climbing(frame, given, [])


def _max_min(frame: Any, given: Given, forbidden: list[tuple[str, str]]) -> Any:
    import pybnesian

    return pybnesian.MMHC().estimate(
        pybnesian.ChiSquare(frame),
        pybnesian.ArcOperatorSet(),
        pybnesian.BIC(frame),
        bn_type=pybnesian.DiscreteBNType(),
        arc_blacklist=forbidden,
        max_indegree=given.n_parents,
    )


def _mmhc(frame: Any, given: Given) -> Any:
    return _max_min(frame, given, [])


def _mmhc_in_order(frame: Any, given: Given) -> Any:
    return _max_min(frame, given, backward(frame.shape[1]))


def _dag_edges(model: Any) -> Edges:
    return Edges.of(node_edges(model.arcs()))


def _class_edges(model: Any) -> Edges:
    return equivalence_class(node_edges(model.arcs()))


PYBNESIAN = (
    Peer(
        key="pybnesian-hc-order",
        name="HC",
        library="pybnesian",
        ordered=True,
        setting="BIC, at most K parents",
        prepare=category_frame,
        fit=_in_order,
        read=_dag_edges,
    ),
    Peer(
        key="pybnesian-hc-bde-order",
        name="HC, BDe",
        library="pybnesian",
        ordered=True,
        setting="BDe with one imaginary row, at most K parents",
        prepare=category_frame,
        fit=_bde_in_order,
        read=_dag_edges,
    ),
    Peer(
        key="pybnesian-mmhc-order",
        name="MMHC",
        library="pybnesian",
        ordered=True,
        setting="χ² tests at level 0.05, BIC, at most K parents",
        prepare=category_frame,
        fit=_mmhc_in_order,
        read=_dag_edges,
    ),
    Peer(
        key="pybnesian-hc",
        name="HC",
        library="pybnesian",
        ordered=False,
        setting="BIC, at most K parents",
        prepare=category_frame,
        fit=_in_any_order,
        read=_class_edges,
    ),
    Peer(
        key="pybnesian-mmhc",
        name="MMHC",
        library="pybnesian",
        ordered=False,
        setting="χ² tests at level 0.05, BIC, at most K parents",
        prepare=category_frame,
        fit=_mmhc,
        read=_class_edges,
        paper="MMHC",
    ),
)
