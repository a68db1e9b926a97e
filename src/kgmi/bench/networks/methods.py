"""Every method that is tried on a network: ours, and the peers that can be given the order of the nodes."""

from __future__ import annotations

from kgmi.bench.libraries import ORDERED
from kgmi.bench.networks.ours import OURS
from kgmi.bench.peer import Peer
from kgmi.bench.registry import chosen_peers

__all__ = ["METHODS", "choose_methods"]

METHODS: tuple[Peer, ...] = (*OURS, *ORDERED)


def choose_methods(peers: str) -> tuple[Peer, ...]:
    """Ours, and of the peers ``all``, ``none``, or those whose keys are listed with commas."""
    return (*OURS, *chosen_peers(peers, ORDERED))
