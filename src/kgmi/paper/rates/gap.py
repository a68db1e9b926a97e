"""Experiment 3, second half: the stopping epoch against 1/Δ as the kernel varies."""

from __future__ import annotations

import numpy as np

from kgmi.kernel.tunables import is_kernel, random_tunables
from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.rates.gap_report import EPS_ATTN, LEAST_GAP, checks, draw, inverse, table, why
from kgmi.paper.rates.stopping import Points, line_through, stopping
from kgmi.paper.setting import RATE, heads_right, paper_process, population_scores
from kgmi.theory import information_gap

__all__ = ["EXPERIMENT"]

_LEAST_ENTRY = 0.02


def _run(run: Run) -> Outcome:
    sweeps: dict[str, Points] = {}
    n_steps = 5 if run.quick else 25
    for tunable in range(2 if run.quick else 9):
        run.tell(tunable / 10, f"sweep of p_{tunable}")
        sweeps[str(tunable)] = _sweep(tunable, n_steps)
    run.tell(0.9, "random kernels")
    drawn, n_drawn = _random(run, 6 if run.quick else 60)
    numbers: Numbers = {
        "sweeps": {
            name: {
                "points": points,
                "line": line_through(points, inverse(points)),
                "left_out": n_steps - len(points),
            }
            for name, points in sweeps.items()
        },
        "random": {
            "points": drawn,
            "left_out": n_drawn - len(drawn),
            "line": line_through(drawn, inverse(drawn)),
            "law": line_through(drawn, [point["first_order"] for point in drawn]),
        },
    }
    numbers["tables"] = [table(numbers)]
    configuration = {
        "eps_attn": EPS_ATTN,
        "rate": RATE,
        "sweeps": "one tunable from its smallest to its largest value with all entries ≥ 0.02, the others 0",
        "random": "all tunables uniform in ±0.3 with all entries ≥ 0.02",
        "kept": f"kernels with a gap of at least {LEAST_GAP} whose 16 heads each prefer their own parent",
        "data": "population, 10 nodes",
    }
    found = checks(numbers)
    return Outcome(configuration, numbers, found, why(numbers, found))


def _sweep(tunable: int, steps: int) -> Points:
    """Kernels along one tunable, evenly over all its values that leave a kernel."""
    values = [v for v in np.linspace(-0.5, 0.5, 201) if is_kernel(_only(tunable, v), _LEAST_ENTRY)]
    return [point for v in np.linspace(values[0], values[-1], steps) for point in _measure(_only(tunable, v))]


def _only(tunable: int, value: float) -> list[float]:
    return [float(value) if k == tunable else 0.0 for k in range(9)]


def _random(run: Run, n_kernels: int) -> tuple[Points, int]:
    """Points of random kernels, and how many were drawn for them."""
    rng, drawn = run.rng(3), 0
    points: Points = []
    while len(points) < n_kernels:
        drawn += 1
        points += _measure(random_tunables(rng, least=_LEAST_ENTRY))
    return points, drawn


def _measure(p: list[float]) -> Points:
    """The point of one kernel, or none where it is left out."""
    process = paper_process(p=p)
    table = population_scores(process)
    right = heads_right(table, process.dag) == process.dag.n_edges
    if not right or information_gap(table, process.dag) < LEAST_GAP:
        return []
    return [{"p": p, **stopping(process, EPS_ATTN, table)}]


EXPERIMENT = Experiment(
    name="rate-gap",
    title="Stopping epoch against 1/Δ",
    claim="As the kernel varies, the epoch at which all heads have concentrated (ε_attn = 0.001) is linear in 1/Δ.",
    run=_run,
    draw=draw,
)
