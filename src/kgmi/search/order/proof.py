"""Whether an order is the best one there is: all subsets for few nodes, an integer program for more.

Climbing gives a lower bound, the best tuple of every child by itself an upper one. A tuple that is worse than its
child's best by more than their difference cannot be in the best graph, so mostly few tuples are left to decide on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.search.discover import evident
from kgmi.search.order.best import parents_in, worth_in
from kgmi.search.order.choices import Choices
from kgmi.search.order.discover import Opened
from kgmi.search.order.sweep import order_of
from kgmi.types import Floats, Ints

__all__ = ["proved", "proved_order"]

_MOST_SUBSETS = 20  # nodes of which all subsets take less than a second
_MOST_TUPLES = 3_000  # that are left to decide on
_MOST_STEPS = 20_000  # of the integer program, so that it ends the same way on any machine
_SECONDS = 30.0  # in case that steps are slow
_TOLERANCE = 1e-6


def proved_order(choices: Choices, order: Ints) -> tuple[Ints, bool]:
    """An order that is at least as good, and whether there is no better one."""
    if choices.n_nodes <= _MOST_SUBSETS:
        from kgmi.search.order.compiled import best_over_subsets

        return np.asarray(best_over_subsets(choices.parents, choices.worth, choices.start)), True
    left = _left(choices, worth_in(choices, order))
    if len(left) > _MOST_TUPLES:
        return order, False
    return _solved(choices, left, order)


def _left(choices: Choices, lower: float) -> Ints:
    """Numbers of the tuples that may be in the best graph."""
    best = choices.worth[choices.start[:-1]]
    sizes = np.diff(choices.start)
    return np.flatnonzero(np.repeat(best, sizes) - choices.worth <= best.sum() - lower + _TOLERANCE)


def _solved(choices: Choices, left: Ints, order: Ints) -> tuple[Ints, bool]:
    """Choose one tuple of every child; places in the order say that parents come first (Miller–Tucker–Zemlin)."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n_nodes, n_left = choices.n_nodes, len(left)
    child = np.searchsorted(choices.start, left, side="right") - 1
    matrix, lower, upper = _constraints(choices.parents[left], child, n_nodes)
    result = milp(
        -np.concatenate([choices.worth[left], np.zeros(n_nodes)]),
        integrality=np.concatenate([np.ones(n_left), np.zeros(n_nodes)]),
        bounds=Bounds(0, np.concatenate([np.ones(n_left), np.full(n_nodes, n_nodes - 1.0)])),
        constraints=LinearConstraint(matrix, lower, upper),
        options={"time_limit": _SECONDS, "node_limit": _MOST_STEPS, "mip_rel_gap": 0.0},
    )
    if result.status != 0:
        return order, False
    better = np.argsort(result.x[n_left:], kind="stable")
    return (better if worth_in(choices, better) > worth_in(choices, order) + _TOLERANCE else order), True


def _constraints(parents: Ints, child: Ints, n_nodes: int) -> tuple[object, Floats, Floats]:
    """One tuple for every child; and place(child) ≥ place(parent) + 1 where a tuple with that parent is chosen."""
    from scipy.sparse import csr_matrix

    n_left = len(parents)
    number, head = np.nonzero(parents >= 0)
    pairs, pair = np.unique(parents[number, head] * n_nodes + child[number], return_inverse=True)
    lines = n_nodes + np.arange(len(pairs))
    cells = [
        (child, np.arange(n_left), np.ones(n_left)),
        (n_nodes + pair.ravel(), number, np.full(len(number), -float(n_nodes))),
        (lines, n_left + pairs % n_nodes, np.ones(len(pairs))),
        (lines, n_left + pairs // n_nodes, -np.ones(len(pairs))),
    ]
    rows, columns, values = (np.concatenate(part) for part in zip(*cells, strict=True))
    matrix = csr_matrix((values, (rows, columns)), shape=(n_nodes + len(pairs), n_left + n_nodes))
    lower = np.concatenate([np.ones(n_nodes), np.full(len(pairs), 1.0 - n_nodes)])
    upper = np.concatenate([np.ones(n_nodes), np.full(len(pairs), np.inf)])
    return matrix, lower, upper


def proved(opened: Opened) -> Opened:
    """The same with a better graph under its kernels, if there is one, or with the proof that there is none."""
    found = opened.found
    costs = found.plan.degree_costs([len(ps) for ps in found.state.parents])
    choices = opened.choices(found.state.pools, costs)
    order = order_of(found.state.parents)
    better, sure = proved_order(choices, order)
    parents = parents_in(choices, better)
    state = evident(found.plan, opened.state(parents), opened.state(((),) * len(parents)))
    if state.score > found.state.score + _TOLERANCE:
        mended = replace(state, rounds=found.state.rounds, settled=found.state.settled)
        return replace(opened, found=replace(found, state=mended))
    return replace(
        opened, proved=sure and choices.whole and worth_in(choices, better) <= worth_in(choices, order) + _TOLERANCE
    )
