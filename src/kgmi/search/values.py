"""What a kernel is worth to the families that share it: the best fit less what it costs, many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import factorial, log, prod

import numpy as np

from kgmi.penalty import Penalty
from kgmi.search.pools import unordered_cells
from kgmi.types import Floats, Ints

__all__ = ["aligned", "table_value", "table_values", "turns", "x_log_x"]

_MOST_TURNS = 24  # orders of the parents that are tried: all of them up to four parents


def table_values(penalty: Penalty | None, counts: Floats, n_nodes: Ints, alphabets: Sequence[int]) -> Floats:
    """[table]: log-likelihood of the best kernel for counts [table, parents …, child] less its price in nats.

    A kernel of several nodes (``n_nodes``) is told with the roles of the parents of each, log k! a node for k
    parents of one alphabet, or, where all have the same, without an order, if that is shorter. A node that has a
    kernel to itself has no roles to tell. An exact law has no ``penalty``: it pays nothing.
    """
    n_tables, n_states = len(counts), counts.shape[-1]
    flat = counts.reshape(n_tables, -1, n_states)
    several = np.asarray(n_nodes) > 1
    orders = _log_orders(tuple(alphabets)) * np.where(several, n_nodes, 0) if penalty is not None else 0.0
    ordered = _fits(flat) - _prices(penalty, flat) - orders
    if len(alphabets) < 2 or len(set(alphabets)) > 1 or not several.any():
        return np.asarray(ordered)
    even = _unordered(counts.shape[1:-1]) @ flat
    shorter = _fits(even) - _prices(penalty, even)
    return np.where(several, np.maximum(ordered, shorter), ordered)


def table_value(penalty: Penalty | None, counts: Floats, n_nodes: int, alphabets: Sequence[int]) -> float:
    """:func:`table_values` of one table [parents …, child]; with less ado, as it is asked for most often."""
    flat = counts.reshape(-1, counts.shape[-1])
    cost = _log_orders(tuple(alphabets)) * n_nodes if n_nodes > 1 and penalty is not None else 0.0
    value = _worth(penalty, flat) - cost
    if n_nodes < 2 or len(alphabets) < 2 or len(set(alphabets)) > 1:
        return value
    return max(value, _worth(penalty, _unordered(counts.shape[:-1]) @ flat))


def _worth(penalty: Penalty | None, flat: Floats) -> float:
    """Log-likelihood of the best kernel for counts [configuration, state] less its price."""
    seen = flat.sum(axis=-1)
    fit = float(x_log_x(flat).sum() - x_log_x(seen).sum())
    if penalty is None:
        return fit
    n_states = int(np.count_nonzero(flat.sum(axis=0)))
    return fit - float(penalty.cost(seen, n_states, max(float(seen.sum()), 1.0)).sum())


@lru_cache(maxsize=64)
def _log_orders(alphabets: tuple[int, ...]) -> float:
    return log(prod(factorial(n) for n in Counter(alphabets).values()))


@lru_cache(maxsize=64)
def _unordered(shape: tuple[int, ...]) -> Floats:
    """[states of the parents whatever their order, configuration]: 1 where they are the same."""
    number, sizes = unordered_cells(shape)
    return np.asarray(number == np.arange(len(sizes))[:, None], dtype=np.float64)


def turns(alphabets: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Orders of the parents that leave their alphabets where they are; of many, the first ones."""
    found: list[tuple[int, ...]] = [()]
    for alphabet in alphabets:
        places = [place for place, one in enumerate(alphabets) if one == alphabet]
        found = [(*order, place) for order in found for place in places if place not in order][: 2 * _MOST_TURNS]
    return found[:_MOST_TURNS]


def aligned(fixed: Floats, counts: Floats, orders: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The order of the parents in which counts [parents …, child] are best added to those that are fixed."""
    if len(orders) == 1:
        return orders[0]
    last = counts.ndim - 1
    turned = np.stack([fixed + counts.transpose(*order, last) for order in orders])
    fits = _fits(turned.reshape(len(orders), -1, counts.shape[-1]))
    return orders[int(fits.argmax())]


def x_log_x(counts: Floats) -> Floats:
    """x log x, 0 for x = 0."""
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1.0)))


def _fits(flat: Floats) -> Floats:
    """[table]: log-likelihood of the best kernel for counts [table, configuration, state]."""
    return np.asarray(x_log_x(flat).sum(axis=(1, 2)) - x_log_x(flat.sum(axis=-1)).sum(axis=-1))


def _prices(penalty: Penalty | None, flat: Floats) -> Floats:
    """[table]: what the laws of its configurations cost; states that never occur in it cost nothing."""
    prices = np.zeros(len(flat))
    if penalty is None:
        return prices
    seen = flat.sum(axis=-1)
    occurring = (flat.sum(axis=1) > 0).sum(axis=-1)
    totals = np.maximum(seen.sum(axis=-1), 1.0)
    kinds = {*zip(occurring.tolist(), totals.tolist(), strict=True)}
    if len(kinds) == 1:
        return np.asarray(penalty.cost(seen, *kinds.pop()).sum(axis=-1))
    for n_states, total in kinds:
        alike = (occurring == n_states) & (totals == total)
        prices[alike] = penalty.cost(seen[alike], n_states, total).sum(axis=-1)
    return prices
