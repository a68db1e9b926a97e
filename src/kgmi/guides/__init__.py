"""Guides: what steers a head. Counts in, scores [head, child, candidate] out."""

from kgmi.guides.stationary import GUIDES, scores

__all__ = ["GUIDES", "scores"]
