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
    group
        [column, candidate]: the group of a candidate.
    start
        [head, child, candidate]: uniform attention, which columns that do not move keep.
    """

    scores: Floats
    count: Floats
    attention: Floats
    width: Ints
    stopped: Ints
    place: Ints
    group: Ints
    start: Attention

    def table(self) -> Attention:
        """A copy of the attention of all columns as [head, child, candidate]."""
        n_nodes = self.start.shape[-1]
        out = self.start.copy()
        flat = out.reshape(-1, n_nodes)
        now = np.take_along_axis(self.attention, self.group, axis=1)
        flat[self.place] = np.where(flat[self.place] > 0, now, 0.0)
        return out


def pack(scores: ScoreTable, mask: Bools) -> Columns:
    """Pack the columns that can move."""
    n_nodes = scores.shape[-1]
    flat, allowed = scores.reshape(-1, n_nodes), mask.reshape(-1, n_nodes)
    candidates = allowed.sum(axis=1, keepdims=True)
    start = np.where(allowed, 1.0 / np.maximum(candidates, 1), 0.0)
    place = np.flatnonzero(~(best_candidates(flat, allowed) == allowed).all(axis=1))
    values, allowed = np.where(allowed[place], flat[place], -np.inf), allowed[place]
    # Candidates in falling order: those that are not allowed come last, equal ones lie side by side.
    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    new = np.ones(falling.shape, dtype=bool)
    if n_nodes >= _GROUP_FROM:
        new[:, 1:] = falling[:, 1:] < falling[:, :-1]
    number = np.cumsum(new, axis=1) - 1
    group = np.empty_like(order)
    np.put_along_axis(group, order, number, axis=1)
    grouped, count = np.zeros(values.shape), np.zeros(values.shape)
    known = np.isfinite(falling)
    columns = np.nonzero(known)[0]
    grouped[columns, number[known]] = falling[known]
    np.add.at(count, (columns, number[known]), 1.0)
    attention = np.where(count > 0, start[place].max(axis=1, initial=0.0)[:, None], 0.0)
    return Columns(
        scores=grouped,
        count=count,
        attention=attention,
        width=(count > 0).sum(axis=1),
        stopped=np.full(len(place), -1, dtype=np.int64),
        place=place,
        group=group,
        start=start.reshape(scores.shape),
    )


def best_candidates(scores: Floats, mask: Bools) -> Bools:
    """Candidates whose score is the best of their column, up to rounding."""
    known = np.where(mask, scores, -np.inf)
    top = known.max(axis=-1, keepdims=True)
    scale = np.where(mask, np.abs(scores), 0.0).max(axis=-1, keepdims=True)
    return np.asarray(mask & (known >= top - _TIE * np.maximum(scale, 1e-3)))
