"""Our own methods on networks: the kernel is learned, nothing but the order and K is told."""

from __future__ import annotations

from kgmi.bench.tables import our_method

__all__ = ["OURS"]

OURS = (
    our_method("kgmi", "default options (kernels are learned), at most K parents; constant columns are left out"),
    our_method("kgmi-node", "as kgmi, but always with a kernel for each node", share="node"),
)
