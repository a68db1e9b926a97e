"""The paper's bounds and rates, and a report on its assumptions."""

from kgmi.theory.assumptions import Assumption, AssumptionReport, check_fit, check_process
from kgmi.theory.bounds import (
    asymptotic_epochs,
    column_epochs,
    information_gap,
    information_gaps,
    root_bound,
    suboptimality_bound,
    tau_star,
)
from kgmi.theory.mixing import (
    correlation_bound,
    effective_length,
    effective_length_bound,
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
    "information_gap",
    "information_gaps",
    "largest_sphere",
    "node_distances",
    "root_bound",
    "suboptimality_bound",
    "tau_star",
]
