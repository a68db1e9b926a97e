"""``Peer``: a learner to compare with, as a few plain functions around one call of its library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from kgmi.errors import GraphError
from kgmi.kernel import Kernel
from kgmi.types import Rows

__all__ = ["Edges", "Given", "Peer", "as_they_are"]


@dataclass(frozen=True)
class Edges:
    """What a learner answered: edges (parent, child), and pairs that it links without a direction.

    A learner that was given no order can at best name the equivalence class of the graph, in which some edges
    have no direction. Every pair of nodes is linked at most once.
    """

    directed: tuple[tuple[int, int], ...]
    undirected: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, directed: Iterable[Iterable[int]], undirected: Iterable[Iterable[int]] = ()) -> Edges:
        """From any pairs of integers (NumPy's included), sorted."""
        return cls(_pairs(directed), _pairs(undirected))

    def __post_init__(self) -> None:
        linked = [frozenset(pair) for pair in (*self.directed, *self.undirected)]
        if any(len(pair) != 2 for pair in linked) or len(set(linked)) < len(linked):
            raise GraphError(f"a learner answered with a loop, or linked a pair of nodes twice: {self}")


@dataclass(frozen=True, eq=False)
class Given:
    """What a learner is told beside the rows.

    Attributes
    ----------
    n_states
        States of each column; one that does not occur in the rows is still a state.
    n_parents
        The most parents K that a node may have.
    kernel
        The shared kernel, where there is one. It is for our own methods; peers never look at it.
    """

    n_states: tuple[int, ...]
    n_parents: int
    kernel: Kernel | None = None


@dataclass(frozen=True)
class Peer:
    """One learner.

    Attributes
    ----------
    key
        Its name in the registry and in files.
    name
        Its name for people.
    library
        The distribution it comes from, as pip knows it.
    ordered
        Whether it is given the order of the nodes.
    setting
        What it was told, in a few words.
    prepare
        Rows in the form that its library wants, with the states declared where it can be told; not timed.
    fit
        The call that learns, which is what is timed; it takes the prepared rows and what is given beside them.
    read
        The edges of what ``fit`` returned; not timed.
    paper
        The row of the paper's table that it stands for, if any.
    limit
        Seconds for everything: start, imports, warm-up and all data sets.
    cold
        Whether every data set gets a new process, in which its one call is the first, without a warm-up.
    most_nodes
        Columns beyond which it is not tried, for an exact search whose work grows as 2 to that power.
    """

    key: str
    name: str
    library: str
    ordered: bool
    setting: str
    prepare: Callable[[Rows, Given], Any]
    fit: Callable[[Any, Given], Any]
    read: Callable[[Any], Edges]
    paper: str | None = None
    limit: float = 120.0
    cold: bool = False
    most_nodes: int | None = None


def as_they_are(rows: Rows, given: Given) -> Rows:
    """The rows themselves, for learners that want nothing else."""
    return rows


def _pairs(edges: Iterable[Iterable[int]]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((int(parent), int(child)) for parent, child in edges))
