"""Families counted by compiled code, in threads, for problems of some size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgmi.counts.bits import RowCounts, Words
from kgmi.progress import told
from kgmi.search.decisive.rows import few_counts, listed_logs
from kgmi.search.decisive.scan import LeadScan
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["CompiledScan", "compiled_scan"]

_CHUNK = 64  # visits that a thread takes at a time
_WORDS_FOR_THREADS = 20_000_000  # ANDs that take longer than starting threads


def compiled_scan(counts: RowCounts) -> CompiledScan:
    """Return a scan of rows in bits."""
    return CompiledScan(few_counts(counts), counts.packed.planes)


@dataclass(frozen=True, eq=False)
class _Visits:
    """What the compiled code is told and what it writes; see :func:`kgmi.search.decisive.kernels.visit`."""

    visits: NDArray[np.int64]
    purpose: int
    weights: Floats = field(default_factory=lambda: np.empty((2, 0, 0, 0)))
    best: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    fits: Floats = field(default_factory=lambda: np.empty((0, 3)))
    partners: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    tables: Ints = field(default_factory=lambda: np.empty((0, 0, 0, 0), dtype=np.int64))

    def part(self, of: slice) -> _Visits:
        """Some of the visits, with what they write."""
        return replace(
            self, visits=self.visits[of], best=self.best[of], fits=self.fits[of], partners=self.partners[of]
        )


@dataclass(frozen=True, eq=False)
class CompiledScan(LeadScan):
    """Some children and a block of candidates at a time; nothing of the size of all families is kept.

    ``words`` [node, state, word] are the rows in bits, without the last state.
    """

    words: Words

    @cached_property
    def _listed(self) -> Floats:
        return listed_logs(self.rows.n_rows)

    def best_singles(self) -> tuple[Ints, Floats]:
        """[child]: the best single parent, -1 where there is none, and its fit with a kernel of its own."""
        from kgmi.search.decisive.kernels import best_singles

        best, fits = np.full(self.rows.n_nodes, -1), np.full(self.rows.n_nodes, -np.inf)
        best_singles(self.rows.pairs, self.rows.singles, self._listed, best, fits)
        return best, fits

    def scan(self, children: Ints, leads: Ints, best: Ints, fits: Floats) -> Ints:
        """The best partner of the lead of each child; ``best`` and ``fits`` keep the best pair of all scans."""
        from kgmi.search.decisive.kernels import BEST

        partners = np.full(len(children), -1)
        more = np.column_stack([fits, np.full(len(fits), -np.inf)])
        task = _Visits(_visits(children, leads), BEST, best=best, fits=more, partners=partners)
        self._run(task)
        fits[:] = more[:, :2]
        return partners

    def tables(self, families: Ints) -> Ints:
        """[family, s_first, s_second, s_child] of families (first, second, child), the parents in any order."""
        from kgmi.search.decisive.kernels import TABLES

        out = np.empty((len(families), *(self.rows.n_states,) * 3), dtype=np.int64)
        lead, node, child = families.T
        visits = np.column_stack([child, lead, node, node + 1, np.arange(len(families))])
        self._run(_Visits(visits, TABLES, tables=out))
        return out

    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """[head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""
        from kgmi.search.decisive.kernels import SUMS

        n_nodes = self.rows.n_nodes
        out = np.full((2 * n_nodes, n_nodes), np.nan)
        first, second, child = families.T
        heads = [_visits(child, second, child), _visits(child, first, child + n_nodes)]
        visits = np.stack(heads, axis=1).reshape(-1, 5)  # the heads of a child go together
        self._run(_Visits(visits, SUMS, weights=_both_ways(logs), sums=out))
        return out.reshape(2, n_nodes, n_nodes)

    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """[child, 2]: best fits under a shared kernel and by themselves; see :meth:`Scan.best_fits`."""
        from kgmi.search.decisive.kernels import MOST

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
        from kgmi.search.decisive.kernels import visit

        rows = self.rows

        def run(of: slice) -> None:
            part = task.part(of)
            outputs = part.best, part.fits, part.partners, part.sums, part.tables
            given = self.words, rows.pairs, rows.singles
            visit(*given, part.visits, part.purpose, self._listed, part.weights, *outputs)

        n_visits = len(task.visits)
        n_families = int((task.visits[:, 3] - task.visits[:, 2]).sum())
        work = n_families * self.words.shape[2] * (rows.n_states - 1) ** 3
        # The last ones, which have the most candidates, first.
        parts = [slice(max(stop - _CHUNK, 0), stop) for stop in range(n_visits, 0, -_CHUNK)]
        spread(told(run, "first look", "blocks", len(parts)), parts, parallel=work > _WORDS_FOR_THREADS)


def _visits(children: Ints, leads: Ints, rows: Ints | int = 0) -> NDArray[np.int64]:
    """All candidates of each child with its lead: (child, lead, start, stop, row)."""
    zero = np.zeros_like(children)
    return np.column_stack([children, leads, zero, children, zero + rows])


def _both_ways(logs: Floats) -> Floats:
    """[0 or 1, s_stays, s_node, s_child]: the node as the first parent, and as the second."""
    return np.stack([logs.transpose(1, 0, 2), logs])
