"""The paper's KG-MI and its ascent on a device, tile by tile: tables [head, child, candidate] are not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from kgmi.ascent import USUAL_RISE
from kgmi.counts.torch import Tensor, TorchCounts
from kgmi.device.heads import Clock, earlier
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.errors import SettingError
from kgmi.progress import tell
from kgmi.types import Bools, Floats, Ints

__all__ = ["Climbing", "Guide", "Heads", "fit_stationary", "train"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied, as on the CPU
_LOOK = 16  # epochs between two looks at who has stopped: a look waits for the device
_EARLY = 64  # epochs after which most columns have stopped
_MOST_LATER = 2**28  # scores of columns that go on together

Scorer = Callable[[int, int], Tensor]
"""(start, end) → [head, child, candidate] of children start..end-1, -inf where a candidate is not allowed."""

_PER_RATIO: dict[str, Callable[[Tensor], Tensor]] = {
    "kl": lambda r: r.log(),
    "pearson": lambda r: r - 1,
    "neyman": lambda r: (1 / r - 1) / r,
    "hellinger": lambda r: (r.sqrt() - 1) ** 2 / r,
    "reverse-kl": lambda r: -r.log() / r,
    "jensen-shannon": lambda r: 0.5 * (r.log() - (1 + 1 / r) * ((r + 1) / 2).log()),
    "total-variation": lambda r: 0.5 * (r - 1).abs() / r,
}
"""f(r)/r of the named divergences, for r > 0."""


def _per_ratio(divergence: Divergence) -> Callable[[Tensor], Tensor]:
    """Return f(r)/r on tensors; functions of users know NumPy only."""
    plain = divergence.name.removesuffix("-matched")
    if plain not in _PER_RATIO or divergence.name not in (plain, f"{plain}-matched"):
        raise SettingError(
            f"a device does not have the divergence '{divergence.name}'; use {', '.join(_PER_RATIO)} (each also "
            "with -matched), or leave device out"
        )
    as_written = _PER_RATIO[plain]
    if plain == divergence.name:
        return as_written
    tilt = DIVERGENCES[plain].curvature_at_one - DIVERGENCES[plain].slope_at_one
    return lambda r: as_written(r) + tilt * (1 - 1 / r)


@dataclass(frozen=True, eq=False)
class Guide:
    """KG-MI of a tile of children with all candidates before them, in double precision.

    ``kernels`` are the marginal kernels π^ℓ [head, s, s'], ``smoothing`` the pseudo-rows of every pair, above 0.
    """

    rows: TorchCounts
    kernels: Floats
    divergence: Divergence
    smoothing: float

    def scores(self, start: int, end: int) -> Tensor:
        """Return [head, child, candidate] of children start..end-1; -inf where the candidate comes later."""
        rows, total = self.rows, self.rows.n_rows + self.smoothing
        law = (rows.margins + self.smoothing / rows.n_codes) / total
        gain_of = _per_ratio(self.divergence)
        out = torch.zeros(len(self.kernels), end - start, end, dtype=torch.float64, device=rows.place)
        for state, counts in enumerate(rows.block(slice(start, end), end)):
            weight = law[:end, state]
            for target in range(rows.n_codes):
                ratio = counts[:, target].double().add_(self.smoothing / rows.n_codes**2)
                ratio /= law[start:end, target, None] * (weight * total)
                gain = gain_of(ratio)
                for head, kernel in enumerate(self.kernels):
                    out[head].addcmul_(gain, weight[None], value=float(kernel[state, target]))
        return out.masked_fill_(~earlier(rows, start, end), -np.inf)


def _dependent_nodes(rows: TorchCounts, level: float) -> Bools:
    """Return [node]: whether it depends on an earlier one, by the G-test of :func:`kgmi.roots.find_roots`."""
    from scipy.special import chdtri  # scipy.stats is slow to load

    n_pairs = max(rows.n_nodes * (rows.n_nodes - 1) // 2, 1)
    freedom = np.maximum(np.outer(np.arange(rows.n_codes), np.arange(rows.n_codes)), 1)
    bounds = torch.as_tensor(chdtri(freedom, level / n_pairs) / 2, device=rows.place)
    free = (rows.margins > 0).sum(1) - 1
    found = np.zeros(rows.n_nodes, dtype=bool)
    for start, end, block in rows.pair_blocks():
        nats = torch.zeros(end - start, end, dtype=torch.float64, device=rows.place)
        for state, counts in enumerate(block):
            for target in range(rows.n_codes):
                here = counts[:, target].double()
                both = rows.margins[start:end, target, None] * rows.margins[None, :end, state]
                nats += torch.xlogy(here, here * rows.n_rows / both.clamp_(min=1))
        more = nats > bounds[free[start:end, None], free[None, :end]]
        found[start:end] = (more & earlier(rows, start, end)).any(1).cpu().numpy()
    return found


@dataclass(frozen=True, eq=False)
class Heads:
    """What is kept of the columns of a wide fit, each [head, child].

    Attributes
    ----------
    best
        The candidate with the best score; -1 where there is none.
    margins
        Best less second best score; infinite with one candidate, NaN with none.
    n_best
        How many candidates are best; 0 where there is none, more than one where the head is tied.
    attention
        On the best candidate.
    stopped
        Epoch at which that passed 1 − ε_attn, -1 if it did not.
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


def _rank(scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return of scores […, candidate] the best candidate, its lead, and how many are as good."""
    n_top = min(2, scores.shape[-1])
    top, place = scores.topk(n_top, dim=-1)
    allowed = scores.isfinite()
    scale = scores.abs().where(allowed, scores.new_zeros(())).amax(-1)
    margins = top[..., 0] - top[..., -1] if n_top > 1 else top[..., 0].new_full(top.shape[:-1], float("inf"))
    best = scores >= (top[..., 0] - _TIE * scale.clamp(min=1e-3))[..., None]
    return place[..., 0], margins, (best & allowed).sum(-1)


class _Moving:
    """Columns [column, candidate] that move from uniform attention; ``scores`` are -inf where one is not allowed.

    ``places`` are their numbers, head · T + child, ``best`` their best candidates, and ``rate`` is η/(KT).
    """

    def __init__(self, scores: Tensor, best: Tensor, places: Tensor, rate: float) -> None:
        allowed = scores.isfinite()
        self.scores, self.best, self.places = scores.masked_fill(~allowed, 0.0), best[:, None], places
        self.attention = allowed.double()
        self.attention /= self.attention.sum(1, keepdim=True)
        self.stopped = torch.where(allowed.sum(1) == 1, 0, -1)
        self.rate = torch.full((len(scores), 1), rate, dtype=torch.float64, device=scores.device)  # 0 once stopped
        self.rate.masked_fill_(self.stopped[:, None] >= 0, 0.0)

    def __len__(self) -> int:
        return len(self.places)

    def advance(self, start: int, end: int, stop: float, heads: Heads) -> None:
        """Go from epoch ``start`` to ``end`` or until all have stopped; those are written and left out."""
        epoch = start
        while epoch < end and len(self):
            for _ in range(min(_LOOK, end - epoch)):
                epoch += 1
                self._step(epoch, stop)
            self.leave(self.stopped >= 0, heads)

    def joined(self, others: Sequence[_Moving], width: int) -> _Moving:
        """Return these and others as one, with room for ``width`` candidates."""
        for name in ("scores", "attention", "best", "places", "stopped", "rate"):
            parts = [getattr(one, name) for one in (self, *others)]
            if name in ("scores", "attention"):
                parts = [torch.nn.functional.pad(part, (0, width - part.shape[1])) for part in parts]
            setattr(self, name, torch.cat(parts))
        return self

    def _step(self, epoch: int, stop: float) -> None:
        """Take one epoch, in place; columns that have stopped stay as they are."""
        now = self.attention
        weighted = now * self.scores
        mean = weighted.sum(1, keepdim=True)
        change = weighted.addcmul_(now, mean, value=-1.0)
        change -= change.gather(1, self.best)  # the largest: no power overflows
        change *= self.rate
        now *= change.exp_()
        now /= now.sum(1, keepdim=True)
        if stop > 0:
            over = (self.stopped < 0) & (now.gather(1, self.best)[:, 0] > 1.0 - stop)
            self.stopped.masked_fill_(over, epoch)
            self.rate.masked_fill_(over[:, None], 0.0)

    def leave(self, which: Tensor, heads: Heads) -> None:
        """Write some columns and leave them out."""
        if bool(which.any()):
            places = self.places[which].cpu().numpy()
            heads.attention.reshape(-1)[places] = self.attention.gather(1, self.best)[which, 0].cpu().numpy()
            heads.stopped.reshape(-1)[places] = self.stopped[which].cpu().numpy()
            for name in ("scores", "attention", "best", "places", "stopped", "rate"):
                setattr(self, name, getattr(self, name)[~which])


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
    """Return heads of all children, and which nodes are roots.

    ``root_level`` is the level of the test for roots, None for no test. Nodes with fewer candidates than ``least``
    are roots in any case.
    """
    rows = guide.rows
    roots = np.arange(rows.n_nodes) < max(least, 1)
    if root_level is not None:
        roots |= ~_dependent_nodes(rows, root_level)
        clock.mark("roots")
    wanted = np.repeat(~roots[None], len(guide.kernels), axis=0)
    return train(rows, guide.scores, wanted, climbing, clock, n_cells=rows.n_codes), roots


def train(
    rows: TorchCounts, scored: Scorer, wanted: Bools, climbing: Climbing, clock: Clock, *, n_cells: int
) -> Heads:
    """Rank the candidates of every column, then train the columns of ``wanted`` [head, child].

    ``n_cells`` are those of a child that are counted for a score, which decide how many children make a tile. The
    rate depends on the margins of all columns, so candidates are scored twice rather than kept: the second time
    costs less than room for T² scores would.
    """
    best, n_best, stopped = (
        np.full(wanted.shape, -1),
        np.zeros(wanted.shape, dtype=np.int64),
        np.full(wanted.shape, -1),
    )
    heads = Heads(best, np.full(wanted.shape, np.nan), n_best, np.zeros(wanted.shape), stopped)
    tiles = [(start, end) for start, end in rows.tiles(n_cells) if wanted[:, start:end].any()]
    for start, end in tiles:
        tell("counting", start, rows.n_nodes, "nodes")
        for kept, made in zip((heads.best, heads.margins, heads.n_best), _rank(scored(start, end)), strict=True):
            kept[:, start:end] = made.cpu().numpy()
    heads.best[~wanted], heads.margins[~wanted], heads.n_best[~wanted] = -1, np.nan, 0
    clock.mark("scores")
    heads.attention[wanted] = 1 / np.maximum(heads.n_best[wanted], 1)  # the limit, which tied heads never reach
    if climbing.solver == "limit":
        heads.stopped[wanted & ~heads.tied] = 0
        return heads
    step = _usual_step(heads.margins) if climbing.rate is None else climbing.rate / wanted.size
    later: list[_Moving] = []  # the slow ones of all tiles go on together
    for start, end in tiles:
        tell("ascent", start, rows.n_nodes, "nodes")
        moving = _started(scored(start, end), heads, wanted, slice(start, end), step)
        moving.advance(0, min(_EARLY, climbing.epochs), climbing.stop, heads)
        if (sum(map(len, later)) + len(moving)) * rows.n_nodes > _MOST_LATER:
            _finish(moving, climbing, heads)
        elif len(moving):
            later.append(moving)
    if later:
        _finish(later[0].joined(later[1:], rows.n_nodes), climbing, heads)
    clock.mark("ascent")
    return heads


def _finish(moving: _Moving, climbing: Climbing, heads: Heads) -> None:
    moving.advance(_EARLY, climbing.epochs, climbing.stop, heads)
    moving.leave(moving.stopped < 0, heads)


def _started(scores: Tensor, heads: Heads, wanted: Bools, here: slice, step: float) -> _Moving:
    """Return the columns of a tile that can be trained: those that are tied for their best candidate never stop."""
    where = (wanted & ~heads.tied)[:, here]
    places = np.arange(wanted.size).reshape(wanted.shape)[:, here][where]
    moves, best, places = (
        torch.as_tensor(one, device=scores.device) for one in (where, heads.best[:, here][where], places)
    )
    return _Moving(scores[moves], best, places, step)


def _usual_step(margins: Floats) -> float:
    """Return η/(KT) as :func:`kgmi.learning.searched.usual_rate` has it: most heads take about twenty epochs."""
    chosen = np.isfinite(margins) & (margins > 0)
    if not chosen.any():
        return 1.0
    children = np.broadcast_to(np.arange(margins.shape[1]), margins.shape)[chosen]  # a child has as many candidates
    return float(USUAL_RISE * np.median(children) / np.median(margins[chosen]))
