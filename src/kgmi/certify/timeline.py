"""``Timeline``: kernels learned from the rows so far, at rows 32, 40, 50 … , to predict the rows after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np

from kgmi.certify.evidence import Tables
from kgmi.counts.bits import RowCounts
from kgmi.penalty import PENALTIES
from kgmi.problem import Key, Problem
from kgmi.score import Group
from kgmi.search import Solution, solve
from kgmi.search.rounds import keyed_state
from kgmi.threads import one_blas_thread
from kgmi.types import Codes, Floats

__all__ = ["FIRST", "TablesOf", "Timeline", "next_checkpoint", "problem_for"]

TablesOf = Callable[[int], Tables]
"""The kernels that a child may follow."""

FIRST = 32
"""Rows before which nothing is learned."""
_RATIO = 1.25  # of the rows between two estimates of the kernels
_AGAIN, _AGAIN_FEW = 2.0, 1.5  # of the rows between two searches for the graph; where there are few nodes
_FEW_NODES = 20
_MANY_ROWS, _AGAIN_MANY = 3_000, 4.0  # from which on the graph hardly changes
_HALF = 0.5  # pseudo-cases for every state (Krichevsky and Trofimov)


def next_checkpoint(n_rows: int) -> int:
    """The first number of rows above this one at which kernels are estimated anew."""
    point = FIRST
    while point <= n_rows:
        point = int(np.ceil(point * _RATIO))
    return point


def problem_for(problem: Problem, codes: Codes) -> Problem:
    """The same problem for other rows of the same columns."""
    seen = problem.counts
    return problem.with_counts(RowCounts(codes, seen.sizes, None, seen.alphabets).compressed())


class Timeline:
    """The graph and the kernels of the rows so far.

    Nodes are told to share kernels unless their sharing was told otherwise: this is quick, and every node bets on
    kernels of its own as well, so that nothing is lost but time where they do not.
    """

    def __init__(self, problem: Problem) -> None:
        few = problem.n_nodes <= _FEW_NODES
        self._ratio = _AGAIN_FEW if few else _AGAIN
        # What predicts best is wanted here, not what is most likely true: that is Akaike's price.
        self._problem = replace(
            problem,
            penalty=PENALTIES["aic"],
            starts=problem.starts if few else min(2, problem.starts),
            share="shared" if problem.share == "auto" else problem.share,
        )
        self._searched_at = 0
        self._found: Solution | None = None
        self._tables: dict[Key, Floats] = {}

    def learn(self, codes: Codes) -> None:
        """Estimate the kernels from these rows, of the graph found last or, after many new rows, of a new one."""
        if self._problem.share == "node":  # no more than the bets on kernels of their own
            return
        problem = problem_for(self._problem, codes)
        with one_blas_thread():
            ratio = self._ratio if len(codes) <= _MANY_ROWS else _AGAIN_MANY
            if self._found is None or len(codes) >= self._searched_at * ratio:
                self._found, self._searched_at = solve(problem), len(codes)
                kernels = self._found.state.kernels
            else:
                kernels = keyed_state(problem, self._found.parents).kernels
        made = {group.key: _table(group) for group in kernels}
        self._tables = {key: _turned(table, key, self._tables.get(key)) for key, table in made.items()}

    def snapshot(self) -> TablesOf:
        """For every child the kernels that it may follow, as they are now."""
        labels, alphabets, tables = self._problem.labels, self._problem.counts.alphabets, self._tables

        def tables_of(child: int) -> Tables:
            mine = (labels[child], alphabets[child])
            return {key[1]: table for key, table in tables.items() if (key[0], key[2]) == mine}

        return tables_of


def _table(group: Group) -> Floats:
    """The kernel with half a pseudo-case for every state: nothing is impossible."""
    cases = group.cases[..., None]
    return np.asarray((cases * group.seen + _HALF) / (cases + _HALF * group.seen.shape[-1]))


def _turned(table: Floats, key: Key, before: Floats | None) -> Floats:
    """The kernel with its roles in the order that is closest to the one before, as bets are on roles too."""
    if before is None or table.ndim > 4:
        return table
    orders = [o for o in permutations(range(table.ndim - 1)) if tuple(key[1][role] for role in o) == key[1]]
    turned = [table.transpose(*order, table.ndim - 1) for order in orders]
    return min(turned, key=lambda one: float(np.abs(one - before).sum()))
