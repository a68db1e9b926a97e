"""Options with a fixed set of values."""

from enum import StrEnum

__all__ = [
    "AlphabetName",
    "FormName",
    "GuideName",
    "InDegreeName",
    "KernelSourceName",
    "MethodName",
    "MissingName",
    "OrderName",
    "SearchName",
    "ShareName",
    "SolverName",
]


class GuideName(StrEnum):
    """What steers the heads."""

    likelihood = "likelihood"
    contextual = "contextual"
    stationary = "stationary"
    uniform = "uniform"
    plain = "plain"
    labelled = "labelled"


class KernelSourceName(StrEnum):
    """Where the kernel comes from."""

    known = "known"
    labelled = "labelled"
    learned = "learned"


class SearchName(StrEnum):
    """How the heads of a child are searched for jointly."""

    auto = "auto"
    heads = "heads"
    lists = "lists"
    exhaustive = "exhaustive"


class ShareName(StrEnum):
    """Whether nodes share learned kernels."""

    auto = "auto"
    shared = "shared"
    classes = "classes"
    node = "node"


class MissingName(StrEnum):
    """What a missing value is."""

    error = "error"
    category = "category"
    pairwise = "pairwise"


class AlphabetName(StrEnum):
    """Whether all columns have the same states."""

    auto = "auto"
    shared = "shared"
    own = "own"


class OrderName(StrEnum):
    """Whether the order of the columns is given or learned."""

    given = "given"
    learn = "learn"


class MethodName(StrEnum):
    """Which rows the kernels behind a certificate are learned from."""

    sequential = "sequential"
    in_halves = "split"


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
    reweighted = "reweighted"
