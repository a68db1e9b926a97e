"""Shared kernels: which nodes share one, what was counted for it, and what is estimated from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import factorial, log
from typing import TypeAlias

import numpy as np

from kgmi.counts.base import Counts
from kgmi.penalty import Penalty
from kgmi.types import Floats, Ints

__all__ = [
    "Key",
    "Pool",
    "count_pools",
    "fit_of",
    "is_symmetric",
    "key_of",
    "make_pool",
    "mixed_with_noise",
    "role_orders",
    "symmetrised",
    "unordered_cells",
]

Key: TypeAlias = tuple[int, tuple[int, ...], int]
"""Whose kernel it is: label of the nodes that share it, alphabets of the parents in role order, of the child."""

_INDIFFERENT = 1e-12  # nats between exact laws that are rounding
_FEW_PARENTS = 4  # whose orders can all be tried
_EM_ROUNDS = 50  # to take known errors out of a kernel


@dataclass(frozen=True, eq=False)
class Pool:
    """A kernel and the cases that it was learned from.

    Attributes
    ----------
    counts
        [states of the parents …, state of the child] over all nodes that share the kernel.
    table
        The kernel, free of reading errors.
    n_nodes
        How many nodes share it.
    symmetric
        Whether the parents have no order: exchanging them changes nothing.
    known
        Whether the kernel was given, so that nothing was fitted.
    error
        ε: share of cases whose child is read at random instead.
    implied
        Where it was not fitted but follows from the kernel of the most parents: the price of saying so; else None.
    """

    counts: Floats
    table: Floats
    n_nodes: int
    symmetric: bool
    known: bool
    error: float = 0.0
    implied: float | None = None

    @property
    def n_parents(self) -> int:
        """In-degree of the nodes that share it."""
        return self.table.ndim - 1

    @cached_property
    def seen(self) -> Floats:
        """The kernel as it is seen in the data, errors included."""
        return mixed_with_noise(self.table, self.error)

    @property
    def order_cost(self) -> float:
        """What choosing the roles of the parents of one node costs, in nats."""
        return 0.0 if self.symmetric else log(factorial(self.n_parents))

    @cached_property
    def standard_errors(self) -> Floats:
        """Of every probability: √(p (1 − p) / cases); infinite where the parents' states were never seen."""
        cases = self.cases[..., None]
        spread = np.sqrt(self.table * (1 - self.table))
        if self.error < 1:
            spread = np.sqrt(self.seen * (1 - self.seen)) / (1 - self.error)
        out = np.full(spread.shape, np.inf)
        return np.asarray(np.divide(spread, np.sqrt(cases), out=out, where=cases > 0))

    @cached_property
    def cases(self) -> Floats:
        """[states of the parents …]: cases behind each law; where parents have no order, all orders count."""
        seen = self.counts.sum(axis=-1)
        if not self.symmetric or self.n_parents < 2:
            return np.asarray(seen)
        orbit, sizes = unordered_cells(seen.shape)
        return np.asarray(seen * sizes[orbit].reshape(seen.shape))

    def cost(self, penalty: Penalty) -> float:
        """Price of the free parameters; a symmetric kernel has fewer, a known one and an implied one have none."""
        if self.known or self.implied is not None:
            return self.implied or 0.0
        return penalty.of(_orbits(self.counts) if self.symmetric and self.n_parents > 1 else self.counts)


def key_of(observed: Counts, labels: Sequence[int], parents: Sequence[int], child: int) -> Key:
    """The kernel that a family follows."""
    return labels[child], tuple(observed.alphabets[p] for p in parents), observed.alphabets[child]


def count_pools(
    observed: Counts,
    labels: Sequence[int],
    families: Mapping[int, tuple[int, ...]],
    count: Callable[[int, tuple[int, ...]], Floats],
) -> dict[Key, tuple[Floats, int]]:
    """Counts and number of nodes of every kernel, from the parents of every node.

    ``count(child, parents)`` gives the counts of one family.
    """
    tables: dict[Key, list[Floats]] = {}
    for child, parents in families.items():
        tables.setdefault(key_of(observed, labels, parents, child), []).append(count(child, parents))
    return {key: (np.add.reduce(some), len(some)) for key, some in tables.items()}


def make_pool(
    counts: Floats, n_nodes: int, penalty: Penalty | None, *, smoothing: float, error: float, exchangeable: bool
) -> Pool:
    """Estimate a kernel, with its parents in an order or without one, whichever is the shorter description.

    A kernel with an order fits better, and each of its nodes has chosen the order that suits it; it pays for
    that with its parameters and with log k! a node. An exact law has no ``penalty``: it pays nothing.
    """
    ordered = Pool(counts, _estimate(counts, smoothing, error), n_nodes, counts.ndim < 3, False, error)
    if not exchangeable or counts.ndim < 3:
        return ordered
    even = symmetrised(counts)
    unordered = Pool(even, _estimate(even, smoothing, error), n_nodes, True, False, error)
    better = fit_of(ordered) - fit_of(unordered)
    price = _INDIFFERENT
    if penalty is not None:
        price = ordered.cost(penalty) - unordered.cost(penalty) + n_nodes * ordered.order_cost
    return ordered if better > price else unordered


def fit_of(pool: Pool) -> float:
    """Log-likelihood of its cases."""
    return float((pool.counts * np.log(np.maximum(pool.seen, 1e-300))).sum())


def is_symmetric(table: Floats) -> bool:
    """Whether exchanging parents changes nothing."""
    return table.ndim < 3 or all(
        np.allclose(table, np.swapaxes(table, 0, axis), atol=1e-12) for axis in range(1, table.ndim - 1)
    )


def symmetrised(table: Floats) -> Floats:
    """The mean over all orders of the parents."""
    orbit, sizes = unordered_cells(table.shape[:-1])
    means = _orbits(table) / sizes[:, None]
    return np.asarray(means[orbit].reshape(table.shape))


def role_orders(observed: Counts, parents: Sequence[int]) -> list[tuple[int, ...]]:
    """Orders of roles to be tried: all, or, of many parents, the one by alphabet and every exchange of two."""
    if len(parents) <= _FEW_PARENTS:
        return list(permutations(parents))
    base = sorted(parents, key=lambda parent: observed.alphabets[parent])
    orders = [tuple(base)]
    for one, other in combinations(range(len(base)), 2):
        turned = list(base)
        turned[one], turned[other] = base[other], base[one]
        orders.append(tuple(turned))
    return orders


@lru_cache(maxsize=64)
def unordered_cells(shape: tuple[int, ...]) -> tuple[Ints, Floats]:
    """[configuration of the parents]: which states they have, whatever their order; and how many have the same."""
    grid = np.indices(shape).reshape(len(shape), -1).T
    _, orbit, sizes = np.unique(np.sort(grid, axis=1), axis=0, return_inverse=True, return_counts=True)
    return orbit.ravel(), sizes.astype(np.float64)


def _orbits(counts: Floats) -> Floats:
    """Counts [unordered states of the parents, state of the child]."""
    orbit, sizes = unordered_cells(counts.shape[:-1])
    out = np.zeros((len(sizes), counts.shape[-1]))
    np.add.at(out, orbit, counts.reshape(-1, counts.shape[-1]))
    return out


def _estimate(counts: Floats, smoothing: float, error: float) -> Floats:
    """Frequencies with ``smoothing`` pseudo-cases per configuration of the parents, spread as the child is overall.

    Known errors are taken out by EM: a case is either a true state or noise.
    """
    n_states = counts.shape[-1]
    overall = counts.reshape(-1, n_states).sum(axis=0)
    prior = smoothing * (overall + 1 / n_states) / (overall.sum() + 1)
    table = _shares(counts + prior)
    if error > 0:
        for _ in range(_EM_ROUNDS):
            true = (1 - error) * table / np.maximum(mixed_with_noise(table, error), 1e-300)
            table = _shares(counts * true + prior)
    return table


def _shares(counts: Floats) -> Floats:
    totals = counts.sum(axis=-1, keepdims=True)
    out = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, totals, out=out, where=totals > 0))


def mixed_with_noise(table: Floats, error: float) -> Floats:
    """(1 − ε) π + ε / S: what is seen of a kernel when a share ε of the readings is random."""
    return table if error == 0 else (1 - error) * table + error / table.shape[-1]
