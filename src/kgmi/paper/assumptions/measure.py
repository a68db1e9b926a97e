"""What the heads of one process choose in exact arithmetic, and how far its parents are from M_π."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.paper.setting import heads_right
from kgmi.process import Process
from kgmi.theory import check_process

__all__ = ["DIVERGENCES", "HEADS", "KINDS", "Column", "Seen", "measure", "pair_kind"]

DIVERGENCES = ("kl", "pearson", "hellinger-matched")
KINDS = ("right", "other parent", "other ancestor", "no ancestor")
"""What a head may choose: its own parent, the node's other parent, or a node that is no parent at all."""
HEADS = ("right", "swapped", "collapsed", "astray")
"""What the heads of a child do together; ``astray`` when one of them chooses a node that is no parent."""


@dataclass(frozen=True)
class Column:
    """One head ℓ at one child i.

    Attributes
    ----------
    distance
        Total variation between the joint law of the child's parents and M_π.
    kind
        One of ``KINDS``.
    deficit
        By how much the chosen candidate beats p(i)^ℓ, in nats; 0 when it is p(i)^ℓ.
    """

    distance: float
    kind: str
    deficit: float


@dataclass(frozen=True)
class Seen:
    """One process.

    Attributes
    ----------
    columns
        Every head at every child, with KL.
    children
        Per child, one of ``HEADS``.
    edges_found
        Edges of the graph that some head of the child names.
    columns_right
        Heads that choose their parent, by divergence.
    """

    columns: tuple[Column, ...]
    children: tuple[str, ...]
    edges_found: int
    columns_right: dict[str, int]

    @property
    def distance(self) -> float:
        """The largest distance of any node's parents from M_π."""
        return max(column.distance for column in self.columns)

    def all_right(self, divergence: str = "kl") -> bool:
        """Whether the best candidate of every head is its parent."""
        return self.columns_right[divergence] == len(self.columns)


def measure(process: Process) -> Seen:
    """Choices of the heads from the population scores (no sampling error), for each divergence."""
    dag, joint = process.dag, exact_joint(process)
    distance = check_process(process).parent_distance
    ancestors = _ancestors(dag)
    tables = {name: scores(joint, process.kernel, name) for name in DIVERGENCES}
    kl = tables["kl"]
    chosen = np.where(np.isnan(kl), -np.inf, kl).argmax(axis=-1)
    columns, children, edges = [], [], 0
    for child, parents in enumerate(dag.parents):
        if not parents:
            continue
        choice = chosen[:, child].tolist()
        children.append(pair_kind(choice, parents))
        edges += len(set(choice) & set(parents))
        for head, (best, parent) in enumerate(zip(choice, parents, strict=True)):
            deficit = float(kl[head, child, best] - kl[head, child, parent])
            kind = _kind(best, parent, parents, ancestors[child])
            columns.append(Column(float(distance[child]), kind, deficit))
    right = {name: heads_right(table, dag) for name, table in tables.items()}
    return Seen(tuple(columns), tuple(children), edges, right)


def pair_kind(choice: list[int], parents: tuple[int, ...]) -> str:
    """What the heads of a child do together, from what each of them chooses."""
    if tuple(choice) == parents:
        return "right"
    if not set(choice) <= set(parents):
        return "astray"
    return "swapped" if len(set(choice)) == len(parents) else "collapsed"


def _kind(best: int, parent: int, parents: tuple[int, ...], ancestors: set[int]) -> str:
    right, other, ancestor, rest = KINDS
    return right if best == parent else other if best in parents else ancestor if best in ancestors else rest


def _ancestors(dag: Dag) -> list[set[int]]:
    """All ancestors of every node; parents come before children, so one pass does it."""
    found: list[set[int]] = []
    for parents in dag.parents:
        found.append(set(parents).union(*(found[p] for p in parents)))
    return found
