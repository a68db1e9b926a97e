"""The guide ``likelihood``: how much better a child is explained by candidates under the shared kernel.

All values are *gains*: Σ_rows log π(S_i | parents) − log P_i(S_i), which differ from the log-likelihood by a
constant of the child. Where values are missing the sum runs over the rows that have them all: what was not seen is
no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.counts.base import Counts
from kgmi.types import Floats, Ints

__all__ = ["IMPOSSIBLE", "Likelihood", "family_gain", "gain_table"]

IMPOSSIBLE = 1e-9  # what a kernel rules out costs about 20 nats a row, not infinitely many: data have errors


def gain_table(observed: Counts, child: int, kernel: Floats) -> Floats:
    """Return [parents …, s']: log π(s' | parents) − log P_child(s'); states that never occur gain nothing."""
    counts = observed.marginals[child]
    share = counts / max(float(counts.sum()), 1e-300)
    gains = np.log(np.maximum(kernel, IMPOSSIBLE)) - np.log(np.where(share > 0, share, 1.0))
    return np.where(share > 0, gains, 0.0)


def family_gain(counts: Floats, gains: Floats) -> float:
    """Return the gain of one tuple of parents from its family counts."""
    return float((counts * gains).sum())


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Scores of candidates by the log-likelihood of the child, for all of them at once."""

    observed: Counts

    def prepare(self, child: int, table: Floats) -> Floats:
        """Return the gains of a child under a kernel."""
        return gain_table(self.observed, child, table)

    def singles(self, child: int, gains: Floats, candidates: Ints) -> Floats:
        """Return the gain of every candidate as the only parent."""
        return np.asarray(self.joint(child, gains, np.empty((1, 0), dtype=np.int64), candidates)[0])

    def pairs(self, child: int, gains: Floats, leads: Sequence[int], firsts: Ints, seconds: Ints) -> Floats:
        """Return [first, second]: gain of the parents (*leads, first, second); no meaning where two are equal."""
        tuples = np.column_stack([*(np.full(len(firsts), lead) for lead in leads), firsts])
        return self.joint(child, gains, tuples, seconds)

    def joint(self, child: int, gains: Floats, tuples: Ints, candidates: Ints) -> Floats:
        """Return [tuple, candidate]: gain of every tuple with every candidate; no meaning where two are equal."""
        if not len(tuples) or not len(candidates):
            return np.empty((len(tuples), len(candidates)))
        return np.asarray(self.observed.worth(child, tuples, candidates, gains=gains[None])[0])

    def unordered(self, child: int, gains: Floats, nodes: Ints) -> Floats:
        """Return [order, node, later node]: gain of two parents in both orders, else -inf.

        A kernel in which the parents have no order has one of them.
        """
        turned = gains.transpose(1, 0, 2)
        both = gains[None] if np.array_equal(gains, turned) else np.stack([gains, turned])
        return self.observed.worth(child, nodes[:, None], nodes, gains=both, is_half=True)

    def head(self, child: int, gains: Floats, parents: Sequence[int], head: int, candidates: Ints) -> Floats:
        """Return the gain of every candidate for one head, the parents of the other heads being as they are."""
        others = [parent for role, parent in enumerate(parents) if role != head]
        turned = np.moveaxis(gains, head, -2)
        return np.asarray(self.joint(child, turned, np.array([others], dtype=np.int64), candidates)[0])
