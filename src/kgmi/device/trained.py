"""Scores of the heads around parents that were found, on a device: tile by tile, or whole where that is small."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kgmi.device.heads import log_table, pair_scores, single_scores
from kgmi.device.information import earlier
from kgmi.device.place import Tensor
from kgmi.device.rows import DeviceRows
from kgmi.search.pools import Pool
from kgmi.types import Floats, Parents, ScoreTable

__all__ = ["head_scorer", "head_table"]


def head_scorer(
    rows: DeviceRows, parents: Parents, pools: Mapping[int, Pool], n_heads: int, own_fit: Floats
) -> Callable[[int, int], Tensor]:
    """(start, end) → gains [head, child, candidate] of children start..end-1; -inf where nothing is to choose.

    As :func:`kgmi.search.head_table`: every candidate in the place of the head's parent, the other head's as it is.
    ``own_fit`` is the log-likelihood of every node's own law, which gains are over.
    """
    import torch

    degrees = np.array([len(chosen) for chosen in parents])
    table = np.array([(*chosen, -1, -1)[:2] for chosen in parents])

    def scored(start: int, end: int) -> Tensor:
        out = torch.full((n_heads, end - start, end), -np.inf, dtype=torch.float64, device=rows.place)
        here = degrees[start:end]
        if (here == 1).any():
            one = single_scores(rows, log_table(pools[1].seen), start, end)
            one.masked_fill_(~earlier(rows, start, end), -np.inf)
            which = torch.as_tensor(here == 1, device=rows.place)
            out[0, which] = one[which]
        if (here == 2).any():
            logs = log_table(pools[2].seen)
            children = torch.as_tensor(start + np.flatnonzero(here == 2), device=rows.place)
            both = torch.as_tensor(table[start:end][here == 2], device=rows.place)
            for head in range(2):
                out[head, children - start] = pair_scores(rows, logs, head, children, both[:, 1 - head], end)
        return out - torch.as_tensor(own_fit[start:end], device=rows.place)[None, :, None]

    return scored


def head_table(rows: DeviceRows, scored: Callable[[int, int], Tensor], n_heads: int) -> ScoreTable:
    """All of it [head, child, candidate], NaN where nothing is to choose; for graphs whose tables are small."""
    table = np.full((n_heads, rows.n_nodes, rows.n_nodes), np.nan)
    for start, end in rows.tiles(rows.n_states**2):
        made = scored(start, end).cpu().numpy()
        table[:, start:end, :end] = np.where(np.isfinite(made), made, np.nan)
    return table
