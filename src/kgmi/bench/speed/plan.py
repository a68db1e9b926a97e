"""What ``kgmi learn --plan`` foresees against what happens: seconds and memory of whole fits of several kinds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from kgmi.bench.compare import Tell
from kgmi.bench.speed.measured import Lines, Measured
from kgmi.bench.speed.points import check_nodes
from kgmi.bench.speed.timing import check_sizes
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.learning import learn
from kgmi.learning.cost import Forecast
from kgmi.learning.foresee import foresee
from kgmi.learning.ready import make_ready
from kgmi.learning.searched import plan_of
from kgmi.learning.settings import SEARCHING
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.search.decisive import decide
from kgmi.types import Codes

__all__ = ["CASES", "measure_plan"]

_Problem: TypeAlias = tuple[Codes, dict[str, Any]]  # rows and options


@dataclass(frozen=True)
class _Point:
    """One fit, foreseen and measured; phases are those of the shortest run."""

    case: str
    in_doubt: bool
    n_nodes: int
    n_rows: int
    foreseen_seconds: float
    seconds: float
    foreseen_bytes: int
    n_bytes: int
    foreseen_phases: dict[str, float]
    phases: dict[str, float]
    foreseen_peaks: dict[str, int]
    peaks: dict[str, int]


def measure_plan(
    cases: Sequence[str] = (),
    nodes: Sequence[int] = (10, 50, 200, 1_000),
    rows: Sequence[int] = (1_000, 10_000, 100_000),
    *,
    repeats: int = 3,
    limit: float = 60.0,
    seed: int = 0,
    tell: Tell | None = None,
) -> Measured:
    """Foresee, fit and compare.

    Parameters
    ----------
    cases
        Names of :data:`CASES`; by default all.
    nodes, rows
        Sizes T, multiples of 10, and N.
    repeats
        Fits of each; the shortest counts.
    limit
        Seconds: fits that are foreseen to take longer are left out.
    tell
        Called with the sizes done and all of them.
    """
    check_sizes(nodes=nodes, rows=rows, repeats=[repeats])
    check_nodes(nodes)
    if unknown := sorted({*cases} - {*CASES}):
        raise SettingError(f"there is no case {unknown[0]!r}; there are {', '.join(CASES)}")
    sizes = [(case, n, r) for case in cases or CASES for n in sorted(nodes) for r in sorted(rows)]
    points, left_out = [], []
    for number, (case, n_nodes, n_rows) in enumerate(sizes):
        if tell is not None:
            tell(number, len(sizes))
        problem = CASES[case](n_nodes, n_rows, np.random.default_rng([seed, n_nodes, n_rows]))
        forecast = foresee(problem[0], **problem[1])
        in_doubt = _is_in_doubt(problem)
        expected = forecast.at_worst if in_doubt else forecast.seconds
        if expected > limit:
            left_out.append(f"{case}, {n_nodes:,} nodes × {n_rows:,} rows: {expected:,.0f} s foreseen.")
        else:
            points.append(_measured(case, problem, forecast, in_doubt, repeats))
    settings = {"cases": [*(cases or CASES)], "nodes": [*nodes], "rows": [*rows], "repeats": repeats, "seed": seed}
    return _report(settings, points, left_out)


def _is_in_doubt(problem: _Problem) -> bool:
    """Whether a quick look, where there is one, does not decide the case."""
    usual = learn.__kwdefaults__ or {}
    ready = make_ready({**usual, **problem[1], "rows": problem[0]}, usual)
    if ready.settings.guide not in SEARCHING or not (ready.kernel is None or isinstance(ready.kernel, Kernel)):
        return False
    return decide(plan_of(ready.data, ready.kernel, ready.settings), ready.settings.share) is None


def _measured(case: str, problem: _Problem, forecast: Forecast, in_doubt: bool, repeats: int) -> _Point:
    rows, options = problem
    seconds, phases, _ = min((_fit(rows, options) for _ in range(repeats)), key=lambda run: run[0])
    tracemalloc.start()
    try:
        _, _, peaks = _fit(rows, options)
        peak = max(tracemalloc.get_traced_memory()[1], *peaks.values())
    finally:
        tracemalloc.stop()
    return _Point(
        case,
        in_doubt,
        rows.shape[1],
        rows.shape[0],
        forecast.at_worst if in_doubt else forecast.seconds,
        seconds,
        max(phase.n_bytes for phase in forecast.phases if in_doubt or not phase.in_doubt),
        peak,
        {phase.name: phase.seconds for phase in forecast.phases},
        phases,
        {phase.name: phase.n_bytes for phase in forecast.phases},
        peaks,
    )


def _fit(rows: Codes, options: dict[str, Any]) -> tuple[float, dict[str, float], dict[str, int]]:
    """One fit with its status and checks, which belong to the report."""
    start = perf_counter()
    learned = learn(rows, **options)
    begun = perf_counter()
    _ = learned.status, learned.checks
    end = perf_counter()
    assert learned.spent is not None
    phases = dict(learned.spent.seconds)
    last = "report" if "report" in phases else "scores"
    phases[last] += end - begun
    return end - start, phases, learned.spent.peaks


def _report(settings: dict[str, Any], points: Sequence[_Point], left_out: list[str]) -> Measured:
    lines = [
        [
            point.case,
            f"{point.n_nodes:,}",
            f"{point.n_rows:,}",
            f"{point.foreseen_seconds:.3g}",
            f"{point.seconds:.3g}",
            f"{point.foreseen_seconds / point.seconds:.2f}",
            f"{point.foreseen_bytes / 1e6:.3g}",
            f"{point.n_bytes / 1e6:.3g}",
            f"{point.foreseen_bytes / point.n_bytes:.2f}",
        ]
        for point in points
    ]
    columns = ["case", "nodes", "rows", "s foreseen", "s taken", "ratio", "MB foreseen", "MB taken", "ratio"]
    sentences = [f"Left out: {one}" for one in left_out]
    if points:
        times = [_off(point.foreseen_seconds, point.seconds) for point in points]
        sizes = [_off(point.foreseen_bytes, point.n_bytes) for point in points]
        sentences.append(
            f"Seconds are off by a factor of {np.median(times):.1f} (median; {max(times):.1f} at most), memory by "
            f"{np.median(sizes):.1f} ({max(sizes):.1f} at most)."
        )
    return Measured(
        kind="plan",
        settings=settings,
        results=[asdict(point) for point in points],
        tables=(Lines("Foreseen and taken", columns, lines, right=1),),
        sentences=tuple(sentences),
    )


def _off(foreseen: float, taken: float) -> float:
    return max(foreseen / taken, taken / foreseen)


def _drawn(n_nodes: int, n_rows: int, kernel: Kernel, rng: np.random.Generator) -> Codes:
    """Copies of the paper's graph of 10 nodes."""
    dag = Dag.paper(10) if n_nodes == 10 else Dag.paper(10).copies(n_nodes // 10)
    return sample(Process(dag, kernel), n_rows, rng=rng).astype(np.int8)


def _clear(n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Problem:
    return _drawn(n_nodes, n_rows, Kernel.paper(), rng), {"n_parents": 2}


def _doubt(n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Problem:
    """Nodes of two kernels, which no quick look decides; of 10 nodes, classes that are to be looked for."""
    one, other = (_drawn(n_nodes, n_rows, Kernel.random(3, 2, rng=rng), rng) for _ in range(2))
    rows = np.where(np.arange(n_nodes) % 20 < 10, one, other)
    return rows, {"n_parents": 2} | ({"share": "classes"} if n_nodes == 10 else {})


def _stationary(n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Problem:
    kernel = Kernel.paper()
    options = {"kernel": kernel, "guide": "stationary", "solver": "limit"}
    return _drawn(n_nodes, n_rows, kernel, rng), options


def _known(n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Problem:
    kernel = Kernel.paper()
    return _drawn(n_nodes, n_rows, kernel, rng), {"kernel": kernel}


def _order(n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Problem:
    rows = _drawn(n_nodes, n_rows, Kernel.paper(), rng)
    return rows[:, rng.permutation(n_nodes)], {"n_parents": 2, "order": "learn"}


CASES: dict[str, Callable[[int, int, np.random.Generator], _Problem]] = {
    "clear": _clear,
    "doubt": _doubt,
    "known": _known,
    "stationary": _stationary,
    "order": _order,
}
"""Kinds of fits, by name: a function (T, N, rng) → rows and options."""
