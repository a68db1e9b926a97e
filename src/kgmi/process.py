"""``Process``: a graph and the kernel (or kernels) that its nodes follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from kgmi.errors import GraphError, KernelError
from kgmi.graph import Dag
from kgmi.kernel import AnyKernel, Kernel, check_kernel
from kgmi.types import Floats

__all__ = ["Process"]


@dataclass(frozen=True, eq=False)
class Process:
    """The data model (docs/method.md).

    Parameters
    ----------
    dag
        The graph; no node may have more parents than the kernel takes.
    kernel
        The shared kernel π_K, or a law P_Π over kernels from which each sequence draws its own.
    degree_kernels
        Kernels of nodes with fewer than K parents, by in-degree. A degree that is not listed uses
        ``kernel.marginalise(degree)`` (appendix A).
    """

    dag: Dag
    kernel: AnyKernel
    degree_kernels: Mapping[int, Kernel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.dag, Dag):
            raise GraphError(f"the graph is a {type(self.dag).__name__}; wrap parents as kgmi.Dag(parents)")
        check_kernel(self.kernel)
        object.__setattr__(self, "degree_kernels", MappingProxyType(dict(self.degree_kernels)))
        if self.dag.max_in_degree > self.kernel.n_parents:
            node = next(i for i, ps in enumerate(self.dag.parents) if len(ps) > self.kernel.n_parents)
            raise GraphError(
                f"node {node} has {len(self.dag.parents[node])} parents, "
                f"but the kernel takes {self.kernel.n_parents}"
            )
        for degree, kernel in self.degree_kernels.items():
            if not 1 <= degree < self.kernel.n_parents:
                raise KernelError(
                    f"degree_kernels has a kernel for in-degree {degree}; it is for nodes with 1 to "
                    f"{self.kernel.n_parents - 1} parents, those with {self.kernel.n_parents} follow the kernel"
                )
            if kernel.n_parents != degree or kernel.n_states != self.kernel.n_states:
                raise KernelError(
                    f"the kernel for in-degree {degree} has {kernel.n_parents} parents and {kernel.n_states} "
                    f"states; it needs {degree} and {self.kernel.n_states}"
                )
        for block in self.dag.root_blocks:
            if len(block) > self.kernel.n_parents:
                raise GraphError(
                    f"root block {block} is larger than the {self.kernel.n_parents} parents of the kernel, "
                    "whose stationary law it would be drawn from"
                )

    def __eq__(self, other: object) -> bool:
        # Graphs are equal whatever their root blocks, but the blocks are part of the law.
        return isinstance(other, Process) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.dag, self.dag.root_blocks, self.kernel, frozenset(self.degree_kernels.items())

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.dag.n_nodes

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return self.kernel.n_states

    def with_kernel(self, kernel: Kernel) -> Process:
        """The same graph under one fixed kernel (a draw from P_Π)."""
        return Process(self.dag, kernel, self.degree_kernels)

    def fixed_kernel(self) -> Kernel:
        """The kernel, where it is fixed; an error where every sequence draws its own."""
        if not isinstance(self.kernel, Kernel):
            raise KernelError("this needs a fixed kernel; take one of the distribution with with_kernel(…)")
        return self.kernel

    def kernel_of_degree(self, degree: int) -> Kernel:
        """Kernel of the nodes with ``degree`` ≥ 1 parents."""
        return self.degree_kernels.get(degree) or self.fixed_kernel().marginalise(degree)

    def root_law(self, size: int) -> Floats:
        """Joint law of a root block of ``size`` nodes: the marginal of M_π on its first coordinates."""
        law = self.fixed_kernel().stationary
        return np.asarray(law.sum(axis=tuple(range(size, law.ndim))))
