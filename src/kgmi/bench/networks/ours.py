"""Our own methods on networks: the kernel is learned, nothing but K, and the order or not even that, is told."""

from __future__ import annotations

from kgmi.bench.tables import our_method

__all__ = ["OURS", "WITHOUT_ORDER"]

OURS = (
    our_method("kgmi", "default options (kernels are learned), at most K parents; constant columns are left out"),
    our_method("kgmi-node", "as kgmi, but always with a kernel for each node", share="node"),
)

WITHOUT_ORDER = (
    our_method("kgmi-order", "default options, order learned, at most K parents", order="learn"),
    our_method(
        "kgmi-order-node", "as kgmi-order, but always with a kernel for each node", order="learn", share="node"
    ),
)
