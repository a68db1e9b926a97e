"""What numba compiles: families of three columns counted bit by bit. Import it where it is needed.

``words[node, plane, word]`` are the states of the nodes but the last, 64 rows to a word. Counts of all states
follow from those of all but the last, from ``pairs[i, j, s', s]`` and from ``singles[i, s]``; these are counted
once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.counts.kernels import bits
from kgmi.jit import compiled, inlined

__all__ = ["BEST", "MOST", "SUMS", "TABLES", "best_singles", "visit"]

BEST, SUMS, MOST, TABLES = 0, 1, 2, 3
"""What becomes of the families that are visited; see :func:`visit`."""

_GROUP = 8  # visits that go through the candidates together
_CACHE_WORDS = 32_768  # of candidates that stay in the cache meanwhile: 256 KB


@inlined
def _inner(masks: Any, planes: Any, out: Any) -> None:
    """out[mask, plane]: rows in both; four masks and two planes at a time stay in registers.

    Where there are too few, the last stands for those missing, for whom ``out`` has room.
    """
    last_mask, last_plane = masks.shape[0] - 1, planes.shape[0] - 1
    for m in range(0, masks.shape[0], 4):
        x, y = masks[m], masks[min(m + 1, last_mask)]
        z, w = masks[min(m + 2, last_mask)], masks[min(m + 3, last_mask)]
        for p in range(0, planes.shape[0], 2):
            u, v = planes[p], planes[min(p + 1, last_plane)]
            xu, yu, zu, wu = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            xv, yv, zv, wv = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
            for k in range(masks.shape[1]):
                xu += bits(x[k] & u[k])
                yu += bits(y[k] & u[k])
                zu += bits(z[k] & u[k])
                wu += bits(w[k] & u[k])
                xv += bits(x[k] & v[k])
                yv += bits(y[k] & v[k])
                zv += bits(z[k] & v[k])
                wv += bits(w[k] & v[k])
            out[m, p], out[m + 1, p], out[m + 2, p], out[m + 3, p] = xu, yu, zu, wu
            out[m, p + 1], out[m + 1, p + 1], out[m + 2, p + 1], out[m + 3, p + 1] = xv, yv, zv, wv


@inlined
def _full(inner: Any, pairs: Any, singles: Any, lead: Any, other: Any, child: Any, out: Any) -> None:
    """out[s_lead, s_other, s_child] of all states from the counts of all but the last: the rest of each margin."""
    last = out.shape[0] - 1
    for a in range(last):
        rest = singles[lead, a]
        for b in range(last):
            left = np.int64(pairs[lead, other, a, b])
            rest -= left
            for c in range(last):
                out[a, b, c] = inner[a * last + c, b]
                left -= out[a, b, c]
            out[a, b, last] = left
        for c in range(last):
            left = np.int64(pairs[child, lead, c, a])
            for b in range(last):
                left -= out[a, b, c]
            out[a, last, c] = left
            rest -= left
        out[a, last, last] = rest
    for b in range(last):
        rest = singles[other, b]
        for c in range(last):
            left = np.int64(pairs[child, other, c, b])
            rest -= left
            for a in range(last):
                left -= out[a, b, c]
            out[last, b, c] = left
        for a in range(last):
            rest -= out[a, b, last]
        out[last, b, last] = rest
    for c in range(last + 1):
        rest = singles[child, c]
        for b in range(last):
            for a in range(last + 1):
                rest -= out[a, b, c]
        for a in range(last):
            rest -= out[a, last, c]
        out[last, last, c] = rest


@inlined
def _x_log_x(n: Any, listed: Any) -> Any:
    return listed[n] if n < listed.shape[0] else n * np.log(n)


@inlined
def _own_fit(counts: Any, listed: Any) -> Any:
    """Log-likelihood of the child under the best kernel for counts [s_lead, s_other, s_child]."""
    total = 0.0
    for a in range(counts.shape[0]):
        for b in range(counts.shape[0]):
            seen = 0
            for c in range(counts.shape[0]):
                n = counts[a, b, c]
                seen += n
                total += _x_log_x(n, listed)
            total -= _x_log_x(seen, listed)
    return total


@inlined
def _weighted(counts: Any, weights: Any) -> Any:
    total = 0.0
    for a in range(counts.shape[0]):
        for b in range(counts.shape[0]):
            for c in range(counts.shape[0]):
                total += counts[a, b, c] * weights[a, b, c]
    return total


@inlined
def _keep_best(fit: Any, lead: Any, node: Any, best: Any, fits: Any, partner: Any) -> None:
    """The best partner of this visit, and the best pair of all visits with its fit and that of the best other."""
    if fit > fits[2]:
        fits[2] = fit
        partner[0] = node
    if not ((node == best[0] and lead == best[1]) or (node == best[1] and lead == best[0])):
        if fit > fits[0]:
            fits[1] = fits[0]
            best[0], best[1], fits[0] = lead, node, fit
        elif fit > fits[1]:
            fits[1] = fit


@inlined
def _copy(counts: Any, out: Any) -> None:
    for a in range(counts.shape[0]):
        for b in range(counts.shape[0]):
            for c in range(counts.shape[0]):
                out[a, b, c] = counts[a, b, c]


@compiled
def visit(
    words: Any,
    pairs: Any,
    singles: Any,
    visits: Any,
    purpose: int,
    listed: Any,
    weights: Any,
    best: Any,
    fits: Any,
    partners: Any,
    sums: Any,
    tables: Any,
) -> None:
    """Count the families (lead, node, child) of ``visits`` [(child, lead, start, stop, row)], nodes start..stop-1.

    Some visits go through a block of nodes together, so that these stay in the cache.

    BEST
        ``partners[visit]`` is the node that fits best with a kernel of its own; ``best`` and ``fits`` keep the best
        pair of all scans, its fit, that of the best other, and that of this visit.
    SUMS
        ``sums[row, node]`` is Σ counts · weights[1] where the row is in the second half of them, else weights[0].
    MOST
        ``fits[visit]`` are the largest Σ counts · weights, of both, and the best fit with a kernel of its own.
    TABLES
        ``tables[row]`` has the counts [s_lead, s_node, s_child].
    """
    n_planes, n_words = words.shape[1], words.shape[2]
    masks = np.empty((_GROUP, n_planes * n_planes, n_words), np.uint64)
    inner = np.empty((n_planes * n_planes + 3, n_planes + 1), np.int64)
    counts = np.empty((n_planes + 1, n_planes + 1, n_planes + 1), np.int64)
    block = max(1, _CACHE_WORDS // (n_planes * n_words))
    for begin in range(0, visits.shape[0], _GROUP):
        end = min(begin + _GROUP, visits.shape[0])
        for at in range(begin, end):
            for s in range(n_planes):
                for t in range(n_planes):
                    for k in range(n_words):
                        mask = words[visits[at, 1], s, k] & words[visits[at, 0], t, k]
                        masks[at - begin, s * n_planes + t, k] = mask
        lowest, highest = visits[begin, 2], visits[begin, 3]
        for at in range(begin, end):
            lowest, highest = min(lowest, visits[at, 2]), max(highest, visits[at, 3])
        for first in range(lowest, highest, block):
            for at in range(begin, end):
                child, lead, row = visits[at, 0], visits[at, 1], visits[at, 4]
                for node in range(max(first, visits[at, 2]), min(first + block, visits[at, 3])):
                    if node == lead:
                        continue
                    _inner(masks[at - begin], words[node], inner)
                    _full(inner, pairs, singles, lead, node, child, counts)
                    if purpose == BEST:
                        _keep_best(_own_fit(counts, listed), lead, node, best[at], fits[at], partners[at : at + 1])
                    elif purpose == SUMS:
                        sums[row, node] = _weighted(counts, weights[0 if 2 * row < len(sums) else 1])
                    elif purpose == MOST:
                        most = max(_weighted(counts, weights[0]), _weighted(counts, weights[1]))
                        fits[at, 0] = max(fits[at, 0], most)
                        fits[at, 1] = max(fits[at, 1], _own_fit(counts, listed))
                    else:
                        _copy(counts, tables[row])


@compiled
def best_singles(pairs: Any, singles: Any, listed: Any, best: Any, fits: Any) -> None:
    """For every child its best single parent, and its fit with a kernel of its own."""
    size = singles.shape[1]
    last = size - 1
    for child in range(singles.shape[0]):
        for node in range(child):
            total = 0.0
            for a in range(size):
                total -= _x_log_x(singles[node, a], listed)
                rest = singles[node, a]
                for c in range(last):
                    if a < last:
                        n = np.int64(pairs[child, node, c, a])
                    else:
                        n = singles[child, c]
                        for other in range(last):
                            n -= pairs[child, node, c, other]
                    rest -= n
                    total += _x_log_x(n, listed)
                total += _x_log_x(rest, listed)
            if total > fits[child]:
                fits[child] = total
                best[child] = node
