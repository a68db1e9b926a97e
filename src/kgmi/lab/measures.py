"""What is measured during training, on attention in kgmi's axes [replica, head, child, candidate]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from kgmi.attention import decode
from kgmi.graph import Dag
from kgmi.metrics import compare
from kgmi.types import Attention, Floats

__all__ = ["alignment", "child_outcomes", "edge_f1", "head_overlap", "parent_attention"]


def parent_attention(attention: Attention, dag: Dag) -> Floats:
    """[head]: attention on the true parents together, averaged over the nodes that have parents."""
    children = [child for child, parents in enumerate(dag.parents) if parents]
    found = [[head[i, list(dag.parents[i])].sum() for i in children] for head in attention]
    return np.asarray(np.mean(found, axis=1))


def edge_f1(attention: Attention, dag: Dag) -> float:
    """F1 of the edges that the heads name, each its most attended candidate; the roots are taken as known."""
    return compare(decode(np.tril(attention, -1), rule="each", roots=dag.roots), dag).f1


def head_overlap(attention: Attention, dag: Dag) -> float:
    """Mean over pairs of heads and nodes with parents of Σ_j min(attn_a, attn_b): 1 where all heads are equal."""
    children = [child for child, parents in enumerate(dag.parents) if parents]
    pairs = [np.minimum(a, b)[children].sum(axis=-1) for a, b in combinations(attention, 2)]
    return float(np.mean(pairs)) if pairs else float("nan")


def child_outcomes(attention: Attention, dag: Dag) -> dict[str, int]:
    """Count the nodes with two or more parents by what the heads did.

    ``split``: every parent is the most attended candidate of some head. ``collapsed``: all heads have one and the
    same most attended candidate. ``other``: the rest, in which a head is on a node that is not a parent or a parent
    is missed.
    """
    found = {"split": 0, "collapsed": 0, "other": 0}
    best = np.tril(attention, -1).argmax(axis=-1)
    for child, parents in enumerate(dag.parents):
        if len(parents) > 1:
            named = set(best[:, child].tolist())
            found["split" if named >= set(parents) else "collapsed" if len(named) == 1 else "other"] += 1
    return found


def alignment(gradient: Floats, attention: Attention, scores: Floats, dags: Sequence[Dag]) -> Floats:
    """[replica]: cosine between the gradient ascent direction of the scores and that of an information objective.

    ``gradient`` is minus the derivative of the loss with respect to the scores before the softmax. The derivative
    of Σ I · attn with respect to them is attn · (I − Σ attn · I). Only nodes with parents count.
    """
    known = np.nan_to_num(scores)
    wanted = attention * (known - (attention * known).sum(axis=-1, keepdims=True))
    found = []
    for one, other, dag in zip(gradient, wanted, dags, strict=True):
        children = [child for child, parents in enumerate(dag.parents) if parents and child > 1]
        a, b = (np.tril(part, -1)[:, children].ravel() for part in (one, other))
        size = np.linalg.norm(a) * np.linalg.norm(b)
        found.append(float(a @ b / size) if size > 0 else float("nan"))
    return np.array(found)
