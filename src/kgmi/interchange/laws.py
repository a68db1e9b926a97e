"""What a complete Bayesian network needs of a result: names, states, and the law of every node."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from kgmi.errors import DataError, TooLargeError
from kgmi.learning import Learned
from kgmi.model import Model

__all__ = ["Laws", "alphabets_of", "laws_of"]

_MOST_CELLS = 4_000_000  # probabilities of a network: about 100 MB of text, which no other tool likes to read


@dataclass(frozen=True, eq=False)
class Laws:
    """A result as a network.

    Attributes
    ----------
    names, alphabets
        Of the nodes, and the states of each.
    model
        ``model.given[node]`` are the parents that the network has.
    drawn_together
        Roots of the learned graph that have parents in the network, namely other roots: those of a block are drawn
        from one law, and a network can say that only by edges.
    """

    names: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...]
    model: Model
    drawn_together: tuple[int, ...]


def alphabets_of(learned: Learned) -> tuple[tuple[str, ...], ...]:
    """The states of every node."""
    return learned.alphabets or (learned.states,) * learned.n_nodes


def laws_of(learned: Learned) -> Laws:
    """The laws of a result; refused where it has none, or where they are too many numbers to write."""
    model = learned.model
    if model is None:
        raise DataError(
            "this result has no probabilities: it was learned from statistics of pairs or an exact law, not from "
            "rows. Learn from rows to get a Bayesian network, or export the graph alone (graphml, dot, json, "
            "dagitty or csv)"
        )
    cells = sum(prod(table.shape) for table in model.tables)
    if cells > _MOST_CELLS:
        raise TooLargeError(
            f"the network has {cells:,} probabilities, more than the {_MOST_CELLS:,} that are written; learn with "
            "fewer parents, or export the graph and its kernels (json)"
        )
    together = tuple(node for node in learned.dag.roots if model.given[node])
    return Laws(learned.names, alphabets_of(learned), model, together)
