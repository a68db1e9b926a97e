"""Every method on the exact laws of many graphs and kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kgmi.bench.compare import Tell
from kgmi.bench.exact.methods import METHODS, ExactMethod
from kgmi.bench.graphs.setting import Setting
from kgmi.errors import KgmiError
from kgmi.metrics import compare
from kgmi.process import Process

__all__ = ["ExactOutcome", "try_methods"]


@dataclass(frozen=True)
class ExactOutcome:
    """One method on all graphs and kernels of a setting.

    Attributes
    ----------
    right, f1, seconds
        For each of them in turn: whether all edges are right (edges between jointly drawn roots counted apart), F1,
        and how long it took. A fit that failed is not right and has F1 0.
    shared
        Whether it ended with one learned kernel for all nodes of an in-degree; None where the kernel was known.
    trouble
        Why fits failed, by number of the graph.
    """

    setting: Setting
    method: ExactMethod
    right: tuple[bool, ...]
    f1: tuple[float, ...]
    seconds: tuple[float, ...]
    shared: tuple[bool | None, ...]
    trouble: dict[int, str]


def try_methods(
    settings: Sequence[Setting],
    seed: int,
    methods: Sequence[ExactMethod] = METHODS,
    tell: Tell | None = None,
) -> tuple[ExactOutcome, ...]:
    """Learn every graph that the settings draw from the seed, with every method."""
    total = len(methods) * sum(setting.n_kernels for setting in settings)
    outcomes = []
    done = 0
    for setting in settings:
        processes = setting.draw(seed)
        for method in methods:
            fits, trouble = [], {}
            for number, process in enumerate(processes):
                if tell is not None:
                    tell(done, total)
                done += 1
                try:
                    fits.append(_try(method, process))
                except KgmiError as error:  # one graph that fails must not hide the others
                    fits.append((False, 0.0, 0.0, None))
                    trouble[number] = str(error)
            right, f1, seconds, shared = zip(*fits, strict=True)
            outcomes.append(ExactOutcome(setting, method, right, f1, seconds, shared, trouble))
    return tuple(outcomes)


def _try(method: ExactMethod, process: Process) -> tuple[bool, float, float, bool | None]:
    start = time.perf_counter()
    learned = method.fit(process)
    seconds = time.perf_counter() - start
    near = compare(learned.dag, process.dag)
    shared = learned.fit.shared if learned.fit is not None and method.kernel == "learned" else None
    return near.exact, near.f1, seconds, shared
