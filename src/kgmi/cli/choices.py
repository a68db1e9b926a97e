"""Options with a fixed set of values."""

from enum import StrEnum

__all__ = ["FormName", "GuideName", "InDegreeName", "SolverName"]


class GuideName(StrEnum):
    """What steers the heads."""

    stationary = "stationary"
    uniform = "uniform"
    plain = "plain"
    labelled = "labelled"


class SolverName(StrEnum):
    """How attention is trained."""

    ascent = "ascent"
    limit = "limit"


class InDegreeName(StrEnum):
    """How many parents nodes have."""

    uniform = "uniform"
    mixed = "mixed"


class FormName(StrEnum):
    """Forms of the labelled estimator."""

    printed = "printed"
    factorised = "factorised"
