"""Samples whose columns stand in no order: shuffled for everybody alike, and answers put back."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from kgmi.bench.launch import Problem
from kgmi.bench.peer import Edges

__all__ = ["Order", "put_back", "shuffle"]

Order = Literal["given", "learn"]
"""Whether the columns stand in the order of the graph, which is told, or in no order, and nobody is told any."""


def shuffle(problem: Problem, rng: np.random.Generator) -> tuple[Problem, tuple[int, ...]]:
    """The problem with its columns in another order, and the node that each of them is."""
    columns = tuple(map(int, rng.permutation(problem.rows.shape[1])))
    states = None if problem.n_states is None else tuple(problem.n_states[node] for node in columns)
    return replace(problem, rows=problem.rows[:, columns], n_states=states), columns


def put_back(edges: Edges, columns: tuple[int, ...] | None) -> Edges:
    """Edges between columns as edges between the nodes that these are; None where nothing was moved."""
    if columns is None:
        return edges

    def moved(pairs: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
        return [(columns[first], columns[second]) for first, second in pairs]

    return Edges.of(moved(edges.directed), moved(edges.undirected))
