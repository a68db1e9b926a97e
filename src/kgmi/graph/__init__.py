"""Directed acyclic graphs."""

from kgmi.graph.dag import Dag

__all__ = ["Dag"]
