"""Outcomes on exact laws as lines of a table for people, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from kgmi.bench.exact.trials import ExactOutcome
from kgmi.version import __version__

__all__ = ["COLUMNS", "outcome_lines", "plain_values", "trouble_lines"]

COLUMNS = ["graph", "method", "kernel", "roots", "all edges right", "F1", "one kernel", "seconds"]


def outcome_lines(outcomes: Sequence[ExactOutcome]) -> list[list[str]]:
    """One line per setting and method, as in ``COLUMNS``: F1 is a mean, seconds a median."""
    return [
        [
            outcome.setting.graph,
            outcome.method.setting,
            outcome.method.kernel,
            outcome.method.roots,
            f"{sum(outcome.right)} of {len(outcome.right)}",
            f"{fmean(outcome.f1):.4f}",
            _shared(outcome),
            f"{median(outcome.seconds):.3g}",
        ]
        for outcome in outcomes
    ]


def trouble_lines(outcomes: Sequence[ExactOutcome]) -> list[str]:
    """A line for each fit that failed."""
    return [
        f"{outcome.method.key} on {outcome.setting.graph} graph {number}: {reason}"
        for outcome in outcomes
        for number, reason in outcome.trouble.items()
    ]


def plain_values(outcomes: Sequence[ExactOutcome], seed: int) -> dict[str, Any]:
    """Everything for JSON."""
    return {
        "kgmi": __version__,
        "seed": seed,
        "outcomes": [
            {
                "graph": outcome.setting.graph,
                "drawn_kernel": outcome.setting.kernel,
                "method": outcome.method.key,
                "setting": outcome.method.setting,
                "kernel": outcome.method.kernel,
                "roots": outcome.method.roots,
                "n": len(outcome.right),
                "n_right": sum(outcome.right),
                "mean_f1": fmean(outcome.f1),
                "wrong": [number for number, right in enumerate(outcome.right) if not right],
                "f1": list(outcome.f1),
                "shared": list(outcome.shared),
                "seconds": list(outcome.seconds),
                "trouble": {str(number): reason for number, reason in outcome.trouble.items()},
            }
            for outcome in outcomes
        ],
    }


def _shared(outcome: ExactOutcome) -> str:
    """How many fits ended with one learned kernel."""
    known = [shared for shared in outcome.shared if shared is not None]
    return f"{sum(known)} of {len(known)}" if known else "–"
