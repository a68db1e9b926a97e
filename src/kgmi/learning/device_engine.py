"""Counts and searches on a device for results with tables: all that follows is as ever."""

from __future__ import annotations

from dataclasses import replace

from kgmi.counts.torch import TorchCounts
from kgmi.device.heads import Clock, head_scorer, head_table
from kgmi.device.search import Task, search_device
from kgmi.kernel import Kernel
from kgmi.learning.inputs import Input
from kgmi.learning.settings import Settings
from kgmi.search.alternate import pools_of, state_of
from kgmi.search.found import Found
from kgmi.search.plan import Plan

__all__ = ["counted_on_device", "device_rows", "device_task", "found_on_device"]


def device_rows(data: Input, settings: Settings) -> TorchCounts:
    """The rows on the device."""
    assert data.table is not None
    assert settings.device is not None
    sizes = (len(data.states),) * data.table.codes.shape[1]
    return TorchCounts(data.table.codes, sizes, device=settings.device)


def counted_on_device(data: Input, settings: Settings) -> Input:
    """The same with pairs counted on the device: every count as on the CPU, so all that follows is the same too."""
    return replace(data, statistics=device_rows(data, settings).pairs())


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
    scored = head_scorer(rows, found.parents, pools, settings.n_heads)
    table = head_table(rows, scored, settings.n_heads)
    return Found(plan, state, True, state.score, None, 1, state.score, heads=table)
