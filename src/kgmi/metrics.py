"""How near a learned graph is to the true one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgmi.errors import GraphError
from kgmi.graph import Dag

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """A learned graph against the truth.

    Attributes
    ----------
    f1, precision, recall
        Of the directed edges. With no edge on either side all three are 1; with nothing found precision is 0,
        with nothing to find recall is 0.
    shd
        Structural Hamming distance: edges to add, remove or turn. Where both graphs have their nodes in the same
        order, none can be the wrong way round.
    missing, extra
        Edges (parent, child) that were not found, or are not true.
    turned
        Learned edges that are the wrong way round: each is among the extra ones, and its reverse among the missing.
    apart
        Learned edges between roots that are drawn jointly. Such roots *are* dependent and no learner can tell
        that from an edge, so these edges count neither for nor against it.
    """

    f1: float
    precision: float
    recall: float
    shd: int
    n_true: int
    n_learned: int
    missing: tuple[tuple[int, int], ...]
    extra: tuple[tuple[int, int], ...]
    apart: tuple[tuple[int, int], ...]
    turned: tuple[tuple[int, int], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every edge is right."""
        return self.shd == 0


def compare(learned: Dag, true: Dag, order: Sequence[int] | None = None) -> Comparison:
    """Compare edges; the roles (order) of the parents do not count.

    Edges between two roots of one root block of ``true`` are counted apart. ``order[node]`` is the node of ``true``
    that a node of ``learned`` is, where they are numbered in another way.
    """
    if learned.n_nodes != true.n_nodes:
        raise GraphError(f"cannot compare graphs of {learned.n_nodes} and {true.n_nodes} nodes")
    same = range(true.n_nodes) if order is None else [int(node) for node in order]
    if sorted(same) != list(range(true.n_nodes)):
        raise GraphError(f"order must hold every node of the true graph once, got {list(same)[:10]}")
    edges = {(int(same[j]), int(same[i])) for j, i in learned.edges}
    block = {root: number for number, roots in enumerate(true.root_blocks) for root in roots}
    apart = {(j, i) for j, i in edges if j in block and block[j] == block.get(i)}
    found, truth = edges - apart, set(true.edges)
    turned = {(j, i) for j, i in found - truth if (i, j) in truth - found}
    hits = len(found & truth)
    precision = hits / len(found) if found else float(not truth)
    recall = hits / len(truth) if truth else float(not found)
    return Comparison(
        f1=2 * precision * recall / (precision + recall) if hits else float(not found and not truth),
        precision=precision,
        recall=recall,
        shd=len(found ^ truth) - len(turned),
        n_true=len(truth),
        n_learned=len(found),
        missing=tuple(sorted(truth - found)),
        extra=tuple(sorted(found - truth)),
        apart=tuple(sorted(apart)),
        turned=tuple(sorted(turned)),
    )
