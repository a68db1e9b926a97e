"""Sets of columns counted in bits and as histograms, compiled by numba. Importing it loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.statistics.bit_kernels import bits

__all__ = ["count_set_bits", "count_set_histograms"]


@inlined
def _count_line(line: Any, others: Any, counts: Any) -> None:
    """Set counts[b] to the bits that a line has in common with each of the ``others`` [b, word], four at a time."""
    n_fours = len(others) - len(others) % 4
    for b in range(0, n_fours, 4):
        p, q, r, s = others[b], others[b + 1], others[b + 2], others[b + 3]
        in_p, in_q, in_r, in_s = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        for k in range(len(line)):
            in_p += bits(line[k] & p[k])
            in_q += bits(line[k] & q[k])
            in_r += bits(line[k] & r[k])
            in_s += bits(line[k] & s[k])
        counts[b], counts[b + 1], counts[b + 2], counts[b + 3] = in_p, in_q, in_r, in_s
    for b in range(n_fours, len(others)):
        p, in_p = others[b], np.uint64(0)
        for k in range(len(line)):
            in_p += bits(line[k] & p[k])
        counts[b] = in_p


@inlined
def _same_rest(sets: Any, i: int) -> Any:
    """Whether a set differs from the one before in its first node only."""
    same = i > 0
    for place in range(1, sets.shape[1]):
        if same and sets[i, place] != sets[i - 1, place]:
            same = False
    return same


@compiled
def count_set_bits(words: Any, lines: Any, sets: Any, starts: Any, out: Any) -> None:
    """Add to ``out`` how many rows have each combination of states, the last state of every column left out.

    Parameters
    ----------
    words
        Bits [line, word]: one line for every state of every node, but its last.
    lines
        [node + 1]: where the lines of each node begin, and the end.
    sets
        [set, node] in colex order, so that neighbours differ in their first node mostly: the bits that all others
        have in common are made once for all of these, and the first nodes are counted many at a time.
    starts
        [set]: where the cells of a set begin in ``out``; they are in the order of its nodes.
    """
    n_sets, width = sets.shape
    n_words, n_planes = words.shape[1], np.diff(lines)
    most = 1
    for i in range(n_sets):
        n_lines = 1
        for place in range(1, width):
            n_lines *= max(n_planes[sets[i, place]], 1)  # on the way to none there may be some
        most = max(most, n_lines)
    rest = np.empty((most, n_words), np.uint64)
    more = np.empty((most, n_words), np.uint64)
    counts = np.empty(len(words), np.int64)
    i = 0
    while i < n_sets:
        n_lines = 1
        if width > 1:
            node = sets[i, 1]
            n_lines = n_planes[node]
            rest[:n_lines] = words[lines[node] : lines[node + 1]]
        else:
            rest[0] = ~np.uint64(0)
        for place in range(2, width):
            node = sets[i, place]
            n_new = n_planes[node]
            for a in range(n_lines):
                for b in range(n_new):
                    line, x, y = more[a * n_new + b], rest[a], words[lines[node] + b]
                    for k in range(n_words):
                        line[k] = x[k] & y[k]
            n_lines *= n_new
            rest, more = more, rest
        end = i + 1
        while end < n_sets and _same_rest(sets, end):
            end += 1
        while i < end:  # runs of first nodes that lie side by side
            stop = i + 1
            while stop < end and sets[stop, 0] == sets[stop - 1, 0] + 1:
                stop += 1
            first, last = sets[i, 0], sets[stop - 1, 0]
            for a in range(n_lines):
                _count_line(rest[a], words[lines[first] : lines[last + 1]], counts)
                for j in range(i, stop):
                    at = lines[sets[j, 0]] - lines[first]
                    for b in range(n_planes[sets[j, 0]]):
                        out[starts[j] + b * n_lines + a] += counts[at + b]
            i = stop


@compiled
def count_set_histograms(columns: Any, sizes: Any, sets: Any, starts: Any, out: Any) -> None:
    """Add to ``out`` how many rows have each combination of codes, of all ``sizes`` [node] codes.

    ``columns`` [node, row] are codes from 0; ``sets`` and ``starts`` are as in :func:`count_set_bits`.
    """
    n_sets, width = sets.shape
    n_rows = columns.shape[1]
    rest = np.zeros(n_rows, np.int64)
    n_rest = 1
    for i in range(n_sets):
        if not _same_rest(sets, i):
            rest[:] = 0
            n_rest = 1
            for place in range(1, width):
                size, column = sizes[sets[i, place]], columns[sets[i, place]]
                n_rest *= size
                for row in range(n_rows):
                    rest[row] = rest[row] * size + column[row]
        first, start = columns[sets[i, 0]], starts[i]
        for row in range(n_rows):
            out[start + first[row] * n_rest + rest[row]] += 1
