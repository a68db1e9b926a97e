"""Checks on kernel tables and parent laws; each error names the row and the amount."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import KernelError
from kgmi.types import Floats

__all__ = ["checked_law", "checked_table"]

_SUM_TOLERANCE = 1e-8
_ROUNDING = 1e-12


def checked_table(table: ArrayLike) -> Floats:
    """A read-only copy of a kernel's table, if it is one."""
    try:
        array = np.array(table, dtype=np.float64) + 0.0  # turns -0.0 into 0.0, so that equal kernels hash equally
    except (TypeError, ValueError) as error:
        raise KernelError(
            f"a kernel is a table of numbers [s_1, …, s_K, s'], all rows equally long: {error}"
        ) from None
    if array.ndim < 2 or len(set(array.shape)) != 1 or array.shape[0] < 2:
        raise KernelError(
            f"a kernel has shape (S, …, S) with S ≥ 2 and one axis per parent and one for the child, "
            f"got {array.shape}"
        )
    if not np.all(np.isfinite(array)):
        where = _row_name(np.argwhere(~np.isfinite(array))[0][:-1])
        raise KernelError(f"row {where} of the kernel has a NaN or infinite probability")
    if np.any(array < 0) or np.any(array > 1 + _SUM_TOLERANCE):
        bad = np.argwhere((array < 0) | (array > 1 + _SUM_TOLERANCE))[0]
        raise KernelError(
            f"row {_row_name(bad[:-1])} of the kernel has probability {array[tuple(bad)]:.6g} "
            f"for state {bad[-1]}; it must lie in [0, 1]"
        )
    excess = array.sum(axis=-1) - 1.0
    if np.any(np.abs(excess) > _SUM_TOLERANCE):
        worst = np.unravel_index(int(np.argmax(np.abs(excess))), excess.shape)
        raise KernelError(
            f"row {_row_name(worst)} of the kernel sums to {1 + excess[worst]:.6g}, "
            f"{abs(excess[worst]):.3g} {'above' if excess[worst] > 0 else 'below'} 1"
        )
    if np.any(np.abs(excess) > _ROUNDING):  # rows that are off by rounding alone stay as they are, bit for bit
        array /= array.sum(axis=-1, keepdims=True)
    array.setflags(write=False)
    return array


def checked_law(parent_law: ArrayLike, table: Floats) -> Floats:
    """A read-only copy of a joint law of parents that fits the table."""
    try:
        law = np.array(parent_law, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise KernelError(f"parent_law must be a table of numbers [s_1, …, s_K]: {error}") from None
    if law.shape != table.shape[:-1]:
        raise KernelError(f"parent_law must have shape {table.shape[:-1]}, one axis per parent, got {law.shape}")
    if not np.all(law >= 0):
        where = np.argwhere(~(law >= 0))[0]
        raise KernelError(
            f"parent_law has probability {law[tuple(where)]:.6g} for parent states {_row_name(where)}"
        )
    if not abs(law.sum() - 1.0) <= _SUM_TOLERANCE:
        raise KernelError(f"parent_law must be a probability table; its entries sum to {law.sum():.6g}")
    if abs(law.sum() - 1.0) > _ROUNDING:
        law /= law.sum()
    marginals = [law.sum(axis=tuple(a for a in range(law.ndim) if a != axis)) for axis in range(law.ndim)]
    if any(np.abs(m - marginals[0]).max() > 1e-6 for m in marginals):
        raise KernelError("parent_law must give every parent the same marginal law")
    law.setflags(write=False)
    return law


def _row_name(where: Sequence[Any] | Any) -> str:
    return "(" + ", ".join(str(int(s)) for s in where) + ")"
