"""Variable elimination on a junction tree: all pair joints of a product of small factors.

The full table over all nodes is never formed; memory and time grow with S^(treewidth + 1). Each pair is
computed once, at the bag where the subtrees of its two variables meet, so the work for T variables is a
handful of matrix products per bag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from kgmi.errors import TooLargeError
from kgmi.types import Floats

__all__ = ["Factor", "JunctionTree"]

_MOST_CELLS = 400_000_000  # of all bags together, and of the table that a bag holds while pairs are formed
_MIN_FILL_LIMIT = 150  # above, the min-degree heuristic finds the tree in reasonable time


@dataclass(frozen=True)
class Factor:
    """A non-negative table over the variables ``scope``, one axis each."""

    scope: tuple[int, ...]
    table: Floats


@dataclass
class _Bag:
    scope: tuple[int, ...]
    parent: int  # index of the parent bag, -1 at the root
    law: Floats  # first the product of its factors, after calibration P(scope)
    children: list[int] = field(default_factory=list)


class JunctionTree:
    """Calibrated junction tree of one connected set of factors.

    Their product need not sum to one: ``total`` is its sum, and all laws are those of the product over it.
    ``n_states`` is that of every variable where :meth:`pairs` is asked for, else the largest number of states.
    """

    def __init__(self, factors: Sequence[Factor], n_states: int, most_cells: int = _MOST_CELLS) -> None:
        self.n_states = n_states
        self._most_cells = most_cells
        self.variables = tuple(sorted({v for factor in factors for v in factor.scope}))
        self._bags = self._build(factors)
        self._calibrate()

    def law(self, scope: Sequence[int]) -> Floats:
        """Joint law of variables that share a factor, axes in the order of ``scope``."""
        bag = next(b for b in self._bags if set(scope) <= set(b.scope))
        summed = _marginal(bag.law, bag.scope, tuple(sorted(scope)))
        return np.transpose(summed, np.argsort(np.argsort(scope)))

    def pairs(self) -> Iterator[tuple[list[int], list[int], Floats]]:
        """Blocks (us, vs, P[u, x_u, v, x_v]) that together hold every pair of variables once.

        Walks the bags from the leaves up; each hands P(x_v, separator) of all variables v below to its parent.
        """
        self._check_pairs()
        below: dict[int, tuple[list[int], Floats]] = {}
        for index in reversed(range(len(self._bags))):
            bag = self._bags[index]
            seen, table = list(bag.scope), self._own(bag)
            yield seen, seen, np.stack([_marginal(table, bag.scope, (v,)) for v in bag.scope], axis=2)
            for child in bag.children:
                separator = tuple(v for v in self._bags[child].scope if v in bag.scope)
                found, lower = below.pop(child)
                new = [position for position, v in enumerate(found) if v not in bag.scope]
                if not new:
                    continue
                conditional = _ratio(lower[new], _marginal(bag.law, bag.scope, separator))
                upper = _marginal(table, bag.scope, separator)
                fresh = [found[position] for position in new]
                yield fresh, seen, _join(conditional, upper, self.n_states)
                lifted = _spread(conditional, separator, bag.scope) * bag.law
                seen, table = seen + fresh, np.concatenate([table, lifted])
            if bag.parent >= 0:
                separator = tuple(v for v in bag.scope if v in self._bags[bag.parent].scope)
                below[index] = seen, _marginal(table, bag.scope, separator)

    def _build(self, factors: Sequence[Factor]) -> list[_Bag]:
        import networkx
        from networkx.algorithms.approximation import treewidth_min_degree, treewidth_min_fill_in

        graph: networkx.Graph[int] = networkx.Graph()
        graph.add_nodes_from(self.variables)
        for factor in factors:
            graph.add_edges_from((a, b) for a in factor.scope for b in factor.scope if a < b)
        heuristic = treewidth_min_fill_in if len(self.variables) <= _MIN_FILL_LIMIT else treewidth_min_degree
        width, tree = heuristic(graph)
        sizes = {v: size for factor in factors for v, size in zip(factor.scope, factor.table.shape, strict=True)}
        if sum(prod(sizes[v] for v in node) for node in tree.nodes) > self._most_cells:
            raise _too_entangled(width, self.n_states)
        root = min(tree.nodes, key=sorted)
        number: dict[frozenset[int], int] = {}
        bags: list[_Bag] = []
        for parent, node in [(None, root), *networkx.bfs_edges(tree, root)]:
            number[node] = len(bags)
            scope = tuple(sorted(node))
            ones = np.ones([sizes[v] for v in scope])
            bags.append(_Bag(scope, -1 if parent is None else number[parent], ones))
            if parent is not None:
                bags[number[parent]].children.append(number[node])
        for factor in factors:
            bag = next(b for b in bags if set(factor.scope) <= set(b.scope))
            order = np.argsort(factor.scope)
            ordered = tuple(factor.scope[k] for k in order)
            bag.law = bag.law * _spread(np.transpose(factor.table, order), ordered, bag.scope)
        return bags

    def _check_pairs(self) -> None:
        """Refuse tables [variables below, state, *bag] that would not fit, before they are allocated."""
        below = [set(bag.scope) for bag in self._bags]
        for index in reversed(range(len(self._bags))):
            bag = self._bags[index]
            if len(below[index]) * self.n_states * bag.law.size > _MOST_CELLS:
                raise _too_entangled(len(bag.scope) - 1, self.n_states)
            if bag.parent >= 0:
                below[bag.parent] |= below[index]

    def _calibrate(self) -> None:
        """Turn bag potentials into bag laws: messages up to the root, then down again."""
        messages: dict[int, Floats] = {}
        separators: dict[int, tuple[int, ...]] = {}
        for index in reversed(range(1, len(self._bags))):
            bag = self._bags[index]
            above = self._bags[bag.parent]
            separators[index] = tuple(v for v in bag.scope if v in above.scope)
            messages[index] = _marginal(bag.law, bag.scope, separators[index])
            above.law = above.law * _spread(messages[index], separators[index], above.scope)
        for index in range(1, len(self._bags)):
            bag = self._bags[index]
            above = self._bags[bag.parent]
            ratio = _ratio(_marginal(above.law, above.scope, separators[index]), messages[index])
            bag.law = bag.law * _spread(ratio, separators[index], bag.scope)
        self.total = float(self._bags[0].law.sum())
        for bag in self._bags:
            bag.law = bag.law / self.total if self.total > 0 else bag.law

    def _own(self, bag: _Bag) -> Floats:
        """P(x_v, bag) for the bag's own variables: [v, x_v, *bag]."""
        size = len(bag.scope)
        out = np.zeros((size, self.n_states, *bag.law.shape))
        for position in range(size):
            for state in range(self.n_states):
                where = (slice(None),) * position + (state,)
                out[(position, state, *where)] = bag.law[where]
        return out


def _too_entangled(width: int, n_states: int) -> TooLargeError:
    return TooLargeError(
        f"exact inference would need tables over {width + 1} nodes at once ({n_states}^{width + 1} cells, several "
        f"of them): the graph is too entangled (treewidth about {width}). Sample rows from it instead"
    )


def _marginal(table: Floats, scope: tuple[int, ...], kept: tuple[int, ...]) -> Floats:
    """Sum the trailing ``scope`` axes down to ``kept`` (both sorted)."""
    lead = table.ndim - len(scope)
    return np.asarray(table.sum(axis=tuple(lead + k for k, v in enumerate(scope) if v not in kept)))


def _spread(table: Floats, scope: tuple[int, ...], wider: tuple[int, ...]) -> Floats:
    """Give the trailing ``scope`` axes room for ``wider`` ⊇ ``scope`` (axes of length one)."""
    lead = table.ndim - len(scope)
    sizes = dict(zip(scope, table.shape[lead:], strict=True))
    return table.reshape(table.shape[:lead] + tuple(sizes.get(v, 1) for v in wider))


def _ratio(upper: Floats, lower: Floats) -> Floats:
    """Quotient with 0 / 0 = 0: a state of the separator that has no mass carries none on."""
    shape = np.broadcast_shapes(upper.shape, lower.shape)
    return np.divide(upper, lower, out=np.zeros(shape), where=np.broadcast_to(lower > 0, shape))


def _join(conditional: Floats, upper: Floats, n_states: int) -> Floats:
    """P[u, x_u, v, x_v] = Σ over the separator of P(x_u | sep) P(x_v, sep)."""
    n_new, n_old = len(conditional), len(upper)
    left = conditional.reshape(n_new * n_states, -1)
    right = upper.reshape(n_old * n_states, -1)
    return np.asarray(left @ right.T).reshape(n_new, n_states, n_old, n_states)
