"""How near an answer is to the truth when edges may point backwards or have no direction."""

from __future__ import annotations

from dataclasses import dataclass

from kgmi.bench.peer import Edges
from kgmi.graph import Dag
from kgmi.metrics import compare

__all__ = ["Score", "score_edges"]


@dataclass(frozen=True)
class Score:
    """An answer against the truth, by the rules of :func:`kgmi.metrics.compare`.

    Attributes
    ----------
    f1
        Of the directed edges. An edge without a direction counts as one that points forward in the order of the
        columns, which is the favourable reading: the order would settle it.
    f1_strict
        The same, but an edge without a direction counts as a wrong one.
    shd
        Edges to add, remove or turn round, for the favourable reading; an edge that points the wrong way counts
        once.
    """

    f1: float
    f1_strict: float
    shd: int


def score_edges(edges: Edges, true: Dag) -> Score:
    """Score an answer; links between jointly drawn roots count neither for nor against it."""
    settled = {(min(pair), max(pair)) for pair in edges.undirected}
    forward = {edge for edge in edges.directed if edge[0] < edge[1]} | settled
    turned = {(child, parent) for parent, child in edges.directed if child < parent}
    ahead, behind = (compare(Dag.from_edges(sorted(part), true.n_nodes), true) for part in (forward, turned))
    truth = set(true.edges)
    hits = len(truth & forward)
    total = ahead.n_learned + behind.n_learned + len(truth)
    return Score(
        f1=2 * hits / total if total else 1.0,
        f1_strict=2 * (hits - len(truth & settled)) / total if total else 1.0,
        # An edge that points the wrong way is missing from the forward part already.
        shd=ahead.shd + len(behind.extra),
    )
