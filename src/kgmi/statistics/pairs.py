"""Counts of all pairs of columns: additive over rows, so batches and machines merge by a sum."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data import checked_codes
from kgmi.errors import DataError, SettingError
from kgmi.joint import PairJoint, check_pair_size
from kgmi.types import Codes, Floats, Ints, PairTable

__all__ = ["PairCounts", "count_checked", "count_pairs"]

_CHUNK_CELLS = 16_000_000  # indicators at a time: 64 MB in float32
_BLOCK_WORDS = 8_192  # 64 KB: larger memory is asked for anew each time, which costs more than the counting
_FEW_COLUMNS, _ROWS_PER_COLUMN = 100, 100  # where counting bits beats a product of matrices, as measured


@dataclass(frozen=True, eq=False)
class PairCounts:
    """``counts[i, j, s', s]``: rows with S_i = s' and S_j = s.

    Where values are missing, every pair has its own number of rows: those in which both are there.
    """

    counts: Ints

    def __post_init__(self) -> None:
        counts = self.counts.view()
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.counts.shape[0])

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return int(self.counts.shape[2])

    @cached_property
    def pair_rows(self) -> Ints:
        """[i, j]: rows that were counted for each pair."""
        return np.asarray(self.counts.sum(axis=(2, 3)))

    @property
    def n_rows(self) -> int:
        """Rows that were counted for every pair; where values are missing, for the pair with the fewest."""
        return int(self.pair_rows.min())

    @cached_property
    def joint(self) -> PairTable:
        """Plug-in estimate of P_ij, without smoothing."""
        return self.pair_joint(smoothing=0.0).joint

    @property
    def marginal(self) -> Floats:
        """Plug-in estimate of P_i."""
        return np.asarray(np.einsum("iiss->is", self.joint))

    def pair_joint(self, smoothing: float) -> PairJoint:
        """Joint laws with ``smoothing`` pseudo-rows spread over the cells of each pair.

        Every pair of states gets ``smoothing`` / S² and so every state ``smoothing`` / S: the marginals of
        all pairs stay consistent.
        """
        if not (np.isfinite(smoothing) and smoothing >= 0):
            raise SettingError(f"smoothing must be a number of pseudo-rows ≥ 0, got {smoothing}")
        n_states = self.n_states
        table: Floats = self.counts + np.float64(smoothing / n_states**2)
        nodes = np.arange(self.n_nodes)
        table[nodes, nodes] = self.counts[nodes, nodes] + np.eye(n_states) * (smoothing / n_states)
        rows = self.pair_rows
        fewest = int(rows.min())
        if fewest == 0 and smoothing == 0:
            first, second = np.argwhere(rows == 0)[0]
            raise DataError(
                f"columns {first} and {second} never have a value in the same row; leave one of them out"
            )
        table /= fewest + smoothing if fewest == rows.max() else (rows + smoothing)[:, :, None, None]
        return PairJoint.by_construction(table, fewest)

    def __add__(self, other: PairCounts) -> PairCounts:
        if self.counts.shape != other.counts.shape:
            raise DataError(f"cannot add counts of shapes {self.counts.shape} and {other.counts.shape}")
        return PairCounts(self.counts + other.counts)


def count_pairs(rows: ArrayLike, n_states: int | None = None) -> PairCounts:
    """Count all pairs of columns.

    Parameters
    ----------
    rows
        ``rows[row, node]``, whole numbers 0..S-1.
    n_states
        S. A state that never occurs is still a state, so say it; by default the largest code + 1 (at least 2).
    """
    return count_checked(*checked_codes(rows, n_states))


def count_checked(codes: Codes, n_states: int) -> PairCounts:
    """Count codes that were checked before; a row drops out of the counts of a pair where one of the two is -1."""
    n_rows, n_nodes = codes.shape
    check_pair_size(n_nodes, n_states)
    if codes.dtype.kind == "i" and codes.min() < 0:
        return PairCounts(_count_with_gaps(codes, n_states))
    width = n_nodes * (n_states - 1)
    few = width <= _FEW_COLUMNS and _ROWS_PER_COLUMN * width <= n_rows
    count = _count_bits if few else _count_products
    chunk = max(1, min(_CHUNK_CELLS // max(width, 1), 2**24))
    parts = (
        count(np.ascontiguousarray(codes[start : start + chunk].T), n_states) for start in range(0, n_rows, chunk)
    )
    return PairCounts(reduce(add, parts))


# Both take columns [node, row] and give counts [i, j, s', s].


def _count_bits(columns: Codes, n_states: int) -> Ints:
    """States of nodes as rows of bits, 64 rows of data to a word.

    A process that has loaded numba may as well use it. Then counting is so quick that all states are counted;
    else the counts of the last follow from the others.
    """
    n_nodes, n_rows = columns.shape
    loaded = "numba" in sys.modules
    counted = n_states if loaded else n_states - 1
    packed = np.zeros((counted, n_nodes, -(-n_rows // 64) * 8), dtype=np.uint8)
    for state in range(counted):
        packed[state, :, : -(-n_rows // 8)] = np.packbits(columns == state, axis=1)
    words = packed.view(np.uint64).reshape(counted * n_nodes, -1)
    if not loaded:
        inner = _count_words(words).reshape(counted, n_nodes, counted, n_nodes)
        return _with_last_state(inner.transpose(1, 3, 0, 2), n_rows)
    from kgmi.statistics.kernels import count_words

    counts = np.asarray(count_words(words)).reshape(counted, n_nodes, counted, n_nodes)
    return np.ascontiguousarray(counts.transpose(1, 3, 0, 2))


def _count_words(words: np.ndarray[Any, np.dtype[np.uint64]]) -> Ints:
    """[i, j]: bits that are set in both rows, as :func:`kgmi.statistics.kernels.count_words`."""
    first, second = _pairs(len(words))
    block = max(1, _BLOCK_WORDS // words.shape[1])
    counts = np.empty(len(first), dtype=np.int64)
    for start in range(0, len(first), block):
        here = slice(start, start + block)
        counts[here] = np.bitwise_count(words[first[here]] & words[second[here]]).sum(axis=1, dtype=np.int64)
    out = np.empty((len(words), len(words)), dtype=np.int64)
    out[first, second] = out[second, first] = counts
    return out


def _count_products(columns: Codes, n_states: int) -> Ints:
    """A product of matrices for all states but the last, in float32, which counts exactly below 2²⁴ rows."""
    block = np.concatenate([columns == state for state in range(n_states - 1)]).astype(np.float32)
    inner = np.asarray(np.rint(block @ block.T), dtype=np.int64)
    shape = (n_states - 1, len(columns), n_states - 1, len(columns))
    return _with_last_state(inner.reshape(shape).transpose(1, 3, 0, 2), columns.shape[1])


def _count_with_gaps(codes: Codes, n_states: int) -> Ints:
    """All states are counted, as the last no longer follows from the others."""
    n_rows, n_nodes = codes.shape
    chunk = max(1, min(_CHUNK_CELLS // (n_nodes * n_states), 2**24))
    total = np.zeros((n_states * n_nodes,) * 2, dtype=np.int64)
    for start in range(0, n_rows, chunk):
        columns = np.ascontiguousarray(codes[start : start + chunk].T)
        block = np.concatenate([columns == state for state in range(n_states)]).astype(np.float32)
        total += np.rint(block @ block.T).astype(np.int64)
    shaped = total.reshape(n_states, n_nodes, n_states, n_nodes).transpose(1, 3, 0, 2)
    return np.ascontiguousarray(shaped)


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[Ints, Ints]:
    """All i ≤ j."""
    first, second = np.triu_indices(n)
    return first, second


def _with_last_state(inner: Ints, n_rows: int) -> Ints:
    """Counts [i, j, s', s] of all states from those of all but the last: the rest of each margin."""
    n_nodes, last = inner.shape[0], inner.shape[2]
    margin = np.einsum("iiss->is", inner)
    full = np.empty((n_nodes, n_nodes, last + 1, last + 1), dtype=np.int64)
    full[:, :, :last, :last] = inner
    full[:, :, :last, last] = margin[:, None, :] - inner.sum(axis=3)
    full[:, :, last, :last] = margin[None, :, :] - inner.sum(axis=2)
    full[:, :, last, last] = n_rows - full[:, :, :last, :].sum(axis=(2, 3)) - full[:, :, last, :last].sum(axis=2)
    return full
