"""Directed acyclic graphs whose nodes are numbered in topological order."""

from kgmi.graph.dag import Dag

__all__ = ["Dag"]
