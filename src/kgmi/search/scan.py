"""Families of two parents for many children at once, counted in bits: what the early exit looks at.

All columns have one alphabet, all of whose states occur, and no values are missing. The candidates of a node are
all nodes before it. A *fit* is the log-likelihood of a child under the best kernel for its counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.counts.bits import RowCounts
from kgmi.progress import told
from kgmi.score import x_log_x
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["Scan"]

_FEW_NODES = 16  # of which all pairs of parents are looked at
_MOST_PASSES = 8  # from a parent to its best partner, to the best partner of that …
_MOST_LISTED = 100_000  # numbers whose x log x is kept: a larger table leaves the cache
_CHUNK = 64  # visits that a thread takes at a time
_WORDS_FOR_THREADS = 20_000_000  # ANDs that take longer than starting threads


@dataclass(frozen=True, eq=False)
class _Visits:
    """What the compiled code gets and what it writes; see :func:`kgmi.search.scan_loops.visit`."""

    visits: NDArray[np.int64]
    purpose: int
    weights: Floats = field(default_factory=lambda: np.empty((2, 0, 0, 0)))
    best: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    fits: Floats = field(default_factory=lambda: np.empty((0, 3)))
    partners: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    tables: Ints = field(default_factory=lambda: np.empty((0, 0, 0, 0), dtype=np.int64))

    def part(self, of: slice) -> _Visits:
        """Return some of the visits, with what they write."""
        return replace(
            self, visits=self.visits[of], best=self.best[of], fits=self.fits[of], partners=self.partners[of]
        )


class Scan:
    """A look at families with one and two parents; nothing of the size of all families is kept."""

    def __init__(self, counts: RowCounts) -> None:
        self.n_nodes, self.n_states, self.n_rows = counts.n_nodes, counts.sizes[0], int(counts.n_rows)
        self.pairs: NDArray[np.integer[Any]] = counts.pairs().counts
        self.singles: Ints = np.stack(counts.marginals).astype(np.int64)
        self._words = counts.packed.planes

    @cached_property
    def alone(self) -> Floats:
        """[node]: log-likelihood of a column under its own distribution."""
        return np.asarray(
            x_log_x(self.singles.astype(np.float64)).sum(axis=1) - x_log_x(np.array(float(self.n_rows)))
        )

    @cached_property
    def _listed(self) -> Floats:
        return _logs(min(1 << max(self.n_rows, 1).bit_length(), _MOST_LISTED))

    def pair_tables(self, candidates: Ints, children: Ints) -> Ints:
        """Return counts [pair, state of the candidate, state of the child]."""
        return self.pairs[candidates, children].astype(np.int64)

    def best_singles(self) -> tuple[Ints, Floats]:
        """Return [child] the best single parent, -1 where there is none, and its fit."""
        from kgmi.search.scan_loops import best_singles

        best, fits = np.full(self.n_nodes, -1), np.full(self.n_nodes, -np.inf)
        best_singles(self.pairs, self.singles, self._listed, best, fits)
        return best, fits

    def best_pairs(self, leads: Ints) -> tuple[Ints, Floats]:
        """Return [child, 2] the best two parents, -1 where there are none, and fits of the best and the next pair.

        Of few nodes all pairs are looked at; of more, pairs from the best single parents, the ``leads``, on.
        """
        from kgmi.search.scan_loops import BEST

        n_nodes = self.n_nodes
        best, fits = np.full((n_nodes, 2), -1), np.full((n_nodes, 3), -np.inf)
        if n_nodes <= _FEW_NODES:
            children, firsts = np.tril_indices(n_nodes, -1)
            visits = _visits(children, firsts)
            visits[:, 2] = firsts + 1
            every = _Visits(visits, BEST, best=best[children], fits=fits[children], partners=children * 0 - 1)
            self._run(every)
            for place, child in enumerate(children.tolist()):  # one visit for each first parent
                one, two, _ = every.fits[place]
                if one > fits[child, 0]:
                    fits[child, 1] = max(fits[child, 0], two)
                    best[child], fits[child, 0] = every.best[place], one
                else:
                    fits[child, 1] = max(fits[child, 1], one)
            return best, fits[:, :2]
        active = np.arange(2, n_nodes)
        now, before = leads[active], np.full(len(active), -1)
        for _ in range(_MOST_PASSES):
            if not len(active):
                break
            fits[active, 2] = -np.inf
            task = _Visits(
                _visits(active, now), BEST, best=best[active], fits=fits[active], partners=np.full(len(active), -1)
            )
            self._run(task)
            best[active], fits[active] = task.best, task.fits
            moving = task.partners != before
            active, before, now = active[moving], now[moving], task.partners[moving]
        return best, fits[:, :2]

    def tables(self, families: Ints) -> Ints:
        """Return counts [family, s_first, s_second, s_child] of families (first, second, child)."""
        from kgmi.search.scan_loops import TABLES

        out = np.empty((len(families), *(self.n_states,) * 3), dtype=np.int64)
        first, second, child = families.T
        visits = np.column_stack([child, first, second, second + 1, np.arange(len(families))])
        self._run(_Visits(visits, TABLES, tables=out))
        return out

    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """Return [head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""
        from kgmi.search.scan_loops import SUMS

        n_nodes = self.n_nodes
        out = np.full((2 * n_nodes, n_nodes), np.nan)
        first, second, child = families.T
        heads = [_visits(child, second, child), _visits(child, first, child + n_nodes)]
        visits = np.stack(heads, axis=1).reshape(-1, 5)  # the heads of a child go together
        self._run(_Visits(visits, SUMS, weights=_both_ways(logs), sums=out))
        return out.reshape(2, n_nodes, n_nodes)

    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """Return [child, 2]: the largest Σ counts · logs of pairs in either order, and the best fit of any of them.

        They are pairs with the child's lead, or, where that is -1, all pairs.
        """
        from kgmi.search.scan_loops import MOST

        every = leads < 0
        owner = np.concatenate([np.repeat(np.flatnonzero(every), children[every]), np.flatnonzero(~every)])
        first = np.concatenate([*(np.arange(child) for child in children[every]), leads[~every]]).astype(np.int64)
        visits = _visits(children[owner], first, owner)
        visits[every[owner], 3] = first[every[owner]]  # each pair once
        fits = np.full((len(visits), 3), -np.inf)
        self._run(_Visits(visits, MOST, weights=_both_ways(logs), fits=fits))
        found = np.full((len(children), 2), -np.inf)
        np.maximum.at(found, owner, fits[:, :2])
        return found

    def _run(self, task: _Visits) -> None:
        from kgmi.search.scan_loops import visit

        def run(of: slice) -> None:
            part = task.part(of)
            outputs = part.best, part.fits, part.partners, part.sums, part.tables
            given = self._words, self.pairs, self.singles
            visit(*given, part.visits, part.purpose, self._listed, part.weights, *outputs)

        n_visits = len(task.visits)
        n_families = int((task.visits[:, 3] - task.visits[:, 2]).sum())
        work = n_families * self._words.shape[2] * (self.n_states - 1) ** 3
        if work <= _WORDS_FOR_THREADS:
            run(slice(0, n_visits))
            return
        # The last ones, which have the most candidates, first.
        parts = [slice(max(stop - _CHUNK, 0), stop) for stop in range(n_visits, 0, -_CHUNK)]
        spread(told(run, "first look", "blocks", len(parts)), parts, parallel=True)


def _visits(children: Ints, leads: Ints, rows: Ints | int = 0) -> NDArray[np.int64]:
    """Return all candidates of each child with its lead: (child, lead, start, stop, row)."""
    zero = np.zeros_like(children)
    return np.column_stack([children, leads, zero, children, zero + rows])


def _both_ways(logs: Floats) -> Floats:
    """Return [0 or 1, s_stays, s_node, s_child]: the node as the first parent, and as the second."""
    return np.stack([logs.transpose(1, 0, 2), logs])


@lru_cache(maxsize=8)
def _logs(n: int) -> Floats:
    numbers = np.arange(n + 1)
    return np.asarray(numbers * np.log(np.maximum(numbers, 1)))
