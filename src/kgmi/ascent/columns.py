"""The columns (head, child) of a score table, packed for the ascent.

Every column is a problem of its own. Two things make it small: from uniform attention, candidates with equal scores
keep equal attention for ever, so they are carried as one with a count (the other copies of a graph all score 0);
and columns whose candidates are all tied never move, so they are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.types import Attention, Bools, Floats, Ints, ScoreTable

__all__ = ["Columns", "best_candidates", "pack"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied
_GROUP_FROM = 32  # nodes from which looking for equal scores pays


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns that move, and where they belong.

    Attributes
    ----------
    scores, count, attention
        [column, group]: score, number of candidates, and attention of each of them, best score first. The
        attention changes in place as the ascent goes on; that of the first group is always the largest.
        Groups past the width of a column have count 0.
    width
        [column]: number of groups.
    stopped
        [column]: epoch at which the largest attention first passed 1 − ε_attn, or -1 while it moves.
    place
        [column]: head · T + child in the score table.
    order
        [column, rank]: the candidates, best score first.
    group
        [column, rank]: the group of the candidate of that rank, -1 past the last; None where each is its own.
    start
        [head, child, candidate]: uniform attention, which columns that do not move keep.
    """

    scores: Floats
    count: Floats
    attention: Floats
    width: Ints
    stopped: Ints
    place: Ints
    order: Ints
    group: Ints | None
    start: Attention

    def value(self) -> Floats:
        """[column]: Σ attention · score, its part of the objective."""
        return np.asarray((self.count * self.attention * self.scores).sum(axis=1))

    def tables(self, packed: Floats) -> Floats:
        """Packed attention [n, column, group] of moving columns as [n, head, child, candidate] of all."""
        out = np.repeat(self.start[None], len(packed), axis=0)
        if self.group is not None:
            packed = np.where(self.group >= 0, np.take_along_axis(packed, self.group[None], axis=2), 0.0)
        out.reshape(len(packed), -1, out.shape[-1])[:, self.place[:, None], self.order] = packed
        return out


def pack(scores: ScoreTable, mask: Bools, best: Bools) -> Columns:
    """Pack the columns that can move; ``best`` marks the best candidates of every column."""
    n_nodes = scores.shape[-1]
    flat, allowed = scores.reshape(-1, n_nodes), mask.reshape(-1, n_nodes)
    share = 1.0 / np.maximum(allowed.sum(axis=1), 1)
    place = np.flatnonzero((best != mask).reshape(-1, n_nodes).any(axis=1))
    values = np.where(allowed[place], flat[place], -np.inf)
    # Candidates in falling order: those that are not allowed come last, equal ones lie side by side.
    order = np.argsort(-values, axis=1, kind="stable")
    falling = values[np.arange(len(place))[:, None], order]
    known = falling > -np.inf
    group, grouped, count = None, falling, known.astype(float)
    if n_nodes >= _GROUP_FROM:
        group, grouped, count = _grouped(falling, known)
    return Columns(
        scores=np.where(count > 0, grouped, 0.0),
        count=count,
        attention=np.where(count > 0, share[place, None], 0.0),
        width=(count > 0).sum(axis=1),
        stopped=np.full(len(place), -1, dtype=np.int64),
        place=place,
        order=order,
        group=group,
        start=np.where(mask, share.reshape(*mask.shape[:-1], 1), 0.0),
    )


def _grouped(falling: Floats, known: Bools) -> tuple[Ints, Floats, Floats]:
    """The group of every candidate (-1 where it is not allowed), and score and size of every group."""
    new = np.ones(falling.shape, dtype=bool)
    new[:, 1:] = falling[:, 1:] < falling[:, :-1]
    number = np.cumsum(new, axis=1) - 1
    grouped, count = np.zeros(falling.shape), np.zeros(falling.shape)
    columns = np.nonzero(known)[0]
    grouped[columns, number[known]] = falling[known]
    np.add.at(count, (columns, number[known]), 1.0)
    return np.where(known, number, -1), grouped, count


def best_candidates(scores: Floats, mask: Bools) -> Bools:
    """Candidates whose score is the best of their column, up to rounding."""
    known = np.where(mask, scores, -np.inf)
    top = known.max(axis=-1, keepdims=True)
    scale = np.where(mask, np.abs(scores), 0.0).max(axis=-1, keepdims=True)
    return np.asarray(mask & (known >= top - _TIE * np.maximum(scale, 1e-3)))
