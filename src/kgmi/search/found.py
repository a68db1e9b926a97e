"""``Found``: what a search for parents and kernels ended with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgmi.search.alternate import State
from kgmi.search.plan import Plan
from kgmi.search.pools import Pool, key_of
from kgmi.types import ScoreTable

__all__ = ["Found", "Share"]

Share = Literal["auto", "shared", "classes", "node"]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ended with.

    Attributes
    ----------
    plan
        With the labels that were used: all alike when kernels are shared, all different when not, else those of
        the classes.
    state
        Parents, roots that are drawn together, kernels, score.
    shared
        Whether kernels are shared, by all nodes or by those of a class.
    shared_score, node_score
        Penalised log-likelihood gain of the best graph with shared kernels, and with a kernel for each node; None
        where it was not looked at.
    n_starts
        Starts that were tried.
    start_score
        Score of the best start, before any round.
    misfits
        Nodes that do not follow the known kernels, the worst first, and by how many nats parents with a kernel of
        their own would describe them better.
    classes_score
        Penalised gain of the best graph with classes of nodes that share kernels; None where these are no better
        than one of the limits, or were not looked for.
    clear
        Where the case was clear: by how many nats, at least, every node with parents prefers them to any others
        that were looked at; None where a search was needed.
    heads
        The score table of the heads, where the search made it on its way.
    """

    plan: Plan
    state: State
    shared: bool
    shared_score: float | None
    node_score: float | None
    n_starts: int
    start_score: float
    misfits: tuple[tuple[int, float], ...] = ()
    classes_score: float | None = None
    clear: float | None = None
    heads: ScoreTable | None = None

    @property
    def share(self) -> Literal["shared", "classes", "node"]:
        """Who has a kernel in common: all nodes of an in-degree, those of a class, or nobody."""
        if not self.shared:
            return "node"
        return "classes" if len({*self.plan.labels}) > 1 else "shared"

    def pool_of(self, child: int) -> Pool | None:
        """The kernel of a node with parents."""
        parents = self.state.parents[child]
        key = key_of(self.plan.observed, self.plan.labels, parents, child)
        return self.state.pools.get(key) if parents else None
