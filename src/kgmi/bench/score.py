"""How near an answer is to the truth when edges may point backwards or have no direction."""

from __future__ import annotations

from dataclasses import dataclass

from kgmi.bench.peer import Edges
from kgmi.graph import Dag
from kgmi.metrics import compare

__all__ = ["Score", "score_edges", "score_without_order"]


@dataclass(frozen=True)
class Score:
    """An answer against the truth, by the rules of :func:`kgmi.metrics.compare`.

    Attributes
    ----------
    f1
        Of the directed edges. Where the order is told, an edge without a direction counts as one that points
        forward in the order told, which is the favourable reading: the order would settle it. Where
        nobody knows the order it counts half: what a coin would get on average.
    f1_strict
        The same, but an edge without a direction counts as a wrong one.
    f1_skeleton
        Of the links, whatever their direction.
    shd
        Edges to add, remove or turn round, for the reading of ``f1``; an edge that points the wrong way counts
        once, and one that a coin would have to direct half.
    """

    f1: float
    f1_strict: float
    f1_skeleton: float
    shd: float


def score_edges(edges: Edges, true: Dag) -> Score:
    """Score an answer; links between jointly drawn roots count neither for nor against it."""
    place = {node: number for number, node in enumerate(true.order)}.__getitem__
    settled = {(min(pair, key=place), max(pair, key=place)) for pair in edges.undirected}
    forward = {edge for edge in edges.directed if place(edge[0]) < place(edge[1])} | settled
    turned = {(child, parent) for parent, child in edges.directed if place(child) < place(parent)}
    ahead, behind = (compare(Dag.from_edges(sorted(part), true.n_nodes), true) for part in (forward, turned))
    truth = set(true.edges)
    hits = len(truth & forward)
    total = ahead.n_learned + behind.n_learned + len(truth)
    return Score(
        f1=2 * hits / total if total else 1.0,
        f1_strict=2 * (hits - len(truth & settled)) / total if total else 1.0,
        f1_skeleton=score_without_order(edges, true).f1_skeleton,
        # An edge that points the wrong way is missing from the forward part already.
        shd=ahead.shd + len(behind.extra),
    )


def score_without_order(edges: Edges, true: Dag) -> Score:
    """Score the answer of a learner that was not told the order; numbers of nodes mean nothing to it.

    Links between jointly drawn roots count neither for nor against it.
    """
    block = {root: number for number, roots in enumerate(true.root_blocks) for root in roots}
    apart = {frozenset((a, b)) for a in block for b in block if a != b and block[a] == block[b]}
    truth, links = set(true.edges), {frozenset(edge) for edge in true.edges}
    directed = [edge for edge in edges.directed if frozenset(edge) not in apart]
    open_links = {frozenset(pair) for pair in edges.undirected} - apart
    right, undecided = len(truth & set(directed)), len(links & open_links)
    joined = len(links & {frozenset(edge) for edge in directed}) + undecided
    n_learned = len(directed) + len(open_links)
    total = n_learned + len(truth)
    return Score(
        f1=2 * (right + undecided / 2) / total if total else 1.0,
        f1_strict=2 * right / total if total else 1.0,
        f1_skeleton=2 * joined / total if total else 1.0,
        # Links that are missing or not true, and of the others those that point the wrong way, or may do so.
        shd=(len(truth) - joined) + (n_learned - joined) + (joined - right - undecided) + undecided / 2,
    )
