"""Where a search without a kernel starts: parents by each node's own likelihood, pooled into first kernels."""

from __future__ import annotations

import numpy as np

from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.progress import told
from kgmi.search.alternate import State, pools_of, state_of
from kgmi.search.own import OwnSearch, ParentSet
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of, make_pool, role_orders
from kgmi.threads import spread
from kgmi.types import Floats, Parents

__all__ = ["first_parents", "grown", "order_inside", "own_sets", "start_state"]

_CHOOSING_ROUNDS = 5
_GROWING_ROUNDS = 3
_BEAM = 4  # sets of each size that are extended where not all are
_LEAST_SHARE = 0.25  # of the nodes make the first kernel, even where the evidence of each alone is weak
_ALL_SETS_SECONDS = 0.5  # for looking at every set of candidates with a kernel of its own


def own_sets(plan: Plan) -> list[list[ParentSet | None]]:
    """For every node its best parent set of every size, each with a kernel of its own."""
    states = max(plan.observed.sizes)
    everything = plan.search == "exhaustive" or plan.seconds * states**2 <= _ALL_SETS_SECONDS
    width = plan.observed.n_nodes ** max(plan.n_heads - 1, 1) if everything else _BEAM
    search = OwnSearch(plan.observed, plan.penalty, width)

    def best(child: int) -> list[ParentSet | None]:
        return search.best(child, plan.candidates.of(child), plan.candidates.required[child], plan.n_heads)

    nodes = range(plan.observed.n_nodes)
    return spread(told(best, "search", "looks"), nodes, parallel=not plan.is_small)


def first_parents(plan: Plan, sets: list[list[ParentSet | None]]) -> Parents:
    """The parents that each node would take by itself, among the in-degrees that are allowed.

    What an in-degree costs depends on how many nodes have it, so they choose a few times.
    """
    chosen = _own_choices(plan, sets, {})
    for _ in range(_CHOOSING_ROUNDS):
        before = chosen
        chosen = _own_choices(plan, sets, plan.degree_costs([len(ps) for ps in before]))
        if chosen == before:
            break
    return chosen


def _own_choices(plan: Plan, sets: list[list[ParentSet | None]], costs: dict[int, float]) -> Parents:
    chosen = []
    for child, by_size in enumerate(sets):
        options = []
        for degree in plan.degrees_of(child):
            one = by_size[degree] if degree < len(by_size) else None
            if one is not None:
                price = plan.choice_cost(child, degree) + plan.indifference * degree
                price += costs.get(degree, 0.0) if child in plan.free else 0.0
                options.append((one.value - price, one.parents))
        chosen.append(max(options)[1] if options else plan.candidates.required[child])
    return tuple(chosen)


def start_state(plan: Plan, sets: list[list[ParentSet | None]], number: int) -> State:
    """The ``number``-th start: kernels grown from the parents that nodes would take by themselves.

    The first takes every node's own choice. Then starts with the largest in-degree alone, from the nodes with the
    strongest evidence, take turns with starts of all in-degrees; later rounds of these have other nodes settle the
    roles of the parents.
    """
    if number == 0:
        families = [(child, parents) for child, parents in enumerate(first_parents(plan, sets)) if parents]
        families.sort(key=lambda family: -_strength(plan, sets, *family))
    else:
        top = max(plan.degrees)
        degrees = (top,) if number % 2 == 1 else tuple(d for d in plan.degrees if d > 0)
        everybody = number % 4 in (0, 3)
        families = [family for d in degrees for family in _ranked(plan, sets, d, everybody)]
    pools: dict[Key, Pool] = {}
    parents: list[tuple[int, ...]] = [()] * plan.observed.n_nodes
    for key, members in _by_key(plan, families).items():
        first = min(max(number - 1, 0) // 2, len(members) - 1)
        pools[key], oriented = grown(plan, key, [members[first], *members[:first], *members[first + 1 :]])
        for child, chosen in oriented.items():
            parents[child] = chosen
    roots = pools_of(plan, ((),) * plan.observed.n_nodes)  # at first, everybody may be one
    return state_of(plan, tuple(parents), pools | roots)


def _strength(plan: Plan, sets: list[list[ParentSet | None]], child: int, parents: tuple[int, ...]) -> float:
    one = sets[child][len(parents)]
    return -np.inf if one is None else one.value - plan.choice_cost(child, len(parents))


def _ranked(
    plan: Plan, sets: list[list[ParentSet | None]], degree: int, everybody: bool
) -> list[tuple[int, tuple[int, ...]]]:
    """(child, parents) with the strongest evidence first; the weak ones left out unless ``everybody`` counts."""
    found = []
    for child, by_size in enumerate(sets):
        one = by_size[degree] if degree < len(by_size) else None
        if one is not None and degree in plan.degrees_of(child):
            found.append((_strength(plan, sets, child, one.parents), child, one.parents))
    found.sort(key=lambda item: (-item[0], item[1]))
    strong = max(sum(value > 0 for value, _, _ in found), int(np.ceil(_LEAST_SHARE * len(found))))
    return [(child, parents) for _, child, parents in (found if everybody else found[:strong])]


def _by_key(plan: Plan, ranked: list[tuple[int, tuple[int, ...]]]) -> dict[Key, list[tuple[int, tuple[int, ...]]]]:
    groups: dict[Key, list[tuple[int, tuple[int, ...]]]] = {}
    for child, parents in ranked:
        inside = order_inside(plan, parents)
        groups.setdefault(key_of(plan.observed, plan.labels, inside, child), []).append((child, inside))
    return groups


def order_inside(plan: Plan, parents: tuple[int, ...]) -> tuple[int, ...]:
    """Parents sorted by alphabet, so that families over the same alphabets follow the same kernel."""
    return tuple(sorted(parents, key=lambda p: (plan.observed.alphabets[p], p)))


def grown(
    plan: Plan, key: Key, families: list[tuple[int, tuple[int, ...]]], *, picky: bool = False
) -> tuple[Pool, dict[int, tuple[int, ...]]]:
    """A kernel to which each family in turn is added with the roles of its parents that suit it best.

    Pooled as they come, half of the families would have their parents the wrong way round, and the mean of a
    kernel and its mirror image guides nobody. A ``picky`` kernel takes only families that it explains better than
    no parents would.
    """
    total: Floats = plan.family(families[0][0], families[0][1])
    oriented = {families[0][0]: families[0][1]}
    for _ in range(_GROWING_ROUNDS):
        before = dict(oriented)
        for child, parents in families[1:]:
            if child in oriented:
                total = total - plan.family(child, oriented.pop(child))
            gains = gain_table(plan.observed, child, _smoothed(total))
            every = role_orders(plan.observed, parents)
            orders = [o for o in every if key_of(plan.observed, plan.labels, o, child) == key]
            fits = [family_gain(plan.family(child, order), gains) for order in orders]
            best = int(np.argmax(fits))
            if not picky or fits[best] > plan.choice_cost(child, len(parents)):
                oriented[child] = orders[best]
                total = total + plan.family(child, orders[best])
        if oriented == before:
            break
    shared = len(set(key[1])) == 1
    pool = make_pool(
        total,
        len(oriented),
        plan.price,
        smoothing=0.0 if plan.observed.is_exact else plan.smoothing,
        error=plan.error or 0.0,
        exchangeable=shared,
    )
    return pool, oriented


def _smoothed(counts: Floats) -> Floats:
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) + 1e-9
    table = counts + overall / overall.sum()
    return np.asarray(table / table.sum(axis=-1, keepdims=True))
