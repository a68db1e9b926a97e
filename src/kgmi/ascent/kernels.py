"""What numba compiles. Import it where it is needed: this loads the compiler.

Attention is carried unnormalised from one epoch to the next, and divided by its sum as it is read.
"""

from __future__ import annotations

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.types import Floats, Ints

__all__ = ["BLOCK", "advance_columns"]

BLOCK = 4  # columns that take turns
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
        now *= np.exp(min(rate * now * (s[g] - mean) - most, 0.0))  # above 0 by rounding only
        a[g] = now
        mass = m[g] * now
        total += mass
        weighted += mass * s[g]
    return total, weighted


@compiled
def advance_columns(
    scores: Floats,
    count: Floats,
    attention: Floats,
    width: Ints,
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
    live, small = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.bool_)
    mean, share = np.zeros(BLOCK), np.zeros(BLOCK)
    for first in range(0, len(which), BLOCK):
        left = min(BLOCK, len(which) - first)
        for k in range(left):
            c = which[first + k]
            live[k], share[k] = c, 1.0
            mean[k] = (count[c] * attention[c] * scores[c]).sum()
            small[k] = rate * (scores[c, 0] - scores[c, width[c] - 1]) <= _SMALL_STEP
        at = np.searchsorted(keep, start, side="right")
        for epoch in range(start + 1, end + 1):
            k = 0
            while k < left:
                c = live[k]
                s, m, a, n = scores[c], count[c], attention[c], width[c]
                if small[k]:
                    total, weighted = _small_epoch(s, m, a, n, rate, share[k], mean[k])
                else:
                    total, weighted = _large_epoch(s, m, a, n, rate, share[k], mean[k])
                share[k], mean[k] = 1.0 / total, weighted / total
                if stop > 0 and a[0] * share[k] > 1.0 - stop:
                    stopped[c] = epoch
                    a *= share[k]
                    left -= 1  # the last one takes its place
                    live[k], share[k], mean[k], small[k] = live[left], share[left], mean[left], small[left]
                else:
                    k += 1
            if left == 0:
                break
            if at < len(keep) and keep[at] == epoch:
                for k in range(left):
                    kept_value[at, live[k]] = mean[k]
                    if len(kept_attention):
                        kept_attention[at, live[k]] = attention[live[k]] * share[k]
                at += 1
        for k in range(left):
            attention[live[k]] *= share[k]
