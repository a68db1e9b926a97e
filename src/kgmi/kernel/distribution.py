"""P_Π: the law of the kernel when every sequence draws its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kgmi.errors import KernelError
from kgmi.kernel.kernel import Kernel
from kgmi.types import Floats, Rng

__all__ = ["AnyKernel", "DirichletKernels", "FiniteKernels", "KernelDistribution", "KernelSampler", "check_kernel"]


class KernelDistribution(ABC):
    """A law over kernels with ``n_states`` states S and ``n_parents`` parents K."""

    n_states: int
    n_parents: int

    @abstractmethod
    def finite(self, n_kernels: int, rng: Rng) -> FiniteKernels:
        """A finite law to average over: this one, or ``n_kernels`` equally weighted draws from it."""


@dataclass(frozen=True, init=False)
class FiniteKernels(KernelDistribution):
    """A weighted finite set of kernels."""

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]
    n_states: int
    n_parents: int

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float] | None = None) -> None:
        chosen = tuple(kernels)
        if not chosen or len({kernel.table.shape for kernel in chosen}) != 1:
            raise KernelError("a kernel distribution needs one or more kernels of the same shape")
        law: Floats = np.full(len(chosen), 1 / len(chosen)) if weights is None else np.asarray(weights, float)
        if law.shape != (len(chosen),) or not np.all(law > 0) or abs(law.sum() - 1) > 1e-8:
            raise KernelError(f"weights must be {len(chosen)} positive numbers that sum to one, got {weights}")
        object.__setattr__(self, "kernels", chosen)
        object.__setattr__(self, "weights", tuple(float(w) for w in law))
        object.__setattr__(self, "n_states", chosen[0].n_states)
        object.__setattr__(self, "n_parents", chosen[0].n_parents)

    def finite(self, n_kernels: int, rng: Rng) -> FiniteKernels:
        """Return the law itself: it is finite already."""
        return self


@dataclass(frozen=True)
class KernelSampler(KernelDistribution):
    """A law given by a function that draws one kernel from a random generator."""

    draw: Callable[[np.random.Generator], Kernel]
    n_states: int
    n_parents: int

    def finite(self, n_kernels: int, rng: Rng) -> FiniteKernels:
        """``n_kernels`` equally weighted draws: the Monte-Carlo average over Π."""
        if n_kernels < 1:
            raise KernelError(f"n_kernels must be at least 1, got {n_kernels}")
        rng = np.random.default_rng(rng)
        return FiniteKernels([self.one(rng) for _ in range(n_kernels)])

    def one(self, rng: np.random.Generator) -> Kernel:
        """One draw, checked to have the promised shape."""
        kernel = self.draw(rng)
        expected = (self.n_states,) * (self.n_parents + 1)
        if kernel.table.shape != expected:
            raise KernelError(f"the sampler promised kernels of shape {expected}, drew {kernel.table.shape}")
        return kernel


@dataclass(frozen=True, init=False, eq=False)
class DirichletKernels(KernelSampler):
    """Kernels whose rows are independent draws from a symmetric Dirichlet law with the given concentration."""

    concentration: float

    def __init__(self, n_states: int, n_parents: int, concentration: float = 1.0) -> None:
        if not 0 < concentration < np.inf:
            raise KernelError(f"the concentration of a Dirichlet law must be positive, got {concentration}")
        object.__setattr__(self, "draw", self._draw)
        object.__setattr__(self, "n_states", n_states)
        object.__setattr__(self, "n_parents", n_parents)
        object.__setattr__(self, "concentration", concentration)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DirichletKernels) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int, float]:
        return self.n_states, self.n_parents, self.concentration

    def _draw(self, rng: np.random.Generator) -> Kernel:
        return Kernel.random(self.n_states, self.n_parents, rng=rng, concentration=self.concentration)


AnyKernel: TypeAlias = Kernel | KernelDistribution
"""A fixed kernel, or a law over kernels."""


def check_kernel(kernel: object) -> None:
    """Refuse a bare table where a kernel, a law over kernels or nothing is meant."""
    if not isinstance(kernel, Kernel | KernelDistribution | None):
        raise KernelError(
            f"the kernel is a {type(kernel).__name__}; wrap a table [s_1, …, s_K, s'] as kgmi.Kernel(table)"
        )
