"""Counts and searches on a device for results with tables: all that follows is as ever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.device import (
    Clock,
    DeviceRows,
    Task,
    head_scorer,
    head_table,
    open_device,
    own_fits,
    search_device,
)
from kgmi.kernel import Kernel
from kgmi.learning.inputs import Input
from kgmi.learning.settings import Settings
from kgmi.search.alternate import pools_of, state_of
from kgmi.search.found import Found
from kgmi.search.plan import Plan

__all__ = ["counted_on_device", "device_rows", "device_task", "found_on_device"]


def device_rows(data: Input, settings: Settings) -> DeviceRows:
    """The rows on the device."""
    assert data.table is not None
    assert settings.device is not None
    return DeviceRows(data.table.codes, len(data.states), open_device(settings.device))


def counted_on_device(data: Input, settings: Settings) -> Input:
    """The same with pairs counted on the device: every count as on the CPU, so all that follows is the same too."""
    rows = device_rows(data, settings)
    n_nodes, n_states = rows.n_nodes, rows.n_states
    counts = np.empty((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
    for start, end, pairs in rows.counted_pairs():
        for state, one in enumerate(pairs):
            made = one.cpu().numpy()  # [child, s', candidate]
            counts[start:end, :end, :, state] = made.transpose(0, 2, 1)
            counts[:end, start:end, state] = made.transpose(2, 0, 1)
    return replace(data, statistics=PairCounts(counts))


def device_task(kernel: Kernel | None, settings: Settings) -> Task:
    """What the search on a device may do, as :func:`kgmi.learning.searched.plan_of`."""
    n_heads, mixed = settings.n_heads, settings.in_degree == "mixed"
    degrees = tuple(range(n_heads + 1)) if mixed else (0, n_heads)
    known = {}
    if kernel is not None:
        known = {d: kernel.table if d == n_heads else kernel.marginalise(d).table for d in degrees if d}
    return Task(n_heads, degrees, settings.penalty, settings.smoothing, known, settings.rounds)


def found_on_device(data: Input, plan: Plan, kernel: Kernel | None, settings: Settings) -> Found:
    """Search on the device; graph and kernels are then priced as ever, and heads scored on the device."""
    rows = device_rows(data, settings)
    found = search_device(rows, device_task(kernel, settings), Clock(rows.place))
    plan = replace(plan, search="heads")
    state = state_of(plan, found.parents, pools_of(plan, found.parents), found.together)
    state = replace(state, rounds=found.rounds, settled=found.settled)
    pools = {pool.n_parents: pool for pool in state.pools.values()}
    scored = head_scorer(rows, found.parents, pools, settings.n_heads, own_fits(rows))
    table = head_table(rows, scored, settings.n_heads)
    return Found(plan, state, True, state.score, None, 1, state.score, heads=table)
