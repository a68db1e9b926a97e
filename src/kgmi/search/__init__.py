"""Search for the parents and kernels that describe the counts best."""

from kgmi.search.solution import Solution, solve

__all__ = ["Solution", "solve"]
