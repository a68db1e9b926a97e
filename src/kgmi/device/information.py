"""Kernel-guided mutual information and the test of independence on a device, from counts of a tile of children."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgmi.device.place import Tensor
from kgmi.device.rows import DeviceRows
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.errors import SettingError
from kgmi.types import Bools, Floats

__all__ = ["Guide", "dependent_nodes", "earlier", "per_ratio"]


def _jensen_shannon(r: Tensor) -> Tensor:
    return 0.5 * (r.log() - (1 + 1 / r) * ((r + 1) / 2).log())


_PER_RATIO: dict[str, Callable[[Tensor], Tensor]] = {
    "kl": lambda r: r.log(),
    "pearson": lambda r: r - 1,
    "neyman": lambda r: (1 / r - 1) / r,
    "hellinger": lambda r: (r.sqrt() - 1) ** 2 / r,
    "reverse-kl": lambda r: -r.log() / r,
    "jensen-shannon": _jensen_shannon,
    "total-variation": lambda r: 0.5 * (r - 1).abs() / r,
}
"""f(r)/r of the named divergences, for r > 0."""


def per_ratio(divergence: Divergence) -> Callable[[Tensor], Tensor]:
    """f(r)/r on tensors; a function of the user's own knows NumPy only."""
    plain = divergence.name.removesuffix("-matched")
    if plain not in _PER_RATIO or divergence.name not in (plain, f"{plain}-matched"):
        raise SettingError(
            f"the divergence '{divergence.name}' is not there on a device; use {', '.join(_PER_RATIO)} (each also "
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

    Attributes
    ----------
    rows
        The rows.
    kernels
        Marginal kernels π^ℓ as [head, s, s'].
    divergence
        f.
    smoothing
        Pseudo-rows of every pair, more than none.
    """

    rows: DeviceRows
    kernels: Floats
    divergence: Divergence
    smoothing: float

    def scores(self, start: int, end: int) -> Tensor:
        """[head, child, candidate] of children start..end-1 and candidates before ``end``; no mask."""
        import torch

        n_states, total = self.rows.n_states, self.rows.n_rows + self.smoothing
        law = (self.rows.margins + self.smoothing / n_states) / total
        gain_of = per_ratio(self.divergence)
        counts = self.rows.pairs(start, end)
        out = torch.zeros(len(self.kernels), end - start, end, dtype=torch.float64, device=self.rows.place)
        for state in range(n_states):
            weight = law[:end, state]
            for target in range(n_states):
                ratio = counts[state][:, target].double().add_(self.smoothing / n_states**2)
                ratio /= law[start:end, target, None] * (weight * total)
                gain = gain_of(ratio)
                for head, kernel in enumerate(self.kernels):
                    out[head].addcmul_(gain, weight[None], value=float(kernel[state, target]))
        return out


def dependent_nodes(rows: DeviceRows, level: float) -> Bools:
    """[node]: whether it depends on an earlier one, by the G-test of :func:`kgmi.roots.find_roots`."""
    import torch
    from scipy.special import chdtri  # scipy.stats is slow to load

    n_nodes, n_states = rows.n_nodes, rows.n_states
    n_pairs = n_nodes * (n_nodes - 1) // 2
    free = (rows.margins > 0).sum(1) - 1
    bounds = np.zeros((n_states, n_states))
    for one in range(n_states):
        for other in range(n_states):
            bounds[one, other] = chdtri(max(one * other, 1), level / max(n_pairs, 1)) / 2
    table = torch.as_tensor(bounds, device=rows.place)

    found = np.zeros(n_nodes, dtype=bool)
    for start, end, counts in rows.counted_pairs():
        nats = torch.zeros(end - start, end, dtype=torch.float64, device=rows.place)
        for state in range(n_states):
            for target in range(n_states):
                here = counts[state][:, target].double()
                product = rows.margins[start:end, target, None] * rows.margins[None, :end, state]
                nats += torch.xlogy(here, here * rows.n_rows / product.clamp_(min=1))
        more = nats > table[free[start:end, None], free[None, :end]]
        found[start:end] = (more & earlier(rows, start, end)).any(1).cpu().numpy()
    return found


def earlier(rows: DeviceRows, start: int, end: int) -> Tensor:
    """[child, candidate]: whether the candidate comes first, for children start..end-1."""
    import torch

    nodes = torch.arange(end, device=rows.place)
    return nodes[None] < nodes[start:end, None]
