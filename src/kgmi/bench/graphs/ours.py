"""Our own methods on graphs with a shared kernel."""

from __future__ import annotations

from kgmi.bench.peer import Peer
from kgmi.bench.registry import peer_named
from kgmi.bench.tables import our_method

__all__ = ["OURS", "WITHOUT_ORDER", "usual_methods"]

OURS: tuple[Peer, ...] = (
    our_method("kgmi", "default options: likelihood, kernel learned, nothing told but K"),
    our_method("kgmi-known", "likelihood, kernel told, in-degrees not", told_kernel=True, in_degree="mixed"),
    our_method("kgmi-contextual", "contextual, kernel learned, nothing told but K", guide="contextual"),
    our_method(
        "kgmi-stationary",
        "the paper's KG-MI (KL): kernel told, nodes have 0 or K parents, limit point of the ascent",
        told_kernel=True,
        guide="stationary",
        solver="limit",
    ),
    our_method("kgmi-node", "likelihood, always with a kernel for each node", share="node"),
    our_method("kgmi-exhaustive", "as kgmi, over all tuples of parents", search="exhaustive"),
    our_method("kgmi-lists", "as kgmi, over short lists of candidates", search="lists"),
)

WITHOUT_ORDER: tuple[Peer, ...] = (
    our_method("kgmi-order", "order and kernel learned, nothing told but K", order="learn"),
    our_method("kgmi-order-node", "order learned, always with a kernel for each node", order="learn", share="node"),
)

_USUAL = ("kgmi", "kgmi-known", "kgmi-contextual", "kgmi-stationary", "kgmi-node")
_FOR_XOR = ("kgmi", "kgmi-exhaustive", "kgmi-lists")  # how parents are searched for is what matters there


def usual_methods(kernel: str) -> tuple[Peer, ...]:
    """Those that are compared on graphs with this kernel unless others are chosen."""
    return tuple(peer_named(key, OURS) for key in (_FOR_XOR if kernel == "xor" else _USUAL))
