"""``RowCounts``: counts of rows in memory, in bits where tables are small and code by code where they are large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kgmi.counts import loops
from kgmi.counts.base import MOST_IN_BITS, Counts, PairCounts, worth_of
from kgmi.errors import DataError, TooLargeError
from kgmi.joint import check_pair_size
from kgmi.memory import at_most
from kgmi.progress import told
from kgmi.table import checked_codes
from kgmi.threads import spread
from kgmi.types import Bools, Codes, Floats, Ints

WORD = 64  # rows to a word
Words: TypeAlias = NDArray[np.uint64]
"""Bits of rows, 64 to a word."""

# Where one way of counting becomes faster than the other; measured in November 2026 on AVX-512.
_MOST_PLANES = 18  # states of a column that is counted in bits beside others; more are counted code by code
_CELLS_FOR_THREADS = 20_000_000  # codes that take longer to pack than threads to start
_WORDS_FOR_THREADS = 40_000_000  # pairs of words that take longer than starting threads
_LINES_AT_ONCE = 384  # on one side of a block of pairs
_LEFT_WORDS = 4_000_000  # of the configurations of tuples at a time: 32 MB
_MANY_ROWS = 20_000  # from which on looking for equal rows pays
_MUCH_FEWER = 32  # times more rows than different ones: then different rows with weights are faster
_MOST_CONFIGURATIONS = 20_000_000  # cells of one family table


@dataclass(frozen=True, eq=False)
class Packed:
    """Rows as bits: a line for every state of a node says in which rows the node has it.

    Without missing values the last state of a node has no line, and a node of very many states has none at all.
    """

    words: Words  # [line, word]: bit r of word w is row 64·w + r; bits beyond the last row are 0
    starts: Ints  # [node + 1]: where the lines of each node begin, and the end
    has_gaps: bool  # whether values may be missing
    n_rows: int
    sizes: tuple[int, ...]  # [node]: number of states

    @property
    def planes(self) -> Words:
        """[node, line, word]; only where all nodes have equally many states."""
        return self.words.reshape(len(self.sizes), -1, self.words.shape[1])

    @cached_property
    def ones(self) -> Ints:
        """[line]: bits that are set."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))

    @cached_property
    def _rows(self) -> Words:
        """[word]: bits of all rows."""
        bits = np.zeros(self.words.shape[1] * WORD, dtype=bool)
        bits[: self.n_rows] = True
        return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64, copy=False)

    def in_order(self, order: Sequence[int]) -> Packed:
        """Return the same bits with the nodes in another order."""
        lines = [np.arange(self.starts[node], self.starts[node + 1]) for node in order]
        starts = np.cumsum([0, *map(len, lines)], dtype=np.int64)
        sizes = tuple(self.sizes[node] for node in order)
        return Packed(self.words[np.concatenate(lines)], starts, self.has_gaps, self.n_rows, sizes)

    def of(self, node: int) -> Words:
        """Return [state, word] of one node, all of its states."""
        if node not in self._known:
            lines = self.words[self.starts[node] : self.starts[node + 1]]
            rest = self._rows & ~np.bitwise_or.reduce(lines, axis=0, initial=0)
            self._known[node] = lines if self.has_gaps else np.concatenate([lines, rest[None]])
        return self._known[node]

    @cached_property
    def _known(self) -> dict[int, Words]:
        return {}

    def lines(self, nodes: Ints) -> tuple[Words, Ints]:
        """Return lines [line, word] with those of nodes of one size among them, and where these begin."""
        places, n_lines = self.starts[nodes], int(self.starts[nodes[0] + 1] - self.starts[nodes[0]])
        first, last = int(places.min()), int(places.max()) + n_lines
        if last - first <= 2 * n_lines * len(nodes):
            return self.words[first:last], places - first
        return self.words[(places[:, None] + np.arange(n_lines)).ravel()], n_lines * np.arange(len(nodes))

    def configurations(self, tuples: Ints) -> Words:
        """Return [tuple, configuration, word] of tuples [tuple, node], whose sizes agree at every position."""
        made: Words = np.full((len(tuples), 1, self.words.shape[1]), ~np.uint64(0))
        for nodes in tuples.T.tolist():
            more = np.stack([self.of(node) for node in nodes])
            made = (made[:, :, None] & more[:, None]).reshape(len(tuples), -1, made.shape[2])
        return made


def pack(codes: Codes, sizes: Sequence[int], *, has_gaps: bool) -> Packed:
    """Pack rows of codes [row, node], -1 for a missing value, in threads where there are many."""
    pack_words = loops().pack_words
    n_rows, n_nodes = codes.shape
    n_lines = [size - (not has_gaps) if size <= _MOST_PLANES else 0 for size in sizes]
    starts = np.concatenate([[0], np.cumsum(n_lines, dtype=np.int64)])
    n_words = -(-n_rows // (WORD * 16)) * 16 if n_rows >= 4_000 else -(-n_rows // WORD)  # 16 are counted at a time
    words: Words = np.zeros((int(starts[-1]), n_words), dtype=np.uint64)

    def work(start: int) -> None:
        some = codes[start * WORD : (start + step) * WORD]
        height, width = -(-len(some) // (8 * WORD)) * 8 * WORD, -(-n_nodes // WORD) * WORD
        padded = np.full((height, width), -1, dtype=np.int8)
        padded[: len(some), :n_nodes] = some
        pack_words(padded, starts, start, words)

    # Pieces of which a copy with small codes stays in the cache, and no two threads write to one cache line.
    step = max(1, 500_000 // (8 * WORD * max(n_nodes, 1))) * 8
    spread(work, range(0, -(-n_rows // WORD), step), parallel=codes.size >= _CELLS_FOR_THREADS)
    return Packed(words, starts, has_gaps, n_rows, tuple(sizes))


class RowCounts(Counts):
    """Counts of rows of state codes."""

    def __init__(
        self,
        codes: Codes,  # [row, node]: 0..S_node - 1, or -1 where the value is missing
        sizes: Sequence[int],  # [node]: number of states
        weights: Floats | None = None,  # [row]: weights; bootstraps and exact distributions have them
        alphabets: Sequence[int] = (),  # [node]: number of its alphabet; by default nodes of one size share one
        is_exact: bool = False,  # whether the weights are probabilities, and the rows not a sample
    ) -> None:
        self.codes, self.sizes, self.weights = codes, tuple(sizes), weights
        self.alphabets, self.is_exact = tuple(alphabets) or self.sizes, is_exact
        self.effort = len(codes)

    @cached_property
    def n_rows(self) -> float:
        """Number of rows; 1 where weights are probabilities."""
        return float(len(self.codes)) if self.weights is None else float(self.weights.sum())

    @cached_property
    def has_gaps(self) -> bool:
        """Whether values are missing."""
        return bool(self.codes.dtype.kind == "i" and self.codes.size and self.codes.min() < 0)

    @cached_property
    def is_whole(self) -> bool:
        """Whether counts are whole numbers."""
        return self.weights is None or bool((self.weights == np.rint(self.weights)).all())

    @cached_property
    def marginals(self) -> tuple[Floats, ...]:
        """Counts of the states of every node, over the rows in which it has a value."""
        if self.weights is not None or max(self.sizes) > _MOST_PLANES:
            return tuple(self.family(node, ()) for node in range(self.n_nodes))
        ones, starts = self.packed.ones, self.packed.starts
        lines = [ones[start:stop] for start, stop in pairwise(starts)]
        if not self.has_gaps:
            lines = [np.append(some, len(self.codes) - some.sum()) for some in lines]
        return tuple(some.astype(np.float64) for some in lines)

    @cached_property
    def columns(self) -> Codes:
        """[node, row]: the codes, one node after the other."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def packed(self) -> Packed:
        """The rows in bits; they are packed once."""
        return pack(self.codes, self.sizes, has_gaps=self.has_gaps)

    def compressed(self) -> RowCounts:
        """Return the same counts with equal rows as one, where there are many rows and very few different ones."""
        n_rows, base = len(self.codes), max(self.sizes) + 1
        if self.weights is not None or not _MANY_ROWS <= n_rows < 2**24 or self.n_nodes * np.log2(base) > 62:
            return self
        keys = np.zeros(n_rows, dtype=np.int64)
        for column in self.codes.T:
            keys = keys * base + column + 1  # a gap is -1
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        if _MUCH_FEWER * len(first) > n_rows:
            return self
        return RowCounts(self.codes[first], self.sizes, counts.astype(np.float64), self.alphabets)

    def in_order(self, order: Sequence[int]) -> RowCounts:
        """Return the same rows with the nodes in another order; rows that are packed are not packed again."""
        nodes = list(order)
        sizes, alphabets = (tuple(some[node] for node in nodes) for some in (self.sizes, self.alphabets))
        made = RowCounts(self.codes[:, nodes], sizes, self.weights, alphabets, self.is_exact)
        if "packed" in self.__dict__ and len(nodes) == self.n_nodes:
            made.packed = self.packed.in_order(nodes)
        return made

    def merge(self, other: RowCounts) -> RowCounts:
        """Return the counts of these rows and of others of the same columns."""
        if self.sizes != other.sizes or self.alphabets != other.alphabets:
            raise DataError("cannot merge counts of other columns or states")
        weights = None
        if self.weights is not None or other.weights is not None:
            both = [np.ones(len(one.codes)) if one.weights is None else one.weights for one in (self, other)]
            weights = np.concatenate(both)
        codes = np.concatenate([self.codes, other.codes])
        return RowCounts(codes, self.sizes, weights, self.alphabets, self.is_exact)

    def configuration(self, nodes: Sequence[int]) -> Ints:
        """Return [row]: the states of ``nodes`` as one number, the first most significant; -1 without a value."""
        if prod(self.sizes[node] for node in nodes) > _MOST_CONFIGURATIONS:
            raise TooLargeError(
                f"{len(nodes) - 1} parents of so many states have more than {_MOST_CONFIGURATIONS:,} joint states; "
                "use fewer parents or fewer states"
            )
        index = np.zeros(len(self.codes), dtype=np.int64)
        for node in nodes:
            index = index * self.sizes[node] + self.columns[node]
        if self.has_gaps:
            index[(self.columns[list(nodes)] < 0).any(axis=0)] = -1
        return index

    def cases(self, nodes: Sequence[int], others: Ints) -> Floats:
        """Return [other]: rows in which all ``nodes`` and the other one have a value."""
        complete = (self.columns[list(nodes)] >= 0).all(axis=0)
        weights = complete.astype(np.float64) if self.weights is None else complete * self.weights
        return np.asarray((self.columns[others] >= 0) @ weights)

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Return counts [states of the parents …, state of the child]."""
        shape = (*(self.sizes[p] for p in parents), self.sizes[child])
        index, weights = self.configuration((*parents, child)), self.weights
        if self.has_gaps:
            complete = index >= 0
            index, weights = index[complete], None if weights is None else weights[complete]
        return np.bincount(index, weights=weights, minlength=prod(shape)).reshape(shape).astype(np.float64)

    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of nodes."""
        n_nodes, n_states, weights = self.n_nodes, max(self.sizes), self.weights
        check_pair_size(n_nodes, n_states)
        if weights is not None and self.is_whole and weights.sum() <= 4 * len(weights):  # bits are much faster
            codes = np.repeat(self.codes, weights.astype(np.int64), axis=0)
            return RowCounts(codes, self.sizes).pairs()
        whole = np.int32 if self.n_rows < 2**31 else np.int64  # half the memory is written twice as fast
        out: Any = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=whole if self.is_whole else np.float64)
        is_wide = np.array(self.sizes) > _MOST_PLANES if weights is None else np.ones(n_nodes, dtype=bool)
        if not is_wide.all():
            self._pairs_in_bits(out)
        if is_wide.any():
            self._pairs_by_code(is_wide, out)
        return PairCounts(out)

    def _pairs_by_code(self, is_wide: Bools, out: Any) -> None:
        """Write the counts of all pairs of which one node ``is_wide``."""
        count_codes, (n_nodes, n_states) = loops().count_codes, out.shape[1:3]
        columns = np.ascontiguousarray(self.columns, dtype=np.int32)
        weights = np.asarray(() if self.weights is None else self.weights, dtype=out.dtype)
        for node in range(n_nodes):
            others = node + np.flatnonzero(is_wide[node:] | is_wide[node])
            starts = (node * n_nodes + others) * n_states**2
            count_codes(columns[node] * n_states, 1, columns, others, weights, starts, out.reshape(-1))
            out[others, node] = out[node, others].transpose(0, 2, 1)

    def _pairs_in_bits(self, out: Any) -> None:
        """Write the counts of all pairs, block by block."""
        packed, count_pair_block = self.packed, loops().count_pair_block
        starts, sizes, ones = packed.starts, np.array(self.sizes, dtype=np.int64), packed.ones
        edges = np.searchsorted(starts, np.arange(0, starts[-1], _LINES_AT_ONCE))
        ranges = list(pairwise(np.unique([0, *edges.tolist(), self.n_nodes]).tolist()))
        blocks = list(combinations_with_replacement(ranges, 2))

        def count(block: tuple[tuple[int, int], tuple[int, int]]) -> None:
            count_pair_block(packed.words, starts, sizes, ones, packed.n_rows, packed.has_gaps, *block, out)

        parallel = int(starts[-1]) ** 2 * packed.words.shape[1] >= _WORDS_FOR_THREADS
        spread(told(count, "counting", "blocks", len(blocks)), blocks, parallel=parallel)

    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Bools, out: Floats) -> None:
        count_codes, n_cells = loops().count_codes, prod(out.shape[2:])
        weights = np.zeros(0) if self.weights is None else self.weights
        columns, (size, n_states) = np.ascontiguousarray(self.columns, dtype=np.int32), out.shape[-2:]
        for place, parents in enumerate(tuples.tolist()):
            which = np.flatnonzero(wanted[place])
            index = self.configuration((*parents, child))
            places = (index + index // n_states * (n_states * (size - 1))).astype(np.int32)
            starts = (place * len(candidates) + which) * n_cells
            count_codes(places, n_states, columns, candidates[which], weights, starts, out.reshape(-1))

    def worth(
        self,
        child: int,
        tuples: Ints,
        candidates: Ints,
        *,
        gains: Floats | None = None,
        prices: Floats | None = None,
        is_half: bool = False,
    ) -> Floats:
        """Return [kernel, tuple, candidate]: what families are worth; in bits where tables are small."""
        *parents, size, n_states = (self.sizes[node] for node in (*tuples[0], candidates[0], child))
        n_cells = prod(parents) * size * n_states
        if self.weights is not None or max(*parents, size, n_states) > _MOST_PLANES or n_cells > MOST_IN_BITS:
            return super().worth(child, tuples, candidates, gains=gains, prices=prices, is_half=is_half)
        packed, target, (weights, paid) = self.packed, self.packed.of(child), worth_of(gains, prices)
        ones = np.bitwise_count(target).sum(1, dtype=np.int64)
        out = np.full((len(weights) or 4, len(tuples), len(candidates)), -np.inf)
        lines, places = packed.lines(candidates)
        step = max(1, at_most(_LEFT_WORDS, 16) // (prod(parents) * packed.words.shape[1]))
        for start in range(0, len(tuples), len(tuples) if is_half else step):
            left = packed.configurations(tuples if is_half else tuples[start : start + step])
            piece = np.full((len(out), len(left), len(candidates)), -np.inf)
            loops().family_worth(
                target, ones, left, lines, places, size, is_half, self.has_gaps, paid, weights, piece
            )
            out[:, start : start + len(left)] = piece
        return out


def count_pairs(rows: ArrayLike, n_states: int | None = None) -> PairCounts:
    """Count all pairs of columns.

    Parameters
    ----------
    rows
        ``rows[row, node]``, whole numbers 0..S-1.
    n_states
        S. A state that never occurs is still a state; by default the largest code + 1 (at least 2).
    """
    codes, size = checked_codes(rows, n_states)
    return RowCounts(codes, (size,) * codes.shape[1]).pairs()
