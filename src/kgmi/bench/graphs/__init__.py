"""Graphs whose nodes share one kernel: rows are drawn from them, and every method learns from the same ones."""

from kgmi.bench.graphs.compare import compare_graphs
from kgmi.bench.graphs.methods import METHODS, choose_methods
from kgmi.bench.graphs.setting import Setting

__all__ = ["METHODS", "Setting", "choose_methods", "compare_graphs"]
