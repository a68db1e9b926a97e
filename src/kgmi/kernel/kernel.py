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
from kgmi.kernel.checks import checked_law, checked_table
from kgmi.kernel.stationary import stationary_law
from kgmi.types import Floats, Rng

__all__ = ["Kernel"]

_DISTINCT_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Kernel:
    """Transition kernel shared by the non-root nodes.

    Parameters
    ----------
    table
        ``table[s_1, …, s_K, s']`` = π(s' | s_1..s_K). Rows sum to one; where one is off by less than 10⁻⁸,
        as in numbers printed with nine digits, it is scaled to one, or the error would add up along a long
        graph. Zeros are allowed (Mendel's law has them) and reported by :attr:`is_positive`.
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
        checked = checked_table(table)
        object.__setattr__(self, "table", checked)
        law = None if parent_law is None else checked_law(parent_law, checked)
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
        marginal = np.asarray(law.sum(axis=tuple(range(1, law.ndim))))
        marginal.setflags(write=False)
        return marginal

    @cached_property
    def marginal_kernels(self) -> Floats:
        """π^ℓ as [head, s, s']: the kernel of parent ℓ with the others averaged under M_π; π itself for K = 1."""
        return self._marginal_kernels(self.stationary)

    @cached_property
    def uniform_marginal_kernels(self) -> Floats:
        """The same with the other parents uniform: what the labelled estimator of appendix C-B sees."""
        return self._marginal_kernels(np.full(self.table.shape[:-1], self.n_states**-self.n_parents))

    def _marginal_kernels(self, law: Floats) -> Floats:
        if self.n_parents == 1:  # no other parent, so every state has its row, whatever its mass
            return self.table[None]
        joint = self.table * law[..., None]
        kernels = np.empty((self.n_parents, self.n_states, self.n_states))
        for head in range(self.n_parents):
            others = tuple(axis for axis in range(self.n_parents) if axis != head)
            weight = law.sum(axis=others)
            if weight.min() <= 0:
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
        """λ(π) = max_k ‖B^k‖₂ with B^k(s, s') = sqrt(μ(s)/μ(s')) (π^k(s'|s) − μ(s')), on the states with mass."""
        mass = np.flatnonzero(self.marginal > 0)
        root = np.sqrt(self.marginal[mass])
        kernels = self.marginal_kernels[:, mass[:, None], mass]
        centred = (kernels - self.marginal[mass]) * root[:, None] / root[None, :]
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
        if not 1 <= n_parents <= self.n_parents:
            raise KernelError(f"cannot keep {n_parents} parents of a kernel with {self.n_parents}")
        kept = list(range(n_parents)) if keep is None else sorted(keep)
        if len(kept) != n_parents or len(set(kept) & set(range(self.n_parents))) != n_parents:
            raise KernelError(f"keep must list {n_parents} of the parents 0..{self.n_parents - 1} once, got {kept}")
        if n_parents == self.n_parents:
            return self
        table = self.table
        missing = tuple(axis for axis in range(self.n_parents) if axis not in kept)
        for axis in reversed(missing):
            table = np.tensordot(self.marginal, table, axes=(0, axis))
        return Kernel(table, None if self.parent_law is None else self.parent_law.sum(axis=missing))

    # Constructors by name live in their own module; these are their doors.

    @classmethod
    def paper(cls, p: Sequence[float] | float = 0.0) -> Kernel:
        """The paper's kernel (S = 3, K = 2) with tunables p_0..p_8, or one value for all."""
        from kgmi.kernel import named

        return named.paper(p)

    @classmethod
    def random(cls, n_states: int, n_parents: int, *, rng: Rng, concentration: float = 1.0) -> Kernel:
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
