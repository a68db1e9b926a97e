"""Gradient ascent on tensors, and of score tables that are too large to keep, tile by tile. It needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from kgmi.progress import tell
from kgmi.types import Bools, Floats, Ints

__all__ = ["Heads", "ascend_columns", "ascend_tiles", "rank_tiles"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied, as on the CPU
_LOOK = 16  # epochs between two looks at who has stopped: a look waits for the device
_EARLY = 64  # epochs after which most columns have stopped
_MOST_LATER = 2**28  # scores of the others, which go on together

Tensor: TypeAlias = Any
"""A tensor of PyTorch, which has no types here: it is optional."""
Scorer: TypeAlias = Callable[[int, int], Tensor]
"""(start, end) → scores [head, child, candidate] of children start..end-1, -inf where one is not allowed."""
Tiles: TypeAlias = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Heads:
    """What is kept of the columns of a table that is too large to keep, each [head, child].

    The ``best`` candidate, -1 where there is none; its lead on the second best, infinite with one candidate, NaN
    with none; how many are best; attention on the best; the epoch at which that passed 1 − ε_attn, or -1.
    """

    best: Ints
    margins: Floats
    n_best: Ints
    attention: Floats
    stopped: Ints

    @property
    def tied(self) -> Bools:
        """Whether several candidates are best."""
        return np.asarray(self.n_best > 1)


def rank_tiles(scored: Scorer, tiles: Tiles, wanted: Bools) -> Heads:
    """Return the limit point of the columns ``wanted`` [head, child], from scores that are made tile by tile."""
    (best, n_best), margins = np.zeros((2, *wanted.shape), dtype=np.int64), np.empty(wanted.shape)
    for start, end in tiles:
        tell("counting", start, wanted.shape[1], "nodes")
        scores = torch.nn.functional.pad(scored(start, end), (0, 1), value=-torch.inf)
        top, place = scores.topk(2, dim=-1)
        scale = scores.abs().masked_fill_(~scores.isfinite(), 0.0).amax(-1).clamp_(min=1e-3)
        ties = (scores >= (top[..., 0] - _TIE * scale)[..., None]) & scores.isfinite()
        for kept, made in ((best, place[..., 0]), (margins, top[..., 0] - top[..., 1]), (n_best, ties.sum(-1))):
            kept[:, start:end] = made.cpu().numpy()
    n_best[~wanted] = 0
    best, margins = np.where(n_best > 0, best, -1), np.where(n_best > 0, margins, np.nan)
    attention = np.where(n_best > 0, 1 / np.maximum(n_best, 1), 0.0)
    return Heads(best, margins, n_best, attention, np.where(n_best == 1, 0, -1))


def ascend_tiles(scored: Scorer, tiles: Tiles, heads: Heads, *, epochs: int, step: float, stop: float) -> Heads:
    """Return where the ascent ends that starts from uniform attention; columns that are tied stay at their limit.

    ``heads`` are those of :func:`rank_tiles`; scores are made once more rather than kept. ``step`` is η/(KT).
    """
    attention, stopped, n_nodes = heads.attention.copy(), heads.stopped.copy(), heads.best.shape[1]
    later: list[tuple[Any, ...]] = []  # the slow columns of several tiles go on together

    def train(
        head: Ints, child: Ints, start: int, end: int, scores: Tensor, now: Tensor = None, done: Tensor = None
    ) -> tuple[Any, ...]:
        now, done = ascend_columns(scores, now, done, start, end, step, stop)
        attention[head, child], stopped[head, child] = now.amax(1).cpu().numpy(), done.cpu().numpy()
        slow = np.flatnonzero(stopped[head, child] < 0)
        more = (0, n_nodes - now.shape[1])
        scores = torch.nn.functional.pad(scores[slow], more, value=torch.nan)
        return head[slow], child[slow], scores, torch.nn.functional.pad(now[slow], more), done[slow]

    for start, end in tiles:
        tell("ascent", start, n_nodes, "nodes")
        head, child = np.nonzero(heads.n_best[:, start:end] == 1)
        later.append(train(head, child + start, 0, min(_EARLY, epochs), scored(start, end)[head, child]))
        if end == tiles[-1][1] or sum(len(one[0]) for one in later) * n_nodes > _MOST_LATER:
            heads_, children, *blocks = zip(*later, strict=True)
            train(np.concatenate(heads_), np.concatenate(children), _EARLY, epochs, *map(torch.cat, blocks))
            later.clear()
    return Heads(heads.best, heads.margins, heads.n_best, attention, stopped)


def ascend_columns(
    scores: Tensor, attention: Tensor, stopped: Tensor, start: int, end: int, step: float, stop: float
) -> tuple[Tensor, Tensor]:
    """Take columns from epoch ``start`` to ``end``; see :func:`kgmi.attention.ascend_columns`."""
    allowed = scores.isfinite()
    n_candidates = allowed.sum(1)
    if attention is None:
        attention = allowed.double() / n_candidates.clamp(min=1)[:, None]
        stopped = torch.where(n_candidates == 1, 0, -1)
    epoch = start
    while epoch < end and len(moving := ((stopped < 0) & (n_candidates > 1)).nonzero()[:, 0]):
        known, mask = scores[moving], allowed[moving]
        best = known.masked_fill(~mask, -torch.inf).argmax(1, keepdim=True)
        known, now, done = known.masked_fill(~mask, 0.0), attention[moving], stopped[moving]
        rate = torch.full_like(known[:, :1], step)  # 0 once stopped
        for epoch in range(epoch + 1, min(epoch + _LOOK, end) + 1):  # noqa: B020
            change = now * known
            change.addcmul_(now, change.sum(1, keepdim=True), value=-1.0)
            change -= change.gather(1, best)  # the largest: no power overflows
            now *= change.mul_(rate).exp_()
            now /= now.sum(1, keepdim=True)
            if stop > 0:
                over = (done < 0) & (now.gather(1, best)[:, 0] > 1.0 - stop)
                done.masked_fill_(over, epoch)
                rate.masked_fill_(over[:, None], 0.0)
        attention[moving], stopped[moving] = now, done
    return attention, stopped
