"""Outcomes on graphs as lines of a table for people, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from kgmi.bench.compare import Outcome
from kgmi.bench.graphs.setting import Setting
from kgmi.bench.order import Order
from kgmi.bench.plan import Plan
from kgmi.bench.report import WITHOUT_ORDER, count, library_of, outcome_values, plan_values

__all__ = ["columns", "describe", "outcome_lines", "plain_values"]


def columns(order: Order = "given") -> list[str]:
    """What :func:`outcome_lines` holds."""
    skeleton = ["F1 of skeleton"] if order == "learn" else []
    return ["rows", "method", "library", "all edges right", "share", "F1", *skeleton, "seconds"]


_TOLD: dict[Order, str] = {"given": "The order and K are told.", "learn": f"K is told. {WITHOUT_ORDER}"}


def describe(setting: Setting, plan: Plan) -> str:
    """The setting in a few sentences."""
    one = setting.draw(plan.seeds[0])[0]
    samples = count(setting.n_kernels * len(plan.seeds), "sample")
    return (
        f"{setting.name}: {count(one.n_nodes, 'node')} with {one.n_states} states, at most "
        f"{count(one.kernel.n_parents, 'parent')}; {samples} of each size, {setting.n_kernels} from each seed "
        f"({', '.join(map(str, plan.seeds))}). {_TOLD[plan.order]} Edges between roots that are drawn "
        "jointly are counted apart, for everybody."
    )


def outcome_lines(outcomes: Sequence[Outcome], order: Order = "given") -> list[list[str]]:
    """One line per size and method, as in ``columns``: of the samples answered; F1 is a mean, seconds a median."""
    lines = []
    for outcome in outcomes:
        right, done = _n_right(outcome), len(outcome.scores)
        numbers = ["–"] * (len(columns(order)) - 3)
        if done:
            f1 = [fmean(score.f1 for score in outcome.scores)]
            if order == "learn":
                f1.append(fmean(score.f1_skeleton for score in outcome.scores))
            share = f"{100 * right / done:.0f} %"
            seconds = f"{median(outcome.seconds):.3g}"
            numbers = [f"{right} of {done}", share, *(f"{value:.3f}" for value in f1), seconds]
        lines.append([f"{outcome.n_rows:,}", outcome.method.key, library_of(outcome), *numbers])
    return lines


def plain_values(setting: Setting, plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything for JSON: the graphs and kernels, and every single result in their order."""
    return {
        **plan_values(plan),
        "graph": setting.graph,
        "kernel": setting.kernel,
        "n_kernels": setting.n_kernels,
        "processes": [
            {
                "seed": seed,
                **process.dag.to_dict(),
                "kernel": process.fixed_kernel().table.tolist(),
            }
            for seed in plan.seeds
            for process in setting.draw(seed)
        ],
        "outcomes": [_values(outcome) for outcome in outcomes],
    }


def _n_right(outcome: Outcome) -> int:
    return sum(score.shd == 0 for score in outcome.scores)


def _values(outcome: Outcome) -> dict[str, Any]:
    done = len(outcome.scores)
    return {
        **outcome_values(outcome),
        "n_right": _n_right(outcome),
        "share_right": _n_right(outcome) / done if done else None,
    }
