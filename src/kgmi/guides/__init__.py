"""Guides: what steers a head. Statistics in, score table [head, child, candidate] out."""

from kgmi.guides.scores import GUIDES, scores

__all__ = ["GUIDES", "scores"]
