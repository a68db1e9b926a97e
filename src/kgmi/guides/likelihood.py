"""The guide ``likelihood``: how much better a child is explained by candidates under the shared kernel.

All values are *gains*: Σ_rows log π(S_i | parents) − log P_i(S_i), which differ from the log-likelihood by a
constant of the child and stay exact in float32 for longer. Where values are missing the sum runs over the rows that
have them all: what was not seen is no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgmi.statistics.families import can_count_bits, tuple_scores
from kgmi.statistics.observed import Observed
from kgmi.types import Floats, Ints

__all__ = ["IMPOSSIBLE", "Likelihood", "family_gain", "gain_table"]

_Small: TypeAlias = NDArray[np.float32]

_FEW_CELLS, _SOME_CELLS, _MANY_ROWS = 27, 64, 1_000  # with three states bits are never slower, with four later
IMPOSSIBLE = 1e-9  # what a kernel rules out costs about 20 nats a row, not infinitely many: data have errors


def gain_table(observed: Observed, child: int, kernel: Floats) -> Floats:
    """[parents …, s']: log π(s' | parents) − log P_child(s'); states that the child never takes gain nothing."""
    law = observed.log_laws[child]
    return np.where(np.isnan(law), 0.0, np.log(np.maximum(kernel, IMPOSSIBLE)) - law)


def family_gain(counts: Floats, gains: Floats) -> float:
    """Gain of one tuple of parents from its family counts, in full precision."""
    return float((counts * gains).sum())


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Scores of candidates by the log-likelihood of the child, for all of them at once."""

    observed: Observed

    def prepare(self, child: int, table: Floats) -> Floats:
        """The gains of a child under a kernel."""
        return gain_table(self.observed, child, table)

    def singles(self, child: int, gains: Floats, candidates: Ints) -> Floats:
        """Gain of every candidate as the only parent."""
        alone = self.joint(child, gains, np.empty((1, 0), dtype=np.int64), candidates)
        if alone is not None:
            return np.asarray(alone[0])
        return np.asarray(_summed(self.observed, child, gains, (), None, candidates)[0])

    def pairs(self, child: int, gains: Floats, leads: Sequence[int], firsts: Ints, seconds: Ints) -> Floats:
        """[first, second]: gain of the parents (*leads, first, second); nonsense where two of them are the same."""
        if self.observed.is_tallied:
            tuples = np.column_stack([*(np.full(len(firsts), lead) for lead in leads), firsts])
            return np.asarray(tuple_scores(self.observed, child, tuples, seconds, gains[None], is_half=False)[0])
        return _summed(self.observed, child, gains, leads, firsts, seconds)

    def joint(self, child: int, gains: Floats, tuples: Ints, candidates: Ints) -> Floats | None:
        """[tuple, candidate]: gain of every tuple with every candidate behind it; None if bits are not counted.

        It is nonsense where two parents are the same.
        """
        if not len(tuples) or not len(candidates) or not can_count_bits(self.observed, gains.size):
            return None
        return np.asarray(tuple_scores(self.observed, child, tuples, candidates, gains[None], is_half=False)[0])

    def unordered(self, child: int, gains: Floats, nodes: Ints) -> Floats | None:
        """[order, node, later node]: gain of two parents in both orders, else -inf; None where bits do not pay.

        A kernel in which the parents have no order has one of them.
        """
        if not _bits_pay(self.observed, gains):
            return None
        turned = gains.transpose(1, 0, 2)
        both = gains[None] if np.array_equal(gains, turned) else np.stack([gains, turned])
        return tuple_scores(self.observed, child, nodes[:, None], nodes, both, is_half=True)

    def head(self, child: int, gains: Floats, parents: Sequence[int], head: int, candidates: Ints) -> Floats:
        """Gain of every candidate for one head, the parents of the other heads being as they are."""
        others = [parent for role, parent in enumerate(parents) if role != head]
        turned = np.moveaxis(gains, head, -2)
        beside = self.joint(child, turned, np.array([others], dtype=np.int64), candidates)
        if beside is not None:
            return np.asarray(beside[0])
        return np.asarray(_summed(self.observed, child, turned, others, None, candidates)[0])


def _bits_pay(observed: Observed, gains: Floats) -> bool:
    """Whether counting bits is faster than products of matrices, as measured in November 2026."""
    few = gains.size <= _FEW_CELLS or (gains.size <= _SOME_CELLS and observed.n_looked_at >= _MANY_ROWS)
    return (few or observed.is_tallied) and can_count_bits(observed, gains.size)


def _summed(
    observed: Observed, child: int, gains: Floats, leads: Sequence[int], firsts: Ints | None, seconds: Ints
) -> Floats:
    """Products of matrices: Σ_s O_s (Σ_t O_t ∘ gain(s, t))ᵀ, or without firsts Σ_t gain(t) O_tᵀ as one row."""
    padded = np.zeros([size + 1 for size in gains.shape])  # a gap has code -1: it finds a zero at the end
    padded[(slice(-1),) * gains.ndim] = gains
    total: Any = 0.0  # float32, as the large tables of pairs are read several times
    for block in observed.blocks:
        hot = observed.indicators(block)
        here = [observed.columns[lead][block] for lead in leads]
        target = observed.columns[child][block]
        weight = None if observed.weights is None else observed.weights[block]
        per_row = _per_row(padded, here, target, weight)
        right = _of(hot, seconds)
        left = None if firsts is None else _of(hot, firsts)
        if left is None:
            total = total + _singles(per_row, right)
        else:
            total = total + (_pairs_with_gaps if observed.has_gaps else _pairs)(per_row, left, right)
    return np.asarray(total)


def _per_row(padded: Floats, leads: Sequence[Ints], target: Ints, weight: Floats | None) -> _Small:
    """[states of the open parents …, row]: the gain that each row would bring."""
    n_open = padded.ndim - 1 - len(leads)
    inner = (slice(None, -1),) * n_open  # the zero behind the states of the open parents is not needed
    where: tuple[Any, ...] = (*leads, *(slice(None),) * n_open, target)
    picked = (np.moveaxis(padded[where], 0, -1) if leads else padded[where])[inner]
    if weight is None:
        return np.asarray(picked, dtype=np.float32)
    return np.asarray(picked * weight)  # probabilities: the differences between exact laws may be small


def _of(hot: _Small, nodes: Ints) -> _Small:
    """Indicators of some nodes; a view where they follow one another, as a copy costs as much as the product."""
    dense = len(nodes) > 0 and bool((np.diff(nodes) == 1).all())
    return hot[:, int(nodes[0]) : int(nodes[-1]) + 1] if dense else hot[:, nodes]


def _singles(per_row: _Small, right: _Small) -> _Small:
    out: _Small = np.zeros((1, right.shape[1]), dtype=per_row.dtype)
    for state in range(len(per_row)):
        out += per_row[state] @ right[state].T
    return out


def _pairs(per_row: _Small, left: _Small, right: _Small) -> _Small:
    """The last state of a node is where all others are not, so it needs no product of its own."""
    last, end = per_row.shape[0] - 1, per_row.shape[1] - 1

    def inner(gains: _Small) -> _Small:
        out: _Small = right[0] * (gains[0] - gains[end])
        for second in range(1, end):
            out += right[second] * (gains[second] - gains[end])
        return out

    base = inner(per_row[last]).sum(axis=1) + per_row[last, end].sum()
    out = np.repeat(base[None], left.shape[1], axis=0)
    for first in range(last):
        more = per_row[first] - per_row[last]
        out += left[first] @ (inner(more) + more[end]).T
    return out


def _pairs_with_gaps(per_row: _Small, left: _Small, right: _Small) -> _Small:
    out = np.zeros((left.shape[1], right.shape[1]), dtype=per_row.dtype)
    for first in range(per_row.shape[0]):
        inner = right[0] * per_row[first, 0]
        for second in range(1, per_row.shape[1]):
            inner += right[second] * per_row[first, second]
        out += left[first] @ inner.T
    return out
