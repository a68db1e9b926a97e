"""Kernels from parents, parents from kernels, until the graph stops changing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, permutations
from math import log

import numpy as np

from kgmi.errors import KernelError
from kgmi.kernel import Kernel
from kgmi.problem import Family, Key, Problem
from kgmi.progress import told
from kgmi.score import (
    Block,
    Group,
    OpenBlocks,
    Score,
    block_laws,
    degree_costs,
    make_group,
    root_price,
    score,
)
from kgmi.search.acyclic import acyclic_parents
from kgmi.search.roots import best_block, root_gain, root_groups
from kgmi.search.tuples import best_tuple, worth_under
from kgmi.threads import spread
from kgmi.types import Floats, Parents

__all__ = ["Hints", "State", "by_key", "choose", "keyed_state", "known_group", "make_state", "rounds"]

Hints = Sequence[Sequence[Family]]
"""[child]: tuples from which its heads may start."""

_FIRST_ERROR = 0.05  # without it the true parents would be impossible at the first misreading
_MOST_ERROR = 0.5  # readings that are wrong more often than right say nothing
_IMPLIED_PRICE = 3.0  # nats for saying that a kernel is implied, about one in twenty
_FEWEST_NODES = (
    2  # that follow an implied kernel: two roots drawn together look much like parent and child under it
)
_MOST_IMPLIED_HEADS = 3  # of more heads there are too many choices of those that stay
_MOST_TUPLES = 2_000  # states of K parents for which a stationary distribution is found in no time
_MOST_ORDERS = 6


@dataclass(frozen=True, eq=False)
class State:
    """A graph with its kernels and its score.

    Attributes
    ----------
    problem
        What is searched.
    groups
        Every node is in one, but for roots that are drawn with earlier ones.
    together
        For every node the earlier roots that it is drawn with; empty for most.
    score
        The parts of the score; None where a node has parents that are not allowed.
    rounds, settled
        Rounds that led here, and whether the last one changed nothing.
    """

    problem: Problem
    groups: tuple[Group, ...]
    together: Parents
    score: Score | None
    rounds: int = 0
    settled: bool = True

    @property
    def total(self) -> float:
        """The score; -inf for a graph that is not allowed."""
        return -np.inf if self.score is None else self.score.total

    @cached_property
    def group_of(self) -> dict[int, Group]:
        """The group of every node."""
        return {child: group for group in self.groups for child in group.families}

    @cached_property
    def parents(self) -> Parents:
        """Parents of every node, in role order."""
        found: list[Family] = [()] * self.problem.n_nodes
        for group in self.groups:
            for child, family in group.families.items():
                found[child] = family
        return tuple(found)

    @property
    def kernels(self) -> list[Group]:
        """The groups of nodes with parents."""
        return [group for group in self.groups if group.n_parents]

    @cached_property
    def laws(self) -> dict[Key, list[Floats]]:
        """Distributions of roots that are drawn together."""
        return block_laws(self.problem, self.groups)

    def after(self, n_rounds: int, *, settled: bool) -> State:
        """Return the same state with other remarks on the way to it."""
        return replace(self, rounds=n_rounds, settled=settled)


def make_state(problem: Problem, groups: Iterable[Group], together: Parents | None = None) -> State:
    """Return a graph with its kernels, scored."""
    made, blocks = tuple(groups), ((),) * problem.n_nodes if together is None else together
    state = State(problem, made, blocks, None)
    laws = state.laws if any(blocks) else None
    return replace(state, score=score(problem, made, blocks, laws))


def keyed_state(
    problem: Problem, parents: Parents, together: Parents | None = None, banned: frozenset[Key] = frozenset()
) -> State:
    """Return the graph in which all nodes of equal label, number of parents and alphabets share a kernel.

    Kernels of fewer parents may be implied by those of the most, and roots share distributions, wherever that is
    shorter. Kernels in ``banned`` are not made, so that a graph which needs them is not allowed.
    """
    blocks = ((),) * problem.n_nodes if together is None else together
    families = {child: ps for child, ps in enumerate(parents) if ps}
    roots = [child for child, ps in enumerate(parents) if not ps and not blocks[child]]
    if problem.known and problem.error is None:
        problem = replace(problem, error=_fitted_error(problem, families))
    grouped = by_key(problem, families)
    made = [make_group(problem, some) for key, some in grouped.items() if key not in banned]
    return make_state(problem, [*_with_implied(problem, made), *root_groups(problem, roots)], blocks)


def by_key(problem: Problem, families: Mapping[int, Family]) -> dict[Key, dict[int, Family]]:
    """Return the families that may share a kernel, by what they have in common."""
    found: dict[Key, dict[int, Family]] = {}
    for child, parents in families.items():
        found.setdefault(problem.key(child, parents), {})[child] = parents
    return found


def _fitted_error(problem: Problem, families: Mapping[int, Family]) -> float:
    """Return the rate of errors ε of greatest likelihood under known kernels."""
    from scipy.optimize import minimize_scalar

    if not families:
        return _FIRST_ERROR
    counts: dict[int, Floats] = {}
    for child, parents in families.items():
        counts[len(parents)] = counts.get(len(parents), 0.0) + problem.family(child, parents)

    def loss(error: float) -> float:
        tables = ((n, (1 - error) * problem.known[k] + error / n.shape[-1]) for k, n in counts.items())
        return -sum(float((n * np.log(np.maximum(table, 1e-300))).sum()) for n, table in tables)

    found = minimize_scalar(loss, bounds=(0.0, _MOST_ERROR), method="bounded", options={"xatol": 1e-6})
    return float(found.x) if loss(float(found.x)) < loss(0.0) else 0.0


# ---- kernels that the one of the most parents implies -----------------------------------------------------------


def _with_implied(problem: Problem, groups: list[Group]) -> list[Group]:
    """Return the groups, those of fewer parents as the kernel of the most implies them where that is shorter.

    A node that lacks some of the K parents follows the kernel with the missing ones averaged out (appendix A).
    """
    fewer = any(0 < g.n_parents < problem.n_heads and g.size >= _FEWEST_NODES for g in groups)
    if problem.known or problem.is_exact or not fewer:
        return groups
    tables = implied_tables(problem, groups)
    return [_shortest(problem, group, tables.get(group.key, [])) for group in groups]


def _shortest(problem: Problem, group: Group, tables: list[Floats]) -> Group:
    if group.size < _FEWEST_NODES or not tables:
        return group
    price = _IMPLIED_PRICE + log(len(tables))
    options = [make_group(problem, group.families, implied=table, price=price) for table in tables]
    return max([group, *options], key=lambda one: one.value)


def _unused_implied(problem: Problem, groups: Sequence[Group]) -> list[Group]:
    """Return implied kernels that no node follows: nodes would never come back to a kernel that all have left."""
    if problem.known or problem.is_exact or 1 not in problem.degrees:
        return []
    used = {group.key for group in groups}
    error, found = problem.error or 0.0, []
    for key, tables in implied_tables(problem, groups).items():
        price = _IMPLIED_PRICE + log(max(len(tables), 1))
        for table in tables if key not in used and len(key[1]) == 1 else ():
            found.append(Group(key, {}, np.zeros(table.shape), 0.0, price, 0.0, True, table, True, error=error))
    return found


def implied_tables(problem: Problem, groups: Iterable[Group]) -> dict[Key, list[Floats]]:
    """Return kernels of fewer parents that those of the most imply, for every choice of the parents that stay."""
    found: dict[Key, list[Floats]] = {}
    if not 2 <= problem.n_heads <= _MOST_IMPLIED_HEADS:
        return found
    for group in groups:
        label, alphabets, alphabet = group.key
        whole = group.n_parents == problem.n_heads and {*alphabets} == {alphabet}
        if not whole or group.table[..., 0].size > _MOST_TUPLES:
            continue
        for order in islice(permutations(range(problem.n_heads)), 1 if group.symmetric else _MOST_ORDERS):
            kernel = Kernel(group.table.transpose(*order, problem.n_heads))
            for degree in problem.degrees:
                if 0 < degree < problem.n_heads:
                    stays = islice(combinations(range(problem.n_heads), degree), 1 if group.symmetric else None)
                    made = found.setdefault((label, alphabets[:degree], alphabet), [])
                    try:
                        made += [kernel.marginalise(degree, one).table for one in stays]
                    except KernelError:  # zeros in the kernel trap the chain: nothing to average with
                        continue
    return found


# ---- rounds -----------------------------------------------------------------------------------------------------


def rounds(problem: Problem, start: State, hints: Hints, banned: frozenset[Key] = frozenset()) -> State:
    """Re-guide all heads and estimate the kernels in turn, until the graph stops changing; return the best state.

    A round takes every head to the limit of its ascent on the scores of the guide under the present kernels. The
    first round and the last look at everything; between them short lists of the nodes that move will do.
    """
    now = start
    best = max(start, keyed_state(problem, start.parents, start.together, banned), key=lambda one: one.total)
    seen: set[tuple[Parents, Parents]] = set()
    costs = degree_costs(problem, ())
    moving: set[int] | None = None  # None for all nodes, thoroughly
    for number in range(1, problem.rounds + 1):
        parents, together = _round(problem, now, costs, hints, moving)
        before = zip(parents, together, now.parents, now.together, strict=True)
        moved = {node for node, (ps, block, was, with_) in enumerate(before) if (ps, block) != (was, with_)}
        costs = degree_costs(problem, [len(ps) for ps in parents])
        now = keyed_state(problem, parents, together, banned)
        best = max(best, now, key=lambda one: one.total)
        if (parents, together) in seen:  # nothing new: look at everything once more, unless that was just done
            if moving is None:
                return best.after(number, settled=True)
            moving = None
        else:
            moving = None if problem.is_small or not moved else moved
        seen.add((parents, together))
    return best.after(problem.rounds, settled=False)


def _round(
    problem: Problem, now: State, costs: Mapping[int, float], hints: Hints, moving: set[int] | None
) -> tuple[Parents, Parents]:
    """Return parents of every node under the present kernels, and the earlier roots that it is drawn with.

    Nodes that are not among the ``moving`` stay as they are. Where the order is open all choose together, so that
    no cycle arises, and no roots are drawn together.
    """
    if problem.is_open:
        return acyclic_parents(problem, now.groups, now.parents, costs), now.together

    offered = (*now.groups, *(_unused_implied(problem, now.groups) if moving is None else ()))

    def chosen(child: int) -> tuple[float, Family] | None:
        if moving is not None and child not in moving:
            return None
        return choose(problem, offered, costs, child, (now.parents[child], *hints[child]), moving is None)

    nodes = range(problem.n_nodes)
    choices = spread(told(chosen, "search", "looks"), nodes, parallel=not problem.is_small)
    if not now.laws:
        parents = [now.parents[child] if one is None else one[1] for child, one in enumerate(choices)]
        return tuple(parents), ((),) * problem.n_nodes
    found, together, open_blocks = list(now.parents), list(now.together), OpenBlocks(problem)
    for child, choice in enumerate(choices):
        blocks = open_blocks.reach(child)
        if choice is not None or (together[child] and together[child] not in blocks):
            choice = choice or choose(problem, now.groups, costs, child, (found[child], *hints[child]), False)
            found[child], together[child] = _drawn_or_not(problem, now, costs, child, choice, blocks)
        open_blocks.add(child, found[child], together[child])
    return tuple(found), tuple(together)


def _drawn_or_not(
    problem: Problem,
    now: State,
    costs: Mapping[int, float],
    child: int,
    choice: tuple[float, Family],
    blocks: Sequence[Block],
) -> tuple[Family, Block]:
    """Return the parents that were chosen, or, if that explains more, none and roots to be drawn with."""
    if 0 in problem.degrees_of(child):
        found = best_block(problem, now.laws, child, blocks)
        said = costs.get(0, 0.0) if child in problem.free else 0.0
        margin = 0.0 if choice[1] else problem.indifference  # where all fits are the same, no edge is simplest
        if found is not None and found[0] - said > choice[0] + margin:
            return (), found[1]
    return choice[1], ()


def choose(
    problem: Problem,
    groups: Sequence[Group],
    costs: Mapping[int, float],
    child: int,
    starts: Sequence[Family],
    thorough: bool,
) -> tuple[float, Family]:
    """Return the best parents of a child under the present kernels, or none, and what they are worth."""
    degrees = problem.degrees_of(child)
    paid = costs if child in problem.free else {}
    found: list[tuple[float, Family]] = []
    if 0 in degrees:
        alone = max(-root_price(problem, child), root_gain(problem, groups, child))
        found.append((alone - paid.get(0, 0.0), ()))
    for group in kernels_of(problem, groups, child):
        if group.n_parents in degrees:
            parents = best_tuple(problem, group, child, starts, thorough=thorough)
            if parents is not None:
                worth = worth_under(problem, group, child, parents)
                found.append((worth - paid.get(len(parents), 0.0), parents))
    if not found:  # no kernel fits the alphabets of the candidates: the first start that is long enough, if any
        return 0.0, next((start for start in starts if len(start) in degrees), starts[0])
    return max(found, key=lambda one: one[0])


def kernels_of(problem: Problem, groups: Iterable[Group], child: int) -> list[Group]:
    """Return the kernels that are for the label and the alphabet of a child; known ones even if nobody has them."""
    label, alphabet = problem.labels[child], problem.counts.alphabets[child]
    found = [g for g in groups if g.n_parents and g.key[0] == label and g.key[2] == alphabet]
    missing = {*problem.known} - {0, *(g.n_parents for g in found)}
    return [*found, *(known_group(problem, degree) for degree in sorted(missing))]


def known_group(problem: Problem, degree: int) -> Group:
    """Return a known kernel that no node follows yet."""
    table, error = problem.known[degree], _FIRST_ERROR if problem.error is None else problem.error
    made = make_group(problem, {0: (0,) * degree}, np.zeros(table.shape))  # all columns have one alphabet
    return replace(made, families={}, error=error)
