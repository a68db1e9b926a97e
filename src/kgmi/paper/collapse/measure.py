"""How alike two heads end: the measurements behind the head collapse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.ascent import ascend
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import RATE, edges_found
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.statistics import count_pairs
from kgmi.types import Attention, ScoreTable

__all__ = ["DIVERGENCES", "EPOCHS", "GUIDES", "ROWS", "STOP", "from_rows", "measure", "span"]

DIVERGENCES = {"kl": "KL", "pearson": "χ²"}
GUIDES = {"plain": "MI", "stationary": "KG-MI"}
STOP = 0.1
EPOCHS = 50_000
ROWS = 10_000


def measure(table: ScoreTable, dag: Dag) -> tuple[Numbers, Attention]:
    """Train two heads on a score table and tell how alike they end.

    Returns the largest difference of their attention over all cells, the number of children whose two heads have
    the same best candidate (``agree``), how many of these candidates are a true parent (``true``), the edges named
    that are true and that are not, and the epochs; and the attention itself.
    """
    ascent = ascend(table, rate=RATE, epochs=EPOCHS, stop=STOP)
    best = ascent.attention.argmax(axis=-1)
    agree = [i for i, parents in enumerate(dag.parents) if parents and best[0, i] == best[1, i]]
    found, besides = edges_found(ascent.attention, dag)
    numbers = {
        "difference": float(np.abs(ascent.attention[0] - ascent.attention[1]).max()),
        "agree": len(agree),
        "true": sum(int(best[0, i]) in dag.parents[i] for i in agree),
        "edges": found,
        "besides": besides,
        "epochs": ascent.epochs,
    }
    return numbers, ascent.attention


def from_rows(process: Process, rng: np.random.Generator) -> dict[str, Numbers]:
    """The measurements of one data set, by ``"guide divergence"``."""
    counts = count_pairs(sample(process, ROWS, rng=rng), process.n_states)
    tables = {
        f"{guide} {name}": scores(counts, process.kernel, name, guide) for guide in GUIDES for name in DIVERGENCES
    }
    return {key: measure(table, process.dag)[0] for key, table in tables.items()}


def span(values: Sequence[int]) -> str:
    """The range of several counts in words; one number where they are all the same."""
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
