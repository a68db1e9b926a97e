"""Which figures a result has, and why it does not have the others."""

from __future__ import annotations

import numpy as np

from kgmi.errors import KernelError, SettingError
from kgmi.kernel import Kernel
from kgmi.learning import Learned

__all__ = ["check_applies", "has_marginals", "why_not"]


def why_not(learned: Learned, name: str) -> str:
    """Why a result has no such figure, in a sentence; nothing where it has one."""
    if name in ("attention", "overlay") and not learned.attention.any():
        return "no head attends to anything, as no node has candidates left"
    if name == "margins" and not learned.dag.n_edges:
        return "no node has parents whose margin could be told"
    if name == "overlay" and learned.n_heads != 2:
        return f"the overlay shows two heads, and this result has {learned.n_heads}"
    if name == "scores" and not np.isfinite(learned.scores).any():
        return "no pair of nodes has a score"
    if name == "training" and learned.trace is None:
        how = "solver='limit' does not train; use solver='ascent'"
        none = how if learned.configuration.get("solver") == "limit" else "no head had anything to train for"
        return f"this result has no trace, because {none}"
    if name == "kernel" and not learned.kernels and not isinstance(learned.kernel, Kernel):
        return "this result has no fixed kernel to draw: it was not given, or random, or no node follows one"
    if name == "marginals" and learned.model is None and not has_marginals(learned):
        return "this result has neither a kernel with marginals nor laws of its nodes"
    return ""


def check_applies(learned: Learned, name: str) -> None:
    """Refuse a figure that a result does not have."""
    reason = why_not(learned, name)
    if reason:
        raise SettingError(reason)


def has_marginals(learned: Learned) -> bool:
    """Whether there is one kernel, and every state occurs under its stationary law."""
    if not isinstance(learned.kernel, Kernel) or learned.alphabets is not None:
        return False
    try:
        return bool(learned.kernel.marginal_kernels.size)
    except KernelError:
        return False
