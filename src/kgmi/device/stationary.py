"""A whole fit with the paper's KG-MI on a device, tile by tile, keeping little: tables of T² do not come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kgmi.ascent import USUAL_RISE
from kgmi.device.columns import Heads, Moving, rank
from kgmi.device.information import Guide, dependent_nodes, earlier
from kgmi.device.place import Clock, Tensor
from kgmi.device.rows import DeviceRows
from kgmi.progress import tell
from kgmi.types import Bools, Floats

__all__ = ["Climbing", "fit_stationary", "train", "usual_step"]

_EARLY = 64  # epochs after which most columns have stopped
_MOST_LATER = 2**28  # scores of columns that go on together

Scorer = Callable[[int, int], Tensor]
"""(start, end) → [head, child, candidate] of children start..end-1, -inf where a candidate is not allowed."""


@dataclass(frozen=True)
class Climbing:
    """How heads are trained: η (None for what suits the scores), most epochs, ε_attn; or at once, to the end."""

    rate: float | None
    epochs: int
    stop: float
    solver: Literal["ascent", "limit"] = "ascent"


def fit_stationary(
    guide: Guide, climbing: Climbing, *, root_level: float | None, least: int, clock: Clock
) -> tuple[Heads, Bools]:
    """Heads of all children, and which nodes are roots.

    Parameters
    ----------
    guide
        What scores candidates.
    climbing
        How heads are trained.
    root_level
        Level of the test for roots; None for no test.
    least
        Nodes with fewer candidates are roots in any case.
    clock
        Told when a phase ends.
    """
    rows = guide.rows
    roots = np.arange(rows.n_nodes) < max(least, 1)
    if root_level is not None:
        roots |= ~dependent_nodes(rows, root_level)
        clock.mark("roots")

    def scored(start: int, end: int) -> Tensor:
        return guide.scores(start, end).masked_fill_(~earlier(rows, start, end), -np.inf)

    wanted = np.repeat(~roots[None], len(guide.kernels), axis=0)
    return train(rows, scored, wanted, climbing, clock, n_cells=rows.n_states), roots


def train(
    rows: DeviceRows, scored: Scorer, wanted: Bools, climbing: Climbing, clock: Clock, *, n_cells: int
) -> Heads:
    """Rank the candidates of every column, then train the columns of ``wanted`` [head, child].

    ``n_cells`` are those of a child that are counted for a score, which decide how many children make a tile. The
    rate depends on the margins of all columns, so candidates are scored twice rather than kept: the second time
    costs less than room for T² scores would.
    """
    heads = Heads.empty(*wanted.shape)
    tiles = [(start, end) for start, end in rows.tiles(n_cells) if wanted[:, start:end].any()]
    for start, end in tiles:
        tell("counting", start, rows.n_nodes, "nodes")
        ranked = rank(scored(start, end))
        for kept, made in (
            (heads.best, ranked.best),
            (heads.margins, ranked.margins),
            (heads.n_best, ranked.n_best),
        ):
            kept[:, start:end] = made.cpu().numpy()
    heads.best[~wanted], heads.margins[~wanted], heads.n_best[~wanted] = -1, np.nan, 0
    clock.mark("scores")
    heads.attention[wanted] = 1 / np.maximum(heads.n_best[wanted], 1)  # the limit, which tied heads never reach
    if climbing.solver == "limit":
        heads.stopped[wanted & ~heads.tied] = 0
        return heads
    step = usual_step(heads.margins) if climbing.rate is None else climbing.rate / wanted.size
    later: list[Moving] = []  # the slow ones of all tiles go on together
    for start, end in tiles:
        tell("ascent", start, rows.n_nodes, "nodes")
        moving = _started(scored(start, end), heads, wanted, slice(start, end), step)
        moving.advance(0, min(_EARLY, climbing.epochs), climbing.stop, heads)
        if (sum(map(len, later)) + len(moving)) * rows.n_nodes > _MOST_LATER:
            moving.advance(_EARLY, climbing.epochs, climbing.stop, heads)
            moving.finish(heads)
        elif len(moving):
            later.append(moving)
    if later:
        slow = later[0].joined(later[1:], rows.n_nodes)
        slow.advance(_EARLY, climbing.epochs, climbing.stop, heads)
        slow.finish(heads)
    clock.mark("ascent")
    return heads


def _started(scores: Tensor, heads: Heads, wanted: Bools, here: slice, step: float) -> Moving:
    """The columns of a tile that can be trained: those that are tied for their best candidate never stop."""
    import torch

    where = (wanted & ~heads.tied)[:, here]
    places = np.arange(wanted.size).reshape(wanted.shape)[:, here][where]
    best = heads.best[:, here][where]
    moves, best, places = (torch.as_tensor(one, device=scores.device) for one in (where, best, places))
    return Moving(scores[moves], best, places, step)


def usual_step(margins: Floats) -> float:
    """η/(KT) as :func:`kgmi.learning.searched.usual_rate` has it: the usual head takes about twenty epochs."""
    chosen = np.isfinite(margins) & (margins > 0)
    if not chosen.any():
        return 1.0
    children = np.broadcast_to(np.arange(margins.shape[1]), margins.shape)[chosen]  # a child has as many candidates
    return float(USUAL_RISE * np.median(children) / np.median(margins[chosen]))
