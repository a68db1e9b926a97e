"""What each way of doing a phase costs, as measured: seconds by a law of the sizes, memory by what is held."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any

__all__ = ["COSTS", "Cost", "Sizes"]


@dataclass(frozen=True)
class Sizes:
    """What costs depend on.

    Attributes
    ----------
    n_nodes, n_rows, n_states, n_heads
        T, N, S (of the largest alphabet) and K.
    """

    n_nodes: int
    n_rows: int
    n_states: int
    n_heads: int


@dataclass(frozen=True)
class Cost:
    """The price of one way of doing a phase.

    Attributes
    ----------
    how
        The way, in words.
    fixed, factor, nodes, rows, states
        Seconds are fixed + factor · T^nodes · N^rows · S^states.
    cell, pair, score, node
        Bytes held at the same time for each cell of the rows (N·T), of a table of all pairs ((T·S)²), of the scores
        (K·T²), and for each node.
    block
        Bytes for each indicator (N·T·S) of work that is done in blocks, and the most that a block usually takes.
    trace
        Bytes for each score that are kept besides, where that is no more than the most in all, and else not.
    case
        Bytes for each row and candidate of one node that the model check counts at a time.
    keeps
        Whether a block is kept to the end, where there is only one.
    compiled
        Whether compiled code does it, which has to be made once on every machine.
    """

    how: str
    fixed: float
    factor: float
    nodes: float = 0.0
    rows: float = 0.0
    states: float = 0.0
    cell: float = 0.0
    pair: float = 0.0
    score: float = 0.0
    node: float = 0.0
    block: tuple[float, float] = (0.0, 0.0)
    trace: tuple[float, float] = (0.0, 0.0)
    case: float = 0.0
    keeps: bool = False
    compiled: bool = False

    def seconds(self, sizes: Sizes) -> float:
        """On one machine like that of the measurements."""
        grown = self.nodes * log(sizes.n_nodes) + self.rows * log(max(sizes.n_rows, 1))
        return self.fixed + self.factor * exp(grown + self.states * log(sizes.n_states))

    def held(self, sizes: Sizes) -> float:
        """Bytes that cannot be had in smaller blocks."""
        n_nodes, scores = sizes.n_nodes, sizes.n_heads * sizes.n_nodes**2
        pairs = float(n_nodes * sizes.n_states) ** 2
        return self.cell * n_nodes * sizes.n_rows + self.pair * pairs + self.score * scores + self.node * n_nodes

    def block_bytes(self, sizes: Sizes) -> float:
        """Bytes that can be had in smaller blocks, or done without: as they usually are."""
        n_nodes, n_rows = sizes.n_nodes, sizes.n_rows
        each, most = self.block
        trace, most_traced = self.trace
        traced = trace * sizes.n_heads * n_nodes**2
        cases = n_nodes * min(n_rows, _CHECKED_CASES / n_nodes**2)
        block = min(each * n_nodes * n_rows * sizes.n_states, most)
        return block + self.case * cases + (traced if traced <= most_traced else 0.0)


_CHECKED_CASES = 4e7  # rows times pairs of nodes that the model check looks at, at most

# Seconds and bytes were measured in November 2026 on two cores of an AMD EPYC with `kgmi bench plan`: S = 3, T from
# 10 to 1,000, N from 1,000 to 100,000, numba loaded and everything compiled.
_SEARCH: dict[str, Any] = {"cell": 9.0, "score": 17.0, "trace": (360.0, 50e6), "keeps": True}
_WORK = (9.0, 100e6)
_LOOK: dict[str, Any] = {"score": 17.0, "trace": (360.0, 50e6)}
_PAIRS: dict[str, Any] = {"cell": 1.3, "pair": 16.0, "score": 17.0}

COSTS: dict[str, Cost] = {
    "reading": Cost("checked and copied", 3.5e-4, 8e-10, 1.2, 1.0, cell=3.2),
    "counting": Cost("checked, and pairs of columns counted", 6e-4, 1.5e-10, 1.57, 0.82, 2.0, cell=3.2, pair=12),
    "scores": Cost("all pairs, roots, model check", 0.02, 2.3e-3, 0.6, 0.19, 1.0, 1.3, 45.0, 8.0, case=30.0),
    "plain look": Cost("a look at pairs of parents", 5e-3, 1.3e-7, 2.0, 0.18, 3.0, cell=12, **_LOOK),
    "look": Cost(
        "a look at likely pairs of parents", 0.04, 4.4e-11, 2.12, 0.6, 3.0, 1.3, 1.8, compiled=True, **_LOOK
    ),
    "exhaustive": Cost("all tuples of parents", 0.03, 2.8e-4, 1.0, 0.4, 1.0, block=_WORK, **_SEARCH),
    "lists": Cost("short lists of parents", 0.03, 2.8e-4, 1.0, 0.4, 1.0, block=_WORK, **_SEARCH),
    "heads": Cost("heads one after the other", 0.03, 2.8e-4, 1.0, 0.4, 1.0, block=_WORK, **_SEARCH),
    "known": Cost("parents under the known kernel", 4e-3, 5.5e-7, 1.7, 0.62, 1.0, block=_WORK, **_SEARCH),
    "order": Cost("orders and parents", 0.02, 3.7e-3, 1.04, 0.14, 1.0, node=200e3, block=(50.0, 100e6), **_SEARCH),
    "pairs": Cost("heads re-guided, from pairs alone", 0.01, 1e-8, 3.0, 0.0, 2.0, pair=30, score=30),
    "ascent": Cost("gradient ascent", 1e-3, 1.8e-8, 2.1, cell=1.3, **_LOOK),
    "paper": Cost("gradient ascent at the paper's rate", 5e-3, 1.6e-5, 2.25, **_PAIRS),
    "limit": Cost("its limit at once", 1e-4, 8e-9, 2.0, **_PAIRS),
    "report": Cost(
        "status and model check", 0.1, 3.7e-4, 0.64, 0.29, 1.0, 2.5, 20.0, 17.0, case=30.0, trace=(360.0, 50e6)
    ),
}
"""By the way in which a phase is done."""
