"""What numba compiles. Import it where it is needed: this loads the compiler.

Attention is carried unnormalised from one epoch to the next, and divided by its sum as it is read. From uniform
attention, candidates with equal scores keep equal attention for ever, so they are carried as one with a count (the
other copies of a graph all score 0).
"""

from __future__ import annotations

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.types import Floats, Ints

__all__ = ["advance_columns"]

_TOGETHER = 4  # columns that take turns
_STRIDE = 4  # groups that a processor takes at a time
_PLACES = 4  # where a score may stand in the table of those seen
_SMALL_STEP = 1 / 16  # largest step of a weight up to which the series below is exp to the last bit


@inlined
def _small_epoch(
    s: Floats, m: Floats, a: Floats, n: int, rate: float, share: float, mean: float
) -> tuple[float, float]:
    """One epoch of one column with small steps; the sum of its new attention, and that weighted with the scores."""
    total, weighted = 0.0, 0.0
    for g in range(n):
        now = a[g] * share
        step = rate * now * (s[g] - mean)
        # Taylor's series of exp, its terms paired so that they do not wait for each other.
        two = step * step
        four = two * two
        power = (1.0 + step) + two * (1 / 2 + step * (1 / 6)) + four * four * (1 / 40_320)
        power += four * ((1 / 24 + step * (1 / 120)) + two * (1 / 720 + step * (1 / 5_040)))
        now *= power
        a[g] = now
        mass = m[g] * now
        total += mass
        weighted += mass * s[g]
    return total, weighted


@inlined
def _power(x: float) -> float:
    """exp(x) for x from -700 to 0, written out so that it runs on several numbers at a time: 2^k times a series."""
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471805599453
    two = r * r
    four = two * two
    series = (1.0 + r) + two * (1 / 2 + r * (1 / 6))
    series += four * ((1 / 24 + r * (1 / 120)) + two * (1 / 720 + r * (1 / 5_040)))
    rest = (1 / 40_320 + r * (1 / 362_880)) + two * (1 / 3_628_800 + r * (1 / 39_916_800))
    series += four * four * (rest + four * (1 / 479_001_600))
    return series * np.int64((np.int64(k) + 1_023) << 52).view(np.float64)  # type: ignore[no-any-return]


@inlined
def _large_epoch(
    s: Floats, m: Floats, a: Floats, n: int, rate: float, share: float, mean: float
) -> tuple[float, float]:
    """The same with steps of any size; all are taken less that of the best candidate, lest a power overflow."""
    a[0] *= share
    most = rate * a[0] * (s[0] - mean)
    total = m[0] * a[0]
    weighted = total * s[0]
    for g in range(1, n):
        now = a[g] * share
        now *= _power(max(min(rate * now * (s[g] - mean) - most, 0.0), -700.0))  # above 0 by rounding only
        a[g] = now
        mass = m[g] * now
        total += mass
        weighted += mass * s[g]
    return total, weighted


@compiled
def _gather(
    scores: Floats,
    bits: Ints,
    attention: Floats,
    best: float,
    s: Floats,
    m: Floats,
    a: Floats,
    group: Ints,
    slot: Ints,
    apart: int,
) -> int:
    """Put one column together: candidates with equal scores as one group, the best first; the number of groups.

    They are filled up with groups of nobody, so that the processor has no odd ones to take one by one; the first
    ``apart`` it takes by themselves.
    ``slot`` is a table with places by the bits of the score, a power of two of them. Where the places of a score
    are all taken, it is a group by itself: equal scores need not be together, it is only quicker.
    """
    n = 1
    s[0], m[0] = best, 0.0
    for j in range(len(slot)):
        slot[j] = -1
    for j in range(len(scores)):
        value = scores[j]
        if np.isnan(value):
            group[j] = -1
            continue
        at = 0
        if value != best:
            at = n
            place = bits[j] ^ (bits[j] >> 20) ^ (bits[j] >> 41)
            for k in range(_PLACES):
                other = slot[(place + k) & (len(slot) - 1)]
                if other < 0:
                    slot[(place + k) & (len(slot) - 1)] = n
                    break
                if s[other] == value:
                    at = other
                    break
        if at == n:
            s[n], m[n] = value, 0.0
            n += 1
        group[j] = at
        m[at] += 1.0
        a[at] = attention[j]
    while (n - apart) % _STRIDE:
        s[n], m[n], a[n] = 0.0, 0.0, 0.0
        n += 1
    return n


@compiled
def _scatter(a: Floats, share: float, group: Ints, attention: Floats) -> None:
    """The attention of the groups of a column as that of its candidates."""
    for j in range(len(group)):
        if group[j] >= 0:
            attention[j] = a[group[j]] * share


@compiled
def advance_columns(
    scores: Floats,
    bits: Ints,
    best: Floats,
    least: Floats,
    attention: Floats,
    value: Floats,
    stopped: Ints,
    keep: Ints,
    kept_value: Floats,
    kept_attention: Floats,
    which: Ints,
    start: int,
    end: int,
    rate: float,
    stop: float,
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to where they stop.

    A few columns take their epochs in turn: each has to wait for its own sums, and meanwhile the processor works
    on the others.
    """
    n_nodes = scores.shape[1]
    room = (_TOGETHER, n_nodes + _STRIDE)
    s, m, a = np.empty(room), np.empty(room), np.empty(room)
    group, slot = np.empty((_TOGETHER, n_nodes), np.int32), np.empty(_slots(n_nodes), np.int32)
    live, row, width = np.zeros(_TOGETHER, np.int64), np.zeros(_TOGETHER, np.int64), np.zeros(_TOGETHER, np.int64)
    mean, share, small = np.zeros(_TOGETHER), np.zeros(_TOGETHER), np.zeros(_TOGETHER, np.bool_)
    for first in range(0, len(which), _TOGETHER):
        left = min(_TOGETHER, len(which) - first)
        for k in range(left):
            c = which[first + k]
            live[k], row[k], share[k], mean[k] = c, k, 1.0, value[c]
            small[k] = rate * (best[c] - least[c]) <= _SMALL_STEP
            apart = 0 if small[k] else 1
            width[k] = _gather(scores[c], bits[c], attention[c], best[c], s[k], m[k], a[k], group[k], slot, apart)
        at = 0
        while at < len(keep) and keep[at] <= start:
            at += 1
        for epoch in range(start + 1, end + 1):
            k = 0
            while k < left:
                r, n = row[k], width[k]
                if small[k]:
                    total, weighted = _small_epoch(s[r], m[r], a[r], n, rate, share[k], mean[k])
                else:
                    total, weighted = _large_epoch(s[r], m[r], a[r], n, rate, share[k], mean[k])
                share[k], mean[k] = 1.0 / total, weighted / total
                if stop > 0 and a[r, 0] * share[k] > 1.0 - stop:
                    c = live[k]
                    stopped[c], value[c] = epoch, mean[k]
                    _scatter(a[r], share[k], group[r], attention[c])
                    left -= 1  # the last one takes its place
                    live[k], row[k], width[k] = live[left], row[left], width[left]
                    share[k], mean[k], small[k] = share[left], mean[left], small[left]
                else:
                    k += 1
            if left == 0:
                break
            if at < len(keep) and keep[at] == epoch:
                for k in range(left):
                    kept_value[at, live[k]] = mean[k]
                    if len(kept_attention):
                        _scatter(a[row[k]], share[k], group[row[k]], kept_attention[at, live[k]])
                at += 1
        for k in range(left):
            value[live[k]] = mean[k]
            _scatter(a[row[k]], share[k], group[row[k]], attention[live[k]])


@compiled
def _slots(n_nodes: int) -> int:
    """Places for so many scores: a power of two, twice as many or more."""
    size = 16
    while size < 2 * n_nodes:
        size *= 2
    return size
