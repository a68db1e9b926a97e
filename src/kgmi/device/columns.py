"""Gradient ascent of a tile of columns on a device: as :mod:`kgmi.ascent.plain`, without a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.device.place import Tensor
from kgmi.types import Bools, Floats, Ints

__all__ = ["Heads", "Moving", "Ranked", "rank"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied, as on the CPU
_LOOK = 16  # epochs between two looks at who has stopped: a look waits for the device


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

    @classmethod
    def empty(cls, n_heads: int, n_nodes: int) -> Heads:
        """No candidates anywhere."""
        shape = (n_heads, n_nodes)
        return cls(
            np.full(shape, -1),
            np.full(shape, np.nan),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape),
            np.full(shape, -1),
        )

    @property
    def tied(self) -> Bools:
        """Whether several candidates are best."""
        return np.asarray(self.n_best > 1)


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best candidate of every column, on the device: its place, its lead, and how many are as good."""

    best: Tensor
    margins: Tensor
    n_best: Tensor


def rank(scores: Tensor) -> Ranked:
    """[…, candidate] → best candidates; scores of candidates that are not allowed are -inf."""
    n_top = min(2, scores.shape[-1])
    top, place = scores.topk(n_top, dim=-1)
    allowed = scores.isfinite()
    scale = scores.abs().where(allowed, scores.new_zeros(())).amax(-1)
    margins = top[..., 0] - top[..., -1] if n_top > 1 else top[..., 0].new_full(top.shape[:-1], float("inf"))
    best = scores >= (top[..., 0] - _TIE * scale.clamp(min=1e-3))[..., None]
    return Ranked(place[..., 0], margins, (best & allowed).sum(-1))


class Moving:
    """Columns [column, candidate] that move from uniform attention; ``scores`` are -inf where one is not allowed.

    ``places`` are their numbers, head · T + child, ``best`` their best candidates, and ``rate`` is η/(KT).
    """

    def __init__(self, scores: Tensor, best: Tensor, places: Tensor, rate: float) -> None:
        import torch

        allowed = scores.isfinite()
        self.scores, self.best, self.places = scores.masked_fill(~allowed, 0.0), best[:, None], places
        self.attention = allowed.double()
        self.attention /= self.attention.sum(1, keepdim=True)
        self.stopped = torch.where(allowed.sum(1) == 1, 0, -1)
        self._rate = torch.full((len(scores), 1), rate, dtype=torch.float64, device=scores.device)  # 0 once stopped
        self._rate.masked_fill_(self.stopped[:, None] >= 0, 0.0)

    def __len__(self) -> int:
        return len(self.places)

    def advance(self, start: int, end: int, stop: float, heads: Heads) -> None:
        """Go from epoch ``start`` to ``end`` or until all have stopped; those are written and left out."""
        epoch = start
        while epoch < end and len(self):
            for _ in range(min(_LOOK, end - epoch)):
                epoch += 1
                self._step(epoch, stop)
            self._leave(self.stopped >= 0, heads)

    def finish(self, heads: Heads) -> None:
        """Write those that have not stopped."""
        self._leave(self.stopped < 0, heads)

    def joined(self, others: Sequence[Moving], width: int) -> Moving:
        """These and others as one, with room for ``width`` candidates."""
        import torch

        every = (self, *others)
        for name in ("scores", "attention"):
            parts = [getattr(one, name) for one in every]
            wide = [torch.nn.functional.pad(part, (0, width - part.shape[1])) for part in parts]
            setattr(self, name, torch.cat(wide))
        for name in ("best", "places", "stopped", "_rate"):
            setattr(self, name, torch.cat([getattr(one, name) for one in every]))
        return self

    def _step(self, epoch: int, stop: float) -> None:
        """One epoch, in place; columns that have stopped stay as they are."""
        now = self.attention
        weighted = now * self.scores
        mean = weighted.sum(1, keepdim=True)
        change = weighted.addcmul_(now, mean, value=-1.0)
        change -= change.gather(1, self.best)  # the largest: no power overflows
        change *= self._rate
        now *= change.exp_()
        now /= now.sum(1, keepdim=True)
        if stop > 0:
            over = (self.stopped < 0) & (now.gather(1, self.best)[:, 0] > 1.0 - stop)
            self.stopped.masked_fill_(over, epoch)
            self._rate.masked_fill_(over[:, None], 0.0)

    def _leave(self, which: Tensor, heads: Heads) -> None:
        if bool(which.any()):
            places = self.places[which].cpu().numpy()
            heads.attention.reshape(-1)[places] = self.attention.gather(1, self.best)[which, 0].cpu().numpy()
            heads.stopped.reshape(-1)[places] = self.stopped[which].cpu().numpy()
            for name in ("scores", "attention", "best", "places", "stopped", "_rate"):
                setattr(self, name, getattr(self, name)[~which])
