"""How often states occur together: one protocol, implemented for rows, streams, clusters and devices."""

from typing import Any


def loops() -> Any:
    """Return the module of compiled counting loops; its first import in a process loads the compiler."""
    from kgmi.counts import kernels

    return kernels
