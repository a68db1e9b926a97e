"""Counts of one child with every set of one size: what all hypotheses about its parents are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from kgmi.counts.base import Counts
from kgmi.types import Floats, Ints

__all__ = ["all_sets", "count_sets", "n_cells"]


def all_sets(nodes: Sequence[int], size: int, required: Sequence[int] = ()) -> Ints:
    """[set, place]: all sets of one size in increasing order, with the required nodes in each."""
    if size == 2 and not required:  # the usual case, and often many thousands
        numbers = np.array(nodes, dtype=np.int64)
        first, second = np.triu_indices(len(numbers), k=1)
        return np.stack([numbers[first], numbers[second]], axis=1)
    needed = set(required)
    chosen = [one for one in combinations(nodes, size) if needed.issubset(one)]
    return np.array(chosen, dtype=np.int64).reshape(len(chosen), size)


def n_cells(n_nodes: int, size: int, n_states: int, n_child_states: int) -> float:
    """Numbers that :func:`count_sets` returns for all sets of one size."""
    return float(comb(n_nodes, size)) * float(n_states) ** size * n_child_states


def count_sets(counts: Counts, child: int, nodes: Sequence[int], size: int, n_states: int, n_own: int) -> Floats:
    """Return [set, state of its first node, …, state of the child]: rows, all sets of a size in increasing order.

    Parameters
    ----------
    counts
        Complete rows, or counts of all sets with one node more.
    child, nodes, size
        Whose families, the nodes that sets are made of, and how many are in each.
    n_states, n_own
        States of the nodes (the most of any; the others never take the last ones), and of the child.
    """
    sets = all_sets(nodes, size)
    out = np.zeros((len(sets), *(n_states,) * size, n_own))
    if size == 0:
        out[0] = counts.family(child, ())
        return out
    leads, starts = np.unique(sets[:, :-1], axis=0, return_index=True)
    sizes = np.array(counts.sizes)
    for lead, start, stop in zip(leads, starts, [*starts[1:], len(sets)], strict=True):
        last = sets[start:stop, -1]
        for own in np.unique(sizes[last]).tolist():
            here = np.flatnonzero(sizes[last] == own)
            inner = tuple(slice(n) for n in (*sizes[lead].tolist(), own))
            for (_, some), tables in counts.families(child, lead[None], last[here]):
                out[(start + here[some], *inner)] = tables[0]
    return out
