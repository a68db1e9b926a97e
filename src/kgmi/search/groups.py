"""Nodes in groups that share a kernel: any number of groups between one for all and one for each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kgmi.search.plan import Plan, gap_price
from kgmi.search.pools import Pool, make_pool
from kgmi.search.values import table_value, x_log_x
from kgmi.types import Floats, Parents

__all__ = [
    "Family",
    "Group",
    "Groups",
    "Name",
    "arranged",
    "family_part",
    "group_of",
    "groups_from",
    "joined_by",
    "left_by",
]

Family = tuple[int, ...]
"""Parents of one node in role order, sorted by alphabet."""
Name = frozenset[frozenset[tuple[int, Family]]]
"""Which nodes are together, and their parents."""


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that share one kernel.

    Attributes
    ----------
    families
        The parents of every member; their alphabets are the same for all.
    counts
        [states of the parents …, state of the child] over all members.
    value
        Fit of the best kernel less its price and that of the roles; see :func:`table_values`.
    shape
        Alphabets of the parents in role order, and of the child.
    offers
        What was found for other nodes under this kernel; kept, as rounds come back to the same groups.
    """

    families: Mapping[int, Family]
    counts: Floats
    value: float
    shape: tuple[tuple[int, ...], int]
    offers: dict[int, Family | None] = field(default_factory=dict, repr=False)
    _pools: list[Pool] = field(default_factory=list, repr=False)

    @property
    def size(self) -> int:
        """How many nodes share the kernel."""
        return len(self.families)

    def pool(self, plan: Plan) -> Pool:
        """The kernel, estimated once."""
        if not self._pools:
            self._pools.append(self.estimated(plan))
        return self._pools[0]

    def estimated(self, plan: Plan) -> Pool:
        """The kernel; of one node, the order of its parents is nothing that needs to be told."""
        return make_pool(
            self.counts,
            self.size,
            plan.price,
            smoothing=0.0 if plan.observed.is_exact else plan.smoothing,
            error=plan.error or 0.0,
            exchangeable=self.size > 1 and len(set(self.shape[0])) == 1,
        )


def group_of(plan: Plan, families: Mapping[int, Family]) -> Group:
    """The group of these families, whose parents have the same alphabets in the same order."""
    return _group(plan, families, np.add.reduce([plan.family(node, ps) for node, ps in families.items()]))


def joined_by(plan: Plan, group: Group, child: int, parents: Family) -> Group:
    """The group with one more node."""
    families = {**group.families, child: parents}
    if not _is_whole(plan):
        return group_of(plan, families)
    return _group(plan, families, group.counts + plan.family(child, parents))


def left_by(plan: Plan, group: Group, child: int) -> Group:
    """The group without one of its nodes, of which there are several."""
    families = {node: ps for node, ps in group.families.items() if node != child}
    if not _is_whole(plan):
        return group_of(plan, families)
    return _group(plan, families, group.counts - plan.family(child, group.families[child]))


def _is_whole(plan: Plan) -> bool:
    """Whether counts are whole numbers, which can be added and taken away without any rounding."""
    return plan.observed.is_whole


def _group(plan: Plan, families: Mapping[int, Family], counts: Floats) -> Group:
    child, parents = next(iter(families.items()))
    alphabets = plan.observed.alphabets
    shape = (tuple(alphabets[p] for p in parents), alphabets[child])
    if len(families) == 1 and not parents:
        value = float(x_log_x(counts).sum() - x_log_x(counts.sum())) - plan.root_cost(child)
    else:
        value = table_value(plan.price, counts, len(families), shape[0])
    return Group(families if isinstance(families, dict) else dict(families), counts, value, shape)


def arranged(plan: Plan, families: Mapping[int, Family]) -> Group:
    """The group of these families, the parents of all of them put into the order of their alphabets."""
    first = next(iter(families.values()))
    order = sorted(range(len(first)), key=lambda place: (plan.observed.alphabets[first[place]], place))
    return group_of(plan, {child: tuple(ps[place] for place in order) for child, ps in families.items()})


def family_part(plan: Plan, child: int, parents: Family) -> float:
    """What the score has of a family beside the fit of its kernel: the law it is compared with, and prices."""
    own, total = _own_fit(plan, child, parents)
    part = -own - plan.indifference * len(parents)
    if plan.observed.is_exact:
        return part
    gaps = (
        float(gap_price(plan.observed, plan.penalty, child, np.asarray(total))) if plan.observed.has_gaps else 0.0
    )
    return part - plan.choice_cost(child, len(parents)) - gaps


def _own_fit(plan: Plan, child: int, parents: Family) -> tuple[float, float]:
    """Log-likelihood of the child's own law in the cases of a family, and how many these are."""
    known = plan.observed.kept.setdefault("own fits", {})
    key = (child, *parents) if plan.observed.has_gaps else child  # without gaps the cases are always the same
    if key not in known:
        counts = plan.family(child, parents)
        own = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
        total = own.sum()
        known[key] = float(x_log_x(own).sum() - x_log_x(total)), float(total)
    found: tuple[float, float] = known[key]
    return found


@dataclass(frozen=True, eq=False)
class Groups:
    """Every node is in one group; roots too, as some of them may have one law."""

    n_nodes: int
    members: tuple[Group, ...]

    @cached_property
    def group_of(self) -> dict[int, Group]:
        """The group of every node."""
        return {child: group for group in self.members for child in group.families}

    @cached_property
    def parents(self) -> Parents:
        """Parents of every node, in role order."""
        return tuple(self.group_of[child].families[child] for child in range(self.n_nodes))

    @property
    def kernels(self) -> list[Group]:
        """The groups of nodes with parents."""
        return [group for group in self.members if group.shape[0]]

    @property
    def name(self) -> Name:
        """The same for the same groups of the same families."""
        return frozenset(frozenset(group.families.items()) for group in self.members)

    def value(self, plan: Plan) -> float:
        """The penalised gain of the graph, before the groups themselves are told."""
        parents = self.parents
        total = sum(group.value for group in self.members)
        total += sum(family_part(plan, child, ps) for child, ps in enumerate(parents))
        return total - plan.degrees_cost([len(ps) for ps in parents])

    def swapped(self, old: Iterable[Group], new: Iterable[Group]) -> Groups:
        """The same with some groups in the place of others."""
        gone = {id(group) for group in old}
        return Groups(self.n_nodes, (*(g for g in self.members if id(g) not in gone), *new))


def groups_from(plan: Plan, families: Iterable[Mapping[int, Family]]) -> Groups:
    """Groups of these families, the parents in the order of their alphabets; the other nodes are roots."""
    made, left = [], set(range(plan.observed.n_nodes))
    for one in families:
        left -= {*one}
        made.append(arranged(plan, one))
    made += [group_of(plan, {child: ()}) for child in sorted(left)]
    return Groups(plan.observed.n_nodes, tuple(made))
