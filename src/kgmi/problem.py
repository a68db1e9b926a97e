"""``Problem``: counts, candidates and options: everything that a search for parents and kernels may look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from kgmi.candidates import Candidates
from kgmi.counts.base import Counts
from kgmi.guides.contextual import Contextual
from kgmi.guides.likelihood import Likelihood
from kgmi.memory import Remembered
from kgmi.penalty import PENALTIES, Penalty, log_choices
from kgmi.types import Floats, Ints

__all__ = ["LIST_LENGTH", "Family", "Key", "Problem", "SearchMode", "Share"]

SearchMode = Literal["auto", "heads", "lists", "exhaustive"]
Share = Literal["auto", "shared", "classes", "node"]
Family: TypeAlias = tuple[int, ...]
"""Parents of one node in role order: the first is the first argument of the kernel."""
Key: TypeAlias = tuple[int, tuple[int, ...], int]
"""What nodes must have in common to share a kernel: label, alphabets of the parents in role order, of the child."""

LIST_LENGTH = 12
"""Candidates of each head that are searched jointly where not all are."""
_EXHAUSTIVE = 2e11  # pairs of bits that one look at all tuples may compare: a few seconds
_SMALL = 2e9  # the same, for problems in which a look at all tuples costs no more than a look at short lists
_CALL = 6e6  # pairs of bits that take as long as setting out to count once


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that stays the same during a search.

    Attributes
    ----------
    counts, candidates
        The data, and which columns may be parents of which.
    n_heads, degrees
        K, the most parents of a node, and the numbers of parents that a node may have.
    penalty, smoothing
        Price of fitted parameters; pseudo-cases for each joint state of the parents when a kernel guides heads.
    share, labels
        Which nodes share kernels; only nodes with the same label may.
    error
        ε, the share of readings of a child that are random instead; None to estimate it (with known kernels).
    known
        Given kernels by number of parents; with none, kernels are learned.
    guide
        What scores the candidates of a head; by default the likelihood.
    search, list_length
        Whether parents are searched jointly among all candidates, among short lists, or head by head.
    roots
        Nodes known to be the roots, or None.
    rounds, starts
        Most rounds from one start, and most starts.
    n_choices
        How many candidates each node had before lists were cut or the order was learned; None for those it has.
    """

    counts: Counts
    candidates: Candidates
    n_heads: int = 2
    degrees: tuple[int, ...] = (0, 1, 2)
    penalty: Penalty = PENALTIES["nml"]
    smoothing: float = 1.0
    share: Share = "auto"
    labels: tuple[int, ...] = ()
    error: float | None = 0.0
    known: Mapping[int, Floats] = field(default_factory=dict)
    guide: Likelihood | Contextual | None = None
    search: SearchMode = "auto"
    list_length: int = LIST_LENGTH
    roots: frozenset[int] | None = None
    rounds: int = 50
    starts: int = 6
    n_choices: tuple[int, ...] | None = None
    _families: Remembered[tuple[int, ...], Floats] = field(default_factory=Remembered, repr=False)

    def __post_init__(self) -> None:
        if not self.labels:
            object.__setattr__(self, "labels", (0,) * self.n_nodes)
        if self.guide is None:
            object.__setattr__(self, "guide", Likelihood(self.counts))

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return self.counts.n_nodes

    @property
    def is_open(self) -> bool:
        """Whether the order of the nodes is learned too."""
        return self.candidates.is_open

    @property
    def is_exact(self) -> bool:
        """Whether the counts are an exact distribution: then nothing has a price."""
        return self.counts.is_exact

    @property
    def indifference(self) -> float:
        """Price of a parent that explains nothing: rounding is no evidence."""
        return 1e-9 if self.is_exact else 1e-6

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Return counts [states of the parents …, state of the child]; kept, as rounds come back to them."""
        parents = tuple(parents)
        known = self._families.get((child, *parents))
        if known is not None:
            return known
        ordered = tuple(sorted(parents))
        if ordered == parents:
            counts = self.counts.family(child, parents)
        else:  # the same counts with other roles
            axes = (*(ordered.index(parent) for parent in parents), len(parents))
            counts = np.ascontiguousarray(self.family(child, ordered).transpose(axes))
        return self._families.keep((child, *parents), counts, counts.nbytes)

    def keep_family(self, child: int, parents: Family, counts: Floats) -> None:
        """Keep the counts of a family that were made elsewhere."""
        self._families.keep((child, *parents), counts, counts.nbytes)

    def with_counts(self, counts: Counts) -> Problem:
        """Return the same problem for other counts of the same columns."""
        assert self.guide is not None
        guide: Likelihood | Contextual = replace(self.guide, counts=counts)
        return replace(self, counts=counts, guide=guide, _families=Remembered())

    def renumbered(self, order: Sequence[int]) -> Problem:
        """Return the same problem with its nodes in another order: node k is now ``order[k]``."""
        nodes = [int(node) for node in order]
        if nodes == [*range(self.n_nodes)]:
            return self
        assert self.guide is not None
        counts = self.counts.in_order(nodes)
        place = np.argsort(nodes)
        return replace(
            self,
            counts=counts,
            candidates=self.candidates.renumbered(nodes),
            guide=self.guide.renumbered(nodes, counts),
            labels=tuple(self.labels[node] for node in nodes),
            roots=None if self.roots is None else frozenset(int(place[root]) for root in self.roots),
            n_choices=None if self.n_choices is None else tuple(self.n_choices[node] for node in nodes),
            _families=Remembered(),
        )

    def key(self, child: int, parents: Sequence[int]) -> Key:
        """Return what a node must have in common with others to share their kernel."""
        alphabets = self.counts.alphabets
        return self.labels[child], tuple(alphabets[p] for p in parents), alphabets[child]

    @cached_property
    def alphabets(self) -> Ints:
        """[node]: number of its alphabet."""
        return np.array(self.counts.alphabets)

    @cached_property
    def occurring(self) -> tuple[int, ...]:
        """Number of states of each node that occur; the others cost nothing."""
        return tuple(int(np.count_nonzero(one)) for one in self.counts.marginals)

    def n_configurations(self, parents: Sequence[int]) -> int:
        """Return the number of joint states of some nodes, of states that occur."""
        return prod(self.occurring[parent] for parent in parents)

    def choice_cost(self, child: int, degree: int) -> float:
        """Return the log of the number of parent sets of this size that were open to the child.

        Where the order is learned all nodes of a tier have equally many, so that equivalent graphs cost the same.
        """
        if self.is_exact:
            return 0.0
        if self.n_choices is not None:
            return log_choices(self.n_choices[child], degree)
        if self.is_open:
            stage = self.candidates.stage
            return log_choices(int(np.count_nonzero(stage <= stage[child])) - 1, degree)
        n_required = len(self.candidates.required[child])
        return log_choices(len(self.candidates.of(child)) - n_required, degree - n_required)

    def degrees_of(self, child: int) -> list[int]:
        """Return the numbers of parents that a child can have, given its candidates and required parents."""
        least, most = len(self.candidates.required[child]), len(self.candidates.of(child))
        if self.roots is not None:
            least, most = (0, 0) if child in self.roots else (max(least, 1), most)
        return [degree for degree in self.degrees if least <= degree <= most] or [min(least, most)]

    def allows(self, child: int, parents: Sequence[int]) -> bool:
        """Return whether a child may have these parents, as far as their number and those required go."""
        return len(parents) in self.degrees_of(child) and {*self.candidates.required[child]} <= {*parents}

    @cached_property
    def free(self) -> frozenset[int]:
        """Nodes that can have any number of parents; only they pay for saying how many."""
        if self.n_choices is not None and self.roots is None:
            most = max(self.degrees)
            return frozenset(n for n, choices in enumerate(self.n_choices) if choices >= most)
        every = list(self.degrees)
        return frozenset(node for node in range(self.n_nodes) if self.degrees_of(node) == every)

    @cached_property
    def effort(self) -> float:
        """About how many pairs of bits one look at all tuples of all children compares."""
        degree = max(self.degrees, default=0)
        if degree < 2:
            return 0.0
        sizes = self.candidates.allowed.sum(axis=1).astype(np.float64)
        compared = float((sizes**degree).sum()) * 2 * self.counts.effort * max(self.counts.sizes)
        return compared + _CALL * float((sizes ** (degree - 2)).sum())

    @cached_property
    def is_exhaustive(self) -> bool:
        """Whether parents are searched jointly among all candidates."""
        return self.search == "exhaustive" or (self.search == "auto" and self.effort <= _EXHAUSTIVE)

    @cached_property
    def is_small(self) -> bool:
        """Whether a look at all tuples costs no more than a look at short lists."""
        return self.is_exhaustive and self.effort <= _SMALL
