"""Gradient ascent on the attention weights (Algorithm 1 of the paper), its trace, and its limit point."""

from kgmi.ascent.climb import Ascent, Progress, ascend, check_steps, has_tie, limit
from kgmi.ascent.trace import Trace

__all__ = ["Ascent", "Progress", "Trace", "ascend", "check_steps", "has_tie", "limit"]
