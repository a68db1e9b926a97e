"""``Learned``: a graph and everything that led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kgmi.ascent import Trace
from kgmi.graph import Dag
from kgmi.joint import PairJoint
from kgmi.kernel import AnyKernel
from kgmi.theory import AssumptionReport, information_gaps
from kgmi.types import Attention, Floats, Ints, ScoreTable

__all__ = ["Learned"]


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of :func:`kgmi.learn`.

    Attributes
    ----------
    dag
        The learned graph.
    attention, scores
        [head, child, candidate].
    converged
        Whether every head of every non-root node settled on one candidate.
    kernel
        The kernel that guided the heads, or None.
    stopped
        [head, child]: epoch at which the column concentrated, -1 if it did not.
    undecided
        Nodes that depend on earlier ones but were given no parents, because their heads are tied or spread.
        They are no roots.
    names, states
        Names of the nodes and of the states.
    configuration
        All settings, by name.
    joint
        The pair joint that was scored; not saved with the result.
    retrace, identify, explain, assess
        Make :attr:`trace`, :attr:`fingerprint`, :attr:`status` and :attr:`assumptions`, which take a good part of
        the time of a small fit.
    """

    dag: Dag
    attention: Attention
    scores: ScoreTable
    converged: bool
    kernel: AnyKernel | None
    stopped: Ints
    undecided: tuple[int, ...]
    names: tuple[str, ...]
    states: tuple[str, ...]
    configuration: dict[str, Any]
    joint: PairJoint | None = field(default=None, repr=False)
    retrace: Callable[[], Trace | None] = field(default=lambda: None, repr=False)
    identify: Callable[[], str] = field(default=lambda: "", repr=False)
    explain: Callable[[], str] = field(default=lambda: "", repr=False)
    assess: Callable[[], AssumptionReport | None] = field(default=lambda: None, repr=False)

    @cached_property
    def trace(self) -> Trace | None:
        """Objective and attention along the ascent; None for the limit point."""
        return self.retrace()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the input, so that a saved result can be matched with its data."""
        return self.identify()

    @cached_property
    def status(self) -> str:
        """Full sentences on how the run ended and what to beware of; made when first looked at."""
        return self.explain()

    @cached_property
    def assumptions(self) -> AssumptionReport | None:
        """Which conditions of the paper hold for this fit (None without a known kernel); made when looked at."""
        return self.assess()

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: what is made when looked at, instead of what would make it."""
        made = {name: getattr(self, name) for name in ("trace", "fingerprint", "status", "assumptions")}
        makers = ("retrace", "identify", "explain", "assess")
        return {key: value for key, value in vars(self).items() if key not in makers} | made

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.dag.n_nodes

    @property
    def n_heads(self) -> int:
        """Number of heads K."""
        return int(self.attention.shape[0])

    @property
    def margins(self) -> Floats:
        """[head, child]: best minus second best score, Δ^ℓ(i) of this fit."""
        return information_gaps(self.scores)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Parents of every node, by name."""
        return {
            name: tuple(self.names[p] for p in ps) for name, ps in zip(self.names, self.dag.parents, strict=True)
        }

    @property
    def edges(self) -> list[dict[str, Any]]:
        """Edges by name, each with the head (from 1) that attends to the parent most, its attention and margin."""
        margins, found = self.margins, []
        for parent, child in self.dag.edges:
            head = int(self.attention[:, child, parent].argmax())
            found.append(
                {
                    "parent": self.names[parent],
                    "child": self.names[child],
                    "head": head + 1,
                    "attention": float(self.attention[head, child, parent]),
                    "margin": float(margins[head, child]),
                }
            )
        return found

    def __str__(self) -> str:
        return f"{self.n_nodes} nodes, {self.dag.n_edges} edges. {self.status}"
