"""Counts of rows that need not fit into memory: fragment by fragment, saved, merged, resumed."""

from kgmi.counting.counts import Counts

__all__ = ["Counts"]
