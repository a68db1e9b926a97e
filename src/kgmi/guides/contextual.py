"""The guide ``contextual``: a head's kernel averaged over the observed distribution of the other heads' parents.

The score of candidate j for head ℓ of child i is -KL(P_j k ‖ P_ij) with
k(s' | s) = Σ_o π(s' | s, o) P(others = o | S_j = s). At the true parents both sides are the same distribution for
any graph, where the paper's stationary kernels are right only if the parents follow M_π. One and two heads need
counts of pairs only; more need the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.counts.base import Counts
from kgmi.errors import DataError
from kgmi.joint import PairJoint
from kgmi.types import Floats, Ints

__all__ = ["Contextual"]

_NEVER = 1e-300  # a pair of states that never occurs but should gets a very low score, not an infinite one


@dataclass(frozen=True, eq=False)
class Contextual:
    """Scores of candidates by how well the kernel in its context explains each pair.

    Attributes
    ----------
    joint
        Distributions of all pairs, exact or counted.
    counts
        Counts of families, needed from three heads on.
    """

    joint: PairJoint
    counts: Counts | None = None

    def renumbered(self, order: Sequence[int], counts: Counts) -> Contextual:
        """Return the same guide for nodes in another order, whose counts are given."""
        nodes = np.array(order)
        joint = PairJoint.by_construction(self.joint.joint[np.ix_(nodes, nodes)], self.joint.n_rows)
        return Contextual(joint, counts)

    def prepare(self, child: int, kernel: Floats) -> Floats:
        """Return the kernel: it is used as it is."""
        return kernel

    def joint_scores(self, child: int, kernel: Floats, firsts: Ints, seconds: Ints) -> Floats:
        """Return [first, second]: the sum of both heads' scores, each in the context of the other."""
        out = np.empty((len(firsts), len(seconds)))
        for row, first in enumerate(firsts.tolist()):  # one at a time, to save memory
            together = self.joint.joint[first, seconds][..., None] * kernel  # [second, s, t, s']
            alone = self._fit(together.sum(axis=2), child, np.full(len(seconds), first))
            out[row] = alone + self._fit(together.sum(axis=1), child, seconds)
        return out

    def head(self, child: int, kernel: Floats, parents: Sequence[int], head: int, candidates: Ints) -> Floats:
        """Return the score of every candidate for one head, the parents of the other heads being as they are."""
        others = [parent for role, parent in enumerate(parents) if role != head]
        if not others:
            return self._fit(self.joint.marginal[candidates][:, :, None] * kernel, child, candidates)
        turned = np.moveaxis(kernel, head, 0)  # [s of this head, states of the others …, s']
        n_states = turned.shape[0]
        if len(others) == 1:
            context = self.joint.joint[candidates, others[0]]  # [candidate, s, o]
        else:
            context = self._context(others, candidates, n_states)
        guided = np.einsum("jso,sou->jsu", context, turned.reshape(n_states, -1, n_states))
        return self._fit(guided, child, candidates)

    def _context(self, others: Sequence[int], candidates: Ints, n_states: int) -> Floats:
        """Return [candidate, s, states of the others as one]: their joint distribution."""
        if self.counts is None:
            raise DataError("the guide 'contextual' needs the rows for three or more parents, not only pair counts")
        families = (self.counts.family(others[-1], [j, *others[:-1]]) for j in candidates.tolist())
        stacked = np.stack([family.reshape(n_states, -1) for family in families])
        return np.asarray(stacked / stacked.sum(axis=(1, 2), keepdims=True))

    def _fit(self, guided: Floats, child: int, candidates: Ints) -> Floats:
        """Return -KL of the guided distribution [candidate, s, s'] from the observed one of (candidate, child)."""
        seen = self.joint.joint[candidates, child]  # [candidate, s, s']
        ratio = np.divide(guided, np.maximum(seen, _NEVER), out=np.ones(guided.shape), where=guided > 0)
        return -np.asarray((guided * np.log(ratio)).sum(axis=(1, 2)))
