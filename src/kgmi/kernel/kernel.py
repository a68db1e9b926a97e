"""``Kernel``: a checked row-stochastic table π(s' | s_1, …, s_K)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import KernelError
from kgmi.kernel.stationary import stationary_law
from kgmi.types import Floats

__all__ = ["Kernel"]

_SUM_TOLERANCE = 1e-8
_DISTINCT_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Kernel:
    """Transition kernel shared by the non-root nodes.

    Parameters
    ----------
    table
        ``table[s_1, …, s_K, s']`` = π(s' | s_1..s_K). Rows sum to one. Zeros are allowed (Mendel's law has
        them) and reported by :attr:`is_positive`.
    parent_law
        Joint law of K parents, shape (S,)*K, used in place of the stationary law M_π of the lifted chain
        where that law is not unique or not meant. Its K one-coordinate marginals must be equal.

    Examples
    --------
    >>> kernel = Kernel([[0.9, 0.1], [0.2, 0.8]])
    >>> kernel.marginal.round(3)
    array([0.667, 0.333])
    """

    table: Floats
    parent_law: Floats | None = None

    def __init__(self, table: ArrayLike, parent_law: ArrayLike | None = None) -> None:
        checked = _checked_table(table)
        object.__setattr__(self, "table", checked)
        law = None if parent_law is None else _checked_law(parent_law, checked)
        object.__setattr__(self, "parent_law", law)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        same_law = (self.parent_law is None) == (other.parent_law is None) and (
            self.parent_law is None or np.array_equal(self.parent_law, np.asarray(other.parent_law))
        )
        return same_law and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash((self.table.shape, self.table.tobytes()))

    def __repr__(self) -> str:
        return f"Kernel(n_states={self.n_states}, n_parents={self.n_parents}, min_entry={self.min_entry:.3g})"

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.table.shape[-1])

    @property
    def n_parents(self) -> int:
        """Number of parents K."""
        return self.table.ndim - 1

    @property
    def min_entry(self) -> float:
        """Smallest probability in the table; the paper needs it above 0."""
        return float(self.table.min())

    @property
    def is_positive(self) -> bool:
        """Whether all entries are positive (section 1)."""
        return self.min_entry > 0

    @cached_property
    def _stationary(self) -> tuple[Floats, float]:
        if self.parent_law is not None:
            return self.parent_law, float("nan")
        law, residual = stationary_law(self.table)
        law.setflags(write=False)
        return law, residual

    @property
    def stationary(self) -> Floats:
        """M_π[s_1, …, s_K]: stationary law of the lifted chain, or the ``parent_law`` that was given."""
        return self._stationary[0]

    @property
    def stationary_residual(self) -> float:
        """‖M P − M‖₁ of the stationary law that was computed; NaN for a given ``parent_law``."""
        return self._stationary[1]

    @cached_property
    def marginal(self) -> Floats:
        """μ_π[s]: the one-coordinate marginal of M_π."""
        law = self.stationary
        return np.asarray(law.sum(axis=tuple(range(1, law.ndim))))

    @cached_property
    def marginal_kernels(self) -> Floats:
        """π^ℓ as [head, s, s']: the kernel of parent ℓ with the other parents averaged under M_π."""
        return self._marginal_kernels(self.stationary)

    @cached_property
    def uniform_marginal_kernels(self) -> Floats:
        """The same with the other parents uniform: what the labelled estimator of appendix B sees."""
        return self._marginal_kernels(np.full(self.table.shape[:-1], self.n_states**-self.n_parents))

    def _marginal_kernels(self, law: Floats) -> Floats:
        joint = self.table * law[..., None]
        kernels = np.empty((self.n_parents, self.n_states, self.n_states))
        for head in range(self.n_parents):
            others = tuple(axis for axis in range(self.n_parents) if axis != head)
            weight = law.sum(axis=others)
            if np.any(weight <= 0):
                state = int(np.argmin(weight))
                raise KernelError(
                    f"state {state} has probability 0 under the stationary law, so the marginal kernel of "
                    f"parent {head + 1} has no row for it. Drop the state, or give Kernel(table, parent_law=…)"
                )
            kernels[head] = joint.sum(axis=others) / weight[:, None]
        kernels.setflags(write=False)
        return kernels

    @cached_property
    def marginal_distance(self) -> float:
        """Smallest over pairs of heads of max |π^a − π^b|; Assumption 1 needs it above 0 (inf for K = 1)."""
        kernels = self.marginal_kernels
        gaps = [np.abs(kernels[a] - kernels[b]).max() for a, b in combinations(range(self.n_parents), 2)]
        return float(min(gaps, default=np.inf))

    @property
    def has_distinct_marginals(self) -> bool:
        """Assumption 1 of the paper: π^1, …, π^K are pairwise distinct."""
        return self.marginal_distance > _DISTINCT_TOLERANCE

    @cached_property
    def spectral_norm(self) -> float:
        """λ(π) = max_k ‖B^k‖₂ with B^k(s, s') = sqrt(μ(s)/μ(s')) (π^k(s'|s) − μ(s'))."""
        root = np.sqrt(self.marginal)
        centred = (self.marginal_kernels - self.marginal) * root[:, None] / root[None, :]
        return float(max(np.linalg.norm(block, 2) for block in centred))

    @property
    def spectral_gap(self) -> float:
        """1 − λ(π)."""
        return 1.0 - self.spectral_norm

    def marginalise(self, n_parents: int, keep: Sequence[int] | None = None) -> Kernel:
        """Kernel of a node with fewer parents (appendix A): missing parents are averaged under Π μ.

        Parameters
        ----------
        n_parents
            K_i, from 1 to K.
        keep
            Which K_i parents stay, by default the first.
        """
        kept = list(range(n_parents)) if keep is None else sorted(keep)
        if not 1 <= n_parents <= self.n_parents or len(set(kept)) != n_parents:
            raise KernelError(f"cannot keep parents {kept} ({n_parents}) of a kernel with {self.n_parents}")
        if n_parents == self.n_parents:
            return self
        table = self.table
        for axis in reversed(range(self.n_parents)):
            if axis not in kept:
                table = np.tensordot(self.marginal, table, axes=(0, axis))
        return Kernel(table)

    # Constructors by name live in their own module; these are their doors.

    @classmethod
    def paper(cls, p: Sequence[float] | float = 0.0) -> Kernel:
        """The paper's kernel (S = 3, K = 2) with tunables p_0..p_8, or one value for all."""
        from kgmi.kernel import named

        return named.paper(p)

    @classmethod
    def random(
        cls, n_states: int, n_parents: int, *, rng: np.random.Generator, concentration: float = 1.0
    ) -> Kernel:
        """Every row drawn from a symmetric Dirichlet law with the given concentration."""
        from kgmi.kernel import named

        return named.random(n_states, n_parents, rng=rng, concentration=concentration)

    @classmethod
    def mendelian(cls, allele_frequency: float = 0.5) -> Kernel:
        """Mendel's law for genotypes 0, 1, 2; unrelated parents in Hardy–Weinberg equilibrium."""
        from kgmi.kernel import named

        return named.mendelian(allele_frequency)

    @classmethod
    def chain(cls, transition: ArrayLike, weights: Sequence[float]) -> Kernel:
        """Order-K chain whose next state copies the step from lag ℓ with probability ``weights[ℓ]``."""
        from kgmi.kernel import named

        return named.chain(transition, weights)

    @classmethod
    def from_counts(cls, counts: ArrayLike, smoothing: float = 0.0) -> Kernel:
        """Relative frequencies of ``counts[s_1, …, s_K, s'] + smoothing``."""
        from kgmi.kernel import named

        return named.from_counts(counts, smoothing)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary for JSON."""
        law = {} if self.parent_law is None else {"parent_law": self.parent_law.tolist()}
        return {"table": self.table.tolist(), **law}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Kernel:
        """From what :meth:`to_dict` gives."""
        if not isinstance(content, Mapping) or "table" not in content:
            raise KernelError("a kernel in JSON is an object with 'table': nested lists [s_1][…][s_K][s']")
        return cls(content["table"], content.get("parent_law"))


def _checked_table(table: ArrayLike) -> Floats:
    try:
        array = np.array(table, dtype=np.float64)
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
    array.setflags(write=False)
    return array


def _checked_law(parent_law: ArrayLike, table: Floats) -> Floats:
    law = np.array(parent_law, dtype=np.float64)
    if law.shape != table.shape[:-1]:
        raise KernelError(f"parent_law must have shape {table.shape[:-1]}, one axis per parent, got {law.shape}")
    if not np.all(np.isfinite(law)) or np.any(law < 0) or abs(law.sum() - 1.0) > _SUM_TOLERANCE:
        raise KernelError(f"parent_law must be a probability table; its entries sum to {law.sum():.6g}")
    marginals = [law.sum(axis=tuple(a for a in range(law.ndim) if a != axis)) for axis in range(law.ndim)]
    if any(np.abs(m - marginals[0]).max() > 1e-6 for m in marginals):
        raise KernelError("parent_law must give every parent the same marginal law")
    law.setflags(write=False)
    return law


def _row_name(where: Sequence[Any] | Any) -> str:
    return "(" + ", ".join(str(int(s)) for s in where) + ")"
