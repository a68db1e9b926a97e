"""``solve``: from a problem to parents, kernels and an order, in the numbers that columns have in the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from kgmi.guides.likelihood import Likelihood
from kgmi.problem import Family, Problem
from kgmi.progress import tick
from kgmi.score import Group, Score
from kgmi.search.early_exit import clear_case
from kgmi.search.gaps import lead_of
from kgmi.search.given import search_given
from kgmi.search.open import Opened, canonical_order, directions, search_open
from kgmi.search.own import OwnSets
from kgmi.search.rounds import State
from kgmi.search.tuples import head_scores
from kgmi.types import Floats, Ints, Parents, ScoreTable

__all__ = ["Solution", "solve"]


@dataclass(frozen=True, eq=False)
class Solution:
    """What a search ended with; nodes are columns of the input.

    Attributes
    ----------
    state
        The graph with its kernels and its score; its problem has the order that was found, where it was open.
    order
        A topological order of the nodes: as given, or as learned.
    share
        Who has a kernel in common: all nodes of a key, those of a class, or nobody.
    scores
        The best score for each way of sharing kernels that was looked at.
    start_score, n_starts
        Score of the best start of the search, and how many starts were tried.
    margin
        Of a clear case: nats by which every node, at least, prefers its parents; None where a search was needed.
    misfits
        (node, nats): nodes that parents with a kernel of their own would describe better than known kernels do.
    opened, numbers
        The search for the order, where it was learned, and the column that each of its nodes is.
    clear_heads
        Scores of the heads, where they were made on the way.
    """

    state: State
    order: tuple[int, ...]
    share: Literal["shared", "classes", "node"]
    scores: dict[str, float]
    start_score: float
    n_starts: int = 1
    margin: float | None = None
    misfits: tuple[tuple[int, float], ...] = ()
    opened: Opened | None = None
    numbers: tuple[int, ...] = ()
    clear_heads: ScoreTable | None = None

    @property
    def problem(self) -> Problem:
        """The problem, with the order that was found."""
        return self.state.problem

    @property
    def parents(self) -> Parents:
        """Parents of every node, in role order."""
        return self.state.parents

    @property
    def score(self) -> Score:
        """The parts of the score."""
        assert self.state.score is not None
        return self.state.score

    @property
    def is_proved(self) -> bool:
        """Whether no graph without a cycle is better under these kernels, and under what was held fixed."""
        return self.opened is not None and self.opened.is_proved

    def group_of(self, child: int) -> Group | None:
        """Return the nodes that share the kernel of a node with parents."""
        return self.state.group_of[child] if self.parents[child] else None

    @cached_property
    def directions(self) -> dict[tuple[int, int], float] | None:
        """Nats by which the best graph with each edge reversed is worse, where the order was learned; else None."""
        if self.opened is None:
            return None
        column = self.numbers
        return {(column[parent], column[child]): nats for (parent, child), nats in directions(self.opened).items()}

    @cached_property
    def heads(self) -> ScoreTable:
        """Scores [head, child, candidate] of candidates in the place of each head's parent.

        NaN for candidates that are not allowed or that another head holds, and where a head has no parent to look
        for because the node has fewer.
        """
        if self.clear_heads is not None:
            return self.clear_heads
        problem = self.problem
        table = np.full((problem.n_heads, problem.n_nodes, problem.n_nodes), np.nan)
        for child in range(problem.n_nodes):
            tick("search", "looks")
            if self.parents[child]:
                _fill_heads(self, child, table[:, child])
        return table


def solve(problem: Problem) -> Solution:
    """Return parents and kernels that describe the counts best, and an order where none is given.

    counts → guide → heads → parents → kernels, and again until nothing changes; which kernels are shared, how many
    parents a node has and what comes first is decided by one number, the score.
    """
    if problem.is_open:
        first = canonical_order(problem)  # the answer does not depend on where columns are
        inner = problem.renumbered(first.tolist())
        opened = search_open(inner.with_counts(inner.counts.compressed()))
        found, numbers, columns = opened.found, first[opened.order], tuple(first.tolist())
    else:
        numbers, opened, columns = np.array(problem.candidates.sequence()), None, ()
        inner = problem.renumbered(numbers.tolist())
        clear = clear_case(inner)
        if clear is not None:
            heads = np.full(clear.heads.shape, np.nan)
            heads[:, numbers[:, None], numbers] = clear.heads
            scores = {"shared": clear.state.total}
            scores |= {} if clear.node_score is None else {"node": clear.node_score}
            return Solution(
                _placed(problem, clear.state, numbers),
                tuple(numbers.tolist()),
                "shared",
                scores,
                clear.state.total,
                margin=clear.margin,
                clear_heads=heads,
            )
        found = search_given(inner.with_counts(inner.counts.compressed()))
    states = {"shared": found.shared, "classes": found.classes, "node": found.node}
    best = found.best
    share = next(name for name, state in states.items() if state is best)
    return Solution(
        _placed(problem, best, numbers),
        tuple(numbers.tolist()),
        share,  # type: ignore[arg-type]
        {name: state.total for name, state in states.items() if state is not None},
        found.start_score,
        found.n_starts,
        misfits=tuple((int(numbers[node]), nats) for node, nats in found.misfits),
        opened=opened,
        numbers=columns,
    )


def _placed(problem: Problem, state: State, numbers: Ints) -> State:
    """Return a state with its nodes numbered as the columns are; node k of it is column ``numbers[k]``."""
    column = numbers.tolist()

    def moved(nodes: Sequence[int]) -> Family:
        return tuple(column[node] for node in nodes)

    groups = tuple(
        replace(one, families={column[child]: moved(parents) for child, parents in one.families.items()})
        for one in state.groups
    )
    together: list[Family] = [()] * len(column)
    for node, block in enumerate(state.together):
        together[column[node]] = moved(block)
    candidates = problem.candidates.ordered(column) if problem.is_open else problem.candidates
    inside = replace(
        problem,
        candidates=candidates,
        share=state.problem.share,
        error=state.problem.error,
        n_choices=_at(state.problem.n_choices, column) if problem.is_open else problem.n_choices,
    )
    return replace(state, problem=inside, groups=groups, together=tuple(together))


def _at(values: tuple[int, ...] | None, column: list[int]) -> tuple[int, ...] | None:
    if values is None:
        return None
    found = [0] * len(values)
    for node, value in enumerate(values):
        found[column[node]] = value
    return tuple(found)


def _fill_heads(solution: Solution, child: int, rows: Floats) -> None:
    """Write the scores of the heads of one child into ``rows`` [head, candidate]."""
    problem, parents, group = solution.problem, solution.parents[child], solution.group_of(child)
    assert group is not None
    assert problem.guide is not None
    candidates, required = problem.candidates.of(child), problem.candidates.required[child]
    table = problem.guide.prepare(child, group.seen)
    has_own = group.size == 1 and not group.known and solution.share != "shared"
    for head, parent in enumerate(parents):
        if parent in required:
            rows[head, parent] = 0.0  # nothing to choose
            continue
        if has_own:
            others = tuple(p for role, p in enumerate(parents) if role != head)
            nodes, values = OwnSets(problem).extended(child, others, candidates)
            rows[head, nodes] = values
        else:
            role = candidates[problem.alphabets[candidates] == problem.alphabets[parent]]
            rows[head, role] = head_scores(problem, child, table, role, parents, head)
        if problem.counts.has_gaps and isinstance(problem.guide, Likelihood):
            # Of a candidate that is above the parent, perhaps as it was seen more often, the common rows decide.
            own = rows[head, parent]
            for other in np.flatnonzero(rows[head] > own).tolist():
                lead = lead_of(solution.state, child, (*parents[:head], other, *parents[head + 1 :]))
                rows[head, other] = own + lead if np.isfinite(lead) else rows[head, other]
