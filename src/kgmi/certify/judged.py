"""``Judged``: the evidence on one node, given what is certain about earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log

import numpy as np

from kgmi.certify.evidence import Look
from kgmi.certify.hypotheses import Family, Hypotheses
from kgmi.types import Floats, Ints

__all__ = ["Judged", "Verdicts"]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """All that is needed to judge.

    Attributes
    ----------
    open_to
        The hypotheses on every node.
    looks
        The evidence on the nodes all of whose hypotheses were looked at.
    parents, names
        The graph found, and the names of its nodes.
    known
        Whether the kernels are known.
    alpha, n_rows
        α, and the rows behind the evidence.
    stages
        ``stages[node]``: its place in the order; nodes of one tier share it, as nobody knows who came first there.
    """

    open_to: Sequence[Hypotheses]
    looks: Mapping[int, Look]
    parents: Sequence[tuple[int, ...]]
    names: Sequence[str]
    known: bool
    alpha: float
    n_rows: int
    stages: Sequence[int]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes by stage, and inside a stage by number."""
        return tuple(sorted(range(len(self.stages)), key=lambda node: (self.stages[node], node)))

    @property
    def n_decided(self) -> int:
        """T′: nodes with something to decide."""
        return sum(one.has_alternative for one in self.open_to)

    @property
    def needed(self) -> float:
        """log(T′/α): what log E must reach for a hypothesis to be refuted."""
        return log(max(self.n_decided, 1) / self.alpha)


@dataclass(frozen=True, eq=False)
class Judged:
    """The evidence on one node, given what is certain about earlier ones."""

    verdicts: Verdicts
    child: int
    look: Look
    closed: frozenset[int]
    dependent: frozenset[int]

    @property
    def open_to(self) -> Hypotheses:
        """What may be true of it."""
        return self.verdicts.open_to[self.child]

    @property
    def parents(self) -> tuple[int, ...]:
        """The parents found."""
        return self.verdicts.parents[self.child]

    @cached_property
    def root_fit(self) -> float:
        """Greatest log-likelihood as a root, drawn alone or with earlier ones; -∞ where it cannot be one."""
        if not self.open_to.root:
            return -inf
        best, shut, dependent = self.look.own_fit, sorted(self.closed), sorted(self.dependent)
        place = np.argsort(self.verdicts.order)
        for family, sets, fits in self._families():
            if family.as_block:
                first = np.array(self.verdicts.order)[place[sets].min(axis=1)]
                still = ~(np.isin(sets, shut).any(axis=1) | np.isin(first, dependent))
                best = max(best, float(fits[still].max(initial=-inf)))
        return best

    @property
    def is_no_root(self) -> bool:
        """Whether it is certain that it has parents."""
        return self.refutes(self.root_fit)

    def refutes(self, fit: float) -> bool:
        """Whether a hypothesis of this likelihood is given up."""
        return self.look.log_bet - fit >= self.verdicts.needed

    def fit_of(self, parents: tuple[int, ...]) -> float:
        """Greatest log-likelihood of a set of parents."""
        return self.look.fit_of(parents) if parents else self.root_fit

    def hardest(self, parent: int | None) -> tuple[float, tuple[int, ...] | None]:
        """The alternative that is hardest to refute: without one parent, or, for None, any but the found."""
        best, winner = -inf, None
        if self.open_to.root and (parent is not None or self.parents):
            best, winner = self.root_fit, ()
        found = np.sort(np.array(self.parents, dtype=np.int64))
        for family, sets, fits in self._families():
            if not family.as_parents:
                continue
            if parent is not None:
                fits = np.where((sets == parent).any(axis=1), -inf, fits)
            elif family.size == len(found):
                fits = np.where((sets == found).all(axis=1), -inf, fits)
            if len(fits) and fits.max() > best:
                place = int(fits.argmax())
                best, winner = float(fits[place]), tuple(sets[place].tolist())
        return best, winner

    @cached_property
    def n_left(self) -> int:
        """Sets of parents that are not refuted."""
        kept = [fits for family, _, fits in self._families() if family.as_parents]
        left = sum(int((self.look.log_bet - fits < self.verdicts.needed).sum()) for fits in kept)
        return left + int(self.open_to.root and not self.is_no_root)

    def _families(self) -> Iterator[tuple[Family, Ints, Floats]]:
        return zip(self.look.families, self.look.sets, self.look.fits, strict=True)
