"""Sets of columns: their order, their numbers, and the smaller sets that they contain."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from kgmi.errors import TooLargeError
from kgmi.types import Ints

__all__ = ["Sets", "all_sets", "numbers_in", "set_numbers", "smaller_sets"]

_MOST_NUMBERED = 2.0**62  # what a product of nodes may be

Sets = NDArray[np.int32]
"""[set, node]: ascending nodes, the sets in order of their last nodes, then those before (colex)."""


@lru_cache(maxsize=8)
def all_sets(n_nodes: int, width: int) -> Sets:
    """All sets of so many nodes; set (a < b < c) is number C(a, 1) + C(b, 2) + C(c, 3)."""
    made = np.empty((comb(n_nodes, width), width), dtype=np.int32)
    if width == 0:
        return made
    if width <= 3:
        for place in range(width - 1, -1, -1):
            # How often a node stands in its place below the nodes that are placed already.
            above = made[:, place + 1].astype(np.int64) if place + 1 < width else np.full(len(made), n_nodes)
            numbers = _number(made[:, place + 1 :], place + 2)
            left = np.arange(len(made)) - numbers
            made[:, place] = _largest(left, place + 1, above)
    else:
        listed = np.array([*combinations(range(n_nodes), width)], dtype=np.int32)
        made = listed[np.lexsort(listed.T)]
    made.setflags(write=False)
    return made


def _largest(number: Ints, size: int, above: Ints) -> Ints:
    """The largest node n with C(n, size) ≤ number."""
    steps = np.array([comb(node, size) for node in range(int(above.max(initial=0)) + 1)], dtype=np.int64)
    return np.searchsorted(steps, number, side="right") - 1


def _number(sets: NDArray[np.integer], first: int = 1) -> Ints:
    """Numbers of ascending sets [set, node]; ``first`` is the size of the first binomial."""
    largest = int(sets[:, -1].max(initial=0)) if sets.shape[1] else 0
    if float(largest + 1) ** (first + sets.shape[1] - 1) > _MOST_NUMBERED:
        raise TooLargeError(f"there are too many sets of {sets.shape[1]} of so many columns to number them")
    total = np.zeros(len(sets), dtype=np.int64)
    for place in range(sets.shape[1]):
        size, node = first + place, sets[:, place].astype(np.int64)
        term = np.ones(len(sets), dtype=np.int64)
        for less in range(size):
            term *= np.maximum(node - less, 0)
        total += term // factorial(size)
    return total


def set_numbers(sets: Sets | None) -> Ints | None:
    """[set]: the numbers of sets among all of their width, in ascending order; None for all of them."""
    return None if sets is None else _number(sets)


def numbers_in(sets: Sets | None, wanted: NDArray[np.integer], known: Ints | None = None) -> Ints:
    """Places of the ``wanted`` sets [set, node], ascending each, among ``sets``; -1 for those that are not there.

    None stands for all sets of that width. ``known`` are the :func:`set_numbers`, where they are at hand.
    """
    numbers = _number(wanted)
    if sets is None:
        return numbers
    known = _number(sets) if known is None else known
    place = np.minimum(np.searchsorted(known, numbers), max(len(known) - 1, 0))
    return np.where(known[place] == numbers, place, -1) if len(known) else np.full(len(wanted), -1)


def smaller_sets(sets: Sets, width: int) -> Sets:
    """All sets of ``width`` nodes that lie in one of the ``sets``, each once, in their order."""
    parts = [sets[:, list(kept)] for kept in combinations(range(sets.shape[1]), width)]
    every = np.concatenate(parts)
    _, first = np.unique(_number(every), return_index=True)
    return np.ascontiguousarray(every[first])
