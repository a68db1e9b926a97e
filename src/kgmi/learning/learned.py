"""``Learned``: a graph and everything that led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from kgmi.attention import Trace
from kgmi.certify import Certificate
from kgmi.certify.hypotheses import PATIENCE
from kgmi.checks import Check
from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.graph.cpdag import Cpdag
from kgmi.joint import PairJoint
from kgmi.kernel import AnyKernel
from kgmi.learning.certified import Witness
from kgmi.learning.kernels import KernelEstimate
from kgmi.learning.trust import Trust, trust_of
from kgmi.model import Model
from kgmi.theory import AssumptionReport, information_gaps
from kgmi.types import Attention, Floats, Ints, Rng, ScoreTable

__all__ = ["MAKERS", "Fit", "Learned"]

MAKERS = ("retrace", "identify", "explain", "assess", "remodel", "direct", "examine")
"""What makes parts of a result when they are looked at."""
_MADE = ("trace", "fingerprint", "status", "assumptions", "model", "directions", "checks")  # when looked at


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
    share
        Who shares kernels: all nodes of an in-degree (``shared``), those of a class (``classes``), or nobody
        (``node``).
    classes_score
        The best score with classes that were found; None where they were not looked for.
    proved
        Whether, with a learned order, no graph without a cycle is better under these kernels, with the roots that
        are drawn together held fixed. Never with gaps.
    """

    score: float
    rounds: int
    settled: bool
    n_starts: int
    shared: bool
    shared_score: float | None
    node_score: float | None
    share: Literal["shared", "classes", "node"] = "shared"
    classes_score: float | None = None
    proved: bool = False


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
        A topological order of the nodes: the one that was given, or learned. Nodes are the columns of the input.
    joint
        The pair joint that was scored; not saved with the result.
    retrace, identify, explain, assess, remodel
        Make :attr:`trace`, :attr:`fingerprint`, :attr:`status`, :attr:`assumptions` and :attr:`model`, which take a
        good part of the time of a small fit.
    direct, examine
        Make :attr:`directions` and :attr:`checks`.
    witness
        The rows behind the result, for :meth:`certify` and :meth:`bootstrap`; None where they are not kept.
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
    direct: Callable[[], dict[tuple[str, str], float] | None] = field(default=lambda: None, repr=False)
    examine: Callable[[], tuple[Check, ...]] = field(default=lambda: (), repr=False)
    witness: Witness | None = field(default=None, repr=False)

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

    @cached_property
    def directions(self) -> dict[tuple[str, str], float] | None:
        """How sure the direction of every edge (parent, child) is, where the order was learned; else None.

        Nats by which the best graph with that edge reversed is worse: 3 are odds of twenty to one. Infinite where
        tiers or forbidden edges rule that out.
        """
        return self.direct()

    @cached_property
    def cpdag(self) -> Cpdag:
        """The graph with only those directions that the rows tell, by compulsion or by at least 3 nats.

        See :attr:`directions`. Where the order was given, the directions that follow from colliders alone.
        """
        place = {name: node for node, name in enumerate(self.names)}
        known = {(place[parent], place[child]): nats for (parent, child), nats in (self.directions or {}).items()}
        return self.dag.cpdag(known)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Whether one kernel, K parents and independent rows are enough for these data; made when looked at.

        Empty for results that were saved before there were checks.
        """
        return self.examine()

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: what is made when looked at, instead of what would make it."""
        made = {name: getattr(self, name) for name in _MADE}
        return {key: value for key, value in vars(self).items() if key not in (*MAKERS, "witness")} | made

    @cached_property
    def certificate(self) -> Certificate:
        """What is certain about the graph at α = 0.05; made when first looked at. See :meth:`certify`."""
        return self.certify()

    @cached_property
    def trust(self) -> Trust:
        """How far to trust the result: a sentence, reasons, and the strength of every edge; made when looked at.

        A certificate is made for it where that takes about a second. A saved result keeps it.
        """
        return trust_of(self)

    def certify(
        self, alpha: float = 0.05, *, method: str = "sequential", patience: float = PATIENCE
    ) -> Certificate:
        """Certify the parents of every node from the rows that were learned from; see :func:`kgmi.certify`.

        Large tables are not kept with the result, nor is any table with a copy or a saved one.
        """
        return self._asked("certify").certificate(alpha, method, patience)

    def bootstrap(self, n_replicates: int = 200, *, rng: Rng = 0) -> dict[tuple[str, str], float]:
        """How often each edge (parent, child) is chosen when the rows are drawn anew from themselves, in blocks.

        Those never chosen are left out. This is no guarantee: for one, see :meth:`certify`.
        """
        return self._asked("bootstrap").bootstrap(n_replicates, rng)

    def _asked(self, what: str) -> Witness:
        if self.witness is None:
            raise DataError(
                "the rows are not kept with this result (it was loaded or copied, or there are very many): "
                f"give them again, kgmi.{what}(rows, …)"
            )
        return self.witness

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
    def classes(self) -> dict[str, str]:
        """The class of every node with parents, by name, where kernels are shared by classes; else nothing."""
        found = {child: one.class_name for one in self.kernels for child in one.children}
        return {self.names[child]: name for child, name in sorted(found.items()) if name is not None}

    @property
    def edges(self) -> list[dict[str, Any]]:
        """Edges by name, each with the head (from 1) that attends to the parent most, its attention and margin.

        Where the order was learned, ``direction`` is what :attr:`directions` says of the edge.
        """
        margins, found = self.margins, []
        directions = self.directions
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
                | ({} if directions is None else {"direction": directions.get(self._named(parent, child))})
            )
        return found

    def _named(self, parent: int, child: int) -> tuple[str, str]:
        return self.names[parent], self.names[child]

    def __str__(self) -> str:
        return f"{self.n_nodes:,} nodes, {self.dag.n_edges:,} edges. {self.status}"
