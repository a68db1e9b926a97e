"""Gradient ascent on the attention weights (Algorithm 1 of the paper), its trace, and its limit point."""

from kgmi.ascent.climb import USUAL_RISE, Ascent, Progress, ascend, check_steps, has_tie, limit
from kgmi.ascent.surveyed import Survey, survey
from kgmi.ascent.trace import Trace

__all__ = [
    "USUAL_RISE",
    "Ascent",
    "Progress",
    "Survey",
    "Trace",
    "ascend",
    "check_steps",
    "has_tie",
    "limit",
    "survey",
]
