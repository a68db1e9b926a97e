"""Tunables of the paper's kernel: which are allowed, and random ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.errors import KernelError
from kgmi.kernel.kernel import Kernel

__all__ = ["is_kernel", "random_tunables"]


def random_tunables(rng: np.random.Generator, width: float = 0.3, least: float = 0.02) -> list[float]:
    """Tunables p_0..p_8 uniform in ±``width``, drawn again until every entry of the kernel is ≥ ``least``."""
    while True:
        p = [float(value) for value in rng.uniform(-width, width, 9)]
        if is_kernel(p, least):
            return p


def is_kernel(p: Sequence[float], least: float = 0.02) -> bool:
    """Whether the paper's kernel with these tunables has all entries ≥ ``least``."""
    try:
        return Kernel.paper(p).min_entry >= least - 1e-12
    except KernelError:
        return False
