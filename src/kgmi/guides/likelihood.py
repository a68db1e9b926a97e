"""The guide ``likelihood``: how much better candidates explain a child under a kernel than no parents do.

All scores are *gains*: Σ_rows log π(S_i | parents) - log P_i(S_i). Where values are missing the sum is over the
rows that have them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.counts.base import Counts
from kgmi.types import Floats, Ints

__all__ = ["IMPOSSIBLE", "Likelihood", "gain_table"]

IMPOSSIBLE = 1e-9  # probability of what a kernel rules out: it costs 20 nats a row, as data have errors


def gain_table(counts: Counts, child: int, kernel: Floats) -> Floats:
    """Return [parents …, s']: log π(s' | parents) - log P_child(s'); states that never occur gain nothing."""
    seen = counts.marginals[child]
    share = seen / max(float(seen.sum()), 1e-300)
    gains = np.log(np.maximum(kernel, IMPOSSIBLE)) - np.log(np.where(share > 0, share, 1.0))
    return np.where(share > 0, gains, 0.0)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Scores of candidates by the log-likelihood of the child, for all of them at once."""

    counts: Counts

    def renumbered(self, order: Sequence[int], counts: Counts) -> Likelihood:
        """Return the same guide for nodes in another order, whose counts are given."""
        return Likelihood(counts)

    def prepare(self, child: int, kernel: Floats) -> Floats:
        """Return the gains of a child under a kernel."""
        return gain_table(self.counts, child, kernel)

    def score(self, gains: Floats, family: Floats) -> float:
        """Return the gain of one tuple of parents from the counts of its family."""
        return float((family * gains).sum())

    def joint(self, child: int, gains: Floats, tuples: Ints, candidates: Ints) -> Floats:
        """Return [tuple, candidate]: gain of every tuple with every candidate; no meaning where two are equal."""
        if not len(tuples) or not len(candidates):
            return np.empty((len(tuples), len(candidates)))
        return np.asarray(self.counts.worth(child, tuples, candidates, gains=gains[None])[0])

    def unordered(self, child: int, gains: Floats, nodes: Ints) -> Floats:
        """Return [order, node, later node]: gain of two parents in both orders, else -inf.

        A kernel in which the parents have no order has one of them.
        """
        turned = gains.transpose(1, 0, 2)
        both = gains[None] if np.array_equal(gains, turned) else np.stack([gains, turned])
        return self.counts.worth(child, nodes[:, None], nodes, gains=both, is_half=True)

    def head(self, child: int, gains: Floats, parents: Sequence[int], head: int, candidates: Ints) -> Floats:
        """Return the gain of every candidate for one head, the parents of the other heads being as they are."""
        others = [parent for role, parent in enumerate(parents) if role != head]
        turned = np.moveaxis(gains, head, -2)
        return np.asarray(self.joint(child, turned, np.array([others], dtype=np.int64), candidates)[0])
