"""The paper's KG-MI and its ascent on a device, tile by tile: tables [head, child, candidate] are not kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from kgmi.attention import USUAL_RISE
from kgmi.attention_torch import Heads, Scorer, ascend_tiles, rank_tiles
from kgmi.counts.torch import Tensor, TorchCounts
from kgmi.device.heads import Clock, earlier
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.errors import SettingError
from kgmi.types import Bools, Floats

__all__ = ["Climbing", "Guide", "Heads", "fit_stationary", "train"]

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
    tiles = [(start, end) for start, end in rows.tiles(n_cells) if wanted[:, start:end].any()]
    heads = rank_tiles(scored, tiles, wanted)
    clock.mark("scores")
    if climbing.solver == "limit":
        return heads
    step = _usual_step(heads.margins) if climbing.rate is None else climbing.rate / wanted.size
    heads = ascend_tiles(scored, tiles, heads, epochs=climbing.epochs, step=step, stop=climbing.stop)
    clock.mark("ascent")
    return heads


def _usual_step(margins: Floats) -> float:
    """Return η/(KT) as :func:`kgmi.learning.searched.usual_rate` has it: most heads take about twenty epochs."""
    chosen = np.isfinite(margins) & (margins > 0)
    if not chosen.any():
        return 1.0
    children = np.broadcast_to(np.arange(margins.shape[1]), margins.shape)[chosen]  # a child has as many candidates
    return float(USUAL_RISE * np.median(children) / np.median(margins[chosen]))
