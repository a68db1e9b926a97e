"""``Dag``: a tuple of parent tuples, nodes in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import GraphError
from kgmi.graph.ordering import topological_order
from kgmi.types import Ints, Names, Rng

if TYPE_CHECKING:
    import networkx

    from kgmi.graph.cpdag import Cpdag

__all__ = ["Dag"]


@dataclass(frozen=True)
class Dag:
    """A directed acyclic graph.

    Parameters
    ----------
    parents
        ``parents[i]`` are the parents p(i)^1, …, p(i)^K of node ``i``, numbered from 0. Their order is
        their role in the kernel (which argument they are). Nodes may be numbered in any way.
    root_blocks
        Which roots are drawn jointly from the stationary law M_π. By default the first K roots of each
        connected component in :attr:`order`, as far as they come before its first child, form one block («the
        K root nodes that start a component»); every other root is a block of its own. Two graphs with the same
        parents are equal whatever their root blocks.

    Examples
    --------
    >>> dag = Dag([(1, 2), (), ()])
    >>> dag.edges, dag.order
    (((1, 0), (2, 0)), (1, 2, 0))
    """

    parents: tuple[tuple[int, ...], ...]

    def __init__(
        self, parents: Iterable[Iterable[int]], root_blocks: Iterable[Iterable[int]] | None = None
    ) -> None:
        object.__setattr__(self, "parents", _checked_parents(parents))
        _ = self.order  # a cycle is an error
        if root_blocks is not None:
            vars(self)["root_blocks"] = self._checked_blocks(root_blocks)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All nodes, parents before children; of those that may come next, the smallest is always taken."""
        return topological_order(self.parents)

    @cached_property
    def root_blocks(self) -> tuple[tuple[int, ...], ...]:
        """Roots that are drawn together, as given, or else as described above; found when first asked for."""
        return self._default_blocks()

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.parents)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return sum(map(len, self.parents))

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """All edges as (parent, child), children in order, parents in their role order."""
        return tuple((parent, child) for child, ps in enumerate(self.parents) for parent in ps)

    @property
    def roots(self) -> tuple[int, ...]:
        """Nodes without parents."""
        return tuple(node for node, ps in enumerate(self.parents) if not ps)

    @property
    def max_in_degree(self) -> int:
        """The largest number of parents of any node (K of a uniform graph)."""
        return max(map(len, self.parents), default=0)

    @property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Weakly connected components, each in node order."""
        link = list(range(self.n_nodes))  # union-find; a root of this forest is its smallest node

        def top(node: int) -> int:
            while link[node] != node:
                link[node] = node = link[link[node]]
            return node

        for parent, child in self.edges:
            low, high = sorted((top(parent), top(child)))
            link[high] = low
        groups: dict[int, list[int]] = {}
        for node in range(self.n_nodes):
            groups.setdefault(top(node), []).append(node)
        return tuple(map(tuple, groups.values()))

    def matrix_parent_child(self) -> Ints:
        """Adjacency A[j, i] = 1 for j → i: the direction of the paper, networkx and pgmpy."""
        matrix = np.zeros((self.n_nodes, self.n_nodes), dtype=np.int64)
        for parent, child in self.edges:
            matrix[parent, child] = 1
        return matrix

    def matrix_child_parent(self) -> Ints:
        """Adjacency A[i, j] = 1 for j → i: the transpose of :meth:`matrix_parent_child`."""
        return self.matrix_parent_child().T.copy()

    def copies(self, n: int) -> Dag:
        """``n`` disjoint copies of this graph, one after the other; each keeps its own root blocks."""
        if n < 1:
            raise GraphError(f"copies needs n ≥ 1, got {n}")
        shifts = [copy * self.n_nodes for copy in range(n)]
        parents = [[p + shift for p in ps] for shift in shifts for ps in self.parents]
        blocks = [[r + shift for r in block] for shift in shifts for block in self.root_blocks]
        return Dag(parents, blocks)

    def renumbered(self, numbers: Iterable[int]) -> Dag:
        """The same graph in which node ``i`` is called ``numbers[i]``; roles and root blocks stay."""
        new = [index(number) for number in numbers]
        if sorted(new) != list(range(self.n_nodes)):
            raise GraphError(f"numbers must hold each of 0..{self.n_nodes - 1} once, got {new[:10]}")
        old = np.argsort(new).tolist()
        parents = [[new[p] for p in self.parents[node]] for node in old]
        return Dag(parents, [[new[root] for root in block] for block in self.root_blocks])

    def cpdag(self, evidence: Mapping[tuple[int, int], float] | None = None, least: float = 3.0) -> Cpdag:
        """Which directions its equivalence class tells, or ``evidence``; see :func:`kgmi.graph.cpdag.cpdag`."""
        from kgmi.graph.cpdag import cpdag

        return cpdag(self, evidence, least)

    def restrict(self, n_nodes: int) -> Dag:
        """The graph on the first ``n_nodes`` nodes, none of which may have a parent among the others."""
        if not 1 <= n_nodes <= self.n_nodes:
            raise GraphError(f"cannot keep the first {n_nodes} of {self.n_nodes} nodes")
        blocks = [[r for r in block if r < n_nodes] for block in self.root_blocks]
        return Dag(self.parents[:n_nodes], [block for block in blocks if block])

    def _default_blocks(self) -> tuple[tuple[int, ...], ...]:
        blocks: list[tuple[int, ...]] = []
        size, place = max(self.max_in_degree, 1), np.argsort(self.order).tolist()
        for component in self.components:
            nodes = sorted(component, key=place.__getitem__)
            start = tuple(takewhile(lambda node: not self.parents[node], nodes))[:size]
            blocks += [start, *((node,) for node in nodes if not self.parents[node] and node not in start)]
        return tuple(sorted(blocks))

    def _checked_blocks(self, root_blocks: Iterable[Iterable[int]]) -> tuple[tuple[int, ...], ...]:
        try:
            blocks = tuple(sorted(tuple(index(r) for r in block) for block in root_blocks))
        except TypeError as error:
            raise GraphError(f"root_blocks must be a sequence of sequences of node numbers: {error}") from None
        if () in blocks:
            raise GraphError("root_blocks has an empty block; leave it out")
        listed = sorted(r for block in blocks for r in block)
        if listed != list(self.roots):
            raise GraphError(f"root_blocks must hold every root once: roots are {self.roots}, got {blocks}")
        return blocks

    # Constructors and formats live in their own modules; these are their doors.

    @classmethod
    def paper(cls, n_nodes: int = 10) -> Dag:
        """The paper's 10-node meta-graph, or its restriction to the first 5 nodes."""
        from kgmi.graph import named

        return named.paper(n_nodes)

    @classmethod
    def paper_mixed(cls) -> Dag:
        """The paper's 10-node graph with non-uniform in-degrees (appendix A)."""
        from kgmi.graph import named

        return named.paper_mixed()

    @classmethod
    def chain(cls, n_nodes: int, n_parents: int = 1) -> Dag:
        """Order-K Markov chain: the parents of a node are the ``n_parents`` nodes before it."""
        from kgmi.graph import named

        return named.chain(n_nodes, n_parents)

    @classmethod
    def random(
        cls,
        n_nodes: int,
        n_parents: int = 2,
        *,
        rng: Rng,
        mixed: bool = False,
        root_probability: float = 0.0,
    ) -> Dag:
        """Random graph: in-degree 0 or K, or, when ``mixed``, any in-degree 0..K; see :mod:`kgmi.graph.named`."""
        from kgmi.graph import named

        return named.random(n_nodes, n_parents, rng=rng, mixed=mixed, root_probability=root_probability)

    @classmethod
    def from_edges(cls, edges: Iterable[Sequence[int]], n_nodes: int) -> Dag:
        """From (parent, child) pairs; parents take their roles in increasing order."""
        from kgmi.graph import formats

        return formats.from_edges(edges, n_nodes)

    @classmethod
    def from_networkx(cls, graph: networkx.DiGraph[Any], order: Sequence[Any] | None = None) -> Dag:
        """From a networkx ``DiGraph``; ``order`` lists its nodes, by default they keep theirs."""
        from kgmi.graph import formats

        return formats.from_networkx(graph, order)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Dag:
        """From what :meth:`to_dict` gives (the JSON form)."""
        from kgmi.graph import formats

        return formats.from_dict(content)

    @classmethod
    def from_dot(cls, text: str) -> Dag:
        """From DOT as written by :meth:`to_dot` with node numbers."""
        from kgmi.graph import formats

        return formats.from_dot(text)

    def to_networkx(self, names: Names | None = None) -> networkx.DiGraph[Any]:
        """A networkx ``DiGraph``; the edge attribute ``head`` is the parent's role, from 0."""
        from kgmi.graph import formats

        return formats.to_networkx(self, names)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary for JSON."""
        from kgmi.graph import formats

        return formats.to_dict(self)

    def to_dot(self, names: Names | None = None) -> str:
        """Graphviz DOT."""
        from kgmi.graph import formats

        return formats.to_dot(self, names)


def _checked_parents(parents: Iterable[Iterable[int]]) -> tuple[tuple[int, ...], ...]:
    """Parents as plain integers, after all checks."""
    try:
        table = tuple(tuple(index(p) for p in ps) for ps in parents)
    except TypeError as error:
        raise GraphError(f"parents must be a sequence of sequences of node numbers: {error}") from None
    if not table:
        raise GraphError("a graph needs at least one node")
    for child, ps in enumerate(table):
        if len(set(ps)) < len(ps):
            raise GraphError(f"node {child} lists a parent twice: {ps}")
        for parent in ps:
            if not 0 <= parent < len(table):
                raise GraphError(f"node {child} has parent {parent}, but nodes are numbered 0..{len(table) - 1}")
    return table
