"""Groups joined and taken apart, every node with the parents that it has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.search.groups import Family, Group, Groups, group_of
from kgmi.search.partition import partition_cost
from kgmi.search.plan import Plan
from kgmi.search.values import aligned, table_values, turns
from kgmi.types import Bools, Floats

__all__ = ["joined", "merged", "split"]

_MOST_SEEDS = 6  # members from which a part of a group is grown
_SPLIT_ROUNDS = 5
_MOST_CELLS = 5_000_000  # of tables that are looked at together
_LEAST = 1e-9  # nats: less is rounding


def merged(plan: Plan, groups: Groups) -> Groups:
    """Join the two groups that gain most by it, roles aligned, as long as any do."""
    by_shape: dict[tuple[tuple[int, ...], int], list[Group]] = {}
    for group in groups.members:
        by_shape.setdefault(group.shape, []).append(group)
    made = [one for alike in by_shape.values() for one in _agglomerated(plan, alike)]
    return Groups(groups.n_nodes, tuple(made))


def _agglomerated(plan: Plan, alike: list[Group]) -> list[Group]:
    """Groups of one shape joined two by two."""
    groups: list[Group | None] = list(alike)
    gains = np.full((len(groups), len(groups)), -np.inf)
    for place in range(1, len(groups)):
        gains[place, :place] = _gains(plan, groups, place, range(place))
    while len(groups) > 1:
        total = gains + _saved_words(plan, groups)
        one, other = divmod(int(total.argmax()), len(groups))
        if total[one, other] <= _LEAST:
            break
        first, second = groups[one], groups[other]
        assert first is not None
        assert second is not None
        groups[one], groups[other] = joined(plan, first, second), None
        gains[other], gains[:, other] = -np.inf, -np.inf
        left = [place for place, group in enumerate(groups) if group is not None and place != one]
        found = _gains(plan, groups, one, left)
        for place, gain in zip(left, found, strict=True):
            gains[max(one, place), min(one, place)] = gain
    return [group for group in groups if group is not None]


def _gains(plan: Plan, groups: Sequence[Group | None], place: int, others: Sequence[int]) -> Floats:
    """What joining one group with each of the others is worth, the roles of its parents as suit them best."""
    one = groups[place]
    rest = [group for group in (groups[other] for other in others) if group is not None]
    if one is None or not rest:
        return np.full(len(others), -np.inf)
    orders = turns(one.shape[0])
    turned = np.stack([one.counts.transpose(*order, one.counts.ndim - 1) for order in orders])
    at_once = max(1, _MOST_CELLS // turned.size)
    best = [_best_values(plan, one, turned, rest[at : at + at_once]) for at in range(0, len(rest), at_once)]
    return np.asarray(np.concatenate(best) - one.value - np.array([group.value for group in rest]))


def _best_values(plan: Plan, one: Group, turned: Floats, others: Sequence[Group]) -> Floats:
    """What each of the others is worth with one group added, in the best of its turns [order, parents …, child]."""
    tables = np.stack([group.counts for group in others])[:, None] + turned[None]
    sizes = np.array([group.size + one.size for group in others])
    flat = tables.reshape(-1, *one.counts.shape)
    values = table_values(plan.price, flat, np.repeat(sizes, len(turned)), one.shape[0])
    return np.asarray(values.reshape(len(others), len(turned)).max(axis=1))


def _saved_words(plan: Plan, groups: Sequence[Group | None]) -> Floats:
    """[group, other]: what joining them saves in saying who shares a kernel; less than nothing where it costs."""
    if plan.price is None:
        return np.full((len(groups), len(groups)), plan.indifference)
    sizes = [0 if group is None else group.size for group in groups]
    here = [size for size in sizes if size]
    now = partition_cost(here)
    different, place = np.unique(sizes, return_inverse=True)
    saved = np.zeros((len(different), len(different)))
    for row, one in enumerate(different.tolist()):
        for column, other in enumerate(different.tolist()):
            if one and other and here.count(one) > (one == other):
                left = list(here)
                left.remove(one)
                left.remove(other)
                saved[row, column] = now - partition_cost([*left, one + other])
    return np.asarray(saved[np.ix_(place, place)])


def joined(plan: Plan, one: Group, other: Group) -> Group:
    """Both groups as one, the parents of the smaller in the roles that suit it best."""
    small, large = sorted((one, other), key=lambda group: group.size)
    order = aligned(large.counts, small.counts, turns(large.shape[0]))
    families = {child: tuple(ps[place] for place in order) for child, ps in small.families.items()}
    return group_of(plan, {**large.families, **families})


def split(plan: Plan, groups: Groups) -> Groups:
    """Take apart the groups that are shorter to describe as two, as long as there are any."""
    waiting: list[Group] = list(groups.members)
    done: list[Group] = []
    while waiting:
        group = waiting.pop()
        others = [one.size for one in (*waiting, *done) if one.shape == group.shape]
        parts = _parted(plan, group, others) if group.size > 1 else None
        if parts is None:
            done.append(group)
        else:
            waiting.extend(parts)
    return Groups(groups.n_nodes, tuple(done))


def _parted(plan: Plan, group: Group, others: Sequence[int]) -> tuple[Group, Group] | None:
    """The two parts that a group is best taken apart into; None where it is better as it is.

    ``others`` are the sizes of the other groups of its shape.
    """
    children = list(group.families)
    tables = np.stack([plan.family(child, group.families[child]) for child in children])
    strange = np.array(
        [_fit(table, table) - _fit(table, group.counts) for table in tables]
    )  # how much more each would gain by a kernel of its own
    best, parts = _LEAST, None
    for seed in np.argsort(-strange, kind="stable")[:_MOST_SEEDS].tolist():
        inside = _grown(tables, seed)
        if not inside.any() or inside.all():
            continue
        found = _groups_of(plan, group, children, inside)
        gain = found[0].value + found[1].value - group.value - plan.indifference
        if plan.price is not None:
            gain += partition_cost([*others, group.size]) - partition_cost([*others, found[0].size, found[1].size])
        if gain > best:
            best, parts = gain, found
    return parts


def _groups_of(plan: Plan, group: Group, children: list[int], inside: Bools) -> tuple[Group, Group]:
    sides: tuple[dict[int, Family], dict[int, Family]] = ({}, {})
    for child, within in zip(children, inside.tolist(), strict=True):
        sides[within][child] = group.families[child]
    return group_of(plan, sides[0]), group_of(plan, sides[1])


def _grown(tables: Floats, seed: int) -> Bools:
    """Which tables [member, parents …, child] go with that of one member rather than with the others."""
    inside = np.zeros(len(tables), dtype=bool)
    inside[seed] = True
    for _ in range(_SPLIT_ROUNDS):
        within, without = _log_kernel(tables[inside].sum(axis=0)), _log_kernel(tables[~inside].sum(axis=0))
        axes = tuple(range(1, tables.ndim))
        found = (tables * (within - without)).sum(axis=axes) > 0
        found[seed] = True
        if (found == inside).all() or found.all():
            break
        inside = found
    return inside


def _log_kernel(counts: Floats) -> Floats:
    """Log of the kernel, smoothed, so that nothing is impossible."""
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) + 1e-9
    table = counts + overall / overall.sum()
    return np.asarray(np.log(table / table.sum(axis=-1, keepdims=True)))


def _fit(cases: Floats, counts: Floats) -> float:
    """Log-likelihood of cases under the kernel of counts that include them."""
    seen = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, seen, out=np.ones(counts.shape), where=counts > 0)
    return float((cases * np.log(share)).sum())
