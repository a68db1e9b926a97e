"""One look over a score table: what it tells of every column (head, child)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgmi.memory import at_most
from kgmi.threads import spread
from kgmi.types import Bools, Floats, Ints, ScoreTable

__all__ = ["Survey", "flat_columns", "survey", "survey_and_start"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied
_COMPILED_FROM = 200_000  # scores from which a compiled look pays: NumPy takes some milliseconds
_THREADS_FROM = 500_000  # scores from which threads pay as well
_BLOCK = 250_000  # scores that NumPy looks at together: it needs copies of them


@dataclass(frozen=True, eq=False)
class Survey:
    """What a score table tells of every column.

    Attributes
    ----------
    n_candidates
        [head, child].
    best, second, least
        [head, child]: the best, second best and worst score of the candidates; with too few of them -inf, -inf
        and inf.
    total
        [head, child]: the sum of the scores.
    """

    n_candidates: Ints
    best: Floats
    second: Floats
    least: Floats
    total: Floats

    @cached_property
    def enough(self) -> Floats:
        """[head, child]: the score from which a candidate counts as best; below the best by rounding only."""
        scale = np.maximum(np.maximum(np.abs(self.best), np.abs(self.least)), 1e-3)
        return np.asarray(self.best - _TIE * scale)

    @property
    def tied(self) -> Bools:
        """[head, child]: whether several candidates are best, or there is none."""
        return np.asarray(self.second >= self.enough)

    @property
    def moves(self) -> Bools:
        """[head, child]: whether the ascent can tell candidates apart; where all are best, it cannot."""
        return np.asarray(self.least < self.enough)

    @property
    def gaps(self) -> Floats:
        """[head, child]: best minus second best score; inf with one candidate, NaN with none."""
        with np.errstate(invalid="ignore"):  # no candidate: -inf − -inf is the NaN that is meant
            return np.asarray(self.best - self.second)

    @property
    def mean(self) -> Floats:
        """[head, child]: mean score of the candidates, 0 without any."""
        return np.asarray(self.total / np.maximum(self.n_candidates, 1))


def survey(scores: ScoreTable) -> Survey:
    """Look over a score table [head, child, candidate]; NaN masks a candidate."""
    if _is_compiled(scores):
        return _compiled(scores, np.empty((0, 0)))
    return _plain(scores)


def survey_and_start(scores: ScoreTable) -> tuple[Survey, Floats]:
    """The same, and uniform attention over the candidates, from which the ascent starts."""
    if _is_compiled(scores):
        attention = np.zeros(scores.shape)
        return _compiled(scores, attention.reshape(-1, scores.shape[-1])), attention
    found = _plain(scores)
    share = 1.0 / np.maximum(found.n_candidates, 1)
    return found, np.multiply(share[..., None], ~np.isnan(scores))


def flat_columns(scores: ScoreTable) -> Floats:
    """A score table as [column, candidate], in one piece, and copied only where it is not so already."""
    flat = np.ascontiguousarray(scores, dtype=np.float64).reshape(-1, scores.shape[-1])
    # Writable, though nobody writes: what is compiled would be compiled once more for an array that is not.
    return flat if flat.flags.writeable else flat.copy()


def _is_compiled(scores: ScoreTable) -> bool:
    return scores.size >= _COMPILED_FROM


def _plain(scores: ScoreTable) -> Survey:
    """In NumPy, block by block of columns."""
    flat = scores.reshape(-1, scores.shape[-1])
    step = max(1, at_most(_BLOCK, 24) // max(flat.shape[1], 1))
    parts = [_look(flat[first : first + step]) for first in range(0, len(flat), step)]
    whole = parts[0] if len(parts) == 1 else [np.concatenate(part) for part in zip(*parts, strict=True)]
    return _survey(whole, scores.shape[:-1])


def _survey(columns: Sequence[Any], shape: tuple[int, ...]) -> Survey:
    """What was seen of one column after the other, as [head, child]."""
    return Survey(*(each.reshape(shape) for each in columns))


def _look(flat: Floats) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    allowed = ~np.isnan(flat)
    known = np.where(allowed, flat, -np.inf)
    first = (np.arange(len(flat)), known.argmax(axis=1))
    best = known[first]
    known[first] = -np.inf
    second = np.maximum.reduce(known, axis=1)
    least = np.minimum.reduce(np.where(allowed, flat, np.inf), axis=1)
    total = np.add.reduce(np.where(allowed, flat, 0.0), axis=1)
    return np.add.reduce(allowed, axis=1), best, second, least, total


def _compiled(scores: ScoreTable, attention: Floats) -> Survey:
    from kgmi.ascent.looks import look_over

    flat = flat_columns(scores)
    n_candidates = np.empty(len(flat), dtype=np.int64)
    four = [np.empty(len(flat)) for _ in range(4)]
    step = max(1, _THREADS_FROM // (4 * flat.shape[1]))

    def look(first: int) -> None:
        part = slice(first, first + step)
        look_over(flat[part], attention[part], n_candidates[part], *(each[part] for each in four))

    spread(look, range(0, len(flat), step), parallel=scores.size >= _THREADS_FROM)
    return _survey((n_candidates, *four), scores.shape[:-1])
