"""A fit on a device whose tables of all pairs would be too large to keep."""

from __future__ import annotations

import numpy as np

from kgmi.attention_torch import Heads
from kgmi.counts.torch import TorchCounts, open_device
from kgmi.device.heads import Clock, head_scorer
from kgmi.device.search import search_device
from kgmi.device.stationary import Climbing, Guide, fit_stationary, train
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.learning.device_engine import device_rows, device_task
from kgmi.learning.inputs import Input
from kgmi.learning.searched import root_blocks
from kgmi.learning.settings import Settings
from kgmi.learning.status import cautions
from kgmi.learning.wide import Wide
from kgmi.types import Bools

__all__ = ["fit_wide"]

_SURE = 0.5  # attention above which a concentrated head names its candidate
_TOLERANCE = 1e-9  # relative difference of scores that rounding on a device may make


def fit_wide(data: Input, kernel: Kernel | None, settings: Settings) -> Wide:
    """Fit on the device, tile by tile."""
    if settings.smoothing == 0 and settings.guide == "stationary":
        raise SettingError("on a device and with so many nodes, scores need smoothing > 0; leave smoothing out")
    assert settings.device is not None
    clock = Clock(open_device(settings.device))
    rows = device_rows(data, settings)
    clock.mark("transfer")
    climbing = Climbing(settings.rate, settings.epochs, settings.stop, settings.solver)
    if settings.guide == "stationary":
        assert kernel is not None
        return _stationary(data, kernel, settings, rows, climbing, clock)
    return _likelihood(data, kernel, settings, rows, climbing, clock)


def _stationary(
    data: Input, kernel: Kernel, settings: Settings, rows: TorchCounts, climbing: Climbing, clock: Clock
) -> Wide:
    uniform = settings.in_degree == "uniform"
    guide = Guide(rows, kernel.marginal_kernels, settings.divergence, settings.smoothing)
    least = settings.n_heads if uniform else 1
    heads, roots = fit_stationary(guide, climbing, root_level=settings.root_level, least=least, clock=clock)
    named = (heads.best >= 0) & ~heads.tied & (uniform | (heads.attention > _SURE))
    parents = [tuple(dict.fromkeys(best[sure].tolist())) for best, sure in zip(heads.best.T, named.T, strict=True)]
    undecided = tuple(node for node, chosen in enumerate(parents) if not chosen and not roots[node])
    told = [
        f"{_count(int(roots.sum()), 'root')}, by a test at level {settings.root_level:g}.",
        *([f"Undecided: {_count(len(undecided), 'node')}."] if undecided else []),
        *cautions(kernel, settings.guide, settings.divergence, settings.n_heads),
    ]
    return _made(data, kernel, settings, rows, heads, Dag(parents), undecided, told, clock)


def _likelihood(
    data: Input, kernel: Kernel | None, settings: Settings, rows: TorchCounts, climbing: Climbing, clock: Clock
) -> Wide:
    found = search_device(rows, device_task(kernel, settings), clock)
    scored = head_scorer(rows, found.parents, found.pools, settings.n_heads)
    degrees = np.array([len(chosen) for chosen in found.parents])
    wanted = np.arange(settings.n_heads)[:, None] < degrees[None]
    heads = train(rows, scored, wanted, climbing, clock, n_cells=rows.n_codes**settings.n_heads)
    dag = Dag(found.parents, root_blocks(found.parents, found.together))
    top = found.pools.get(settings.n_heads)
    kernel = kernel or (None if top is None or not (degrees == settings.n_heads).any() else Kernel(top.table))
    many = ", ".join(
        f"{int((degrees == d).sum()):,} with {d or 'no'} parent{'s' * (d != 1)}"
        for d in np.unique(degrees).tolist()
    )
    drawn = sum(bool(one) for one in found.together)
    ended = "until the graph stopped changing" if found.settled else "and it was still changing: use more rounds"
    told = [
        f"Re-guided for {_count(found.rounds, 'round')}, {ended}.",
        f"Nodes by number of parents: {many}.",
        *([f"{_count(drawn, 'pair')} of roots drawn together."] if drawn else []),
        "All nodes with equally many parents share a kernel. Parents that tell nothing by themselves (XOR) are not "
        "found on a device.",
    ]
    return _made(data, kernel, settings, rows, heads, dag, (), told, clock)


def _made(
    data: Input,
    kernel: Kernel | None,
    settings: Settings,
    rows: TorchCounts,
    heads: Heads,
    dag: Dag,
    undecided: tuple[int, ...],
    told: list[str],
    clock: Clock,
) -> Wide:
    wanted = heads.best >= 0
    for array in (heads.best, heads.margins, heads.attention, heads.stopped):
        array.setflags(write=False)
    return Wide(
        dag=dag,
        names=data.names,
        states=data.states,
        chosen=heads.best,
        margins=heads.margins,
        chosen_attention=heads.attention,
        stopped=heads.stopped,
        converged=bool((heads.stopped >= 0)[wanted].all()),
        kernel=kernel,
        undecided=undecided,
        status=" ".join([_ended(heads, wanted, settings), *told, *_doubts(heads, wanted, rows)]),
        configuration={
            "n_rows": data.n_rows,
            "n_states": len(data.states),
            **settings.to_dict(),
            **({"prepared": list(data.prepared)} if data.prepared else {}),
            **({"reading": dict(data.reading)} if data.reading else {}),
        },
        seconds=clock.seconds,
    )


def _ended(heads: Heads, wanted: Bools, settings: Settings) -> str:
    """How the training of the heads ended."""
    n_heads = _count(int(wanted.sum()), "head")
    slow = int((wanted & ~heads.tied & (heads.stopped < 0)).sum())
    if not wanted.any():
        return "All nodes are roots, so there was nothing to train."
    if settings.solver == "limit":
        return f"Limit point of the ascent of {n_heads}."
    if settings.stop == 0:
        return f"Ran {n_heads} for {settings.epochs:,} epochs, as stop = 0 calls no head done."
    if slow:
        return f"Not converged: {slow:,} of {n_heads} are still spread out after {settings.epochs:,} epochs."
    return f"Ascent of {n_heads} ended after {int(heads.stopped.max(initial=0)):,} epochs at most."


def _doubts(heads: Heads, wanted: Bools, rows: TorchCounts) -> list[str]:
    """Ties, calls that rounding could turn, and number formats that were given up."""
    found = []
    margins = heads.margins[wanted & ~heads.tied]
    if ties := int((wanted & heads.tied).sum()):
        found.append(f"{_count(ties, 'head')} tied between candidates of equal score.")
    close = int((margins < _TOLERANCE * np.median(margins)).sum()) if len(margins) else 0
    if close:
        found.append(f"{_count(close, 'head')} decided by less than rounding on the device may change.")
    if rows.given_up:
        formats = ", ".join(rows.given_up)
        found.append(f"Counts in {formats} were wrong on this device and were made again in another format.")
    return found


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
