"""What numba compiles for families of columns. Import it where it is needed: this loads the compiler.

Rows are bits. ``target`` [state, word] are those of the child; ``left`` [tuple, configuration, word] those of some
tuples of parents; ``right`` [block, state, word, lane] those of one more parent each, candidates side by side, so
that a block of them is counted at a time. Where no value is missing, the last configuration and the last state
follow from the margins and are not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.statistics.bit_kernels import bits

__all__ = ["LANES", "family_worth"]

LANES = 64  # candidates side by side: fewer take longer each, and tables of more leave the cache


@inlined
def _count(mask: Any, right: Any, block: Any, t: Any, cells: Any, at: Any) -> None:
    """cells[at, lane]: bits that ``mask`` [word] has in common with a state of every candidate of a block."""
    n_words = len(mask)
    for b in range(LANES):
        cells[at, b] = 0
    for w in range(0, n_words - 3, 4):  # four words at a time: a sum is read and written once for all of them
        m0, m1, m2, m3 = mask[w], mask[w + 1], mask[w + 2], mask[w + 3]
        for b in range(LANES):
            two = bits(m0 & right[block, t, w, b]) + bits(m1 & right[block, t, w + 1, b])
            more = bits(m2 & right[block, t, w + 2, b]) + bits(m3 & right[block, t, w + 3, b])
            cells[at, b] += two + more
    for w in range(n_words - n_words % 4, n_words):
        for b in range(LANES):
            cells[at, b] += bits(mask[w] & right[block, t, w, b])


@inlined
def _margins(target: Any, right: Any, n_right: int) -> Any:
    """[block, line, lane]: rows in which the candidate and the child have these states, all but the last."""
    n_states = len(target)
    out = np.empty((len(right), (n_right - 1) * n_states, LANES), np.int64)
    mask = np.empty(target.shape[1], np.uint64)
    for u in range(n_states):
        for w in range(len(mask)):
            mask[w] = target[u, w]
        for block in range(len(right)):
            lines = out[block]
            for t in range(n_right - 1):
                _count(mask, right, block, t, lines, t * n_states + u)
    return out


@inlined
def _fill(
    target: Any,
    left: Any,
    a: int,
    right: Any,
    block: int,
    ones: Any,
    margins: Any,
    shape: Any,
    mask: Any,
    cells: Any,
) -> None:
    """``cells`` [line, lane]: tables of one tuple; lines are (configuration, candidate's state, child's state)."""
    n_states = len(target)
    last, end = shape[0] - 1, shape[1] - 1
    for u in range(n_states):
        rest = (last * shape[1] + end) * n_states + u
        for b in range(LANES):
            cells[rest, b] = ones[u]
        for t in range(end):  # at first the margins stand where the rest will
            at, margin = (last * shape[1] + t) * n_states + u, t * n_states + u
            for b in range(LANES):
                cells[at, b] = margins[block, margin, b]
        for s in range(last):
            total = np.int64(0)
            for w in range(len(mask)):
                mask[w] = target[u, w] & left[a, s, w]
                total += bits(mask[w])
            over = (s * shape[1] + end) * n_states + u
            for b in range(LANES):
                cells[over, b] = total
                cells[rest, b] -= total
            for t in range(end):
                at, below = (s * shape[1] + t) * n_states + u, (last * shape[1] + t) * n_states + u
                _count(mask, right, block, t, cells, at)
                for b in range(LANES):
                    cells[over, b] -= cells[at, b]
                    cells[below, b] -= cells[at, b]
        for t in range(end):
            below = (last * shape[1] + t) * n_states + u
            for b in range(LANES):
                cells[rest, b] -= cells[below, b]


@inlined
def _fill_with_gaps(
    target: Any, left: Any, a: int, right: Any, block: int, shape: Any, mask: Any, cells: Any
) -> None:
    """The same where a value is missing: everything is counted."""
    n_states = len(target)
    for u in range(n_states):
        for s in range(shape[0]):
            for w in range(len(mask)):
                mask[w] = target[u, w] & left[a, s, w]
            for t in range(shape[1]):
                _count(mask, right, block, t, cells, (s * shape[1] + t) * n_states + u)


@inlined
def _add_up(cells: Any, n_states: int, prices: Any, own: Any, cases: Any, worth: Any) -> None:
    """worth[lane]: prices of its cells, of its configurations, of the states of the child and of all cases."""
    for u in range(n_states):
        for b in range(LANES):
            own[u, b] = 0
    for b in range(LANES):
        worth[b] = 0.0
    for line in range(0, len(cells), n_states):
        for b in range(LANES):
            cases[b] = 0
        for u in range(n_states):
            for b in range(LANES):
                n = cells[line + u, b]
                worth[b] += prices[0, n]
                cases[b] += n
                own[u, b] += n
        for b in range(LANES):
            worth[b] += prices[1, cases[b]]
    for b in range(LANES):
        cases[b] = 0
    for u in range(n_states):
        for b in range(LANES):
            worth[b] += prices[2, own[u, b]]
            cases[b] += own[u, b]
    for b in range(LANES):
        worth[b] += prices[3, cases[b]]


@inlined
def _ones(target: Any) -> Any:
    """[state]: how often the child has it."""
    out = np.zeros(len(target), np.int64)
    for u in range(len(target)):
        for w in range(target.shape[1]):
            out[u] += bits(target[u, w])
    return out


@inlined
def _weigh(cells: Any, gains: Any, kernel: int, worth: Any) -> None:
    """worth[lane]: Σ counts · gains of one kernel."""
    for b in range(LANES):
        worth[b] = 0.0
    for line in range(len(cells)):
        for b in range(LANES):
            worth[b] += gains[kernel, line] * cells[line, b]


@compiled
def family_worth(
    target: Any,
    left: Any,
    right: Any,
    shape: Any,
    is_half: bool,
    has_gaps: bool,
    prices: Any,
    gains: Any,
    out: Any,
) -> None:
    """``out`` [kernel, tuple, candidate]: what every tuple with every candidate is worth to the child.

    Parameters
    ----------
    shape
        Configurations of a tuple, and states of a candidate.
    is_half
        Whether tuples and candidates are the same nodes, and half of the table will do: candidate > tuple.
    prices
        [4, count], to be added up: of a cell, of a configuration, of a state of the child, of all cases.
    gains
        [kernel, line]: what is gained by a case in a cell, lines as in a table of counts. With none of them ``out``
        has one kernel, and the prices count.
    """
    n_states, n_words = target.shape
    margins, ones = _margins(target, right, shape[1]), _ones(target)
    mask = np.empty(n_words, np.uint64)
    cells = np.empty((shape[0] * shape[1] * n_states, LANES), np.int64)
    own, cases = np.empty((n_states, LANES), np.int64), np.empty(LANES, np.int64)
    worth = np.empty(LANES, np.float64)
    for a in range(len(left)):
        for block in range((a + 1) // LANES if is_half else 0, len(right)):
            if has_gaps:
                _fill_with_gaps(target, left, a, right, block, shape, mask, cells)
            else:
                _fill(target, left, a, right, block, ones, margins, shape, mask, cells)
            first = block * LANES
            for k in range(len(out)):
                if len(gains):
                    _weigh(cells, gains, k, worth)
                else:
                    _add_up(cells, n_states, prices, own, cases, worth)
                for b in range(max(a + 1 - first, 0) if is_half else 0, min(LANES, out.shape[2] - first)):
                    out[k, a, first + b] = worth[b]
