"""Transition kernels, their stationary laws, and distributions over kernels."""

from kgmi.kernel.distribution import (
    AnyKernel,
    DirichletKernels,
    FiniteKernels,
    KernelDistribution,
    KernelSampler,
    check_kernel,
)
from kgmi.kernel.kernel import Kernel

__all__ = [
    "AnyKernel",
    "DirichletKernels",
    "FiniteKernels",
    "Kernel",
    "KernelDistribution",
    "KernelSampler",
    "check_kernel",
]
