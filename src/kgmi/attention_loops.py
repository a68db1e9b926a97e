"""The loops of :mod:`kgmi.attention` that numba compiles. Import it where it is used: this loads the compiler."""

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.types import Floats, Ints

__all__ = ["advance", "look_over"]

_TOGETHER = 4  # columns that take turns: while one waits for its sums, the processor works on the others
_STRIDE = 4  # groups of candidates that a processor takes at a time
_SMALL = 1 / 4  # step times range of the scores up to which changes are at most 1/16
_HASH = -7_046_029_254_386_353_131  # 2^64 divided by the golden ratio, as a signed number


@compiled
def look_over(scores: Floats, n: Ints, best: Floats, second: Floats, least: Floats, attention: Floats) -> None:
    """Fill in what ``Survey`` says of each column, and uniform attention [column, candidate or nothing]."""
    for c in range(len(scores)):
        k, first, after, last = 0, -np.inf, -np.inf, np.inf
        for value in scores[c]:
            k += not np.isnan(value)
            if value > after or value < last:
                first, after, last = max(first, value), max(after, min(first, value)), min(last, value)
        n[c], best[c], second[c], least[c] = k, first, after, last
        for j in range(attention.shape[1]):
            attention[c, j] = 0.0 if np.isnan(scores[c, j]) else 1.0 / n[c]


@inlined
def _exp(x: float, small: bool) -> float:
    """Return exp(x) for x from -700 to 0, or for |x| ≤ 1/16 if ``small``, in a form that vectorises."""
    k = 0.0 if small else np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471805599453
    two, rest = r * r, 1 / 40_320
    if not small:
        rest += r * (1 / 362_880) + two * (1 / 3_628_800 + r * (1 / 39_916_800) + two * (1 / 479_001_600))
    rest = 1 / 24 + r * (1 / 120) + two * (1 / 720 + r * (1 / 5_040) + two * rest)
    series = 1 + r + two * (1 / 2 + r * (1 / 6) + two * rest)
    return series * np.int64((np.int64(k) + 1_023) << 52).view(np.float64)


@inlined
def _epoch(
    s: Floats, m: Floats, a: Floats, n: int, top: int, step: float, share: float, mean: float, small: bool
) -> Any:
    """Take one epoch of a column; return the sum of its attention before it is normalised, and of that by score."""
    most = 0.0 if small else step * (a[top] * share) * (s[top] - mean)  # less which no power overflows
    total, weighted = 0.0, 0.0
    for g in range(n):
        now = a[g] * share
        change = step * now * (s[g] - mean)
        if not small:
            change = max(min(change - most, 0.0), -700.0) if s[g] < s[top] else 0.0
        a[g] = now = now * _exp(change, small)
        total += m[g] * now
        weighted += m[g] * now * s[g]
    return total, weighted


@compiled
def _gather(scores: Floats, attention: Floats, s: Floats, m: Floats, a: Floats, group: Ints, slot: Ints) -> Any:
    """Group the candidates of a column by score; return the number of groups, the best one, mean and range.

    Candidates with equal scores keep equal attention: in copies of a graph, most do. ``slot`` finds a group by the
    bits of its score, until another score takes the place. Empty groups fill up the last stride.
    """
    n, top, mean, best, least = 0, 0, 0.0, -np.inf, np.inf
    slot[:] = -1
    for j in range(len(scores)):
        value, group[j] = scores[j], -1
        if not np.isnan(value):
            place = ((np.float64(value).view(np.int64) * _HASH) >> 40) & (len(slot) - 1)
            at = slot[place]
            if at < 0 or s[at] != value:
                at = slot[place] = n
                s[n], m[n], n = value, 0.0, n + 1
                top, best = (at, value) if value > best else (top, best)
                least = value if value < least else least
            group[j], a[at], m[at] = at, attention[j], m[at] + 1.0
            mean += value * attention[j]
    while n % _STRIDE:
        s[n], m[n], a[n], n = best, 0.0, 0.0, n + 1
    return n, top, mean, best - least


@compiled
def _scatter(a: Floats, share: float, group: Ints, attention: Floats) -> None:
    for j in range(len(attention)):
        attention[j] = a[group[j]] * share if group[j] >= 0 else 0.0


@compiled
def advance(columns: Any, which: Ints, start: int, end: int, step: float, stop: float, kept: Any) -> None:
    """Take columns (scores, attention, stopped) from epoch ``start`` to ``end``, or to where they stop."""
    (scores, attention, stopped), (keep, value, path) = columns, kept
    s, m, a = np.empty((3, _TOGETHER, scores.shape[1] + _STRIDE))
    group, slot = np.empty(s.shape, np.int32), np.empty(4 << int(np.log2(s.shape[1])), np.int32)
    n, top, live = np.empty((3, _TOGETHER), np.int64)
    share, mean, span = np.empty((3, _TOGETHER))
    for first in range(0, len(which), _TOGETHER):
        here = which[first : first + _TOGETHER]
        left, at = len(here), np.searchsorted(keep, start)
        for k, c in enumerate(here):
            n[k], top[k], mean[k], span[k] = _gather(scores[c], attention[c], s[k], m[k], a[k], group[k], slot)
            live[k], share[k] = k, 1.0
        for epoch in range(start, end):
            if at < len(keep) and keep[at] == epoch:
                for k in live[:left]:
                    value[at, here[k]] = mean[k]
                    _scatter(a[k], share[k], group[k], path[at, here[k]])
                at += 1
            for place in range(left - 1, -1, -1):
                k = live[place]
                if step * span[k] <= _SMALL:
                    total, weighted = _epoch(s[k], m[k], a[k], n[k], top[k], step, share[k], mean[k], True)
                else:
                    total, weighted = _epoch(s[k], m[k], a[k], n[k], top[k], step, share[k], mean[k], False)
                share[k], mean[k] = 1.0 / total, weighted / total
                if stop > 0 and a[k, top[k]] * share[k] > 1.0 - stop:
                    stopped[here[k]] = epoch + 1
                    _scatter(a[k], share[k], group[k], attention[here[k]])
                    left -= 1
                    live[place] = live[left]
            if not left:
                break
        for k in live[:left]:
            _scatter(a[k], share[k], group[k], attention[here[k]])
