"""``Counts``: what learning asks of rows, wherever they come from; and ``PairCounts``, the table of pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgmi.counts import loops
from kgmi.errors import DataError, SettingError
from kgmi.joint import PairJoint
from kgmi.memory import at_most
from kgmi.types import Bools, Floats, Ints, PairTable

Block: TypeAlias = tuple[slice, slice]
"""Which tuples and which candidates."""

MOST_IN_BITS = 1_000
"""Most cells of a family that is counted in bits; tables of more leave the cache (measured November 2026)."""
_MOST_CELLS = 8_000_000  # of tables in memory at a time: 64 MB
_CELL_BYTES = 24  # of a cell with what is made of it


class Counts(ABC):
    """How often states occur together.

    Implementations: rows in bits (:class:`kgmi.counts.bits.RowCounts`), which have probabilities as weights where
    they are the distribution of a process; rows on a device (:class:`kgmi.counts.torch.TorchCounts`); and counted
    sets of columns (:class:`kgmi.counts.tally.Tally`).

    Families are asked for as a ``child``, ``tuples`` [tuple, parent] of its parents, all of the same sizes place by
    place, and ``candidates`` of one size, each of which is appended to every tuple. Rows count where all nodes of
    a family have a value. Where a node is in a family twice, the result has no meaning unless a method says so.
    """

    sizes: tuple[int, ...]  # [node]: number of states
    alphabets: tuple[int, ...]  # [node]: number of its alphabet; nodes of one alphabet may share a kernel
    is_exact: bool = False  # whether these are probabilities, and not counts of a sample
    effort: int  # about how many rows are looked at to count a family

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.sizes)

    @property
    @abstractmethod
    def n_rows(self) -> float:
        """Number of rows; 1 where these are probabilities."""

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """Whether values are missing."""

    @property
    def is_whole(self) -> bool:
        """Whether counts are whole numbers."""
        return True

    @abstractmethod
    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of nodes."""

    @abstractmethod
    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Return counts [states of the parents …, state of the child]."""

    @abstractmethod
    def in_order(self, order: Sequence[int]) -> Counts:
        """Return the same counts with the nodes in another order."""

    def compressed(self) -> Counts:
        """Return the same counts, from fewer rows where that pays."""
        return self

    def holds(self, nodes: Sequence[int]) -> bool:
        """Return whether these nodes can be counted together."""
        return True

    def families(self, child: int, tuples: Ints, candidates: Ints) -> Iterator[tuple[Block, Floats]]:
        """Yield tables of every tuple of parents with every candidate behind it, some at a time.

        Each block is (which tuples, which candidates), and counts [tuple, candidate, states of the tuple …, of the
        candidate, of the child]; they are zero where a node occurs twice.
        """
        shape = [self.sizes[node] for node in (*tuples[0].tolist(), int(candidates[0]), child)]
        n_tables = max(1, at_most(_MOST_CELLS, _CELL_BYTES) // prod(shape))  # in memory at a time
        width = min(n_tables, len(candidates))
        step = max(1, n_tables // max(1, width))
        for start, first in product(range(0, len(tuples), step), range(0, len(candidates), max(1, width))):
            part, some = tuples[start : start + step], candidates[first : first + width]
            counts = np.zeros((len(part), len(some), *shape))
            taken = repeats(child, part, some)
            if not taken.all():
                self._count(child, part, some, ~taken, counts)
            yield (slice(start, start + len(part)), slice(first, first + len(some))), counts

    @abstractmethod
    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Bools, out: Floats) -> None:
        """Write into ``out`` the tables of :meth:`families` that are ``wanted`` [tuple, candidate]."""

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
        """Return [kernel, tuple, candidate]: what families are worth, by ``gains``, or else by ``prices``.

        By prices there are four lines: what a family is worth, how many of its joint states and of those of the
        parents occur, and its cases.

        Parameters
        ----------
        child, tuples, candidates
            See :meth:`families`.
        gains
            [kernel, states of the tuple and the candidate …, child]: what a case in a cell gains.
        prices
            [4, count]: of a cell, of a configuration, of a state of the child, and of all cases, to be added up.
            Counts are whole then.
        is_half
            Whether the tuples are the candidates, one parent each: only candidates behind the tuple are looked at,
            and the others are -inf.
        """
        weights, paid = worth_of(gains, prices)
        out = np.empty((len(weights) or 4, len(tuples), len(candidates)))
        for (part, some), counts in self.families(child, tuples, candidates):
            tables = counts.reshape(counts.shape[0] * counts.shape[1], -1)
            if len(weights) and tables.shape[1] > MOST_IN_BITS:
                found = (tables @ weights.T).T
            else:
                found = np.empty((len(out), len(tables)))
                whole = tables if len(weights) else tables.astype(np.int64)
                loops().table_worth(whole, self.sizes[child], paid, weights, found)
            out[:, part, some] = found.reshape(len(out), *counts.shape[:2])
        if is_half:
            out[:, np.tri(len(tuples), len(candidates), dtype=np.bool_)] = -np.inf
        return out

    def cases(self, nodes: Sequence[int], others: Ints) -> Floats:
        """Return [other]: rows in which all ``nodes`` and the other one have a value."""
        return np.array([self.family(int(other), nodes).sum() for other in others])

    @cached_property
    def marginals(self) -> tuple[Floats, ...]:
        """Counts of the states of every node, over the rows in which it has a value."""
        return tuple(self.family(node, ()) for node in range(self.n_nodes))

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Cache of what follows from these counts, keyed by caller."""
        return {}


def worth_of(gains: Floats | None, prices: Floats | None) -> tuple[Floats, Floats]:
    """Return gains [kernel, cell] and prices [4, count] as compiled loops take them; empty where there are none."""
    nothing = np.empty((0, 0))
    weights = nothing if gains is None else np.ascontiguousarray(gains.reshape(len(gains), -1), np.float64)
    return weights, nothing if prices is None else prices


def repeats(child: int, tuples: Ints, candidates: Ints) -> Bools:
    """Return [tuple, candidate]: whether a node occurs twice."""
    taken = (tuples[:, :, None] == candidates).any(axis=1) | (candidates == child)
    own = np.sort(np.column_stack([tuples, np.full(len(tuples), child)]), axis=1)
    return np.asarray(taken | (own[:, 1:] == own[:, :-1]).any(axis=1)[:, None])


@dataclass(frozen=True, eq=False)
class PairCounts:
    """``counts[i, j, s', s]``: rows with S_i = s' and S_j = s.

    Where values are missing, every pair has its own number of rows: those in which both have a value.
    """

    counts: NDArray[np.integer[Any]]

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
        return np.asarray(self.counts.sum(axis=(2, 3), dtype=np.int64))

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
        """Return the joint distributions with ``smoothing`` pseudo-rows spread over the cells of each pair.

        Every pair of states gets ``smoothing`` / S² and so every state ``smoothing`` / S: the marginals of all
        pairs stay consistent.
        """
        if not (np.isfinite(smoothing) and smoothing >= 0):
            raise SettingError(f"smoothing must be a number of pseudo-rows ≥ 0, got {smoothing}")
        n_states, rows = self.n_states, self.pair_rows
        fewest = int(rows.min())
        if fewest == 0 and smoothing == 0:
            first, second = np.argwhere(rows == 0)[0]
            raise DataError(
                f"columns {first} and {second} never have a value in the same row; leave one of them out"
            )
        table: Floats = self.counts + np.float64(smoothing / n_states**2)
        nodes = np.arange(self.n_nodes)
        table[nodes, nodes] = self.counts[nodes, nodes] + np.eye(n_states) * (smoothing / n_states)
        table /= fewest + smoothing if fewest == rows.max() else (rows + smoothing)[:, :, None, None]
        return PairJoint.by_construction(table, fewest)

    def __add__(self, other: PairCounts) -> PairCounts:
        if self.counts.shape != other.counts.shape:
            raise DataError(f"cannot add counts of shapes {self.counts.shape} and {other.counts.shape}")
        return PairCounts(np.add(self.counts, other.counts, dtype=np.result_type(np.int64, self.counts)))
