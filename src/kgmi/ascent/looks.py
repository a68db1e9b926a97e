"""What numba compiles of :mod:`kgmi.ascent.surveyed`. Import it where it is needed: this loads the compiler."""

from __future__ import annotations

import numpy as np

from kgmi.jit import compiled
from kgmi.types import Floats, Ints

__all__ = ["look_over"]


@compiled
def look_over(
    scores: Floats,
    attention: Floats,
    n_candidates: Ints,
    best: Floats,
    second: Floats,
    least: Floats,
    total: Floats,
) -> None:
    """One pass over the columns [column, candidate]; uniform attention too, where there is room for it."""
    for c in range(len(scores)):
        first, after, last = -np.inf, -np.inf, np.inf
        added, n = 0.0, 0
        for value in scores[c]:
            if np.isnan(value):
                continue
            n += 1
            added += value
            last = min(last, value)
            if value > first:
                first, after = value, first
            elif value > after:
                after = value
        n_candidates[c], best[c], second[c], least[c], total[c] = n, first, after, last, added
        if len(attention):
            for candidate in range(scores.shape[1]):
                if not np.isnan(scores[c, candidate]):
                    attention[c, candidate] = 1.0 / n
