"""Kernels by name: the paper's, random, Mendelian, order-K chains, and from counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import KernelError, TooLargeError
from kgmi.kernel.kernel import Kernel
from kgmi.types import Rng

__all__ = ["chain", "from_counts", "mendelian", "paper", "random"]

_MOST_ENTRIES = 50_000_000

# Base table of the paper's experiments and, per row, which entry gains p and which loses it.
_PAPER_BASE = (
    ((0.1, 0.5, 0.4), (0.2, 0.3, 0.5), (0.3, 0.4, 0.3)),
    ((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), (0.2, 0.3, 0.5)),
    ((0.6, 0.2, 0.2), (0.1, 0.5, 0.4), (0.2, 0.3, 0.5)),
)
_PAPER_GAINS = ((2, 0, 2), (2, 0, 0), (1, 0, 0))
_PAPER_LOSES = ((1, 2, 1), (0, 1, 2), (0, 1, 2))


def paper(p: Sequence[float] | float = 0.0) -> Kernel:
    """The kernel of the paper's experiments with its tunables p_0..p_8."""
    given = np.asarray(p, dtype=np.float64)
    if given.shape not in ((), (9,)):
        raise KernelError(f"the paper's kernel has nine tunables p_0..p_8, or one value for all, got {p}")
    tunables = np.broadcast_to(given, (9,))
    table = np.array(_PAPER_BASE)
    for row, value in enumerate(tunables):
        first, second = divmod(row, 3)
        table[first, second, _PAPER_GAINS[first][second]] += value
        table[first, second, _PAPER_LOSES[first][second]] -= value
    return Kernel(table)


def random(n_states: int, n_parents: int, *, rng: Rng, concentration: float = 1.0) -> Kernel:
    """Kernel with independent symmetric Dirichlet rows; a small concentration makes it nearly deterministic."""
    if n_states < 2 or n_parents < 1:
        raise KernelError(f"a kernel needs at least 2 states and 1 parent, got {n_states} and {n_parents}")
    if not concentration > 0:
        raise KernelError(f"the Dirichlet concentration must be positive, got {concentration}")
    if n_states ** (n_parents + 1) > _MOST_ENTRIES:
        raise TooLargeError(
            f"{n_states} states and {n_parents} parents need {n_states ** (n_parents + 1):,} probabilities; "
            f"the limit is {_MOST_ENTRIES:,}"
        )
    shape = (n_states,) * n_parents
    return Kernel(np.random.default_rng(rng).dirichlet(np.full(n_states, concentration), size=shape))


def mendelian(allele_frequency: float = 0.5) -> Kernel:
    """Mendel's law: the genotype counts one allele, each parent hands on one of its two at random.

    The lifted chain (parent and child mating on) ends in one of two pure lines, so it has no unique
    stationary law; the law of the parents is Hardy–Weinberg with unrelated parents, which the child keeps.
    """
    if not 0 < allele_frequency < 1:
        raise KernelError(f"the allele frequency must lie between 0 and 1, got {allele_frequency}")
    passes = np.array([0.0, 0.5, 1.0])  # chance that a parent of this genotype hands the allele on
    a, b = passes[:, None], passes[None, :]
    table = np.stack([(1 - a) * (1 - b), a * (1 - b) + (1 - a) * b, a * b], axis=-1)
    q = allele_frequency
    genotype = np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])
    return Kernel(table, parent_law=np.outer(genotype, genotype))


def chain(transition: ArrayLike, weights: Sequence[float]) -> Kernel:
    """Order-K chain π(s' | s_1..s_K) = Σ_ℓ w_ℓ Q(s_ℓ, s') from one S × S matrix Q (mixture transition model)."""
    step = Kernel(transition)
    if step.n_parents != 1:
        raise KernelError(f"the transition of an order-K chain is an S × S matrix, got shape {step.table.shape}")
    mixture = np.asarray(weights, dtype=np.float64)
    if mixture.ndim != 1 or mixture.size < 1 or np.any(mixture < 0) or not abs(mixture.sum() - 1) <= 1e-8:
        raise KernelError(f"the weights of the lags must be probabilities that sum to one, got {weights}")
    n_parents, n_states = mixture.size, step.n_states
    table = np.zeros((n_states,) * (n_parents + 1))
    for head, weight in enumerate(mixture):
        shape = [1] * n_parents + [n_states]
        shape[head] = n_states
        table += weight * step.table.reshape(shape)
    return Kernel(table)


def from_counts(counts: ArrayLike, smoothing: float = 0.0) -> Kernel:
    """Kernel of relative frequencies; ``smoothing`` is added to every cell."""
    try:
        table = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise KernelError(f"counts must be a table of numbers [s_1, …, s_K, s']: {error}") from None
    if table.ndim < 2:
        raise KernelError(f"counts have one axis per parent and one for the child, got shape {table.shape}")
    if not np.all(np.isfinite(table)) or np.any(table < 0) or not 0 <= smoothing < np.inf:
        raise KernelError("counts and smoothing must be finite and not negative")
    table += smoothing
    totals = table.sum(axis=-1, keepdims=True)
    if np.any(totals <= 0):
        where = tuple(int(s) for s in np.argwhere(totals[..., 0] <= 0)[0])
        raise KernelError(f"no counts for parent states {where}: use smoothing > 0 or drop the state")
    return Kernel(table / totals)
