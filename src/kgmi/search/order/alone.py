"""Kernels for each node where the order is open: sets of parents by the child's own likelihood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kgmi.progress import told
from kgmi.search.order.best import best_order, parents_in
from kgmi.search.order.choices import Choices, Offer, gather_choices, trimmed
from kgmi.search.order.offers import no_parents
from kgmi.search.own import OwnSearch, ParentSet
from kgmi.search.plan import Plan
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["OwnOffers", "choices_alone", "graph_alone", "offers_alone", "own_offers", "sets_in", "with_required"]

OwnOffers = list[list[Offer]]
"""[child][size]: sets of so many parents with their penalised gains."""

_MOST_FAMILIES = 500_000  # of all children: a matter of seconds
_BEAM = 12  # sets of one size that are extended where not all are
_CHOOSING_ROUNDS = 5


def own_offers(plan: Plan) -> OwnOffers:
    """Sets of parents of all children, each with a kernel of its own; all of them, or those that a beam meets."""
    n_nodes = plan.observed.n_nodes
    everything = n_nodes ** (plan.n_heads + 1) <= _MOST_FAMILIES
    width = n_nodes ** max(plan.n_heads - 1, 1) if everything else _BEAM
    search = OwnSearch(plan.observed, plan.penalty, width)

    def offers(child: int) -> list[Offer]:
        return _by_size(plan, search, child, everything)

    return spread(told(offers, "search", "looks"), range(n_nodes), parallel=not plan.is_small)


def _by_size(plan: Plan, search: OwnSearch, child: int, everything: bool) -> list[Offer]:
    start = tuple(sorted(plan.candidates.required[child]))
    found = [Offer(np.empty((0, size), dtype=np.int64), np.empty(0)) for size in range(plan.n_heads + 1)]
    beam = np.array([start], dtype=np.int64)
    found[len(start)] = Offer(beam, np.array([search.value(child, start)]))
    for size in range(len(start) + 1, plan.n_heads + 1):
        sets, values = search.longer(child, beam, plan.candidates.of(child))
        found[size] = Offer(sets, values, everything or size < 2)
        beam = sets[search.widest(values)]
    return found


def sets_in(offers: OwnOffers, order: Ints | None) -> list[list[ParentSet | None]]:
    """For every node its best set of every size among the nodes before it; of all sets without an order."""
    place = np.zeros(len(offers), dtype=np.int64) if order is None else np.argsort(order)
    return [
        [_best(one, place, -1 if order is None else int(place[child])) for one in by_size]
        for child, by_size in enumerate(offers)
    ]


def _best(offer: Offer, place: Ints, before: int) -> ParentSet | None:
    open_to = (place[offer.parents] < before).all(axis=1) if before >= 0 else np.ones(len(offer.worth), dtype=bool)
    if not open_to.any():
        return None
    best = int(np.where(open_to, offer.worth, -np.inf).argmax())
    return ParentSet(float(offer.worth[best]), tuple(offer.parents[best].tolist()))


def graph_alone(plan: Plan, offers: OwnOffers, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """The best graph in which every node has a kernel of its own.

    What an in-degree costs depends on how many nodes have it, so they choose a few times.
    """
    costs: Mapping[int, float] = {}
    order = np.arange(len(offers))
    parents: tuple[tuple[int, ...], ...] = ((),) * len(offers)
    for _ in range(_CHOOSING_ROUNDS):
        choices, before = choices_alone(plan, offers, costs), parents
        order = best_order(choices, order, rng)
        parents = parents_in(choices, order)
        if parents == before:
            break
        costs = plan.degree_costs([len(ps) for ps in parents])
    return parents


def choices_alone(plan: Plan, offers: OwnOffers, costs: Mapping[int, float]) -> Choices:
    """What these sets are worth, less what choosing them costs."""
    every = (offers_alone(plan, one, child, costs) for child, one in enumerate(offers))
    return gather_choices([trimmed(some, plan.n_heads) for some in every])


def offers_alone(plan: Plan, by_size: Sequence[Offer], child: int, costs: Mapping[int, float]) -> list[Offer]:
    """The same for one child, an offer for each size."""
    alone = float(by_size[0].worth[0]) if len(by_size[0].worth) else 0.0
    found = [no_parents(plan, child, alone, costs)]
    for degree in plan.degrees_of(child):
        one = with_required(plan, by_size[min(degree, plan.n_heads)], child)
        if degree and len(one.worth):
            price = plan.choice_cost(child, degree) + plan.indifference * degree
            price += costs.get(degree, 0.0) if child in plan.free else 0.0
            found.append(Offer(one.parents, one.worth - price, one.whole))
    return found


def with_required(plan: Plan, offer: Offer, child: int) -> Offer:
    """The sets that have all the parents that the child must have."""
    keep = np.ones(len(offer.worth), dtype=bool)
    for parent in plan.candidates.required[child]:
        keep &= (offer.parents == parent).any(axis=1)
    return Offer(offer.parents[keep], offer.worth[keep], offer.whole)
