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
    """Return all sets of so many nodes; set (a < b < c) is number C(a, 1) + C(b, 2) + C(c, 3)."""
    made = np.empty((comb(n_nodes, width), width), dtype=np.int32)
    left = np.arange(len(made), dtype=np.int64)
    for place in range(width - 1, -1, -1):
        steps = np.array([comb(node, place + 1) for node in range(n_nodes + 1)], dtype=np.int64)
        made[:, place] = np.searchsorted(steps, left, side="right") - 1
        left = left - steps[made[:, place]]
    made.setflags(write=False)
    return made


def set_numbers(sets: NDArray[np.integer]) -> Ints:
    """Return the number of each ascending set [set, node] among all sets of its width."""
    largest = int(sets[:, -1].max(initial=0)) if sets.shape[1] else 0
    if float(largest + 1) ** sets.shape[1] > _MOST_NUMBERED:
        raise TooLargeError(f"there are too many sets of {sets.shape[1]} of so many columns to number them")
    total = np.zeros(len(sets), dtype=np.int64)
    for place in range(sets.shape[1]):
        term = np.ones(len(sets), dtype=np.int64)
        for less in range(place + 1):
            term *= np.maximum(sets[:, place].astype(np.int64) - less, 0)
        total += term // factorial(place + 1)
    return total


def numbers_in(sets: Sets | None, wanted: NDArray[np.integer], known: Ints | None = None) -> Ints:
    """Return the places of the ``wanted`` sets [set, node], ascending each, among ``sets``; -1 for missing ones.

    None means all sets of that width. ``known`` are the :func:`set_numbers` of ``sets``, where they are at
    hand.
    """
    numbers = set_numbers(wanted)
    if sets is None:
        return numbers
    known = set_numbers(sets) if known is None else known
    if not len(known):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[place] == numbers, place, -1)


def smaller_sets(sets: Sets, width: int) -> Sets:
    """Return all sets of ``width`` nodes that lie in one of the ``sets``, each once, in their order."""
    every = np.concatenate([sets[:, list(kept)] for kept in combinations(range(sets.shape[1]), width)])
    _, first = np.unique(set_numbers(every), return_index=True)
    return np.ascontiguousarray(every[first])
