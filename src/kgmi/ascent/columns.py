"""The columns (head, child) of a score table, and how far each has come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.ascent.surveyed import Survey, flat_columns
from kgmi.types import Attention, Floats, Ints, ScoreTable

__all__ = ["Columns", "columns_of"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Every column is a problem of its own. What changes as the ascent goes on changes in place.

    Attributes
    ----------
    scores
        [column, candidate], NaN where the candidate is not allowed: the score table, one column after the other.
    attention
        [column, candidate], 0 where it is not allowed; changes.
    value
        [column]: Σ attention · score, its part of the objective; changes.
    stopped
        [column]: epoch at which the largest attention first passed 1 − ε_attn, or -1 while it moves; changes.
    n_candidates, best, least
        [column]: number of candidates, best and worst score.
    """

    scores: Floats
    attention: Floats
    value: Floats
    stopped: Ints
    n_candidates: Ints
    best: Floats
    least: Floats


def columns_of(scores: ScoreTable, seen: Survey, attention: Attention) -> Columns:
    """The columns of a score table, at the start. A column with one candidate has stopped."""
    n_candidates = seen.n_candidates.reshape(-1)
    return Columns(
        scores=flat_columns(scores),
        attention=attention.reshape(-1, scores.shape[-1]),
        value=seen.mean.reshape(-1),
        stopped=np.where(n_candidates == 1, 0, -1),
        n_candidates=n_candidates,
        best=seen.best.reshape(-1),
        least=seen.least.reshape(-1),
    )
