"""Counting loops that numba compiles; compiled code is kept on disk. Importing this module loads the compiler.

Rows are bits, 64 to a word: one AND and one count of bits do what 64 multiplications do in a product of matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kgmi.jit import compiled, inlined

__all__ = [
    "LANES",
    "WORD",
    "bits",
    "count_codes",
    "count_lines",
    "count_pair_block",
    "count_set_bits",
    "family_worth",
    "pack_words",
]

WORD = 64  # rows to a word
LANES = 64  # candidates side by side: fewer take longer each, and tables of more leave the cache
_WORDS_AT_ONCE = 256  # 2 KB of a line, so that a block of lines stays in the cache however many rows there are


@intrinsic  # type: ignore[untyped-decorator]
def bits(context: Any, x: Any) -> Any:
    """Return the number of bits that are set in a word: one instruction of the processor."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


# ---- packing ----------------------------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def _having(context: Any, codes: Any, row: Any, node: Any, state: Any) -> Any:
    """Return which of 64 nodes side by side in a row of ``codes`` [row, node] have a state, as bits."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        line, number = ir.VectorType(ir.IntType(8), WORD), ir.IntType(32)
        start = builder.mul(arguments[1], builder.extract_value(array.strides, 0))
        place = builder.gep(array.data, [builder.add(start, arguments[2])])
        loaded = builder.load(builder.bitcast(place, line.as_pointer()), align=1)
        first = builder.insert_element(ir.Constant(line, ir.Undefined), arguments[3], number(0))
        every = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(number, WORD), None))
        return builder.bitcast(builder.icmp_signed("==", loaded, every), ir.IntType(WORD))

    return types.uint64(codes, types.intp, types.intp, types.int8), build


@inlined
def _transpose(words: Any) -> None:
    """Make bit k of words[row, lane] bit ``row`` of words[k, lane]; ``words`` is flat."""
    step, low = 32, np.uint64(0xFFFFFFFF)
    while step:
        shift, size = np.uint64(step), 8 * step
        for first in range(0, 8 * WORD, 2 * size):
            x, y = words[first : first + size], words[first + size : first + 2 * size]
            for k in range(size):
                turned = ((x[k] >> shift) ^ y[k]) & low
                x[k] ^= turned << shift
                y[k] ^= turned
        step >>= 1
        low ^= low << np.uint64(step)


@compiled
def pack_words(codes: Any, starts: Any, first_word: int, words: Any) -> None:
    """Write the bits of ``codes`` [row, node] into ``words`` [line, word] from one word on.

    Rows are a multiple of 512 and nodes one of 64, filled up with -1. The lines of node i, one for each state from
    0 on, are ``starts[i]`` to ``starts[i + 1]``. Eight words of 64 nodes are made at a time: 64 codes of a row are
    compared at once, and the bits transposed.
    """
    n_nodes, lanes = len(starts) - 1, np.empty(8 * WORD, np.uint64)
    for start in range(0, codes.shape[0], 8 * WORD):
        word = first_word + start // WORD
        n_words = min(8, words.shape[1] - word)
        for left in range(0, n_nodes, WORD):
            right, n_states = min(left + WORD, n_nodes), 0
            for node in range(left, right):
                n_states = max(n_states, starts[node + 1] - starts[node])
            for state in range(n_states):
                for row in range(WORD):
                    for lane in range(8):
                        lanes[8 * row + lane] = _having(codes, start + lane * WORD + row, left, np.int8(state))
                _transpose(lanes)
                for node in range(left, right):
                    if starts[node] + state < starts[node + 1]:
                        for lane in range(n_words):
                            words[starts[node] + state, word + lane] = lanes[8 * (node - left) + lane]


# ---- pairs ----------------------------------------------------------------------------------------------------


@compiled
def count_lines(x: Any, y: Any, is_half: bool, counts: Any) -> None:
    """Add to ``counts`` [a, b] the bits that lines a of ``x`` and b of ``y`` [line, word] have in common.

    Three lines against three: each word that is read serves three times. Where there are too few lines, the last
    is counted instead of those missing, so ``counts`` has two lines more than needed. Where ``is_half``, only b ≥ a
    are counted.
    """
    last_x, last_y = len(x) - 1, len(y) - 1
    for start in range(0, x.shape[1], _WORDS_AT_ONCE):
        words = slice(start, min(start + _WORDS_AT_ONCE, x.shape[1]))
        for a in range(0, len(x), 3):
            p, q, r = x[a, words], x[min(a + 1, last_x), words], x[min(a + 2, last_x), words]
            for b in range(a if is_half else 0, len(y), 3):
                u, v, w = y[b, words], y[min(b + 1, last_y), words], y[min(b + 2, last_y), words]
                pu, pv, pw = np.uint64(0), np.uint64(0), np.uint64(0)
                qu, qv, qw = np.uint64(0), np.uint64(0), np.uint64(0)
                ru, rv, rw = np.uint64(0), np.uint64(0), np.uint64(0)
                for k in range(len(p)):
                    pu += bits(p[k] & u[k])
                    pv += bits(p[k] & v[k])
                    pw += bits(p[k] & w[k])
                    qu += bits(q[k] & u[k])
                    qv += bits(q[k] & v[k])
                    qw += bits(q[k] & w[k])
                    ru += bits(r[k] & u[k])
                    rv += bits(r[k] & v[k])
                    rw += bits(r[k] & w[k])
                counts[a, b] += pu
                counts[a, b + 1] += pv
                counts[a, b + 2] += pw
                counts[a + 1, b] += qu
                counts[a + 1, b + 1] += qv
                counts[a + 1, b + 2] += qw
                counts[a + 2, b] += ru
                counts[a + 2, b + 1] += rv
                counts[a + 2, b + 2] += rw


@inlined
def _fill_pair(
    inner: Any, a: Any, b: Any, ones_a: Any, ones_b: Any, n_rows: Any, last: Any, end: Any, table: Any, turned: Any
) -> None:
    """Write the counts of two columns, both ways: what lines have in common, and the rests for last states."""
    corner = n_rows
    for t in range(end):
        rest = ones_b[b + t]
        corner -= rest
        for s in range(last):
            n = inner[a + s, b + t]
            rest -= n
            table[s, t] = n
            turned[t, s] = n
        table[last, t] = rest
        turned[t, last] = rest
    for s in range(last):
        rest = ones_a[a + s]
        for t in range(end):
            rest -= inner[a + s, b + t]
        corner -= rest
        table[s, end] = rest
        turned[end, s] = rest
    table[last, end] = corner
    turned[end, last] = corner


@compiled
def count_pair_block(
    words: Any,  # bits [line, word]
    starts: Any,  # [column + 1]: where the lines of each column begin, and the end
    sizes: Any,  # [column]: number of states
    ones: Any,  # [line]: bits that are set
    n_rows: int,
    has_gaps: bool,  # whether values are missing; otherwise the last state has no line: it is what is left
    i_nodes: Any,  # first column and end
    j_nodes: Any,  # the same columns, or later ones
    out: Any,
) -> None:
    """Write the counts ``out`` [i, j, s', s] and [j, i, s, s'] of the columns of two ranges."""
    i_start, j_start = i_nodes[0], j_nodes[0]
    x_lines = slice(starts[i_start], starts[i_nodes[1]])
    y_lines = slice(starts[j_start], starts[j_nodes[1]])
    inner = np.zeros((x_lines.stop - x_lines.start + 2, y_lines.stop - y_lines.start + 2), out.dtype)
    count_lines(words[x_lines], words[y_lines], i_start == j_start, inner)
    ones_a, ones_b = ones[x_lines], ones[y_lines]
    has_three = not has_gaps and out.shape[2] == 3 and len(words) == 2 * len(sizes)
    for i in range(i_start, i_nodes[1]):
        a, n_a = starts[i] - starts[i_start], starts[i + 1] - starts[i]
        for j in range(max(i, j_start), j_nodes[1]):
            b, n_b = starts[j] - starts[j_start], starts[j + 1] - starts[j]
            if n_a < sizes[i] - (not has_gaps) or n_b < sizes[j] - (not has_gaps):
                continue  # columns of many states have no lines
            if has_three:  # twice as fast where the compiler knows it
                _fill_pair(inner, a, b, ones_a, ones_b, n_rows, 2, 2, out[i, j], out[j, i])
            elif not has_gaps:
                _fill_pair(inner, a, b, ones_a, ones_b, n_rows, n_a, n_b, out[i, j], out[j, i])
            else:
                for s in range(n_a):
                    for t in range(n_b):
                        out[i, j, s, t] = inner[a + s, b + t]
                        out[j, i, t, s] = inner[a + s, b + t]


# ---- codes ----------------------------------------------------------------------------------------------------


@compiled
def count_codes(
    places: Any,  # [row]: the states of other columns as one number; negative where a value is missing
    step: int,  # how far the cells of two states of a column are apart
    columns: Any,  # [column, row]: codes
    nodes: Any,  # [table]: which column it is of
    weights: Any,  # [row], or empty where every row counts once
    starts: Any,  # [table]: where it begins in ``out``
    out: Any,
) -> None:
    """Add every row, code by code, to the tables of some columns; rows without a value are left out."""
    for i in range(len(nodes)):
        table, column = out[starts[i] :], columns[nodes[i]]
        for row in range(len(places)):
            if places[row] | column[row] >= 0:
                table[places[row] + step * column[row]] += weights[row] if len(weights) else 1


# ---- families ---------------------------------------------------------------------------------------------------


@inlined
def _count_lane(mask: Any, right: Any, block: Any, t: Any, cells: Any, at: Any) -> None:
    """Set cells[at, lane] to the bits that ``mask`` [word] has in common with a state of every candidate."""
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
    """Return [block, line, lane]: rows in which candidate and child have these states, all but the last."""
    n_states = len(target)
    out = np.empty((len(right), (n_right - 1) * n_states, LANES), np.int64)
    for block in range(len(right)):
        for u in range(n_states):
            for t in range(n_right - 1):
                _count_lane(target[u], right, block, t, out[block], t * n_states + u)
    return out


@inlined
def _subtract(cells: Any, at: int, less: int) -> None:
    """Subtract one line of cells from another."""
    for b in range(LANES):
        cells[at, b] -= cells[less, b]


@inlined
def _fill_family(
    target: Any, lines: Any, right: Any, block: int, gaps: bool, ones: Any, margins: Any, shape: Any, cells: Any
) -> None:
    """Write tables ``cells`` [line, lane] of one tuple; a line is (configuration, candidate's, child's state).

    Without gaps the last configuration and the last state follow from margins, and are not counted.
    """
    n_states, mask = len(target), np.empty(target.shape[1], np.uint64)
    last, end = shape[0] - (not gaps), shape[1] - (not gaps)
    for u in range(n_states):
        corner = (last * shape[1] + end) * n_states + u
        if not gaps:
            cells[corner] = ones[u]
            for t in range(end):
                cells[(last * shape[1] + t) * n_states + u] = margins[block, t * n_states + u]
        for s in range(last):
            total = np.int64(0)
            for w in range(len(mask)):
                mask[w] = target[u, w] & lines[s, w]
                total += bits(mask[w])
            over = (s * shape[1] + end) * n_states + u
            if not gaps:
                cells[over] = total
                _subtract(cells, corner, over)
            for t in range(end):
                at, below = (s * shape[1] + t) * n_states + u, (last * shape[1] + t) * n_states + u
                _count_lane(mask, right, block, t, cells, at)
                if not gaps:
                    _subtract(cells, over, at)
                    _subtract(cells, below, at)
        for t in range(end if not gaps else 0):
            _subtract(cells, corner, (last * shape[1] + t) * n_states + u)


@inlined
def _add_up(cells: Any, n_states: int, prices: Any, own: Any, cases: Any, worth: Any) -> None:
    """Set worth[lane] to the prices of its cells, configurations, states of the child and of all cases."""
    own[:], worth[:] = 0, 0.0
    for line in range(0, len(cells), n_states):
        cases[:] = 0
        for u in range(n_states):
            for b in range(LANES):
                n = cells[line + u, b]
                worth[b] += prices[0, n]
                cases[b] += n
                own[u, b] += n
        for b in range(LANES):
            worth[b] += prices[1, cases[b]]
    cases[:] = 0
    for u in range(n_states):
        for b in range(LANES):
            worth[b] += prices[2, own[u, b]]
            cases[b] += own[u, b]
    for b in range(LANES):
        worth[b] += prices[3, cases[b]]


@inlined
def _weigh(cells: Any, gains: Any, kernel: int, worth: Any) -> None:
    """Set worth[lane] to Σ counts · gains of one kernel."""
    for b in range(LANES):
        worth[b] = 0.0
    for line in range(len(cells)):
        for b in range(LANES):
            worth[b] += gains[kernel, line] * cells[line, b]


@compiled
def family_worth(
    target: Any,  # bits of the child [state, word]
    ones: Any,  # [state]: bits of the child that are set
    left: Any,  # bits of tuples of parents [tuple, configuration, word]
    right: Any,  # bits of the candidates side by side [block, state, word, lane]
    shape: Any,  # configurations of a tuple, and states of a candidate
    half: bool,  # whether tuples and candidates are the same nodes, so that candidates behind the tuple will do
    gaps: bool,  # whether values are missing
    prices: Any,  # [4, count], to be added up: of a cell, a configuration, a state of the child, and all cases
    gains: Any,  # [kernel, line]: what a case in a cell gains; where there are none, prices count
    out: Any,
) -> None:
    """Write ``out`` [kernel, tuple, candidate]: what every tuple with every candidate is worth to the child."""
    n_states = len(target)
    margins = _margins(target, right, shape[1])
    cells = np.empty((shape[0] * shape[1] * n_states, LANES), np.int64)
    own, cases = np.empty((n_states, LANES), np.int64), np.empty(LANES, np.int64)
    worth = np.empty(LANES, np.float64)
    for a in range(len(left)):
        for block in range((a + 1) // LANES if half else 0, len(right)):
            _fill_family(target, left[a], right, block, gaps, ones, margins, shape, cells)
            first = block * LANES
            for k in range(len(out)):
                if len(gains):
                    _weigh(cells, gains, k, worth)
                else:
                    _add_up(cells, n_states, prices, own, cases, worth)
                for b in range(max(a + 1 - first, 0) if half else 0, min(LANES, out.shape[2] - first)):
                    out[k, a, first + b] = worth[b]


# ---- sets of columns --------------------------------------------------------------------------------------------


@compiled
def count_set_bits(
    words: Any,  # bits [line, word]: one line for every state of every node but its last
    lines: Any,  # [node + 1]: where the lines of each node begin, and the end
    sets: Any,  # [set, node] in colex order
    starts: Any,  # [set]: where the cells of a set begin in ``out``; they are in the order of its nodes
    out: Any,
) -> None:
    """Add to ``out`` how many rows have each combination of states, the last state of every column left out.

    Neighbours among the sets differ in their first node mostly: the bits that all others have in common are made
    once for all of these.
    """
    n_sets, width = sets.shape
    n_words, n_planes = words.shape[1], lines[1:] - lines[:-1]
    most = 1
    for i in range(n_sets):
        n_lines = 1
        for place in range(1, width):
            n_lines *= max(n_planes[sets[i, place]], 1)  # on the way to none there may be some
        most = max(most, n_lines)
    rest, more = np.empty((most, n_words), np.uint64), np.empty((most, n_words), np.uint64)
    for i in range(n_sets):
        if i == 0 or (sets[i, 1:] != sets[i - 1, 1:]).any():
            rest[0] = ~np.uint64(0)
            n_lines = 1
            for place in range(1, width):
                node = sets[i, place]
                n_new = n_planes[node]
                for a in range(n_lines):
                    for b in range(n_new):
                        line, x, y = more[a * n_new + b], rest[a], words[lines[node] + b]
                        for k in range(n_words):
                            line[k] = x[k] & y[k]
                n_lines *= n_new
                rest, more = more, rest
        for b in range(n_planes[sets[i, 0]]):
            own = words[lines[sets[i, 0]] + b]
            for a in range(n_lines):
                line, total = rest[a], np.uint64(0)
                for k in range(n_words):
                    total += bits(line[k] & own[k])
                out[starts[i] + b * n_lines + a] += total
