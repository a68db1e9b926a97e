"""What numba compiles: families of three columns counted bit by bit. Import it where it is needed.

``words[node, plane, word]`` are the states of the nodes but the last, 64 rows to a word. Counts of all states
follow from those of all but the last: ``pairs[i, j, s', s]`` (without the last, too) and ``singles[i, s]`` are
counted once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined

__all__ = ["best_singles", "count_inner_pairs", "family_tables", "head_rows", "pair_fits", "scan_partners"]

_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
_ONES = np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_GROUP = 8  # children that go through the candidates together
_CACHE_WORDS = 32_768  # of candidates that stay in the cache meanwhile: 256 KB


@inlined
def _bits(x: Any) -> Any:
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> _TWO) & _FOURS)
    x = (x + (x >> _FOUR)) & _EIGHTS
    return (x * _ONES) >> _TOP


@compiled
def count_inner_pairs(words: Any, start: int, stop: int, out: Any) -> None:
    """out[i, j, s', s] and its mirror image for i in start..stop-1 and all j ≤ i, a block of j at a time."""
    n_planes, n_words = words.shape[1], words.shape[2]
    flat = words.reshape(-1, n_words)
    block = max(1, _CACHE_WORDS // (n_planes * n_words)) * n_planes
    for begin in range(0, stop * n_planes, block):
        for line in range(max(start * n_planes, begin), stop * n_planes):
            x = flat[line]
            i, s = line // n_planes, line % n_planes
            end = min(begin + block, (i + 1) * n_planes)
            row = begin
            while row + 4 <= end:
                a0, a1, a2, a3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
                for k in range(n_words):
                    w = x[k]
                    a0 += _bits(w & flat[row, k])
                    a1 += _bits(w & flat[row + 1, k])
                    a2 += _bits(w & flat[row + 2, k])
                    a3 += _bits(w & flat[row + 3, k])
                for step, total in enumerate((a0, a1, a2, a3)):
                    j, t = (row + step) // n_planes, (row + step) % n_planes
                    out[i, j, s, t] = total
                    out[j, i, t, s] = total
                row += 4
            while row < end:
                a0 = np.uint64(0)
                for k in range(n_words):
                    a0 += _bits(x[k] & flat[row, k])
                j, t = row // n_planes, row % n_planes
                out[i, j, s, t] = a0
                out[j, i, t, s] = a0
                row += 1


@compiled
def _masks(words: Any, child: int, lead: int, out: Any) -> None:
    """out[(s_lead, s_child), word]: rows in which both are in these states."""
    n_planes, n_words = words.shape[1], words.shape[2]
    for s in range(n_planes):
        for t in range(n_planes):
            for k in range(n_words):
                out[s * n_planes + t, k] = words[lead, s, k] & words[child, t, k]


@compiled
def _inner(masks: Any, planes: Any, out: Any) -> None:
    """out[mask, plane]: rows in both; four masks and two planes at a time stay in registers."""
    n_masks, n_words = masks.shape
    n_planes = planes.shape[0]
    m = 0
    while m + 4 <= n_masks:
        p = 0
        while p + 2 <= n_planes:
            a0, a1, a2, a3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            b0, b1, b2, b3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for k in range(n_words):
                u, v = planes[p, k], planes[p + 1, k]
                x, y, z, w = masks[m, k], masks[m + 1, k], masks[m + 2, k], masks[m + 3, k]
                a0 += _bits(x & u)
                a1 += _bits(y & u)
                a2 += _bits(z & u)
                a3 += _bits(w & u)
                b0 += _bits(x & v)
                b1 += _bits(y & v)
                b2 += _bits(z & v)
                b3 += _bits(w & v)
            out[m, p], out[m + 1, p], out[m + 2, p], out[m + 3, p] = a0, a1, a2, a3
            out[m, p + 1], out[m + 1, p + 1], out[m + 2, p + 1], out[m + 3, p + 1] = b0, b1, b2, b3
            p += 2
        while p < n_planes:
            for step in range(4):
                a0 = np.uint64(0)
                for k in range(n_words):
                    a0 += _bits(masks[m + step, k] & planes[p, k])
                out[m + step, p] = a0
            p += 1
        m += 4
    while m < n_masks:
        for p in range(n_planes):
            a0 = np.uint64(0)
            for k in range(n_words):
                a0 += _bits(masks[m, k] & planes[p, k])
            out[m, p] = a0
        m += 1


@compiled
def _full(inner: Any, pairs: Any, singles: Any, n_rows: int, lead: int, other: int, child: int, out: Any) -> None:
    """out[s_lead, s_other, s_child] of all states from the counts of all but the last."""
    last = inner.shape[1]
    for a in range(last):
        rest_b = pairs[lead, child, a]
        for b in range(last):
            left = pairs[lead, other, a, b]
            for c in range(last):
                n = inner[a * last + c, b]
                out[a, b, c] = n
                left -= n
            out[a, b, last] = left
        for c in range(last):
            left = rest_b[c]
            for b in range(last):
                left -= out[a, b, c]
            out[a, last, c] = left
        left = singles[lead, a]
        for b in range(last):
            for c in range(last + 1):
                left -= out[a, b, c]
        for c in range(last):
            left -= out[a, last, c]
        out[a, last, last] = left
    for b in range(last):
        for c in range(last):
            left = pairs[child, other, c, b]
            for a in range(last):
                left -= out[a, b, c]
            out[last, b, c] = left
        left = singles[other, b]
        for a in range(last):
            for c in range(last + 1):
                left -= out[a, b, c]
        for c in range(last):
            left -= out[last, b, c]
        out[last, b, last] = left
    left = n_rows
    for c in range(last):
        rest = singles[child, c]
        for a in range(last + 1):
            for b in range(last):
                rest -= out[a, b, c]
        for a in range(last):
            rest -= out[a, last, c]
        out[last, last, c] = rest
    for a in range(last + 1):
        for b in range(last + 1):
            for c in range(last + 1):
                if not (a == last and b == last and c == last):
                    left -= out[a, b, c]
    out[last, last, last] = left


@compiled
def _x_log_x(n: int, table: Any) -> float:
    if n < table.shape[0]:
        return table[n]  # type: ignore[no-any-return]
    return n * np.log(n)  # type: ignore[no-any-return]


@compiled
def _own_fit(counts: Any, table: Any) -> float:
    """Log-likelihood of the child under the best kernel for counts [s_lead, s_other, s_child]."""
    size = counts.shape[0]
    total = 0.0
    for a in range(size):
        for b in range(size):
            seen = 0
            for c in range(size):
                n = counts[a, b, c]
                seen += n
                total += _x_log_x(n, table)
            total -= _x_log_x(seen, table)
    return total


@compiled
def _weighted(counts: Any, weights: Any) -> float:
    total = 0.0
    for a in range(counts.shape[0]):
        for b in range(counts.shape[0]):
            for c in range(counts.shape[0]):
                total += counts[a, b, c] * weights[a, b, c]
    return total


@compiled
def best_singles(pairs: Any, singles: Any, table: Any, best: Any, fits: Any) -> None:
    """For every child its best single parent, and its fit with a kernel of its own."""
    size = singles.shape[1]
    last = size - 1
    for child in range(singles.shape[0]):
        for node in range(child):
            total = 0.0
            for a in range(size):
                total -= _x_log_x(singles[node, a], table)
                rest = singles[node, a]
                for c in range(last):
                    if a < last:
                        n = pairs[child, node, c, a]
                    else:
                        n = singles[child, c]
                        for other in range(last):
                            n -= pairs[child, node, c, other]
                    rest -= n
                    total += _x_log_x(n, table)
                total += _x_log_x(rest, table)
            if total > fits[child]:
                fits[child] = total
                best[child] = node


@compiled
def scan_partners(
    words: Any,
    pairs: Any,
    singles: Any,
    n_rows: int,
    table: Any,
    children: Any,
    leads: Any,
    best: Any,
    fits: Any,
    partners: Any,
) -> None:
    """The best partner of the lead of each child, with a kernel of their own.

    ``best`` and ``fits`` keep the best pair that any scan saw, its fit, and the fit of the best other pair. Some
    children go through a block of candidates together, so that these stay in the cache.
    """
    n_planes, n_words = words.shape[1], words.shape[2]
    n_masks = n_planes * n_planes
    masks = np.empty((_GROUP, n_masks, n_words), np.uint64)
    inner = np.empty((n_masks, n_planes), np.int64)
    counts = np.empty((n_planes + 1, n_planes + 1, n_planes + 1), np.int64)
    here = np.empty(_GROUP)
    block = max(1, _CACHE_WORDS // (n_planes * n_words))
    for begin in range(0, children.shape[0], _GROUP):
        end = min(begin + _GROUP, children.shape[0])
        for at in range(begin, end):
            _masks(words, children[at], leads[at], masks[at - begin])
            here[at - begin] = -np.inf
            partners[at] = -1
        for start in range(0, children[end - 1], block):
            for at in range(begin, end):
                child, lead = children[at], leads[at]
                for node in range(start, min(start + block, child)):
                    if node == lead:
                        continue
                    _inner(masks[at - begin], words[node], inner)
                    _full(inner, pairs, singles, n_rows, lead, node, child, counts)
                    fit = _own_fit(counts, table)
                    if fit > here[at - begin]:
                        partners[at], here[at - begin] = node, fit
                    first, second = best[at, 0], best[at, 1]
                    if (node == first and lead == second) or (node == second and lead == first):
                        continue
                    if fit > fits[at, 0]:
                        fits[at, 1] = fits[at, 0]
                        best[at, 0], best[at, 1], fits[at, 0] = lead, node, fit
                    elif fit > fits[at, 1]:
                        fits[at, 1] = fit


@compiled
def family_tables(words: Any, pairs: Any, singles: Any, n_rows: int, families: Any, out: Any) -> None:
    """out[family]: counts [s_first, s_second, s_child] of families (first, second, child)."""
    n_planes, n_words = words.shape[1], words.shape[2]
    masks = np.empty((n_planes * n_planes, n_words), np.uint64)
    inner = np.empty((n_planes * n_planes, n_planes), np.int64)
    for at in range(families.shape[0]):
        first, second, child = families[at, 0], families[at, 1], families[at, 2]
        _masks(words, child, first, masks)
        _inner(masks, words[second], inner)
        _full(inner, pairs, singles, n_rows, first, second, child, out[at])


@compiled
def head_rows(words: Any, pairs: Any, singles: Any, n_rows: int, logs: Any, families: Any, out: Any) -> None:
    """out[0 or 1, child, node]: Σ counts · logs with the node in the place of the first or second parent.

    Some families go through a block of candidates together, so that these stay in the cache.
    """
    n_planes, n_words = words.shape[1], words.shape[2]
    size = n_planes + 1
    masks = np.empty((_GROUP, n_planes * n_planes, n_words), np.uint64)
    inner = np.empty((n_planes * n_planes, n_planes), np.int64)
    counts = np.empty((size, size, size), np.int64)
    turned = np.ascontiguousarray(logs.transpose(1, 0, 2))
    block = max(1, _CACHE_WORDS // (n_planes * n_words))
    half = _GROUP // 2
    for begin in range(0, families.shape[0], half):
        end = min(begin + half, families.shape[0])
        last = 0
        for at in range(begin, end):
            last = max(last, families[at, 2])
            for head in range(2):
                _masks(words, families[at, 2], families[at, 1 - head], masks[2 * (at - begin) + head])
        for start in range(0, last, block):
            for at in range(begin, end):
                child = families[at, 2]
                for head in range(2):
                    stays = families[at, 1 - head]
                    weights = turned if head == 0 else logs
                    for node in range(start, min(start + block, child)):
                        if node == stays:
                            continue
                        _inner(masks[2 * (at - begin) + head], words[node], inner)
                        _full(inner, pairs, singles, n_rows, stays, node, child, counts)
                        out[head, child, node] = _weighted(counts, weights)


@compiled
def pair_fits(
    words: Any, pairs: Any, singles: Any, n_rows: int, logs: Any, children: Any, leads: Any, found: Any
) -> None:
    """The largest Σ counts · logs of each child over pairs of candidates.

    All pairs where the lead of a child is -1, else those that have the lead in them; both orders of the parents.
    """
    n_planes, n_words = words.shape[1], words.shape[2]
    size = n_planes + 1
    masks = np.empty((n_planes * n_planes, n_words), np.uint64)
    inner = np.empty((n_planes * n_planes, n_planes), np.int64)
    counts = np.empty((size, size, size), np.int64)
    turned = np.ascontiguousarray(logs.transpose(1, 0, 2))
    for at in range(children.shape[0]):
        child, lead = children[at], leads[at]
        found[at] = -np.inf
        for first in range(child) if lead < 0 else range(lead, lead + 1):
            _masks(words, child, first, masks)
            for node in range(first if lead < 0 else child):
                if node == first:
                    continue
                _inner(masks, words[node], inner)
                _full(inner, pairs, singles, n_rows, first, node, child, counts)
                found[at] = max(found[at], _weighted(counts, logs), _weighted(counts, turned))
