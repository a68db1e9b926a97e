"""Families counted by NumPy, for problems that are done before a compiler is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgmi.search.decisive.rows import BitRows, x_log_x
from kgmi.search.decisive.scan import LeadScan
from kgmi.statistics.packed import Packed
from kgmi.types import Floats, Ints

__all__ = ["PlainScan", "count_families", "own_fits", "plain_rows"]

_Words: TypeAlias = NDArray[np.uint64]
_MOST_FAMILIES = 1_000  # whose tables are held at a time
_BLOCK_WORDS = 32_768  # 256 KB: larger memory is asked for anew each time, which costs more than the counting


def plain_rows(packed: Packed) -> BitRows:
    """Counts of single columns and of pairs."""
    words, n_nodes = packed.words, packed.n_nodes
    counted = _count(words)
    first, second = np.tril_indices(n_nodes, -1)
    step = max(1, _BLOCK_WORDS // (words.shape[1] ** 2 * words.shape[2]))
    inner = np.concatenate(
        [
            _count(words[first[k : k + step], :, None] & words[second[k : k + step], None])
            for k in range(0, len(first), step)
        ]
    )
    pairs = np.zeros((n_nodes, n_nodes, *inner.shape[1:]), dtype=np.int32)
    pairs[first, second] = inner
    pairs[second, first] = inner.transpose(0, 2, 1)
    singles = np.column_stack([counted, packed.n_rows - counted.sum(axis=1)])
    return BitRows(packed, pairs, singles)


def count_families(rows: BitRows, firsts: Ints, seconds: Ints, children: Ints) -> Ints:
    """[family, s_first, s_second, s_child]; ``firsts`` and ``children`` may be one node each for all families."""
    last, size = rows.n_states - 1, rows.n_states
    inner = _inner(rows.packed.words, firsts, seconds, children).reshape(-1, last, last, last)
    full = np.empty((len(seconds), size, size, size), dtype=np.int64)
    full[:, :last, :last, :last] = inner.transpose(0, 1, 3, 2)
    full[:, :last, :last, last] = rows.pairs[firsts, seconds] - full[:, :last, :last, :last].sum(axis=3)
    full[:, :last, last] = rows.pair_tables(firsts, children)[:, :last] - full[:, :last, :last].sum(axis=2)
    full[:, last] = rows.pair_tables(seconds, children) - full[:, :last].sum(axis=1)
    return full


def own_fits(tables: Ints) -> Floats:
    """[family]: log-likelihood of the child with a kernel of its own."""
    seen = tables.sum(axis=3)
    return np.asarray(x_log_x(tables).sum(axis=(1, 2, 3)) - x_log_x(seen).sum(axis=(1, 2)))


class PlainScan(LeadScan):
    """All families of a child with a lead at once."""

    def scan(self, children: Ints, leads: Ints, best: Ints, fits: Floats) -> Ints:
        """The best partner of the lead of each child; ``best`` and ``fits`` keep the best pair of all scans."""
        partners = np.empty(len(children), dtype=np.int64)
        for at, (child, lead) in enumerate(zip(children.tolist(), leads.tolist(), strict=True)):
            nodes, tables = self._with(child, lead)
            here = own_fits(tables)
            top = int(here.argmax())
            partners[at] = nodes[top]
            known = {lead, int(nodes[top])} == {*best[at].tolist()}  # the lead is the partner of the last one
            if not known and here[top] > fits[at, 0]:
                fits[at] = here[top], fits[at, 0]
                best[at] = lead, nodes[top]
            here[top] = -np.inf
            fits[at, 1] = max(fits[at, 1], here.max(initial=-np.inf))
        return partners

    def tables(self, families: Ints) -> Ints:
        """[family, s_first, s_second, s_child] of families (first, second, child), the parents in any order."""
        return count_families(self.rows, families[:, 0], families[:, 1], families[:, 2])

    def head_sums(self, families: Ints, logs: Floats) -> Floats:
        """[head, child, candidate]: Σ counts · logs with the candidate in the place of the head's parent."""
        out = np.full((2, self.rows.n_nodes, self.rows.n_nodes), np.nan)
        for first, second, child in families.tolist():
            for head, stays in enumerate((second, first)):
                nodes, tables = self._with(child, stays)
                turned = logs.transpose(1, 0, 2) if head == 0 else logs
                out[head, child, nodes] = tables.reshape(len(nodes), -1) @ turned.ravel()
        return out

    def best_fits(self, children: Ints, leads: Ints, logs: Floats) -> Floats:
        """[child, 2]: best fits under a shared kernel and by themselves; see :meth:`Scan.best_fits`."""
        both = np.column_stack([logs.ravel(), logs.transpose(1, 0, 2).ravel()])
        found = np.full((len(children), 2), -np.inf)
        for at, (child, lead) in enumerate(zip(children.tolist(), leads.tolist(), strict=True)):
            for tables in self._every_pair(child) if lead < 0 else [self._with(child, lead)[1]]:
                sums = tables.reshape(len(tables), -1) @ both
                found[at] = np.maximum(found[at], (sums.max(), own_fits(tables).max()))
        return found

    def _every_pair(self, child: int) -> Iterator[Ints]:
        """The tables of all pairs of candidates, some at a time."""
        firsts, seconds = np.tril_indices(child, -1)
        for start in range(0, len(firsts), _MOST_FAMILIES):
            some = slice(start, start + _MOST_FAMILIES)
            yield count_families(self.rows, firsts[some], seconds[some], np.full(len(firsts[some]), child))

    def _with(self, child: int, lead: int) -> tuple[Ints, Ints]:
        """All other candidates of a child, and their tables with the lead; kept, as the heads need them again."""
        if (child, lead) not in self._kept:
            nodes = np.delete(np.arange(child), lead)
            tables = count_families(self.rows, np.array([lead]), nodes, np.array([child]))
            self._kept[child, lead] = nodes, tables
        return self._kept[child, lead]

    @cached_property
    def _kept(self) -> dict[tuple[int, int], tuple[Ints, Ints]]:
        return {}


def _inner(words: _Words, firsts: Ints, seconds: Ints, children: Ints) -> Ints:
    """[family, (s_first, s_child), s_second] without the last states, some families at a time."""

    def masks(of: slice) -> _Words:
        both = words[firsts[of], :, None] & words[children[of], None]
        return both.reshape(len(both), -1, words.shape[2])

    step = max(1, _BLOCK_WORDS // (words.shape[1] ** 3 * words.shape[2]))
    one = masks(slice(None)) if len(firsts) == 1 else None  # for all families
    parts = [np.zeros((0, words.shape[1] ** 2, words.shape[1]), dtype=np.int64)]
    for start in range(0, len(seconds), step):
        of = slice(start, start + step)
        parts.append(_count((masks(of) if one is None else one)[:, :, None] & words[seconds[of], None]))
    return np.concatenate(parts)


def _count(words: _Words) -> Ints:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))
