"""``Wide``: the result of a fit on a device with so many nodes that tables of all pairs are not kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.types import Bools, Floats, Ints

__all__ = ["Wide"]


@dataclass(frozen=True, eq=False)
class Wide:
    """The result of :func:`kgmi.learn` on a device for more than 2,000 nodes: what fits on a page per node.

    Attributes
    ----------
    dag
        The learned graph.
    names, states
        Names of the nodes and of the states.
    chosen
        [head, child]: the candidate that the head prefers; -1 where it has none to look for.
    margins
        [head, child]: best less second best score, in nats of log-likelihood for ``likelihood``; NaN where there is
        nothing to choose.
    chosen_attention
        [head, child]: attention on the chosen candidate.
    stopped
        [head, child]: epoch at which that passed 1 − ε_attn, -1 if it did not.
    converged
        Whether every head of every node with parents did so.
    kernel
        The kernel of the nodes with the most parents: as given, or learned.
    undecided
        Nodes that depend on earlier ones but were given no parents, because their heads are tied or spread.
    status
        Full sentences on how the run ended and what to beware of.
    configuration
        All settings, by name.
    seconds
        By phase, the work on the device included.
    """

    dag: Dag
    names: tuple[str, ...]
    states: tuple[str, ...]
    chosen: Ints = field(repr=False)
    margins: Floats = field(repr=False)
    chosen_attention: Floats = field(repr=False)
    stopped: Ints = field(repr=False)
    converged: bool
    kernel: Kernel | None
    undecided: tuple[int, ...]
    status: str
    configuration: dict[str, Any] = field(repr=False)
    seconds: dict[str, float]

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.dag.n_nodes

    @property
    def n_heads(self) -> int:
        """Number of heads K."""
        return len(self.chosen)

    @property
    def order(self) -> tuple[int, ...]:
        """Column of every node: as they stand, for a device learns no order."""
        return tuple(range(self.n_nodes))

    @property
    def wanted(self) -> Bools:
        """[head, child]: whether the head has a parent to look for."""
        return self.chosen >= 0

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Parents of every node, by name."""
        return {
            name: tuple(self.names[p] for p in ps) for name, ps in zip(self.names, self.dag.parents, strict=True)
        }

    @property
    def edges(self) -> list[dict[str, Any]]:
        """Edges by name, each with the head (from 1) that chose the parent, its attention and margin."""
        found = []
        for parent, child in self.dag.edges:
            heads = [head for head in range(self.n_heads) if self.chosen[head, child] == parent]
            head = max(heads, key=lambda one: self.chosen_attention[one, child], default=None)
            found.append(
                {
                    "parent": self.names[parent],
                    "child": self.names[child],
                    "head": None if head is None else head + 1,
                    "attention": None if head is None else float(self.chosen_attention[head, child]),
                    "margin": None if head is None else float(self.margins[head, child]),
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON; what is NaN or infinite is None."""
        return {
            "names": list(self.names),
            "states": list(self.states),
            **self.dag.to_dict(),
            "chosen": self.chosen.tolist(),
            "margins": _finite(self.margins),
            "chosen_attention": _finite(self.chosen_attention),
            "stopped": self.stopped.tolist(),
            "converged": self.converged,
            "kernel": None if self.kernel is None else self.kernel.table.tolist(),
            "undecided": list(self.undecided),
            "status": self.status,
            "configuration": self.configuration,
            "seconds": self.seconds,
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(
            f"the result of a fit of {self.n_nodes:,} nodes on a device has no {name!r}: tables of all pairs "
            "of nodes are not kept. There are dag, edges, chosen, margins, chosen_attention, stopped, kernel and "
            "status"
        )

    def __str__(self) -> str:
        return f"{self.n_nodes:,} nodes, {self.dag.n_edges:,} edges. {self.status}"


def _finite(table: Floats) -> list[list[float | None]]:
    limit = float("inf")
    return [[value if -limit < value < limit else None for value in row] for row in table.tolist()]
