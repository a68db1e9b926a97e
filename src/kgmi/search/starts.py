"""Where a search without a kernel starts: parents by each node's own likelihood, pooled into first kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kgmi.guides.likelihood import gain_table
from kgmi.problem import Family, Problem
from kgmi.score import Group, degree_costs, make_group
from kgmi.search.own import ParentSet
from kgmi.search.roots import root_groups
from kgmi.search.rounds import State, by_key, make_state
from kgmi.search.tuples import role_orders
from kgmi.types import Floats, Parents

__all__ = ["Sets", "grown", "own_parents", "start_state"]

Sets = Sequence[Sequence[ParentSet | None]]
"""[child][size]: the best set of so many parents with a kernel of its own."""

_CHOOSING_ROUNDS = 5
_GROWING_ROUNDS = 3
_LEAST_SHARE = 0.25  # of the nodes make the first kernel, even where the evidence of each alone is weak


def own_parents(problem: Problem, sets: Sets) -> Parents:
    """Return the parents that each node would take by itself.

    What a number of parents costs depends on how many nodes have it, so they choose a few times.
    """
    costs: Mapping[int, float] = {}
    chosen: Parents = ()
    for _ in range(_CHOOSING_ROUNDS):
        before, chosen = chosen, tuple(_own_choice(problem, sets, child, costs) for child in range(problem.n_nodes))
        if chosen == before:
            break
        costs = degree_costs(problem, [len(parents) for parents in chosen])
    return chosen


def _own_choice(problem: Problem, sets: Sets, child: int, costs: Mapping[int, float]) -> Family:
    options = []
    for degree in problem.degrees_of(child):
        one = _set_of(sets, child, degree)
        if one is not None:
            price = costs.get(degree, 0.0) if child in problem.free else 0.0
            options.append((_strength(problem, child, one) - price, one.parents))
    return max(options)[1] if options else problem.candidates.required[child]


def _set_of(sets: Sets, child: int, degree: int) -> ParentSet | None:
    return sets[child][degree] if degree < len(sets[child]) else None


def _strength(problem: Problem, child: int, one: ParentSet) -> float:
    n_parents = len(one.parents)
    return one.value - problem.choice_cost(child, n_parents) - problem.indifference * n_parents


def start_state(problem: Problem, sets: Sets, number: int) -> State:
    """Return the ``number``-th start: kernels grown from the parents that nodes would take by themselves.

    The first takes every node's own choice. Then starts with the largest in-degree alone, from the nodes with the
    strongest evidence, take turns with starts of all in-degrees; later ones have other nodes settle the roles.
    """
    if number == 0:
        families = [(child, parents) for child, parents in enumerate(own_parents(problem, sets)) if parents]
        families.sort(key=lambda family: -_strength_of(problem, sets, *family))
    else:
        degrees = problem.degrees[-1:] if number % 2 == 1 else tuple(d for d in problem.degrees if d > 0)
        families = [f for d in degrees for f in _ranked(problem, sets, d, everybody=number % 4 in (0, 3))]
    groups: list[Group] = []
    ordered = {child: in_alphabets(problem, parents) for child, parents in families}
    for members in by_key(problem, ordered).values():
        several = list(members.items())
        first = min(max(number - 1, 0) // 2, len(several) - 1)
        groups.append(grown(problem, [several[first], *several[:first], *several[first + 1 :]]))
    chosen = {child for group in groups for child in group.families}
    alone = [node for node in range(problem.n_nodes) if node not in chosen]
    return make_state(problem, [*groups, *root_groups(problem, alone)])


def _strength_of(problem: Problem, sets: Sets, child: int, parents: Family) -> float:
    one = _set_of(sets, child, len(parents))
    return -np.inf if one is None else _strength(problem, child, one)


def _ranked(problem: Problem, sets: Sets, degree: int, *, everybody: bool) -> list[tuple[int, Family]]:
    """Return (child, parents), the strongest evidence first; the weak ones left out unless ``everybody`` counts."""
    found = []
    for child in range(problem.n_nodes):
        one = _set_of(sets, child, degree)
        if one is not None and degree in problem.degrees_of(child):
            found.append((_strength(problem, child, one), child, one.parents))
    found.sort(key=lambda item: (-item[0], item[1]))
    strong = max(sum(value > 0 for value, _, _ in found), int(np.ceil(_LEAST_SHARE * len(found))))
    return [(child, parents) for _, child, parents in (found if everybody else found[:strong])]


def in_alphabets(problem: Problem, parents: Family) -> Family:
    """Return parents sorted by alphabet, so that families over the same alphabets follow the same kernel."""
    return tuple(sorted(parents, key=lambda p: (problem.counts.alphabets[p], p)))


def grown(problem: Problem, families: Sequence[tuple[int, Family]]) -> Group:
    """Return a kernel to which each family in turn is added with the roles of its parents that suit it best.

    Pooled as they come, half of the families would have their parents the wrong way round, and the mean of a
    kernel and its mirror image guides nobody.
    """
    first, parents = families[0]
    total: Floats = problem.family(first, parents)
    oriented = {first: parents}
    alphabets = problem.key(first, parents)[1]
    for _ in range(_GROWING_ROUNDS):
        before = dict(oriented)
        for child, some in families[1:]:
            if child in oriented:
                total = total - problem.family(child, oriented[child])
            gains = gain_table(problem.counts, child, smoothed(total))
            orders = role_orders(problem, some, alphabets)
            best = max(orders, key=lambda order: float((problem.family(child, order) * gains).sum()))
            oriented[child] = best
            total = total + problem.family(child, best)
        if oriented == before:
            break
    return make_group(problem, oriented, total)


def smoothed(counts: Floats) -> Floats:
    """Return the kernel of counts [parents …, child] with a pseudo-case, so that nothing is impossible."""
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) + 1e-9
    table = counts + overall / overall.sum()
    return np.asarray(table / table.sum(axis=-1, keepdims=True))
