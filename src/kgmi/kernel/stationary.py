"""The stationary law M_π of a kernel lifted to the chain on K-tuples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.errors import KernelError
from kgmi.types import Bools, Floats

__all__ = ["closed_classes", "stationary_law"]

_TOLERANCE = 1e-14  # of the residual ‖M P − M‖₁
_ACCEPTED = 1e-13  # a larger residual is an error; a chain that hardly moves has a small one anywhere
_TINY = 64  # tuples up to which it is the quickest way
_DENSE_LIMIT = 500  # tuples up to which a dense linear solve is cheap


def lifted_step(law: Floats, table: Floats) -> Floats:
    """One step of the lifted chain (s_1..s_K) → (s_2..s_K, s'), as a law on K-tuples."""
    n_states = table.shape[-1]
    middle = law.size // n_states
    moved = np.einsum("am,amt->mt", law.reshape(n_states, middle), table.reshape(n_states, middle, n_states))
    return np.asarray(moved).reshape(law.shape)


def lifted_matrix(table: Floats) -> Any:
    """The lifted chain as a sparse row-stochastic matrix (S entries in each row)."""
    from scipy.sparse import csr_array

    n_states = table.shape[-1]
    size = table.size // n_states
    columns = (np.arange(size) % (size // n_states))[:, None] * n_states + np.arange(n_states)
    starts = np.arange(0, size * n_states + 1, n_states)
    return csr_array((table.reshape(-1).copy(), columns.reshape(-1), starts), shape=(size, size))


def closed_classes(table: Floats) -> tuple[int, Bools]:
    """Number of closed communicating classes of the lifted chain, and which tuples are in one of them.

    The law is unique when the number is 1; a tuple outside is left for good and has no mass.
    """
    if np.all(table > 0):
        return 1, np.ones(table.shape[:-1], dtype=bool)
    from scipy.sparse.csgraph import connected_components

    matrix = lifted_matrix(table)
    matrix.eliminate_zeros()
    count, label = connected_components(matrix, directed=True, connection="strong")
    sources, targets = matrix.nonzero()
    left = np.unique(label[sources][label[sources] != label[targets]])
    return int(count - left.size), ~np.isin(label, left).reshape(table.shape[:-1])


def stationary_law(table: Floats) -> tuple[Floats, float]:
    """Stationary law of the lifted chain and its residual ‖M P − M‖₁.

    A few tuples are solved for at once. Otherwise power iteration comes first: it needs S^(K+1) memory and
    converges soon for well-mixing kernels. Chains that mix slowly or are periodic get a linear solve while they
    are small, and Arnoldi iteration beyond.
    """
    if table.size <= _TINY * table.shape[-1] and table.min() > 0:  # one class, and quickly solved
        kept = np.ones(table.shape[:-1], dtype=bool)
        law = _solve(table, kept, kept / kept.size)
        if (residual := _residual(law, table)) <= _TOLERANCE:
            return law, residual
    classes, kept = closed_classes(table)
    if classes > 1:
        raise KernelError(
            f"the stationary law is not unique: the chain on parent tuples has {classes} closed classes "
            "(zeros in the kernel trap it). Give the joint law of the parents: Kernel(table, parent_law=…)"
        )
    law = kept / np.count_nonzero(kept)
    law, residual = _iterate(law, table, steps=300)
    if residual > _TOLERANCE:
        solve = _solve if law.size <= _DENSE_LIMIT else _arnoldi
        other, other_residual = _iterate(solve(table, kept, law), table, steps=50)
        if other_residual < residual:
            law, residual = other, other_residual
    if residual > _ACCEPTED:
        raise KernelError(
            f"the stationary law did not converge (residual {residual:.1e}): the kernel mixes too slowly. "
            "Give the joint law of the parents: Kernel(table, parent_law=…)"
        )
    return law, residual


def _residual(law: Floats, table: Floats) -> float:
    return float(np.abs(lifted_step(law, table) - law).sum())


def _iterate(law: Floats, table: Floats, *, steps: int) -> tuple[Floats, float]:
    """The best law among those that power iteration passes, and its residual."""
    best, least = law, _residual(law, table)
    for _ in range(steps):
        if least <= _TOLERANCE:
            break
        law = lifted_step(law, table)
        law /= law.sum()
        if (residual := _residual(law, table)) < least:
            best, least = law, residual
    return best, least


def _solve(table: Floats, kept: Bools, start: Floats) -> Floats:
    """Solve M (P − I) = 0, ΣM = 1; tuples that are not ``kept`` have no mass."""
    n_states = table.shape[-1]
    middle = np.arange(start.size // n_states)
    lifted = np.zeros((n_states, middle.size, middle.size, n_states))  # (a, m) → (m, s')
    lifted[:, middle, middle] = table.reshape(n_states, middle.size, n_states)
    system = lifted.reshape(start.size, start.size).T.copy()
    system.reshape(-1)[:: start.size + 1] -= 1.0
    system[-1] = 1.0
    right = np.zeros(start.size)
    right[-1] = 1.0
    return _law(np.asarray(np.linalg.solve(system, right), dtype=np.float64), kept)


def _arnoldi(table: Floats, kept: Bools, start: Floats) -> Floats:
    """The left eigenvector of the eigenvalue 1, by ARPACK; ``start`` where it does not converge."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigs

    try:
        _, vectors = eigs(lifted_matrix(table).T, k=1, which="LR", v0=start.reshape(-1))
    except ArpackNoConvergence:
        return start
    return _law(np.real(vectors[:, 0] / vectors[:, 0].sum()), kept)


def _law(values: Floats, kept: Bools) -> Floats:
    law = np.where(kept.reshape(-1), np.maximum(values, 0.0), 0.0)
    return np.asarray(law / law.sum()).reshape(kept.shape)
