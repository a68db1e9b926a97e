"""Every method that is tried on a network: ours, and peers, with the order of the nodes given or without."""

from __future__ import annotations

from kgmi.bench.libraries import ORDERED, UNORDERED
from kgmi.bench.networks.ours import OURS, WITHOUT_ORDER
from kgmi.bench.order import Order
from kgmi.bench.peer import Peer
from kgmi.bench.registry import chosen_peers

__all__ = ["METHODS", "choose_methods"]

METHODS: tuple[Peer, ...] = (*OURS, *ORDERED, *WITHOUT_ORDER, *UNORDERED)


def choose_methods(peers: str, order: Order = "given") -> tuple[Peer, ...]:
    """Ours, and of the peers ``all``, ``none``, or those whose keys are listed with commas.

    Where the order is not told, those that need none.
    """
    if order == "learn":
        return (*WITHOUT_ORDER, *chosen_peers(peers, UNORDERED))
    return (*OURS, *chosen_peers(peers, ORDERED))
