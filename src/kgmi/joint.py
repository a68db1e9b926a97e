"""``PairJoint``: the law of every pair of nodes, exact or counted: all that the guides look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import DataError, TooLargeError
from kgmi.memory import check_fits
from kgmi.types import Floats, PairTable

__all__ = ["PairJoint", "PairMixture", "check_pair_size"]

_MOST_CELLS = 400_000_000
_TOLERANCE = 1e-8


def check_pair_size(n_nodes: int, n_states: int) -> None:
    """Refuse a pair table [T, T, S, S] that would not fit, before it is allocated."""
    cells = (n_nodes * n_states) ** 2
    if cells > _MOST_CELLS:
        raise TooLargeError(
            f"{n_nodes} nodes with {n_states} states need a pair table of {cells:,} cells "
            f"({cells * 8 / 1e9:.1f} GB); the limit is {_MOST_CELLS:,}. Use fewer nodes or states"
        )
    check_fits(cells * 8, f"the counts of all pairs of {n_nodes:,} columns take", "use fewer columns or states")


@dataclass(frozen=True, eq=False)
class PairJoint:
    """Joint laws of all pairs.

    Parameters
    ----------
    joint
        ``joint[i, j, s', s]`` = P(S_i = s', S_j = s); the diagonal ``joint[i, i]`` holds P_i.
    n_rows
        Number of rows behind it, or None when it is exact (the population).
    """

    joint: PairTable
    n_rows: int | None = None

    def __init__(self, joint: ArrayLike, n_rows: int | None = None) -> None:
        table = np.asarray(joint, dtype=np.float64)
        if table is joint and table.flags.writeable:  # a copy, lest the caller change it later
            table = table.copy()
        if table.ndim != 4 or table.shape[0] != table.shape[1] or table.shape[2] != table.shape[3]:
            raise DataError(f"a pair joint has shape [T, T, S, S], got {table.shape}")
        if not np.all((table >= 0) & (table < np.inf)):
            raise DataError("a pair joint holds probabilities; some are NaN or negative")
        if np.any(np.abs(table.sum(axis=(2, 3)) - 1.0) > _TOLERANCE):
            child, candidate = np.argwhere(np.abs(table.sum(axis=(2, 3)) - 1.0) > _TOLERANCE)[0]
            raise DataError(f"the joint of nodes {child} and {candidate} does not sum to one")
        diagonal = np.einsum("iist->ist", table)
        if np.any(diagonal * (1 - np.eye(table.shape[2])) > _TOLERANCE):
            raise DataError("the joint of a node with itself must be diagonal: it holds the law of the node")
        if any(np.abs(row - other).max() > _TOLERANCE for row, other in _mirrored(table)):
            raise DataError("joint[i, j] and joint[j, i] must tell the same law, transposed")
        self._keep(table, n_rows)

    @classmethod
    def by_construction(cls, table: PairTable, n_rows: int | None = None) -> PairJoint:
        """A joint that is right by construction, without the checks: ``table`` must not be changed later."""
        made = object.__new__(cls)
        made._keep(table, n_rows)
        return made

    def _keep(self, table: PairTable, n_rows: int | None) -> None:
        table = table.view()
        table.setflags(write=False)
        object.__setattr__(self, "joint", table)
        object.__setattr__(self, "n_rows", n_rows)

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.joint.shape[0])

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.joint.shape[2])

    @cached_property
    def marginal(self) -> Floats:
        """``marginal[i, s]`` = P(S_i = s)."""
        return np.asarray(np.einsum("iiss->is", self.joint))


def _mirrored(table: PairTable) -> Iterator[tuple[PairTable, PairTable]]:
    """Each node's pairs as [j, s', s], seen from both sides; node by node, to save memory."""
    for node in range(len(table)):
        yield table[node], table[:, node].transpose(0, 2, 1)


@dataclass(frozen=True)
class PairMixture:
    """Pair joints under each kernel of a finite P_Π, with their weights: KG-MI averages over them."""

    joints: tuple[PairJoint, ...]
    weights: tuple[float, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.joints[0].n_nodes

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return self.joints[0].n_states

    @cached_property
    def joint(self) -> PairTable:
        """The averaged joint: what rows pooled over all kernels would show."""
        return np.asarray(sum(w * j.joint for w, j in zip(self.weights, self.joints, strict=True)))
