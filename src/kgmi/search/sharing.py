"""Which nodes share a kernel: nodes are moved and groups joined wherever the score rises.

Every move is scored with the kernels that follow from it: a kernel that was estimated with a node speaks for the
parents that the node has, so nodes choose under the kernels of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from kgmi.memory import Remembered
from kgmi.problem import Family, Key, Problem
from kgmi.progress import tick
from kgmi.score import (
    Group,
    OpenBlocks,
    degree_costs,
    forming_cost,
    kernel_values,
    make_group,
    node_part,
)
from kgmi.search.roots import best_block
from kgmi.search.rounds import State, by_key, make_state
from kgmi.search.starts import Sets, in_alphabets
from kgmi.search.tuples import best_tuple, role_orders, worth_under
from kgmi.types import Floats, Parents

__all__ = ["Chooser", "classes", "polish"]

_MOST_NODES = 60  # of which nodes look at all groups; of more, at the few that suit their own sets best
_MANY_NODES = 200  # of more, only the better limit is a start
_MOST_ROUNDS, _LONG_ROUNDS = 10, 2
_START_SIZES = 2  # sizes of parent sets, the smallest, that all nodes start with
_MOST_GROUPS = 4  # that a node looks at where there are many nodes
_MOST_TURNS = 24  # orders of the parents that are tried: all of them up to four parents
_MOST_CELLS = 5_000_000  # of tables that are compared together
_LEAST = 1e-9  # nats: less is rounding


def polish(problem: Problem, state: State, sets: Sets) -> State:
    """Let every node choose again under the kernels of the others, as long as the score rises.

    All nodes of a key share a kernel.
    """
    chooser = Chooser(problem, sets, keyed=True)
    best = state
    for _ in range(_MOST_ROUNDS):
        before, best = best, _drawn(chooser, best)
        groups = chooser.swept(best.groups, {node for block in best.together for node in block})
        if groups is not best.groups:
            best = max(best, make_state(problem, groups, best.together), key=lambda one: one.total)
        if best.total <= before.total + _LEAST:
            break
    return state if best is state else best.after(state.rounds, settled=state.settled)


def _drawn(chooser: Chooser, state: State) -> State:
    """Return the state after nodes of few parents have become roots that are drawn with earlier ones."""
    problem = state.problem
    for child in range(problem.n_nodes) if state.laws else ():
        group = state.group_of.get(child)
        held = any(child in block for block in state.together)
        if group is None or group.n_parents >= problem.n_heads or held or 0 not in problem.degrees_of(child):
            continue
        blocks = OpenBlocks(problem)
        for node in range(child):
            blocks.reach(node)
            blocks.add(node, state.parents[node], state.together[node])
        taken = {node for later in state.together[child + 1 :] for node in later}
        open_to = [block for block in blocks.reach(child) if not taken & {*block}]
        found = best_block(problem, state.laws, child, open_to)
        parents = tuple(sorted(state.parents[child]))
        options = [{child: found[1]}] if found is not None else []
        if len(parents) > 1 and all((parent,) in open_to for parent in parents):  # roots that are drawn at once
            options.append(
                {node: (*parents, child)[:place] for place, node in enumerate((*parents, child)) if place}
            )
        for drawn in options:
            groups = state.groups
            for node in drawn:
                old = next(one for one in groups if node in one.families)
                rest = [one for one in groups if one is not old]
                groups = (*rest, *([chooser.without(old, node)] if old.size > 1 else []))
            together = tuple(drawn.get(node, block) for node, block in enumerate(state.together))
            made = make_state(problem, groups, together)
            if made.total > state.total:
                state = made
                break
    return state


def classes(problem: Problem, sets: Sets, shared: Parents, alone: Parents, *, thorough: bool) -> State:
    """Return the best graph with any number of kernels, from both limits and from parents for everybody.

    Parameters
    ----------
    problem, sets
        What is searched, and for every node its best parent set of every size with a kernel of its own.
    shared, alone
        The best graphs with one kernel for all, and with one for each node.
    thorough
        Whether both limits are looked at however many nodes there are; else, of very many, the better one.
    """
    few = problem.n_nodes <= _MOST_NODES
    chooser = Chooser(problem, sets, keyed=False)
    every = dict(enumerate(shared))
    starts = [
        tuple(make_group(problem, one) for one in by_key(problem, every).values()),
        tuple(_alone(problem, child, parents) for child, parents in enumerate(alone)),
    ]
    if few:
        starts += _everybody(problem, sets, alone)
    elif problem.n_nodes > _MANY_NODES and not thorough:
        starts = [max(starts, key=lambda groups: make_state(problem, groups).total)]
    seen: set[frozenset[frozenset[tuple[int, Family]]]] = set()
    found = [
        one
        for start in starts
        for one in _improved(
            chooser, start, _MOST_ROUNDS if few else _LONG_ROUNDS, seen, quick=not (few or thorough)
        )
    ]
    return max(found, key=lambda one: (round(one.total, 6), one.settled, one.rounds))


def _alone(problem: Problem, child: int, parents: Family) -> Group:
    return make_group(problem, {child: in_alphabets(problem, parents)})


def _everybody(problem: Problem, sets: Sets, alone: Parents) -> Iterator[tuple[Group, ...]]:
    """Yield all nodes with as many parents each, even where nobody could pay for them alone."""
    for size in [degree for degree in problem.degrees if degree > 0][:_START_SIZES]:
        groups = []
        for child, by_size in enumerate(sets):
            one = by_size[size] if size in problem.degrees_of(child) and size < len(by_size) else None
            groups.append(_alone(problem, child, alone[child] if one is None else one.parents))
        yield tuple(groups)


def _improved(
    chooser: Chooser,
    start: tuple[Group, ...],
    most: int,
    seen: set[frozenset[frozenset[tuple[int, Family]]]],
    *,
    quick: bool,
) -> Iterator[State]:
    """Yield states on the way from a start: groups joined and nodes moved, until nothing helps.

    Where the way meets one that was ``seen`` before, the rest of it is known. A ``quick`` one ends where no groups
    can be joined, as a look at all of many nodes takes long.
    """
    problem = chooser.problem
    yield make_state(problem, start)
    groups = _merged(problem, start)
    n_kernels = sum(1 for one in start if one.n_parents)
    if quick and sum(1 for one in groups if one.n_parents) == n_kernels:
        return
    yield make_state(problem, groups)
    for number in range(1, most + 1):
        name = frozenset(frozenset(one.families.items()) for one in groups)
        if name in seen:
            return
        seen.add(name)
        groups = _merged(problem, chooser.swept(groups))
        settled = name == frozenset(frozenset(one.families.items()) for one in groups)
        yield make_state(problem, groups).after(number, settled=settled)


# ---- nodes ------------------------------------------------------------------------------------------------------


class Chooser:
    """Moves single nodes: each to any group, to a kernel of its own, or to no parents.

    Parameters
    ----------
    problem, sets
        See :func:`classes`.
    keyed
        Whether all nodes of a key share a kernel; else there may be any number of groups.
    """

    def __init__(self, problem: Problem, sets: Sets, *, keyed: bool) -> None:
        self.problem, self.sets, self.keyed = problem, sets, keyed
        self._thorough = keyed or problem.n_nodes <= _MOST_NODES
        # Groups that a node made, and parents that it would have in a group: rounds come back to most of them.
        self._made: Remembered[tuple[Group | None, int, Family | None], Group] = Remembered()
        self._offers: Remembered[tuple[Group, int], Family | None] = Remembered()

    def swept(self, groups: tuple[Group, ...], held: Collection[int] = ()) -> tuple[Group, ...]:
        """Return the groups after every node but some has chosen once; the same ones where none has moved."""
        for child in range(self.problem.n_nodes):
            group = next((one for one in groups if child in one.families), None)
            if group is not None and child not in held:
                groups = self._chosen(groups, group, child)
            tick("search", "looks")
        return groups

    def _chosen(self, groups: tuple[Group, ...], group: Group, child: int) -> tuple[Group, ...]:
        """Return the groups after the best change of one node."""
        problem = self.problem
        rest = [one for one in groups if one is not group]
        degrees = [len(parents) for one in rest for parents in one.families.values()]
        if group.size > 1:
            left = self.without(group, child)
            rest.append(left)
            degrees += [group.n_parents] * left.size
        prices = self._degree_prices(child, rest)
        value_of_rest = sum(one.value for one in rest)
        now = sum(one.value for one in groups) - value_of_rest + node_part(problem, child, group.families[child])
        best = now - prices.get(group.n_parents, 0.0) - self._sharing(rest, group.key, group.size - 1) + _LEAST
        chosen: tuple[Group | None, Group] | None = None
        for joined, parents in self._options(rest, child):
            made = self._with(joined, child, parents)
            worth = made.value - (0.0 if joined is None else joined.value) + node_part(problem, child, parents)
            n_before = 0 if joined is None else joined.size
            worth -= prices.get(len(parents), 0.0) + self._sharing(rest, made.key, n_before)
            if worth > best:
                best, chosen = worth, (joined, made)
        if chosen is None:
            return groups
        return (*(one for one in rest if one is not chosen[0]), chosen[1])

    def _degree_prices(self, child: int, rest: Iterable[Group]) -> dict[int, float]:
        """Return what saying the number of parents of one node costs, given those of the others."""
        problem = self.problem
        if child not in problem.free:
            return {}
        degrees = np.zeros(problem.n_nodes, dtype=np.int64)
        for group in rest:
            degrees[[*group.families]] = group.n_parents
        degrees[child] = -1
        return degree_costs(problem, degrees.tolist())

    def _sharing(self, rest: Sequence[Group], key: Key, n_before: int) -> float:
        """Return what saying who shares kernels costs more when a node joins a group of ``n_before`` nodes."""
        if self.keyed or self.problem.is_exact:
            return self.problem.indifference * (n_before == 0)
        sizes = [one.size for one in rest if one.key == key]
        without = forming_cost(sizes, has_parents=bool(key[1]))
        if n_before:
            sizes.remove(n_before)
        return forming_cost([*sizes, n_before + 1], has_parents=bool(key[1])) - without

    def _options(self, rest: Sequence[Group], child: int) -> Iterator[tuple[Group | None, Family]]:
        """Yield the group that the node can join, None for a new one, and its parents there."""
        problem = self.problem
        degrees = problem.degrees_of(child)
        taken = {one.key for one in rest} if self.keyed else set()
        for one in self.sets[child]:
            if one is not None and len(one.parents) in degrees:
                parents = in_alphabets(problem, one.parents)
                if not parents or problem.key(child, parents) not in taken:
                    yield None, parents
        for group in self._suitable(rest, child, degrees):
            offer = self._offer(group, child)
            if offer is not None:
                yield group, offer

    def _suitable(self, rest: Sequence[Group], child: int, degrees: list[int]) -> list[Group]:
        """Return the groups that a node can join; of many, those that suit its own best sets most."""
        problem = self.problem
        mine = problem.labels[child], problem.counts.alphabets[child]
        open_to = [g for g in rest if (g.key[0], g.key[2]) == mine and g.n_parents in degrees]
        if self._thorough:
            return open_to
        several = [group for group in open_to if group.size > 1 and group.n_parents]
        return sorted(several, key=lambda group: -self._promise(group, child))[:_MOST_GROUPS]

    def _promise(self, group: Group, child: int) -> float:
        by_size = self.sets[child]
        one = by_size[group.n_parents] if group.n_parents < len(by_size) else None
        if one is None:
            return -np.inf
        orders = role_orders(self.problem, in_alphabets(self.problem, one.parents), group.key[1])
        return worth_under(self.problem, group, child, orders[0]) if orders else -np.inf

    def _offer(self, group: Group, child: int) -> Family | None:
        """Return the parents that a node would have under the kernel of a group."""
        if not group.n_parents:
            return ()
        if (group, child) not in self._offers:
            hints = [one.parents for one in self.sets[child][1:] if one is not None]
            found = best_tuple(self.problem, group, child, hints, thorough=self.problem.is_small)
            self._offers.keep((group, child), found, group.counts.nbytes)
        return self._offers[group, child]

    def without(self, group: Group, child: int) -> Group:
        """Return a group without one of its nodes."""
        return self._once((group, child, None), lambda: _left_by(self.problem, group, child))

    def _with(self, group: Group | None, child: int, parents: Family) -> Group:
        return self._once((group, child, parents), lambda: _joined_by(self.problem, group, child, parents))

    def _once(self, key: tuple[Group | None, int, Family | None], make: Callable[[], Group]) -> Group:
        known = self._made.get(key)
        if known is not None:
            return known
        made = make()
        return self._made.keep(key, made, made.counts.nbytes)


def _left_by(problem: Problem, group: Group, child: int) -> Group:
    """Return the group without one of its nodes, of which there are several."""
    families = {node: ps for node, ps in group.families.items() if node != child}
    exact_sums = problem.counts.is_whole and not group.symmetric
    counts = group.counts - problem.family(child, group.families[child]) if exact_sums else None
    return _remade(problem, group, families, counts)


def _joined_by(problem: Problem, group: Group | None, child: int, parents: Family) -> Group:
    """Return the group with one more node."""
    if group is None:
        return make_group(problem, {child: parents})
    exact_sums = problem.counts.is_whole and not group.symmetric
    counts = group.counts + problem.family(child, parents) if exact_sums else None
    return _remade(problem, group, {**group.families, child: parents}, counts)


def _remade(problem: Problem, group: Group, families: Mapping[int, Family], counts: Floats | None) -> Group:
    if group.implied:
        return make_group(problem, families, counts, implied=group.given, price=group.price)
    return make_group(problem, families, counts)


# ---- groups -----------------------------------------------------------------------------------------------------


def _merged(problem: Problem, groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Join the two groups that gain most by it, roles aligned, as long as any do."""
    alike: dict[Key, list[Group]] = {}
    for group in groups:
        alike.setdefault(group.key, []).append(group)
    return tuple(one for some in alike.values() for one in _agglomerated(problem, some))


def _agglomerated(problem: Problem, alike: list[Group]) -> list[Group]:
    groups: list[Group | None] = list(alike)
    gains = np.full((len(groups), len(groups)), -np.inf)
    for place in range(1, len(groups)):
        gains[place, :place] = _gains(problem, groups, place, range(place))
    while len(groups) > 1:
        total = gains + _saved(problem, groups)
        one, other = divmod(int(total.argmax()), len(groups))
        if total[one, other] <= _LEAST:
            break
        first, second = groups[one], groups[other]
        assert first is not None
        assert second is not None
        made = _joined(problem, first, second)
        if made.value - first.value - second.value < gains[one, other] - 1.0:  # the guess was too good
            gains[one, other] = made.value - first.value - second.value
            continue
        groups[one], groups[other] = made, None
        gains[other], gains[:, other] = -np.inf, -np.inf
        left = [place for place, group in enumerate(groups) if group is not None and place != one]
        for place, gain in zip(left, _gains(problem, groups, one, left), strict=True):
            gains[max(one, place), min(one, place)] = gain
    return [group for group in groups if group is not None]


def _gains(problem: Problem, groups: Sequence[Group | None], place: int, others: Sequence[int]) -> Floats:
    """Return what joining one group with each of the others is worth, with its parents in the best roles."""
    one = groups[place]
    rest = [group for group in (groups[other] for other in others) if group is not None]
    if one is None or not rest:
        return np.full(len(others), -np.inf)
    turned = np.stack([one.counts.transpose(*order, one.n_parents) for order in _turns(one.key[1])])
    at_once, best = max(1, _MOST_CELLS // turned.size), []
    for at in range(0, len(rest), at_once):
        some = rest[at : at + at_once]
        tables = np.stack([group.counts for group in some])[:, None] + turned[None]
        sizes = np.repeat([group.size + one.size for group in some], len(turned))
        values = kernel_values(problem, tables.reshape(-1, *one.counts.shape), sizes, one)
        best.append(values.reshape(len(some), len(turned)).max(axis=1))
    return np.asarray(np.concatenate(best) - one.value - np.array([group.value for group in rest]))


def _turns(alphabets: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return orders of the places of parents that leave their alphabets where they are; of many, the first ones."""
    found: list[tuple[int, ...]] = [()]
    for alphabet in alphabets:
        places = [place for place, one in enumerate(alphabets) if one == alphabet]
        found = [(*order, place) for order in found for place in places if place not in order][: 2 * _MOST_TURNS]
    return found[:_MOST_TURNS]


def _saved(problem: Problem, groups: Sequence[Group | None]) -> Floats:
    """Return [group, other]: what joining them saves in saying who shares a kernel."""
    if problem.is_exact:
        return np.full((len(groups), len(groups)), problem.indifference)
    sizes = [0 if group is None else group.size for group in groups]
    here = [size for size in sizes if size]
    has_parents = any(group is not None and group.n_parents for group in groups)
    now = forming_cost(here, has_parents=has_parents)
    different, place = np.unique(sizes, return_inverse=True)
    saved = np.zeros((len(different), len(different)))
    for row, one in enumerate(different.tolist()):
        for column, other in enumerate(different.tolist()):
            if one and other and here.count(one) > (one == other):
                left = list(here)
                left.remove(one)
                left.remove(other)
                saved[row, column] = now - forming_cost([*left, one + other], has_parents=has_parents)
    return np.asarray(saved[np.ix_(place, place)])


def _joined(problem: Problem, one: Group, other: Group) -> Group:
    """Return both groups as one, the parents of the smaller in the roles that suit it best."""
    small, large = sorted((one, other), key=lambda group: group.size)
    options = []
    for order in _turns(large.key[1]):
        turned = {child: tuple(ps[place] for place in order) for child, ps in small.families.items()}
        options.append(make_group(problem, {**large.families, **turned}))
    return max(options, key=lambda group: group.value)
