"""Graphs from exact laws: no sampling error, so what is still wrong is the method's own doing."""

from kgmi.bench.exact.methods import METHODS, ExactMethod
from kgmi.bench.exact.trials import ExactOutcome, try_methods

__all__ = ["METHODS", "ExactMethod", "ExactOutcome", "try_methods"]
