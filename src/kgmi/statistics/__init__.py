"""Additive counts of rows."""

from kgmi.statistics.labelled import LabelledMoments, count_labelled, tail_kernel
from kgmi.statistics.observed import Observed
from kgmi.statistics.pairs import PairCounts, count_checked, count_pairs

__all__ = [
    "LabelledMoments",
    "Observed",
    "PairCounts",
    "count_checked",
    "count_labelled",
    "count_pairs",
    "tail_kernel",
]
