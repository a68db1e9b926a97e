"""``Evidence``: what the rows so far say about the parents of one node, hypothesis by hypothesis.

For a hypothesis A the e-value is E = q / sup_A: the probability that a *bet* q gave to the child's values, each
predicted from the earlier columns of its row and from earlier rows, over the greatest likelihood under A. If A is
true, E is at most a nonnegative martingale that starts at 1, so it ever reaches 1/a with probability at most a.
The bet is a mixture over all hypotheses: nothing need be chosen beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from kgmi.certify.counts import all_sets, count_sets
from kgmi.certify.hypotheses import Family, Hypotheses
from kgmi.certify.laws import averaged, best_fit, predicted
from kgmi.counts.base import Counts
from kgmi.problem import Problem
from kgmi.types import Bools, Floats, Ints

__all__ = ["Evidence", "Look", "Tables"]

Tables = Mapping[tuple[int, ...], Floats]
"""Kernels [parents …, child] for one child, by the alphabets of the parents in role order."""

_TINY = 1e-300  # what a known kernel rules out is all but impossible
_MANY_PARENTS = 3  # of more parents, learned kernels are tried in one order only


@dataclass(frozen=True, eq=False)
class Look:
    """The evidence at one moment.

    Attributes
    ----------
    log_bet
        log q.
    own_fit
        Greatest log-likelihood without any parents.
    families, sets, fits
        For every family its sets [set, place] and their greatest log-likelihoods [set].
    """

    log_bet: float
    own_fit: float
    families: tuple[Family, ...]
    sets: tuple[Ints, ...]
    fits: tuple[Floats, ...]

    def fit_of(self, parents: tuple[int, ...]) -> float:
        """Greatest log-likelihood of one set of parents; for no parents that of a root, drawn alone or not."""
        if not parents:
            blocks = [
                fits.max() for f, fits in zip(self.families, self.fits, strict=True) if f.as_block and len(fits)
            ]
            return max([self.own_fit, *map(float, blocks)])
        wanted = np.sort(np.array(parents))
        for family, sets, fits in zip(self.families, self.sets, self.fits, strict=True):
            if family.as_parents and family.size == len(parents):
                return float(fits[(sets == wanted).all(axis=1)].max(initial=-np.inf))
        return -np.inf


class Evidence:
    """Counts of one child with all sets, and what the bets have won so far.

    Parameters
    ----------
    problem, open_to
        The search, and what is open for the child.
    known, block_tables
        Known kernels by number of parents, as seen through errors, and laws of roots drawn together by number of
        earlier ones; empty where kernels are learned.
    """

    def __init__(
        self,
        problem: Problem,
        open_to: Hypotheses,
        known: Mapping[int, Floats],
        block_tables: Mapping[int, list[Floats]],
    ) -> None:
        self.open_to, self._known, self._blocks = open_to, known, block_tables
        self._alphabets = np.array(problem.counts.alphabets)
        self._n_own = problem.counts.sizes[open_to.child]
        self._states = [max(problem.counts.sizes[node] for node in f.nodes) for f in open_to.families]
        self._sets = tuple(all_sets(f.nodes, f.size) for f in open_to.families)
        self._kept = tuple(self._with_required(sets) for sets in self._sets)
        self._sets = tuple(sets[kept] for sets, kept in zip(self._sets, self._kept, strict=True))
        self._own = np.zeros((1, self._n_own))
        self._totals: list[Floats] = [np.zeros(0) for _ in open_to.families]
        self._won = [
            np.zeros((len(self._orders(f)), len(s))) for f, s in zip(open_to.families, self._sets, strict=True)
        ]

    def add(self, counts: Counts, tables: Tables) -> None:
        """Add counts of complete rows.

        ``tables`` were learned from earlier rows only (empty: nothing was learned yet).
        """
        own = counts.family(self.open_to.child, ())[None]
        before = predicted(self._own, self._n_own)[0]
        self._own = self._own + own
        alone = float(predicted(self._own, self._n_own)[0] - before)  # what the child's own law says of these rows
        for place, family in enumerate(self.open_to.families):
            n_states = self._states[place]
            found = count_sets(counts, self.open_to.child, family.nodes, family.size, n_states, self._n_own)
            found = found[self._kept[place]]
            self._totals[place] = found if self._totals[place].size == 0 else self._totals[place] + found
            if family.as_parents and not self._known:
                self._won[place] += self._bets(place, family, found, tables, alone)

    def look(self) -> Look:
        """All hypotheses now."""
        own_fit = float(best_fit(self._own)[0])
        if self._known:
            fits, log_bet = self._look_known()
        else:
            fits, log_bet = [best_fit(total) for total in self._totals], self._learned_bet()
        return Look(log_bet, own_fit, self.open_to.families, self._sets, tuple(fits))

    def _with_required(self, sets: Ints) -> Bools:
        required = self.open_to.required
        return (
            np.asarray(np.array([np.isin(required, one).all() for one in sets], dtype=bool))
            if required
            else np.ones(len(sets), dtype=bool)
        )

    def _orders(self, family: Family) -> list[tuple[int, ...]]:
        """``order[place]``: the role that the node at this place of a set plays."""
        if family.size > _MANY_PARENTS and not self._known:
            return [tuple(range(family.size))]
        return list(permutations(range(family.size)))

    def _bets(self, place: int, family: Family, counts: Floats, tables: Tables, alone: float) -> Floats:
        """[order, set]: log-probability of the rows just counted under the kernels learned before them."""
        sets, shape = self._sets[place], counts.shape[1:]
        out = np.full((len(self._orders(family)), len(sets)), alone)
        alphabets = self._alphabets[sets]
        for number, order in enumerate(self._orders(family)):
            roles = np.empty_like(alphabets)
            roles[:, list(order)] = alphabets
            for kind, table in tables.items():
                if len(kind) != family.size:
                    continue
                fits = (roles == np.array(kind)).all(axis=1)
                if fits.any():
                    logs = _laid_out(np.log(table).transpose(*order, family.size), shape)
                    out[number, fits] = counts[fits].reshape(int(fits.sum()), -1) @ logs.ravel()
        return out

    def _learned_bet(self) -> float:
        """Half on kernels learned from earlier rows, half on a kernel of its own for every set."""
        own = float(predicted(self._own, self._n_own)[0])
        shared, single = [own] * self.open_to.root, [own] * self.open_to.root
        for place, family in enumerate(self.open_to.families):
            if family.as_parents:
                shared.append(averaged(self._won[place]))
                single.append(averaged(predicted(self._totals[place], self._n_own)))
        return averaged(np.array([averaged(np.array(shared)), averaged(np.array(single))]))

    def _look_known(self) -> tuple[list[Floats], float]:
        fits: list[Floats] = []
        bets: list[float] = []
        drawn: list[Floats] = []
        for place, family in enumerate(self.open_to.families):
            tables = self._oriented(family)
            if not tables:  # nobody knows the law of roots that are drawn together: any will do
                fits.append(best_fit(self._totals[place]))
                continue
            total = self._totals[place].reshape(len(self._sets[place]), -1)
            logs = [total @ np.log(np.maximum(table, _TINY)).ravel() for table in tables]
            values = np.array(logs).reshape(len(tables), len(total))
            fits.append(values.max(axis=0, initial=-np.inf))
            (bets.append(averaged(values)) if family.as_parents else drawn.append(values.ravel()))
        if self.open_to.root:
            own = [float(predicted(self._own, self._n_own)[0])]
            drawn = [values for values in drawn if values.size]
            bets.append(averaged(np.array([*own, *([averaged(np.concatenate(drawn))] if drawn else [])])))
        return fits, averaged(np.array(bets))

    def _oriented(self, family: Family) -> list[Floats]:
        """Known kernels with their parents in every order, or the laws of roots that are drawn together."""
        if family.as_block:
            return self._blocks.get(family.size, [])
        table = self._known[family.size]
        return [table.transpose(*order, family.size) for order in self._orders(family)]


def _laid_out(logs: Floats, shape: tuple[int, ...]) -> Floats:
    """The table in the shape of the counts: parents of fewer states never take the last ones."""
    if logs.shape == shape:
        return logs
    out = np.zeros(shape)
    out[tuple(slice(size) for size in logs.shape)] = logs
    return out
