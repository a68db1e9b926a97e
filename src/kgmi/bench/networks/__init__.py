"""Bayesian networks from files: rows are drawn from them, and every method learns from the same ones."""

from kgmi.bench.networks.compare import compare_methods
from kgmi.bench.networks.methods import METHODS, choose_methods
from kgmi.bench.networks.sampling import sample_network
from kgmi.interchange.bif import read_bif
from kgmi.interchange.network import Network, Node, network_of

__all__ = [
    "METHODS",
    "Network",
    "Node",
    "choose_methods",
    "compare_methods",
    "network_of",
    "read_bif",
    "sample_network",
]
