"""What all comparisons report: who was missing, who had trouble, and plain values for JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from kgmi.bench.compare import Outcome
from kgmi.bench.launch import installed
from kgmi.bench.peer import Peer
from kgmi.bench.plan import Plan
from kgmi.version import __version__

__all__ = [
    "WITHOUT_ORDER",
    "count",
    "library_of",
    "missing_lines",
    "outcome_values",
    "plan_values",
    "trouble_lines",
]


WITHOUT_ORDER = (
    "The columns are shuffled, the same way for everybody, and nobody is told an order or a kernel. An edge that "
    "is left without a direction counts half, which is what a coin would get; the skeleton is the links whatever "
    "their direction."
)
"""What is said of comparisons in which the order is not told."""


def count(number: int, what: str) -> str:
    """«1 root», «2 roots»."""
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"


def library_of(outcome: Outcome) -> str:
    """The library of a method with its version."""
    return f"{outcome.method.library} {outcome.version or ''}".strip()


def trouble_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each method that did not answer every sample of a size."""
    return [
        f"{outcome.method.key} at {count(outcome.n_rows, 'row')}, {len(outcome.seeds)} of {outcome.n_samples} "
        f"samples answered: {outcome.trouble}"
        for outcome in outcomes
        if outcome.trouble is not None
    ]


def missing_lines(plan: Plan) -> list[str]:
    """A line for each library that is not installed, and one on how to get them."""
    absent: dict[str, list[str]] = {}
    for method in plan.missing:
        absent.setdefault(method.library, []).append(method.key)
    lines = [f"{library} is not installed, so not run: {', '.join(keys)}" for library, keys in absent.items()]
    return [*lines, "install what is missing: pip install 'kgmi[bench]'"] if lines else []


def plan_values(plan: Plan) -> dict[str, Any]:
    """What was measured, by whom."""
    return {
        "kgmi": __version__,
        "n_cpus": os.cpu_count(),
        "rows": list(plan.rows),
        "seeds": list(plan.seeds),
        "limit_seconds": plan.limit,
        "order": plan.order,
        "methods": [_method(method) for method in plan.methods],
    }


def outcome_values(outcome: Outcome) -> dict[str, Any]:
    """Every single result of a method on the samples of a size, and what they come to."""
    f1 = [score.f1 for score in outcome.scores]
    shd = [score.shd for score in outcome.scores]
    done = bool(f1)
    return {
        "n_rows": outcome.n_rows,
        "method": outcome.method.key,
        "seeds": list(outcome.seeds),
        "f1": f1,
        "f1_strict": [score.f1_strict for score in outcome.scores],
        "f1_skeleton": [score.f1_skeleton for score in outcome.scores],
        "shd": shd,
        "seconds": list(outcome.seconds),
        "prepare_seconds": list(outcome.prepare_seconds),
        "mean_f1": fmean(f1) if done else None,
        "mean_f1_skeleton": fmean(score.f1_skeleton for score in outcome.scores) if done else None,
        "mean_shd": fmean(shd) if done else None,
        "median_seconds": median(outcome.seconds) if done else None,
        "trouble": outcome.trouble,
    }


def _method(method: Peer) -> dict[str, Any]:
    version = installed(method)
    return {
        "key": method.key,
        "name": method.name,
        "library": method.library,
        "version": version,
        "setting": method.setting,
        "installed": version is not None,
    }
