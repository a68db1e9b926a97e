"""Every node in turn chooses its group and its parents again: any group, a kernel of its own, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.memory import Remembered
from kgmi.progress import tick
from kgmi.search.groups import Family, Group, Groups, family_part, group_of, joined_by, left_by
from kgmi.search.own import ParentSet
from kgmi.search.partition import groups_cost
from kgmi.search.plan import Plan
from kgmi.search.tuples import best_tuple

__all__ = ["Chooser"]

_MOST_GROUPS = 4  # that a node looks at where there are many nodes
_LEAST = 1e-9  # nats: less is rounding


@dataclass(frozen=True, eq=False)
class Chooser:
    """What the nodes choose with.

    Attributes
    ----------
    plan
        Of the search.
    sets
        For every node its best parent set of every size, with a kernel of its own.
    thorough
        Whether nodes look at all groups; else at the few that suit their own sets best.
    """

    plan: Plan
    sets: list[list[ParentSet | None]]
    thorough: bool
    # Groups that a node made by leaving one, joining one, or by itself: rounds come back to most of them.
    _made: Remembered[tuple[Group | None, int, Family | None], Group] = field(
        default_factory=Remembered, repr=False
    )

    def swept(self, groups: Groups) -> Groups:
        """The groups after every node has chosen once, each by what the others do at that time."""
        for child in range(groups.n_nodes):
            groups = self._chosen(groups, child)
            tick("search", "looks")
        return groups

    def _chosen(self, groups: Groups, child: int) -> Groups:
        """The groups after the best change of one node; the same where none helps."""
        plan = self.plan
        group = groups.group_of[child]
        rest = groups.swapped([group], [self._without(group, child)] if group.size > 1 else [])
        before = [len(ps) for node, ps in enumerate(groups.parents) if node != child]
        price = self._degree_costs(child, before)
        values = sum(one.value for one in rest.members)
        now = sum(one.value for one in groups.members) - values + family_part(plan, child, group.families[child])
        now -= price.get(len(group.shape[0]), 0.0) + groups_cost(plan, groups, final=False)
        best, chosen = now + _LEAST, groups
        for old, new in self._options(rest, child):
            made = rest.swapped(old, [new])
            worth = new.value - sum(one.value for one in old) + family_part(plan, child, new.families[child])
            worth -= price.get(len(new.shape[0]), 0.0) + groups_cost(plan, made, final=False)
            if worth > best:
                best, chosen = worth, made
        return chosen

    def _alone(self, child: int, parents: Family) -> Group:
        return self._once((None, child, parents), lambda: group_of(self.plan, {child: parents}))

    def _without(self, group: Group, child: int) -> Group:
        return self._once((group, child, None), lambda: left_by(self.plan, group, child))

    def _with(self, group: Group, child: int, parents: Family) -> Group:
        return self._once((group, child, parents), lambda: joined_by(self.plan, group, child, parents))

    def _once(self, key: tuple[Group | None, int, Family | None], make: Callable[[], Group]) -> Group:
        known = self._made.get(key)
        if known is not None:
            return known
        made = make()
        return self._made.keep(key, made, made.counts.nbytes)

    def _degree_costs(self, child: int, others: list[int]) -> dict[int, float]:
        """What saying the in-degree of one node costs, given those of the others (without that node)."""
        if child not in self.plan.free:
            return {}
        return self.plan.degree_costs([*others[:child], -1, *others[child:]])

    def _options(self, rest: Groups, child: int) -> list[tuple[list[Group], Group]]:
        """(group that it joins, if any; the group with it) for everything that the node can do."""
        degrees = self.plan.degrees_of(child)
        found: list[tuple[list[Group], Group]] = []
        for degree in degrees:
            one = self.sets[child][degree] if degree < len(self.sets[child]) else None
            if one is not None:
                found.append(([], self._alone(child, self._inside(one.parents))))
        for group in self._suitable(rest, child, degrees):
            parents = self._offer(group, child)
            if parents is not None:
                found.append(([group], self._with(group, child, parents)))
        return found

    def _suitable(self, rest: Groups, child: int, degrees: list[int]) -> list[Group]:
        """Groups that the node can join; where there are many nodes, those that suit its own best sets most."""
        alphabet = self.plan.observed.alphabets[child]
        open_to = [g for g in rest.members if g.shape[1] == alphabet and len(g.shape[0]) in degrees]
        if self.thorough:
            return open_to
        several = [group for group in open_to if group.size > 1 and group.shape[0]]
        return sorted(several, key=lambda group: -self._promise(group, child))[:_MOST_GROUPS]

    def _promise(self, group: Group, child: int) -> float:
        one = self.sets[child][len(group.shape[0])]
        if one is None:
            return -np.inf
        parents = self._inside(one.parents)
        if tuple(self.plan.observed.alphabets[p] for p in parents) != group.shape[0]:
            return -np.inf
        gains = gain_table(self.plan.observed, child, group.pool(self.plan).seen)
        return family_gain(self.plan.family(child, parents), gains) - self.plan.choice_cost(child, len(parents))

    def _offer(self, group: Group, child: int) -> Family | None:
        """The parents that the node would have under the kernel of a group."""
        if not group.shape[0]:
            return ()
        if child not in group.offers:
            hints = [one.parents for one in self.sets[child][1:] if one is not None]
            pool = group.pool(self.plan)
            key = (0, *group.shape)
            found = best_tuple(self.plan, key, pool, child, hints, thorough=self.plan.is_small)
            group.offers[child] = None if found is None else found.parents
        return group.offers[child]

    def _inside(self, parents: tuple[int, ...]) -> Family:
        return tuple(sorted(parents, key=lambda p: (self.plan.observed.alphabets[p], p)))
