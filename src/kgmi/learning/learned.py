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
from kgmi.learning.kernels import KernelEstimate
from kgmi.model import Model
from kgmi.theory import AssumptionReport, information_gaps
from kgmi.types import Attention, Floats, Ints, ScoreTable

__all__ = ["Fit", "Learned"]


@dataclass(frozen=True)
class Fit:
    """How a search for parents and kernels ended.

    Attributes
    ----------
    score
        Penalised log-likelihood over that of independent columns, in nats (nats per row for an exact law).
    rounds, settled
        Rounds of re-guiding from the best start, and whether the graph had stopped changing.
    n_starts
        Starts that were tried.
    shared
        Whether nodes share kernels.
    shared_score, node_score
        The best score with shared kernels, and with a kernel for each node; None where it was not looked at.
    """

    score: float
    rounds: int
    settled: bool
    n_starts: int
    shared: bool
    shared_score: float | None
    node_score: float | None


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
    kernels
        Learned or known kernels with their counts and standard errors, most parents first; empty for the guides of
        pairs.
    fit
        How the search ended; None for the guides of pairs.
    alphabets
        The states of every node where these differ; else None.
    order
        ``order[node]``: the column of the input that is this node; they differ only where tiers moved columns.
    joint
        The pair joint that was scored; not saved with the result.
    retrace, identify, explain, assess, remodel
        Make :attr:`trace`, :attr:`fingerprint`, :attr:`status`, :attr:`assumptions` and :attr:`model`, which take a
        good part of the time of a small fit.
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
    kernels: tuple[KernelEstimate, ...] = field(default=(), repr=False)
    fit: Fit | None = None
    alphabets: tuple[tuple[str, ...], ...] | None = field(default=None, repr=False)
    order: tuple[int, ...] = field(default=(), repr=False)
    joint: PairJoint | None = field(default=None, repr=False)
    retrace: Callable[[], Trace | None] = field(default=lambda: None, repr=False)
    identify: Callable[[], str] = field(default=lambda: "", repr=False)
    explain: Callable[[], str] = field(default=lambda: "", repr=False)
    assess: Callable[[], AssumptionReport | None] = field(default=lambda: None, repr=False)
    remodel: Callable[[], Model | None] = field(default=lambda: None, repr=False)

    def __post_init__(self) -> None:
        if not self.order:
            object.__setattr__(self, "order", tuple(range(self.dag.n_nodes)))

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

    @cached_property
    def model(self) -> Model | None:
        """The law of rows that the result stands for (None without rows): log-likelihoods, and new rows."""
        return self.remodel()

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: what is made when looked at, instead of what would make it."""
        made = {name: getattr(self, name) for name in ("trace", "fingerprint", "status", "assumptions", "model")}
        makers = ("retrace", "identify", "explain", "assess", "remodel")
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
