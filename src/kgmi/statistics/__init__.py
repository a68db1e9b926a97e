"""Additive counts of rows."""

from kgmi.statistics.labelled import LabelledMoments, count_labelled
from kgmi.statistics.pairs import PairCounts, count_checked, count_pairs

__all__ = ["LabelledMoments", "PairCounts", "count_checked", "count_labelled", "count_pairs"]
