"""Counts of one child with every set of one size: what all hypotheses about its parents are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from kgmi.statistics.tally import Tally
from kgmi.types import Codes, Floats, Ints

__all__ = ["all_sets", "count_sets", "n_cells"]

_BLOCK_CELLS = 16_000_000  # indicators at a time: 64 MB, and fewer rows than float32 can count


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


def count_sets(
    rows: Codes | Tally, child: int, nodes: Sequence[int], size: int, n_states: int, n_own: int
) -> Floats:
    """[set, state of its first node, …, state of the child]: rows, for all sets of one size in increasing order.

    Parameters
    ----------
    rows
        Codes [row, node], complete; or counts of all sets with one node more.
    child, nodes, size
        Whose families, the nodes that sets are made of, and how many are in each.
    n_states, n_own
        States of the nodes (the most of any; the others never take the last ones), and of the child.
    """
    if isinstance(rows, Tally):
        return _looked_up(rows, child, all_sets(nodes, size), n_states, n_own)
    own = rows[:, child].astype(np.int64)
    if size == 0:
        return np.bincount(own, minlength=n_own)[None].astype(np.float64)
    chosen = rows[:, list(nodes)].astype(np.int64)
    parts = [_per_state(chosen[own == state], size, n_states) for state in range(n_own)]
    return np.stack(parts, axis=-1)


def _looked_up(tally: Tally, child: int, sets: Ints, n_states: int, n_own: int) -> Floats:
    """The same from counts; sets whose nodes have the same numbers of states at a time."""
    families = np.column_stack([sets, np.full(len(sets), child, dtype=np.int64)])
    out = np.zeros((len(sets), *(n_states,) * sets.shape[1], n_own))
    kinds, kind = np.unique(np.array(tally.sizes)[families], axis=0, return_inverse=True)
    for number, shape in enumerate(kinds.tolist()):
        here = np.flatnonzero(kind.ravel() == number)
        states = (slice(None), *(slice(size) for size in shape))
        out[states][here] = tally.tables(families[here])
    return out


def _per_state(rows: Ints, size: int, n_states: int) -> Floats:
    """[set, state, …] of rows in which the child has one and the same state."""
    n_nodes = rows.shape[1]
    if size == 1:
        return np.stack([(rows == state).sum(axis=0) for state in range(n_states)], axis=1).astype(np.float64)
    if size == 2:
        return _pairs(rows, n_states)
    parts = []
    for lead in range(n_nodes - size + 1):
        later = rows[:, lead + 1 :]
        here = [_per_state(later[rows[:, lead] == state], size - 1, n_states) for state in range(n_states)]
        parts.append(np.stack(here, axis=1))
    return np.concatenate(parts) if parts else np.zeros((0, *(n_states,) * size))


def _pairs(rows: Ints, n_states: int) -> Floats:
    """[pair, state, state]: products of matrices; whole numbers below 2²⁴ are exact in float32."""
    n_nodes = rows.shape[1]
    n_columns = n_nodes * n_states
    product = np.zeros((n_columns, n_columns))
    step = max(1, _BLOCK_CELLS // max(n_columns, 1))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        hot = np.zeros((len(block), n_columns), dtype=np.float32)
        hot[np.arange(len(block))[:, None], block + np.arange(n_nodes) * n_states] = 1.0
        product += hot.T @ hot
    first, second = np.triu_indices(n_nodes, k=1)
    return product.reshape(n_nodes, n_states, n_nodes, n_states)[first, :, second, :]
