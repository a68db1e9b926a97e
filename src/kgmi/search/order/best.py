"""``best_order``: the order of the nodes in which their offers are worth most together."""

from __future__ import annotations

import numpy as np

from kgmi.search.order.choices import Choices
from kgmi.types import Ints

__all__ = ["EXACT_NODES", "best_order", "parents_in", "worth_in"]

EXACT_NODES = 16  # up to which all subsets are looked at in no time

_KICK = 0.15  # of the nodes are moved at random
_KICKED_NODES = 1_000  # in all disturbances of an order that climbing led to


def best_order(choices: Choices, order: Ints, rng: np.random.Generator, *, kicked: bool = True) -> Ints:
    """From an order to the best one: exact for few nodes, else by climbing, disturbed and repeated."""
    from kgmi.search.order.compiled import best_over_subsets, climb

    n_nodes = choices.n_nodes
    offers = (choices.parents, choices.worth, choices.start)
    if n_nodes <= EXACT_NODES:
        return np.asarray(best_over_subsets(*offers))
    best = order.copy()
    top = climb(*offers, best, rng.permutation(n_nodes))
    for _ in range(_KICKED_NODES // n_nodes if kicked else 0):
        other = _kicked(best, rng)
        value = climb(*offers, other, rng.permutation(n_nodes))
        if value >= top:
            best, top = other, value
    return best


def _kicked(order: Ints, rng: np.random.Generator) -> Ints:
    """The order with some nodes moved anywhere."""
    moved = rng.choice(order, max(2, round(_KICK * len(order))), replace=False)
    rest = order[~np.isin(order, moved)].tolist()
    for node in moved.tolist():
        rest.insert(int(rng.integers(len(rest) + 1)), node)
    return np.array(rest)


def parents_in(choices: Choices, order: Ints) -> tuple[tuple[int, ...], ...]:
    """The best parents of every node in this order, in role order."""
    from kgmi.search.order.compiled import pick

    chosen = pick(choices.parents, choices.worth, choices.start, order)
    return tuple(choices.tuple_at(int(number)) for number in chosen)


def worth_in(choices: Choices, order: Ints) -> float:
    """What the best parents in this order are worth together."""
    from kgmi.search.order.compiled import pick

    return float(choices.worth[pick(choices.parents, choices.worth, choices.start, order)].sum())
