"""Families counted by compiled code, in threads, for problems of some size."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from kgmi.search.decisive.rows import BitRows, listed_logs
from kgmi.search.decisive.scan import LeadScan
from kgmi.statistics.packed import Packed
from kgmi.threads import spread
from kgmi.types import Floats, Ints

__all__ = ["CompiledScan", "compiled_rows"]

_CHUNK = 64  # children that a thread takes at a time
_WORDS_FOR_THREADS = 20_000_000  # ANDs that take longer than starting threads


def compiled_rows(packed: Packed) -> BitRows:
    """Counts of single columns and of pairs."""
    from kgmi.search.decisive.kernels import count_inner_pairs

    last, n_nodes = packed.n_states - 1, packed.n_nodes
    pairs = np.empty((n_nodes, n_nodes, last, last), dtype=np.int32)
    work = n_nodes**2 * last**2 * packed.words.shape[2] // 2
    spread(
        lambda part: count_inner_pairs(packed.words, part.start, part.stop, pairs),
        _parts(n_nodes),
        parallel=work > _WORDS_FOR_THREADS,
    )
    counted = pairs[np.arange(n_nodes), np.arange(n_nodes)].diagonal(axis1=1, axis2=2).astype(np.int64)
    return BitRows(packed, pairs, np.column_stack([counted, packed.n_rows - counted.sum(axis=1)]))


def _parts(n: int, size: int = _CHUNK) -> list[slice]:
    """Pieces of 0..n-1, the last ones, which have the most candidates, first."""
    return [slice(max(stop - size, 0), stop) for stop in range(n, 0, -size)]


class CompiledScan(LeadScan):
    """Some children and a block of candidates at a time; nothing of the size of all families is kept."""

    @cached_property
    def _given(self) -> tuple[object, ...]:
        rows = self.rows
        return rows.packed.words, rows.pairs, rows.singles, rows.n_rows

    @cached_property
    def _logs(self) -> Floats:
        return listed_logs(self.rows.n_rows)

    def best_singles(self) -> tuple[Ints, Floats]:
        """[child]: the best single parent, -1 where there is none, and its fit with a kernel of its own."""
        from kgmi.search.decisive.kernels import best_singles

        best, fits = np.full(self.rows.n_nodes, -1), np.full(self.rows.n_nodes, -np.inf)
        best_singles(self.rows.pairs, self.rows.singles, self._logs, best, fits)
        return best, fits

    def scan(self, children: Ints, leads: Ints, best: Ints, fits: Floats) -> Ints:
        """The best partner of the lead of each child; ``best`` and ``fits`` keep the best pair of all scans."""
        from kgmi.search.decisive.kernels import scan_partners

        partners = np.empty(len(children), dtype=np.int64)

        def part(of: slice) -> None:
            scan_partners(*self._given, self._logs, children[of], leads[of], best[of], fits[of], partners[of])

        self._spread(part, _parts(len(children)), int(children.sum()))
        return partners

    def tables(self, families: Ints) -> Ints:
        """[family, s_first, s_second, s_child] of families (first, second, child), the parents in any order."""
        from kgmi.search.decisive.kernels import family_tables

        out = np.empty((len(families), *(self.rows.n_states,) * 3), dtype=np.int64)
        family_tables(*self._given, families, out)
        return out

    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """[head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""
        from kgmi.search.decisive.kernels import head_rows

        out = np.full((2, self.rows.n_nodes, self.rows.n_nodes), np.nan)

        def part(of: slice) -> None:
            head_rows(*self._given, logs, families[of], out)

        self._spread(part, _parts(len(families)), 2 * int(families[:, 2].sum()))
        return out

    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """[child]: the best fit of any pair under a shared kernel; see :class:`kgmi.search.decisive.scan.Scan`."""
        from kgmi.search.decisive.kernels import pair_fits

        found = np.empty(len(children))

        def part(of: slice) -> None:
            pair_fits(*self._given, logs, children[of], leads[of], found[of])

        n_families = np.where(leads < 0, children * (children - 1) // 2, children).sum()
        self._spread(part, _parts(len(children), 1), int(n_families))
        return found

    def _spread(self, part: Callable[[slice], None], parts: list[slice], n_families: int) -> None:
        n_words = self.rows.packed.words.shape[2] * (self.rows.n_states - 1) ** 3
        spread(part, parts, parallel=n_families * n_words > _WORDS_FOR_THREADS)
