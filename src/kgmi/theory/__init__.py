"""The paper's bounds and rates, and a report on its assumptions."""

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
    "Assumption",
    "AssumptionReport",
    "asymptotic_epochs",
    "check_fit",
    "check_process",
    "column_epochs",
    "correlation_bound",
    "effective_length",
    "effective_length_bound",
    "frequency_bound",
    "frequency_error",
    "information_gap",
    "information_gaps",
    "largest_sphere",
    "node_distances",
    "paper_optimum",
    "repaired_suboptimality_bound",
    "root_bound",
    "suboptimality",
    "suboptimality_bound",
    "tau_star",
]
