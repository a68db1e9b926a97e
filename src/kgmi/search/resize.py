"""All members of a group take one parent more, or one less, together.

A larger set of parents has more laws to pay for. One node alone often cannot; several that share the kernel can,
but only if all of them move at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kgmi.search.groups import Family, Group, Groups, arranged, family_part, group_of
from kgmi.search.own import OwnSearch
from kgmi.search.partition import groups_cost
from kgmi.search.plan import Plan
from kgmi.types import Floats

__all__ = ["resized"]

_MOST_SEEDS = 3  # members whose next parent the others follow
_MOST_EXTRAS = 2  # next parents of each that are tried
_FOLLOWING_ROUNDS = 3
_LEAST = 1e-9  # nats: less is rounding


def resized(plan: Plan, groups: Groups) -> Groups:
    """Every group in turn with one parent more or less for all its members, where that is shorter."""
    search = OwnSearch(plan.observed, plan.penalty, 1)
    for group in groups.kernels:
        now = _worth(plan, groups, [group])
        best, chosen = now + _LEAST, groups
        for parts in (*_smaller(plan, group), *_larger(plan, search, group)):
            made = groups.swapped([group], parts)
            worth = _worth(plan, made, parts)
            if worth > best:
                best, chosen = worth, made
        groups = chosen
    return groups


def _worth(plan: Plan, groups: Groups, parts: list[Group]) -> float:
    """What the score has of some groups, and of in-degrees and partition as a whole."""
    total = sum(part.value for part in parts)
    total += sum(family_part(plan, child, ps) for part in parts for child, ps in part.families.items())
    return total - plan.degrees_cost([len(ps) for ps in groups.parents]) - groups_cost(plan, groups, final=False)


def _smaller(plan: Plan, group: Group) -> Iterator[list[Group]]:
    """The group without the parents of one role."""
    n_parents = len(group.shape[0])
    for role in range(n_parents):
        families = {child: (*ps[:role], *ps[role + 1 :]) for child, ps in group.families.items()}
        if all(_allowed(plan, child, ps) for child, ps in families.items()):
            yield [group_of(plan, families)]


def _larger(plan: Plan, search: OwnSearch, group: Group) -> Iterator[list[Group]]:
    """The group with one parent more for every member that may have it; the others stay behind."""
    n_parents = len(group.shape[0])
    able = [child for child in group.families if n_parents + 1 in plan.degrees_of(child)]
    if len(able) < 2 or n_parents >= plan.n_heads:
        return
    behind = {child: ps for child, ps in group.families.items() if child not in able}
    tried: set[tuple[tuple[int, Family], ...]] = set()
    for seed in able[:_MOST_SEEDS]:
        parents = group.families[seed]
        extras, values = search.extended(seed, parents, plan.candidates.of(seed))
        for place in np.argsort(-values, kind="stable")[:_MOST_EXTRAS].tolist():
            families = _followed(plan, group, able, seed, int(extras[place]))
            name = tuple(sorted(families.items()))
            if len(families) == len(able) and name not in tried:
                tried.add(name)
                yield [arranged(plan, families), *([group_of(plan, behind)] if behind else [])]


def _followed(plan: Plan, group: Group, able: list[int], seed: int, extra: int) -> dict[int, Family]:
    """Every member with one more parent, the last: what fits the kernel that one of them has with its own best."""
    alphabet, last = plan.observed.alphabets[extra], len(group.shape[0])
    families = {seed: (*group.families[seed], extra)}
    for _ in range(_FOLLOWING_ROUNDS):
        before = dict(families)
        kernel = _backed_off(group.counts, np.stack([plan.family(c, ps) for c, ps in families.items()]).sum(axis=0))
        for child in able:
            now = group.families[child]
            options = [
                c
                for c in plan.candidates.of(child).tolist()
                if plan.observed.alphabets[c] == alphabet and c not in now
            ]
            if not options:
                continue
            table = plan.guide.prepare(child, kernel)
            scores = plan.guide.head(child, table, (*now, options[0]), last, np.array(options))
            families[child] = (*now, options[int(np.argmax(scores))])
        if families == before:
            break
    return families


def _backed_off(fewer: Floats, counts: Floats) -> Floats:
    """The kernel of one parent more, [parents …, that parent, child]; where it was not seen, that of the others."""
    overall = fewer.reshape(-1, fewer.shape[-1]).sum(axis=0) + 1e-9
    base = fewer + overall / overall.sum()
    table = counts + (base / base.sum(axis=-1, keepdims=True))[..., None, :]
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def _allowed(plan: Plan, child: int, parents: Family) -> bool:
    return len(parents) in plan.degrees_of(child) and {*plan.candidates.required[child]} <= {*parents}
