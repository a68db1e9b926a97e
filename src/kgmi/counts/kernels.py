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
def _fill_lanes(
    inner: Any, start: int, totals: Any, margins: Any, lines: Any, ones: Any, gaps: bool, shape: Any, cells: Any
) -> None:
    """Write tables of candidates side by side, [(configuration, candidate's, child's state), lane].

    Without gaps the cells of the last configuration and the last state of a candidate are what is left.
    """
    n_own, last, end = len(ones), shape[0] - (not gaps), shape[1] - (not gaps)
    for u in range(n_own):
        corner = (last * shape[1] + end) * n_own + u
        if not gaps:
            cells[corner] = ones[u]
            for t in range(end):
                below = (last * shape[1] + t) * n_own + u
                for b in range(LANES):
                    cells[below, b] = margins[u, lines[b] + t]
                    cells[corner, b] -= cells[below, b]
        for s in range(last):
            over = (s * shape[1] + end) * n_own + u
            if not gaps:
                cells[over] = totals[s * n_own + u]
            for t in range(end):
                here, below = (s * shape[1] + t) * n_own + u, (last * shape[1] + t) * n_own + u
                for b in range(LANES):
                    cells[here, b] = inner[s * n_own + u, lines[b] - start + t]
                    if not gaps:
                        cells[over, b] -= cells[here, b]
                        cells[below, b] -= cells[here, b]
            if not gaps:
                for b in range(LANES):
                    cells[corner, b] -= cells[over, b]


@inlined
def _add_prices(cells: Any, n_own: int, prices: Any, own: Any, cases: Any, worth: Any) -> None:
    """Add to worth[0, lane] the prices of its cells, configurations, states of the child and of all cases.

    The other lines are how many cells and configurations have cases, and the number of cases.
    """
    own[:] = 0
    for line in range(0, len(cells), n_own):
        cases[:] = 0
        for u in range(n_own):
            for b in range(LANES):
                n = cells[line + u, b]
                worth[0, b] += prices[0, int(n)]
                worth[1, b] += n > 0
                cases[b] += n
                own[u, b] += n
        for b in range(LANES):
            worth[0, b] += prices[1, int(cases[b])]
            worth[2, b] += cases[b] > 0
    cases[:] = 0
    for u in range(n_own):
        for b in range(LANES):
            worth[0, b] += prices[2, int(own[u, b])]
            cases[b] += own[u, b]
    for b in range(LANES):
        worth[0, b] += prices[3, int(cases[b])]
        worth[3, b] = cases[b]


@inlined
def _write_worth(
    cells: Any, n_own: int, prices: Any, gains: Any, own: Any, cases: Any, worth: Any, out: Any
) -> None:
    """Write ``out`` [kernel, lane], what tables side by side are worth; by prices as in :func:`_add_prices`."""
    if not len(gains):
        worth[:] = 0.0
        _add_prices(cells, n_own, prices, own, cases, worth)
        out[:] = worth[:, : out.shape[1]]
    for k in range(len(gains)):
        worth[0] = 0.0
        for line in range(len(cells)):
            for b in range(LANES):
                worth[0, b] += gains[k, line] * cells[line, b]
        out[k] = worth[0, : out.shape[1]]


@compiled
def table_worth(tables: Any, n_own: int, prices: Any, gains: Any, out: Any) -> None:
    """Write ``out`` [kernel, table]: what tables [table, cell] are worth, by the sums of :func:`family_worth`."""
    cells, own = np.zeros((tables.shape[1], LANES), tables.dtype), np.empty((n_own, LANES), tables.dtype)
    cases, worth = np.empty(LANES, tables.dtype), np.empty((4, LANES), np.float64)
    for first in range(0, len(tables), LANES):
        last = min(first + LANES, len(tables))
        for b in range(last - first):
            cells[:, b] = tables[first + b]
        _write_worth(cells, n_own, prices, gains, own, cases, worth, out[:, first:last])


@compiled
def family_worth(
    target: Any,  # bits of the child [state, word]
    ones: Any,  # [state]: bits of the child that are set
    left: Any,  # bits of tuples of parents [tuple, configuration, word]
    right: Any,  # bits of the candidates [line, word]
    places: Any,  # [candidate]: where its lines begin
    n_states: int,  # of a candidate
    half: bool,  # whether tuples and candidates are the same nodes, so that candidates behind the tuple will do
    gaps: bool,  # whether values are missing; otherwise the last state of a candidate has no line
    prices: Any,  # [4, count], to be added up: of a cell, a configuration, a state of the child, and all cases
    gains: Any,  # [kernel, cell]: what a case gains; where there are none, prices count
    out: Any,
) -> None:
    """Write ``out`` [kernel, tuple, candidate]: what every tuple with every candidate is worth to the child."""
    n_own, shape = len(target), (left.shape[1], n_states)
    n_masks = n_own * (shape[0] - (not gaps))
    masks, totals = np.empty((n_masks, target.shape[1]), np.uint64), np.empty(n_masks, np.int64)
    inner, margins = (
        np.empty((n_masks + 2, len(right) + 2), np.int64),
        np.zeros((n_own + 2, len(right) + 2), np.int64),
    )
    cells, own = np.zeros((shape[0] * n_states * n_own, LANES), np.int64), np.empty((n_own, LANES), np.int64)
    cases, lines, worth = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.empty((4, LANES), np.float64)
    count_lines(target, right, False, margins)
    for a in range(len(left) - half):
        for m in range(n_masks):
            mask, total = masks[m], np.uint64(0)
            for w in range(len(mask)):
                mask[w] = target[m % n_own, w] & left[a, m // n_own, w]
                total += bits(mask[w])
            totals[m] = total
        behind = a + 1 if half else 0
        start = places[behind:].min()
        inner[:] = 0
        count_lines(masks, right[start:], False, inner)
        for first in range(behind, len(places), LANES):
            for b in range(LANES):  # where there are too few, the last one again
                lines[b] = places[min(first + b, len(places) - 1)]
            _fill_lanes(inner, start, totals, margins, lines, ones, gaps, shape, cells)
            _write_worth(cells, n_own, prices, gains, own, cases, worth, out[:, a, first : first + LANES])


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
            n_lines *= max(n_planes[sets[i, place]], 1)  # a column of one state has none
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
