"""The paper's bounds and rates, a report on its assumptions, and the ledger of its statements."""

from __future__ import annotations

from typing import Any

from kgmi.theory.assumptions import Assumption, AssumptionReport, check_fit, check_process
from kgmi.theory.bounds import (
    asymptotic_epochs,
    column_epochs,
    information_gap,
    information_gaps,
    paper_optimum,
    repaired_suboptimality_bound,
    root_bound,
    suboptimality,
    suboptimality_bound,
    tau_star,
)
from kgmi.theory.ledger import CounterExample, Statement, count_verdicts, read_ledger
from kgmi.theory.mixing import (
    correlation_bound,
    effective_length,
    effective_length_bound,
    frequency_bound,
    frequency_error,
    largest_sphere,
    node_distances,
)

__all__ = [
    "LEDGER",
    "Assumption",
    "AssumptionReport",
    "CounterExample",
    "Statement",
    "asymptotic_epochs",
    "check_fit",
    "check_process",
    "column_epochs",
    "correlation_bound",
    "count_verdicts",
    "effective_length",
    "effective_length_bound",
    "frequency_bound",
    "frequency_error",
    "information_gap",
    "information_gaps",
    "largest_sphere",
    "node_distances",
    "paper_optimum",
    "read_ledger",
    "repaired_suboptimality_bound",
    "root_bound",
    "suboptimality",
    "suboptimality_bound",
    "tau_star",
]

LEDGER: tuple[Statement, ...]
"""Every numbered or named statement of the paper (:class:`Statement`); read when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name == "LEDGER":
        return read_ledger()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
