"""Every method that is tried on graphs with a shared kernel: ours, and peers, with the order given or without."""

from __future__ import annotations

from kgmi.bench.graphs.ours import OURS, WITHOUT_ORDER, usual_methods
from kgmi.bench.libraries import ORDERED, UNORDERED
from kgmi.bench.order import Order
from kgmi.bench.peer import Peer
from kgmi.bench.registry import chosen_peers

__all__ = ["METHODS", "choose_methods"]

METHODS: tuple[Peer, ...] = (*OURS, *ORDERED, *WITHOUT_ORDER, *UNORDERED)


def choose_methods(kernel: str, ours: str, peers: str, order: Order = "given") -> tuple[Peer, ...]:
    """Ours and peers: ``all``, ``none``, or keys with commas; of ours also ``usual``, those for this kernel.

    Where the order is not told, those that need none.
    """
    if order == "learn":
        chosen = chosen_peers("all" if ours == "usual" else ours, WITHOUT_ORDER)
        return (*chosen, *chosen_peers(peers, UNORDERED))
    mine = usual_methods(kernel) if ours == "usual" else chosen_peers(ours, OURS)
    return (*mine, *chosen_peers(peers, ORDERED))
