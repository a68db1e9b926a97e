"""Whether the words of ``Learned.trust`` keep what they promise: edges and graphs that are right, by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.learning.learn import learn
from kgmi.metrics import compare
from kgmi.types import Codes

__all__ = ["KINDS", "Tried", "level_lines", "try_trust", "word_lines"]

KINDS = ("two parents", "mixed", "trees and roots", "no edges")
"""Kinds of graphs, taken in turns."""
_ROWS = (50, 100, 200, 500, 1_000)


@dataclass(frozen=True)
class Tried:
    """One fit, and what was said of it.

    Attributes
    ----------
    kind, n_rows
        Kind of the graph and number of rows.
    level, f1
        Of the whole result.
    edges
        (strength, right) of every edge.
    """

    kind: str
    n_rows: int
    level: str
    f1: float
    edges: tuple[tuple[str, bool], ...]


def try_trust(n_problems: int, seed: int, tell: Callable[[int, int], None] | None = None) -> list[Tried]:
    """Learn random problems of 6 to 15 nodes and 2 or 3 states, from rows alone, and compare with the truth."""
    rng, found = np.random.default_rng(seed), []
    for number in range(n_problems):
        kind, n_rows = KINDS[number % len(KINDS)], int(rng.choice(_ROWS))
        dag, n_states = _graph(kind, rng), int(rng.integers(2, 4))
        learned = learn(_rows(dag, n_states, n_rows, rng), n_states=n_states, n_parents=2)
        true = {(f"X{parent + 1}", f"X{child + 1}") for parent, child in dag.edges}
        edges = tuple((strength, edge in true) for edge, strength in learned.trust.edges.items())
        found.append(Tried(kind, n_rows, learned.trust.level, compare(learned.dag, dag).f1, edges))
        if tell is not None:
            tell(number + 1, n_problems)
    return found


def word_lines(tried: Sequence[Tried]) -> list[list[str]]:
    """Strength, edges, and the share of them that is right."""
    lines = []
    for word in ("certain", "clear", "weak"):
        right = [one for problem in tried for strength, one in problem.edges if strength == word]
        lines.append([word, f"{len(right):,}", f"{np.mean(right):.1%}" if right else "–"])
    return lines


def level_lines(tried: Sequence[Tried]) -> list[list[str]]:
    """Level, graphs, their mean F1, and the share of all of their edges that is right."""
    lines = []
    for word in ("high", "fair", "low"):
        those = [problem for problem in tried if problem.level == word]
        right = [one for problem in those for _, one in problem.edges]
        shares = [f"{np.mean([problem.f1 for problem in those]):.3f}" if those else "–"]
        lines.append([word, str(len(those)), *shares, f"{np.mean(right):.1%}" if right else "–"])
    return lines


def _graph(kind: str, rng: np.random.Generator) -> Dag:
    n_nodes = int(rng.integers(6, 16))
    if kind == "no edges":
        return Dag([()] * n_nodes)
    if kind == "trees and roots":
        return Dag.random(n_nodes, 1, rng=rng, root_probability=0.5)
    return Dag.random(n_nodes, 2, rng=rng, mixed=kind == "mixed")


def _rows(dag: Dag, n_states: int, n_rows: int, rng: np.random.Generator) -> Codes:
    """Rows with a kernel for each number of parents, and a law of its own for every root."""
    sharpness = float(rng.choice([0.5, 1.0, 3.0]))
    kernels = [Kernel.random(n_states, k, rng=rng, concentration=sharpness).table for k in (1, 2)]
    rows = np.zeros((n_rows, dag.n_nodes), dtype=np.int64)
    for child in dag.order:
        law = rng.dirichlet(np.full(n_states, 5.0))[None]
        if parents := dag.parents[child]:
            law = kernels[len(parents) - 1][tuple(rows[:, parent] for parent in parents)]
        rows[:, child] = (rng.random((n_rows, 1)) > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
    for child in range(dag.n_nodes):  # a column that is constant by chance cannot be learned from
        if (rows[:, child] == rows[0, child]).all():
            rows[0, child] = (rows[0, child] + 1) % n_states
    return rows
