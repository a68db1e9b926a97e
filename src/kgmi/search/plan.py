"""``Plan``: what a search may do, and the counts that it looks at again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lgamma, log
from typing import Literal

import numpy as np

from kgmi.candidates import Candidates
from kgmi.counts.base import Counts
from kgmi.guides.contextual import Contextual
from kgmi.guides.likelihood import Likelihood
from kgmi.memory import Remembered
from kgmi.penalty import Penalty, log_choices
from kgmi.types import Floats

__all__ = ["LIST_LENGTH", "Plan", "SearchMode", "gap_price", "root_price"]

SearchMode = Literal["auto", "heads", "lists", "exhaustive"]

LIST_LENGTH = 12  # of a head's short list
# What one look at all tuples takes, as measured on one core; only the order of magnitude matters.
_OPERATIONS_PER_SECOND = 4e10
_SECONDS_PER_CALL = 1.5e-4
_PATIENCE = 5.0  # seconds of one look that are still bearable
_NO_TIME = 0.05
_HALF = 0.5  # pseudo-nodes of every in-degree (Krichevsky and Trofimov)
_BLOCK_MARGIN = 2.0  # the law of a block may be that of independent roots: then it is no block


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that stays the same during a search.

    Attributes
    ----------
    observed, candidates
        The rows, and who may be whose parent.
    guide
        What scores the tuples.
    n_heads
        K, the most parents of a node.
    degrees
        In-degrees that a node may have.
    labels
        Nodes with the same label share a kernel (for the same in-degree and alphabets).
    penalty, smoothing
        Price of free parameters; pseudo-cases per configuration of the parents.
    error
        ε of every reading, or None when it is estimated (with known kernels).
    known
        Kernels by in-degree that are given; the others are learned.
    search, list_length
        How tuples are searched.
    roots
        Nodes that are known to be the roots, or None.
    rounds, starts
        Most rounds of re-guiding from one start, and most starts.
    n_open
        How many candidates every node had before the order was learned; None where it was given.
    """

    observed: Counts
    candidates: Candidates
    guide: Likelihood | Contextual
    n_heads: int
    degrees: tuple[int, ...]
    labels: tuple[int, ...]
    penalty: Penalty
    smoothing: float = 1.0
    error: float | None = 0.0
    known: dict[int, Floats] = field(default_factory=dict)
    search: SearchMode = "auto"
    list_length: int = LIST_LENGTH
    roots: frozenset[int] | None = None
    rounds: int = 50
    starts: int = 6
    n_open: tuple[int, ...] | None = None
    _families: Remembered[tuple[int, ...], Floats] = field(default_factory=Remembered, repr=False)

    def family(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Counts [parents …, child], kept, as rounds come back to the same families."""
        known = self._families.get((child, *parents))
        if known is not None:
            return known
        ordered = tuple(sorted(parents))
        if ordered == parents:
            counts = self.observed.family(child, parents)
        else:  # the same counts with other roles
            axes = (*(ordered.index(parent) for parent in parents), len(parents))
            counts = np.ascontiguousarray(self.family(child, ordered).transpose(axes))
        return self._families.keep((child, *parents), counts, counts.nbytes)

    def compressed(self) -> Plan:
        """The same with equal rows as one, where that pays."""
        fewer = self.observed.compressed()
        if fewer is self.observed:
            return self
        return replace(self, observed=fewer, guide=replace(self.guide, observed=fewer), _families=Remembered())

    def keep(self, child: int, parents: tuple[int, ...], counts: Floats) -> None:
        """Counts of a family that were made elsewhere."""
        self._families.keep((child, *parents), counts, counts.nbytes)

    def choice_cost(self, child: int, degree: int) -> float:
        """Log of the number of parent sets of this size that were open to the child; 0 for an exact law."""
        if self.observed.is_exact:
            return 0.0
        n_required = len(self.candidates.required[child])
        n_candidates = len(self.candidates.of(child)) if self.n_open is None else self.n_open[child]
        return log_choices(n_candidates - n_required, degree - n_required)

    def gap_cost(self, child: int, parents: tuple[int, ...]) -> float:
        """Price of the rows in which the child has a value and its parents, missing mostly, do not.

        A child of a column that is hardly ever seen is described almost as a root is, and pays as much. Where most
        rows are complete they say what the law in the others is.
        """
        if not self.observed.has_gaps or self.observed.is_exact:
            return 0.0
        cases = np.asarray(self.family(child, parents).sum())
        return float(gap_price(self.observed, self.penalty, child, cases, excused=1.0))

    def root_cost(self, child: int) -> float:
        """Price of the child's own law, which it needs when it has no parents."""
        known = self.observed.kept.setdefault(("root costs", self.penalty), {})
        if child not in known:
            known[child] = root_price(self.observed, self.penalty, child)
        return float(known[child])

    def order_cost(self, cost: float) -> float:
        """Price of the order of the parents; nothing for an exact law."""
        return 0.0 if self.observed.is_exact else cost

    def degree_costs(self, degrees: Sequence[int]) -> dict[int, float]:
        """Price of saying that a node has this in-degree, given those of all nodes; rare ones cost more.

        Only nodes that could have any in-degree are counted, and only they pay: the others have no choice, or less.
        """
        if self.observed.is_exact:
            return dict.fromkeys(self.degrees, 0.0)
        seen = Counter(degree for node, degree in enumerate(degrees) if node in self.free)
        total = sum(seen.values()) + _HALF * len(self.degrees)
        return {degree: -log((seen[degree] + _HALF) / total) for degree in self.degrees}

    def degrees_cost(self, degrees: Sequence[int]) -> float:
        """Price of saying all in-degrees, one after the other, each at its price so far."""
        if self.observed.is_exact:
            return 0.0
        seen = Counter(degree for node, degree in enumerate(degrees) if node in self.free)
        kinds = len(self.degrees)
        all_orders = lgamma(sum(seen.values()) + kinds * _HALF) - lgamma(kinds * _HALF)
        return all_orders - sum(lgamma(n + _HALF) - lgamma(_HALF) for n in seen.values())

    @cached_property
    def free(self) -> frozenset[int]:
        """Nodes that can have any of the in-degrees."""
        everything = list(self.degrees)
        if self.roots is None and self.n_open is None and self.candidates.is_full and not self.is_open:
            return frozenset(range(everything[-1], self.observed.n_nodes))
        return frozenset(n for n in range(self.observed.n_nodes) if self._open_degrees(n) == everything)

    @property
    def is_open(self) -> bool:
        """Whether the order of the nodes is to be found too."""
        return self.candidates.is_open

    @property
    def price(self) -> Penalty | None:
        """The penalty; none for an exact law."""
        return None if self.observed.is_exact else self.penalty

    @property
    def block_margin(self) -> float:
        """How much better than alone a root must be explained together with another one; nats."""
        return self.indifference if self.observed.is_exact else _BLOCK_MARGIN

    @property
    def indifference(self) -> float:
        """Gain per parent that is rounding, not evidence."""
        return 1e-9 if self.observed.is_exact else 0.0

    def degrees_of(self, child: int) -> list[int]:
        """In-degrees that this child can have, given its candidates and the parents required."""
        return self._degrees(child, len(self.candidates.of(child)))

    def _open_degrees(self, child: int) -> list[int]:
        """The same, or, where the order was learned, before it was known."""
        return self.degrees_of(child) if self.n_open is None else self._degrees(child, self.n_open[child])

    def _degrees(self, child: int, most: int) -> list[int]:
        least = len(self.candidates.required[child])
        if self.roots is not None:
            least, most = (0, 0) if child in self.roots else (max(least, 1), most)
        open_to = [degree for degree in self.degrees if least <= degree <= most]
        return open_to or [min(least, most)]

    @cached_property
    def seconds(self) -> float:
        """About how long one look at all tuples of all children takes."""
        states, degree = max(self.observed.sizes), max(self.degrees, default=0)
        if degree < 2:
            return 0.0
        sizes = np.array([len(self.candidates.of(child)) for child in range(self.observed.n_nodes)], dtype=float)
        operations = float((sizes**degree).sum()) * 2 * self.observed.effort * states
        calls = float((sizes ** (degree - 2)).sum())
        return operations / _OPERATIONS_PER_SECOND + calls * _SECONDS_PER_CALL

    @cached_property
    def is_exhaustive(self) -> bool:
        """Whether all tuples are looked at."""
        return self.search == "exhaustive" or (self.search == "auto" and self.seconds <= _PATIENCE)

    @cached_property
    def is_small(self) -> bool:
        """Whether a look at all tuples costs no more than a look at short lists."""
        return self.is_exhaustive and self.seconds <= _NO_TIME


def gap_price(observed: Counts, penalty: Penalty, child: int, cases: Floats, excused: float = 0.0) -> Floats:
    """Price of the rows in which the child has a value and its parents do not: it is described there too.

    A law of S states that was estimated from n cases loses (S - 1) / 2n nats in each further one, compared with the
    law that fits all of them, which a root has; ``excused`` times n of them are free. A law of its own for the rest
    is never dearer.
    """
    n_states = int((observed.marginals[child] > 0).sum())
    rest = np.maximum(observed.marginals[child].sum() - cases, 0.0)
    own = penalty.cost(rest, n_states, max(observed.n_rows, 1.0))
    lost = (n_states - 1) / 2 * np.maximum(rest / np.maximum(cases, 1.0) - excused, 0.0)
    return np.where(rest > 0, np.minimum(own, lost), 0.0)


def root_price(observed: Counts, penalty: Penalty, child: int) -> float:
    """Price of a law without parents: that of its parameters, or, for no parameters, what even odds fit worse.

    A family of which every case is a configuration of its own is nothing but even odds too: so roots need them.
    """
    if observed.is_exact:
        return 0.0
    counts = observed.marginals[child]
    counts = counts[counts > 0]
    total = float(counts.sum())
    entropy = -float((counts * np.log(counts / max(total, 1.0))).sum())
    price = float(penalty.cost(np.array([total]), len(counts), max(observed.n_rows, 1.0))[0])
    return min(price, max(total * log(max(len(counts), 1)) - entropy, 0.0))
