"""Kernel classes: how many kernels there are, who follows which, and the parents under them, all from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgmi.search.alternate import State, pools_of
from kgmi.search.groups import Family, Groups, Name, groups_from
from kgmi.search.own import ParentSet
from kgmi.search.partition import groups_cost
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, fit_of, key_of
from kgmi.search.reassign import Chooser
from kgmi.search.regroup import merged, split
from kgmi.search.resize import resized
from kgmi.types import Parents

__all__ = ["Classified", "classify", "same_classes", "with_classes"]

_MOST_ROUNDS = 10
_LONG_ROUNDS = 2  # where there are many nodes
_MANY_NODES = 60
_START_SIZES = 2  # sizes of parent sets, the smallest, that all nodes start with


@dataclass(frozen=True, eq=False)
class Classified:
    """A partition of the nodes into classes, with their parents.

    Attributes
    ----------
    groups
        The nodes with parents, by kernel.
    score
        Penalised gain, the partition paid for.
    rounds, settled
        Rounds that led here, and whether the last one changed nothing.
    """

    groups: Groups
    score: float
    rounds: int = 0
    settled: bool = True

    @property
    def kind(self) -> Literal["shared", "classes", "node"]:
        """One kernel for all nodes of an in-degree and alphabets, one for each node, or something in between."""
        kernels = self.groups.kernels
        if len({group.shape for group in kernels}) == len(kernels):
            return "shared"
        return "node" if all(group.size == 1 for group in kernels) else "classes"


def classify(
    plan: Plan, sets: list[list[ParentSet | None]], shared: Parents, alone: Parents, *, thorough: bool
) -> Classified:
    """The shortest description with any number of kernels, from both limits and from parents for everybody.

    Parameters
    ----------
    plan, sets
        Of the search, and for every node its best parent set of every size with a kernel of its own.
    shared, alone
        The best graphs with one kernel for all, and with one for each node.
    thorough
        Whether both limits are looked at however many nodes there are; else, of many, the neighbourhood of the
        better one.
    """
    few = plan.observed.n_nodes <= _MANY_NODES
    chooser = Chooser(plan, sets, few)
    starts = [
        _by_key(plan, shared, (0,) * plan.observed.n_nodes),
        groups_from(plan, [{child: ps} for child, ps in enumerate(alone) if ps]),
    ]
    if few:
        starts += _everybody(plan, sets, alone)
    elif not thorough:
        starts = [max(starts, key=lambda limit: _scored(plan, limit).score)]
    most, seen = _MOST_ROUNDS if few else _LONG_ROUNDS, set[Name]()
    found = [one for start in starts for one in _improved(chooser, start, most, seen, quick=not (few or thorough))]
    # Sums in another order differ in their last digits.
    return max(found, key=lambda one: (round(one.score, 6), one.settled, one.rounds))


def _everybody(plan: Plan, sets: list[list[ParentSet | None]], alone: Parents) -> Iterator[Groups]:
    """All nodes with parents, as many each, even where nobody could pay for them alone."""
    for size in [degree for degree in plan.degrees if degree > 0][:_START_SIZES]:
        families = []
        for child, by_size in enumerate(sets):
            one = by_size[size] if size in plan.degrees_of(child) and size < len(by_size) else None
            families.append({child: alone[child] if one is None else one.parents})
        yield groups_from(plan, [family for family in families if any(family.values())])


def _by_key(plan: Plan, parents: Parents, labels: Sequence[int]) -> Groups:
    """One group for all nodes of a label, in-degree and alphabets."""
    families: dict[Key, dict[int, Family]] = {}
    for child, ps in enumerate(parents):
        if ps:
            families.setdefault(key_of(plan.observed, labels, ps, child), {})[child] = ps
    return groups_from(plan, families.values())


def _improved(chooser: Chooser, start: Groups, most: int, seen: set[Name], *, quick: bool) -> Iterator[Classified]:
    """The groups on the way from a start: joined and split, nodes and whole groups moved, until nothing helps.

    Where the way meets one that was ``seen`` before, the rest of it is known. A ``quick`` one ends where no groups
    can be joined or split, as a look at all of many nodes takes long.
    """
    plan = chooser.plan
    yield _scored(plan, start)
    groups = split(plan, merged(plan, start))
    if quick and len(groups.kernels) == len(start.kernels):
        return
    yield _scored(plan, groups)
    for number in range(1, most + 1):
        if (name := groups.name) in seen:
            return
        seen.add(name)
        groups = resized(plan, chooser.swept(groups))
        groups = split(plan, merged(plan, groups))
        yield _scored(plan, groups, number, settled=groups.name == name)


def _scored(plan: Plan, groups: Groups, rounds: int = 0, *, settled: bool = True) -> Classified:
    score = groups.value(plan) - groups_cost(plan, groups, final=True)
    if plan.error:  # values know of no errors, which no kernel can do without
        sure = replace(plan, error=0.0)
        score += sum(fit_of(group.pool(plan)) - fit_of(group.estimated(sure)) for group in groups.kernels)
    return Classified(groups, score, rounds, settled)


def with_classes(plan: Plan, found: Classified) -> tuple[Plan, State]:
    """The plan with the classes as labels, from 1 in the order of their first nodes, 0 for roots; and the state."""
    kernels = sorted(found.groups.kernels, key=lambda group: min(group.families))
    labels = [0] * plan.observed.n_nodes
    pools: dict[Key, Pool] = {}
    for number, group in enumerate(kernels, start=1):
        pools[number, group.shape[0], group.shape[1]] = group.pool(plan)
        for child in group.families:
            labels[child] = number
    parents = found.groups.parents
    roots: Mapping[int, Family] = {child: () for child, ps in enumerate(parents) if not ps}
    pools |= pools_of(plan, roots)
    together: Parents = ((),) * len(parents)
    state = State(parents, together, pools, found.score, found.rounds, found.settled)
    return replace(plan, labels=tuple(labels)), state


def same_classes(plan: Plan, parents: Parents, was: State) -> tuple[Plan, State]:
    """Plan and state with other parents for some nodes, which leave their class where its kernel does not fit."""
    groups = _by_key(plan, parents, plan.labels)
    base = replace(plan, labels=(0,) * len(parents))
    return with_classes(base, replace(_scored(base, groups), rounds=was.rounds, settled=was.settled))
