"""Peers from maintained libraries, one module per library; none of them is loaded before it is used.

All are told that a node has at most K parents where they can be told. Those that are given the order are
forbidden every edge that points backwards. Those that are not answer with an equivalence class; where a library
returns one graph of the class, it is read as the class, so that no learner is blamed for the member it picked.
"""

from kgmi.bench.libraries.causal_learn import CAUSAL_LEARN
from kgmi.bench.libraries.gcastle import GCASTLE
from kgmi.bench.libraries.pgmpy import PGMPY
from kgmi.bench.libraries.pomegranate import POMEGRANATE
from kgmi.bench.libraries.pyagrum import PYAGRUM
from kgmi.bench.libraries.pybnesian import PYBNESIAN
from kgmi.bench.peer import Peer

__all__ = ["LIBRARIES", "ORDERED", "UNORDERED"]

_ALL = {peer.key: peer for peer in (*GCASTLE, *CAUSAL_LEARN, *PYBNESIAN, *PGMPY, *POMEGRANATE, *PYAGRUM)}

# Everything that can be given the order, for data whose order is known.
ORDERED: tuple[Peer, ...] = tuple(peer for peer in _ALL.values() if peer.ordered)

# Everything that needs no order, for data whose order nobody knows.
UNORDERED: tuple[Peer, ...] = tuple(peer for peer in _ALL.values() if not peer.ordered)

# For the paper's table: the rows of the paper first, in its order, then what a user would pick today.
LIBRARIES: tuple[Peer, ...] = tuple(
    _ALL[key]
    for key in (
        "gcastle-notears",
        "causal-learn-pc",
        "pybnesian-mmhc",
        "pgmpy-mmhc",
        "pgmpy-hc",
        "pybnesian-hc-order",
        "pomegranate-exact",
        "causal-learn-exact",
        "pyagrum-k2",
        "pybnesian-hc",
        "pyagrum-greedy",
        "causal-learn-ges",
        "causal-learn-boss",
    )
)
