"""Heads of all children under one kernel, on a device: one head moves, given the other, until none does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kgmi.device.place import Tensor
from kgmi.device.rows import DeviceRows
from kgmi.guides.likelihood import IMPOSSIBLE
from kgmi.types import Bools, Floats, Ints

__all__ = ["best_singles", "best_tuples", "log_table", "pair_scores", "single_scores"]

_INDIFFERENT = 1e-9  # nats by which a head must be better to move
_MOST_SWEEPS = 40


def log_table(kernel: Floats) -> Floats:
    """log π; the child's own law, which the gain is over, is the same for all of its candidates."""
    return np.asarray(np.log(np.maximum(kernel, IMPOSSIBLE)))


def single_scores(rows: DeviceRows, logs: Floats, start: int, end: int) -> Tensor:
    """[child, candidate]: log-likelihood of children start..end-1 with one parent, from pairs; no mask."""
    import torch

    out = torch.zeros(end - start, end, dtype=torch.float64, device=rows.place)
    for state, counts in enumerate(rows.pairs(start, end)):
        for target in range(rows.n_states):
            out.add_(counts[:, target], alpha=float(logs[state, target]))
    return out


def pair_scores(rows: DeviceRows, logs: Floats, head: int, children: Tensor, others: Tensor, width: int) -> Tensor:
    """[item, candidate]: log-likelihood with each candidate for ``head``, the other head's parent as it is.

    The other parent and columns from the child on are -inf. Counts are exact, sums in double precision.
    """
    import torch

    n_states = rows.n_states
    turned = np.moveaxis(logs, head, 0)  # [candidate, other, child]
    out = torch.zeros(len(children), width, dtype=torch.float64, device=rows.place)
    for state, counts in enumerate(rows.families(children, others, width)):
        weights = turned[state].reshape(n_states**2)
        for cell, weight in enumerate(weights.tolist()):
            out.add_(counts[:, cell], alpha=weight)
    columns = torch.arange(width, device=rows.place)[None]
    return out.masked_fill_((columns >= children[:, None]) | (columns == others[:, None]), -np.inf)


def best_singles(rows: DeviceRows, logs: Floats) -> tuple[Ints, Floats]:
    """[child]: the best single parent under a kernel and its log-likelihood; -1 and -inf for the first node."""
    from kgmi.device.information import earlier

    best, values = np.full(rows.n_nodes, -1), np.full(rows.n_nodes, -np.inf)
    for start, end in rows.tiles(rows.n_states):
        scores = single_scores(rows, logs, start, end).masked_fill_(~earlier(rows, start, end), -np.inf)
        top, place = scores.max(1)
        best[start:end], values[start:end] = place.cpu().numpy(), top.cpu().numpy()
    best[values == -np.inf] = -1
    return best, values


def best_tuples(rows: DeviceRows, logs: Floats, starts: Ints) -> Ints:
    """Parents [item, head] of ``starts`` [child, head] after its heads have moved one by one until none would.

    A start may leave one head open (-1), which then moves first; children without a start (all -1) stay so.
    """
    parents = np.array(starts)
    stale = np.stack([parents[:, 1] >= 0, parents[:, 0] >= 0], axis=1)  # heads to be looked at: the other is there
    for sweep in range(_MOST_SWEEPS):
        if not stale.any():
            break
        head = sweep % 2 if stale[:, sweep % 2].any() else 1 - sweep % 2
        items = np.flatnonzero(stale[:, head])
        stale[items, head] = False
        moved = _move(rows, logs, parents, head, items)
        stale[items[moved], 1 - head] = True
    return parents


def _move(rows: DeviceRows, logs: Floats, parents: Ints, head: int, items: Ints) -> Bools:
    """Move one head of some children to its best candidate, in place; which of them moved."""
    moved = np.zeros(len(items), dtype=bool)
    for here, children, others, width in _tiles(rows, items, parents[:, 1 - head]):
        scores = pair_scores(rows, logs, head, children, others, width)
        top, place = (one.cpu().numpy() for one in scores.max(1))
        some = items[here]
        now = parents[some, head]
        at = np.maximum(now, 0)
        present = scores.gather(1, _tensor(rows, at)[:, None])[:, 0].cpu().numpy()
        better = (now < 0) | (top > present + _INDIFFERENT)
        better &= np.isfinite(top)
        parents[some[better], head] = place[better]
        moved[here] = better & (place != now)
    return moved


def _tiles(rows: DeviceRows, items: Ints, others: Ints) -> Iterator[tuple[slice, Tensor, Tensor, int]]:
    """Children in rising order, in tiles: where they are among the items, they, their other parents, width."""
    start = 0
    while start < len(items):
        n_cells = rows.n_states**2
        ahead = items[min(start + rows.tile_size(n_cells, 1), len(items)) - 1]
        size = rows.tile_size(n_cells, int(ahead))
        here = slice(start, min(start + size, len(items)))
        some = items[here]
        yield here, _tensor(rows, some), _tensor(rows, others[some]), int(some[-1])
        start = here.stop


def _tensor(rows: DeviceRows, nodes: Ints) -> Tensor:
    import torch

    return torch.as_tensor(np.array(nodes), device=rows.place)
