"""``Observed``: rows ready to be counted in families (a child with its parents), gaps and weights included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.errors import TooLargeError
from kgmi.memory import at_most
from kgmi.statistics.families import planes_of
from kgmi.statistics.packed import Packed, Words, pack
from kgmi.types import Codes, Floats, Ints

__all__ = ["Observed"]

_MANY_ROWS = 20_000  # from which on looking for equal rows pays
_BLOCK_CELLS = 64_000_000  # indicators kept at a time: 256 MB in float32
_CELL_BYTES = 12  # of an indicator, with what it is made from and what is made from it
_MOST_CONFIGURATIONS = 20_000_000  # cells of one family table


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows of state codes.

    Attributes
    ----------
    codes
        ``codes[row, node]`` in 0..S_node - 1, or -1 where the value is missing.
    sizes
        Number of states of every node.
    weights
        Weight of every row, or None when all count once.
    alphabets
        Which alphabet each node has, as a number; nodes of one alphabet may share a kernel.
    is_exact
        Whether the rows are a law, with probabilities as weights, and not a sample of it.
    """

    codes: Codes
    sizes: tuple[int, ...]
    weights: Floats | None = None
    alphabets: tuple[int, ...] = field(default=())
    is_exact: bool = False

    def __post_init__(self) -> None:
        if not self.alphabets:
            object.__setattr__(self, "alphabets", self.sizes)

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.codes.shape[1])

    @cached_property
    def n_rows(self) -> float:
        """Number of rows; 1 for a law."""
        return float(len(self.codes)) if self.weights is None else float(self.weights.sum())

    @property
    def is_tallied(self) -> bool:
        """Whether these are counts, and no rows can be asked for; see :class:`kgmi.statistics.tallied.Tallied`."""
        return False

    @property
    def n_looked_at(self) -> int:
        """Rows that are looked at for every family: equal ones may be one."""
        return len(self.codes)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value is missing anywhere."""
        return bool(self.codes.min() < 0)

    @cached_property
    def columns(self) -> Codes:
        """[node, row]: the codes, one node after the other; in their own small type, which takes less memory."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def packed(self) -> Packed:
        """The rows in bits."""
        return pack(self.codes, max(self.sizes), has_gaps=self.has_gaps)

    @cached_property
    def marginals(self) -> tuple[Floats, ...]:
        """Counts of the states of every node, over the rows in which it has a value."""
        return tuple(self.family((), node) for node in range(self.n_nodes))

    @cached_property
    def log_laws(self) -> tuple[Floats, ...]:
        """Log of the law of every node; NaN for the states that it never takes."""
        laws = (counts / max(float(counts.sum()), 1e-300) for counts in self.marginals)
        return tuple(np.log(np.where(law > 0, law, np.nan)) for law in laws)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What follows from these rows and is asked for again and again; whoever asks names it."""
        return {}

    def compressed(self) -> Observed:
        """The same with equal rows as one, where there are many rows and few different ones."""
        n_rows, codes = len(self.codes), self.codes
        bits = self.n_nodes * np.log2(max(self.sizes) + 1)
        if self.weights is not None or not _MANY_ROWS <= n_rows < 2**24 or bits > 62:
            return self
        keys = np.zeros(n_rows, dtype=np.int64)
        for column in codes.T:
            keys = keys * (max(self.sizes) + 1) + column + 1  # a gap is -1
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        if 2 * len(first) > n_rows:
            return self
        return Observed(codes[first], self.sizes, counts.astype(np.float64), self.alphabets)

    def in_order(self, order: Sequence[int]) -> Observed:
        """The same rows with the nodes in another order."""
        nodes = list(order)
        sizes, alphabets = (tuple(some[node] for node in nodes) for some in (self.sizes, self.alphabets))
        return Observed(self.codes[:, nodes], sizes, self.weights, alphabets, self.is_exact)

    def holds(self, nodes: Sequence[int]) -> bool:
        """Whether these columns can be counted together: rows can always be."""
        return True

    def family(self, parents: Sequence[int], child: int) -> Floats:
        """Counts [states of the parents …, state of the child] over the rows in which all have a value."""
        shape = (*(self.sizes[p] for p in parents), self.sizes[child])
        index, complete = self.configuration((*parents, child))
        weights = self.weights
        if complete is not None:
            index, weights = index[complete], None if weights is None else weights[complete]
        return np.bincount(index, weights=weights, minlength=prod(shape)).reshape(shape).astype(np.float64)

    def configuration(self, nodes: Sequence[int]) -> tuple[Ints, NDArray[np.bool_] | None]:
        """[row]: the states of ``nodes`` as one number, and which rows have them all (None: every row)."""
        if prod(self.sizes[node] for node in nodes) > _MOST_CONFIGURATIONS:
            raise TooLargeError(
                f"{len(nodes) - 1} parents of so many states have more than {_MOST_CONFIGURATIONS:,} joint states; "
                "use fewer parents or fewer states"
            )
        index = np.zeros(len(self.codes), dtype=np.int64)
        complete = np.ones(len(index), dtype=bool) if self.has_gaps else None
        for node in nodes:
            column = self.columns[node]
            if complete is not None:
                complete &= column >= 0
            index = index * self.sizes[node] + column
        return index, complete

    @cached_property
    def planes(self) -> Words:
        """[node, state, word]: the rows as bits, 64 to a word."""
        return planes_of(self.packed)

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Rows in pieces whose indicators fit into memory."""
        size = max(1, at_most(_BLOCK_CELLS, _CELL_BYTES) // (self.n_nodes * max(self.sizes)))
        return tuple(slice(start, start + size) for start in range(0, len(self.codes), size))

    def indicators(self, block: slice) -> NDArray[np.float32]:
        """[state, node, row] of a block: 1 where the node has the state; gaps are 0 for every state."""
        if len(self.blocks) == 1:
            return self._all_indicators
        return self._indicate(block)

    @cached_property
    def _all_indicators(self) -> NDArray[np.float32]:
        return self._indicate(slice(None))

    def _indicate(self, block: slice) -> NDArray[np.float32]:
        columns: Any = np.ascontiguousarray(self.codes[block].T)
        return np.stack([columns == state for state in range(max(self.sizes))]).astype(np.float32)
