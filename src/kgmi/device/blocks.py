"""Roots that are drawn together, on a device: pairs of them under the stationary law of a kernel of two parents."""

from __future__ import annotations

from math import log

import numpy as np

from kgmi.device.choices import Prices
from kgmi.device.heads import log_table
from kgmi.errors import KernelError
from kgmi.kernel import Kernel
from kgmi.search.pools import Pool
from kgmi.types import Floats, Ints

__all__ = ["drawn_together"]

_MARGIN = 2.0  # nats by which two roots must be explained better together than alone, as in a search on the CPU


def drawn_together(
    prices: Prices, pool: Pool | None, parents: list[tuple[int, ...]], worth: Floats, alone: Floats, said: float
) -> Ints:
    """[node]: the earlier root that it is drawn with, or -1; such a node loses its parents in ``parents``.

    As in :mod:`kgmi.search.blocks`: a root is open as long as nobody follows from it and nobody was drawn with it.
    Only nodes with less than two parents are looked at. ``worth`` is that of the parents that each node has,
    ``alone`` that of none, and ``said`` the price of saying that it has none.
    """
    partner = np.full(len(parents), -1)
    laws = _laws(pool)
    few = np.array([node for node, chosen in enumerate(parents) if len(chosen) < 2])
    if not laws or len(few) < 2:
        return partner
    gains = _gains(prices, laws, few) - log(len(laws))
    place = {int(node): number for number, node in enumerate(few)}
    is_open = np.zeros(len(few), dtype=bool)
    for node, chosen in enumerate(parents):
        number = place.get(node)
        if number is not None:
            row = np.where(is_open, gains[number], -np.inf)
            first = int(row.argmax())
            value = row[first] - log(max(int(is_open.sum()), 1))
            if value - said > worth[node] and value > alone[node] + _MARGIN:
                partner[node] = few[first]
                is_open[first] = False
                parents[node] = chosen = ()
            elif not chosen:
                is_open[number] = True
        for parent in chosen:
            if parent in place:
                is_open[place[parent]] = False
    return partner


def _laws(pool: Pool | None) -> list[Floats]:
    """[earlier root, next root]: what the kernel implies, with its parents in either order."""
    if pool is None or pool.n_parents != 2:
        return []
    tables = [pool.table] if pool.symmetric or pool.known else [pool.table, pool.table.swapaxes(0, 1)]
    found = []
    for table in tables:
        try:
            joint = Kernel(table).stationary
        except KernelError:  # zeros in the kernel trap the chain: no such law
            continue
        total = joint.sum(axis=-1, keepdims=True)
        found.append(np.divide(joint, total, out=np.full(joint.shape, 1 / len(joint)), where=total > 0))
    return found


def _gains(prices: Prices, laws: list[Floats], nodes: Ints) -> Floats:
    """[node, earlier node]: gain of the node under the law that suits it best, given the other."""
    import torch

    rows = prices.rows
    numbers = torch.as_tensor(nodes, device=rows.place)
    size = rows.tile_size(rows.n_states, len(nodes))
    found = []
    for start in range(0, len(nodes), size):
        here = numbers[start : start + size]
        counts = rows.counter.count(rows.columns[here], rows.n_states, numbers)
        best = None
        for law in laws:
            logs = log_table(law)
            gain = torch.zeros(len(here), len(nodes), dtype=torch.float64, device=rows.place)
            for state, cells in enumerate(counts):
                for target in range(rows.n_states):
                    gain.add_(cells[:, target], alpha=float(logs[state, target]))
            best = gain if best is None else torch.maximum(best, gain)
        assert best is not None
        found.append(best.cpu().numpy())
    return np.asarray(np.concatenate(found) - prices.own_fit[nodes][:, None])
