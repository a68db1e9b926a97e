"""Every method that is tried on graphs with a shared kernel: ours, and the peers that can be given the order."""

from __future__ import annotations

from kgmi.bench.graphs.ours import OURS, usual_methods
from kgmi.bench.libraries import ORDERED
from kgmi.bench.peer import Peer
from kgmi.bench.registry import chosen_peers

__all__ = ["METHODS", "choose_methods"]

METHODS: tuple[Peer, ...] = (*OURS, *ORDERED)


def choose_methods(kernel: str, ours: str, peers: str) -> tuple[Peer, ...]:
    """Ours and peers: ``all``, ``none``, or keys with commas; of ours also ``usual``, those for this kernel."""
    mine = usual_methods(kernel) if ours == "usual" else chosen_peers(ours, OURS)
    return (*mine, *chosen_peers(peers, ORDERED))
