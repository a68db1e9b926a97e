"""The best graph without a cycle for given offers: what is open to every node, and the best order of the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import product

import numpy as np

from kgmi.guides.likelihood import Likelihood
from kgmi.memory import at_most
from kgmi.problem import Problem
from kgmi.progress import told
from kgmi.score import Group, root_price
from kgmi.search.own import OwnSets, ParentSet, numbers_of, widest
from kgmi.search.roots import root_gain
from kgmi.search.tuples import roles_of
from kgmi.threads import spread
from kgmi.types import Floats, Ints, Parents

__all__ = [
    "EXACT_NODES",
    "Choices",
    "Offer",
    "OwnOffers",
    "acyclic_parents",
    "best_order",
    "choices_alone",
    "choices_under",
    "gather",
    "generations",
    "order_of",
    "own_offers",
    "parents_in",
    "sets_in",
    "worth_in",
]

EXACT_NODES = 16
"""Nodes up to which all subsets are looked at."""
NOTHING = -1e9  # worth of no parents for a child that must have some: an order in which it comes too early
_MOST_KEPT = 4_000  # tuples of one child
_MOST_PAIRS = 400_000  # of candidates of one child under one kernel; of more candidates those that tell most alone
_MOST_TUPLES = 40_000  # the same of more than two parents
_MOST_REMEMBERED = 1_000_000  # tuples of choices that were made before
_TUPLE_BYTES = 40
_MOST_FAMILIES = 500_000  # own sets of all children: a matter of seconds
_BEAM = 12  # own sets of one size that are extended where not all are
_KICK = 0.15  # of the nodes are moved at random
_KICKED_NODES = 1_000  # in all disturbances of an order that climbing led to


@dataclass(frozen=True, eq=False)
class Offer:
    """Tuples of one child with what they are worth.

    Attributes
    ----------
    parents, worth
        [tuple, role], with -1 behind the last parent of a shorter one; [tuple], in nats.
    whole
        Whether nothing was left out that might have been worth something.
    """

    parents: Ints
    worth: Floats
    whole: bool = True


@dataclass(frozen=True, eq=False)
class Choices:
    """The offers of all children, one after the other, the best of each child first, no parents last.

    ``start[child]`` is where its offer begins; there is one more for the end.
    """

    parents: Ints
    worth: Floats
    start: Ints
    whole: bool

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.start) - 1

    def of(self, child: int) -> Offer:
        """Return what is offered to one child."""
        here = slice(int(self.start[child]), int(self.start[child + 1]))
        return Offer(self.parents[here], self.worth[here], self.whole)

    def with_offer(self, child: int, offer: Offer) -> Choices:
        """Return the same with another offer to one child."""
        return _joined([offer if node == child else self.of(node) for node in range(self.n_nodes)])


def _joined(offers: Sequence[Offer]) -> Choices:
    return Choices(
        np.concatenate([one.parents for one in offers]),
        np.concatenate([one.worth for one in offers]),
        np.concatenate([[0], np.cumsum([len(one.worth) for one in offers])]).astype(np.int64),
        all(one.whole for one in offers),
    )


def gather(offers: Sequence[Sequence[Offer]], n_heads: int) -> Choices:
    """Return the offers of all children in one list; each child has several."""
    return _joined([trimmed(some, n_heads) for some in offers])


def trimmed(offers: Sequence[Offer], n_heads: int) -> Offer:
    """Return the best first, at most so many, and nothing below having no parents, as that is always possible.

    Of tuples of the same parents in several roles, or under several kernels, only the best stays.
    """
    parents = np.concatenate([_padded(one.parents, n_heads) for one in offers])
    worth = np.concatenate([one.worth for one in offers])
    alone = (parents < 0).all(axis=1)
    root = worth[alone].max(initial=NOTHING)
    keep = np.flatnonzero((worth > root) & ~alone)
    whole = len(keep) <= _MOST_KEPT and all(one.whole for one in offers)
    if len(keep) > 4 * _MOST_KEPT:
        keep = keep[np.argpartition(-worth[keep], 4 * _MOST_KEPT)[: 4 * _MOST_KEPT]]
    keep = keep[np.argsort(-worth[keep], kind="stable")]
    same = numbers_of(np.sort(parents[keep], axis=1), int(parents.max(initial=0)) + 1)
    keep = keep[np.sort(np.unique(same, return_index=True)[1])][:_MOST_KEPT]
    parents = np.concatenate([parents[keep], np.full((1, n_heads), -1)])
    return Offer(parents.astype(np.int64), np.concatenate([worth[keep], [root]]), whole)


def _padded(parents: Ints, n_heads: int) -> Ints:
    out = np.full((len(parents), n_heads), -1, dtype=np.int64)
    out[:, : parents.shape[1]] = parents
    return out


def _no_parents(problem: Problem, child: int, worth: float, costs: Mapping[int, float]) -> Offer:
    price = costs.get(0, 0.0) if child in problem.free else 0.0
    allowed = 0 in problem.degrees_of(child)
    return Offer(np.empty((1, 0), dtype=np.int64), np.array([worth - price if allowed else NOTHING]))


# ---- kernels of their own ---------------------------------------------------------------------------------------

OwnOffers = list[list[Offer]]
"""[child][size]: sets of so many parents, each with a kernel of its own, and their values."""


def own_offers(problem: Problem) -> OwnOffers:
    """Return sets of parents of all children: all of them, or those that a beam meets."""
    n_nodes, own = problem.n_nodes, OwnSets(problem)
    everything = n_nodes ** (problem.n_heads + 1) <= _MOST_FAMILIES

    def offers(child: int) -> list[Offer]:
        start = tuple(sorted(problem.candidates.required[child]))
        found = [Offer(np.empty((0, size), dtype=np.int64), np.empty(0)) for size in range(problem.n_heads + 1)]
        beam = np.array([start], dtype=np.int64)
        found[len(start)] = Offer(beam, np.array([own.value(child, start)]))
        for size in range(len(start) + 1, problem.n_heads + 1):
            sets, values = own.longer(child, beam, problem.candidates.of(child))
            found[size] = Offer(sets, values, everything or size < 2)
            beam = sets[widest(values, len(values) if everything else _BEAM)]
        return found

    return spread(told(offers, "search", "looks"), range(n_nodes), parallel=not problem.is_small)


def sets_in(offers: OwnOffers, order: Ints | None) -> list[list[ParentSet | None]]:
    """Return [child][size]: the best set among the nodes before the child; without an order, of all sets."""
    place = np.zeros(len(offers), dtype=np.int64) if order is None else np.argsort(order)

    def best(child: int, offer: Offer) -> ParentSet | None:
        open_to = np.ones(len(offer.worth), dtype=np.bool_)
        if order is not None:
            open_to = (place[offer.parents] < place[child]).all(axis=1)
        if not open_to.any():
            return None
        top = int(np.where(open_to, offer.worth, -np.inf).argmax())
        return ParentSet(float(offer.worth[top]), tuple(offer.parents[top].tolist()))

    return [[best(child, one) for one in by_size] for child, by_size in enumerate(offers)]


def choices_alone(problem: Problem, offers: OwnOffers, costs: Mapping[int, float]) -> Choices:
    """Return what sets with kernels of their own are worth, less the prices of choosing them."""
    every = [offers_alone(problem, one, child, costs) for child, one in enumerate(offers)]
    return gather(every, problem.n_heads)


def offers_alone(problem: Problem, by_size: Sequence[Offer], child: int, costs: Mapping[int, float]) -> list[Offer]:
    """Return the same for one child, an offer for each size; only sets with all required parents."""
    alone = float(by_size[0].worth[0]) if len(by_size[0].worth) else 0.0
    found = [_no_parents(problem, child, alone, costs)]
    for degree in problem.degrees_of(child):
        one = by_size[min(degree, problem.n_heads)]
        keep = np.ones(len(one.worth), dtype=np.bool_)
        for parent in problem.candidates.required[child]:
            keep &= (one.parents == parent).any(axis=1)
        if degree and keep.any():
            price = problem.choice_cost(child, degree) + problem.indifference * degree
            price += costs.get(degree, 0.0) if child in problem.free else 0.0
            found.append(Offer(one.parents[keep], one.worth[keep] - price, one.whole))
    return found


# ---- present kernels --------------------------------------------------------------------------------------------


def acyclic_parents(
    problem: Problem, groups: Sequence[Group], parents: Parents, costs: Mapping[int, float]
) -> Parents:
    """Return the best graph under the present kernels, looked for from the present one."""
    choices = choices_under(problem, groups, costs)
    return parents_in(choices, best_order(choices, order_of(parents), np.random.default_rng(0)))


def choices_under(problem: Problem, groups: Sequence[Group], costs: Mapping[int, float]) -> Choices:
    """Return all tuples of all children under the kernels that are open to them; rounds come back to the same."""
    from kgmi.search.rounds import kernels_of

    known = problem.counts.kept.setdefault("choices", {})
    kernels = tuple((one.key, one.size > 1, one.seen.tobytes()) for one in groups if one.n_parents or one.size > 1)
    name = (problem.candidates, problem.known != {}, kernels, tuple(sorted(costs.items())))
    if name not in known:

        def offers(child: int) -> Offer:
            alone = max(-root_price(problem, child), root_gain(problem, groups, child))
            found = [_no_parents(problem, child, alone, costs)]
            least = float(found[0].worth[0])
            for group in kernels_of(problem, groups, child):
                if group.n_parents in problem.degrees_of(child):
                    found += _under(problem, group, child, costs, least)
            return trimmed(found, problem.n_heads)

        every = spread(told(offers, "search", "looks"), range(problem.n_nodes), parallel=not problem.is_small)
        if sum(len(one.worth) for one in known.values()) > at_most(_MOST_REMEMBERED, _TUPLE_BYTES):
            known.clear()
        known[name] = _joined(every)
    found: Choices = known[name]
    return found


def _under(problem: Problem, group: Group, child: int, costs: Mapping[int, float], least: float) -> list[Offer]:
    """Return all tuples under one kernel, less the prices of choosing them, that are worth more than ``least``."""
    assert isinstance(problem.guide, Likelihood)
    roles, degree = roles_of(problem, group, child), group.n_parents
    likely, whole = _likely(problem, child, degree)
    roles = roles if whole else [role[np.isin(role, likely)] for role in roles]
    if min(map(len, roles)) == 0:
        return []
    price = problem.choice_cost(child, degree) + problem.indifference * degree
    price += 0.0 if problem.is_exact else group.role_cost
    price += costs.get(degree, 0.0) if child in problem.free else 0.0
    table = problem.guide.prepare(child, group.seen)
    blocks: list[tuple[Ints, Ints, Floats]] = []
    if degree == 2 and np.array_equal(roles[0], roles[1]):
        both = problem.guide.unordered(child, table, roles[0])
        blocks = [(roles[0][:, None], roles[0], one.T if turned else one) for turned, one in enumerate(both)]
    else:
        every = [*product(*(role.tolist() for role in roles[:-1]))]
        leads = np.array(every, dtype=np.int64).reshape(len(every), degree - 1)
        blocks = [(leads, roles[-1], problem.guide.joint(child, table, leads, roles[-1]))]
    found = []
    for tuples, candidates, scores in blocks:
        place, last = np.nonzero(scores > price + least)
        if len(place) > 4 * _MOST_KEPT:
            top = np.argpartition(-scores[place, last], 4 * _MOST_KEPT)[: 4 * _MOST_KEPT]
            place, last = place[top], last[top]
        parents = np.column_stack([tuples[place], candidates[last]])
        ordered = np.sort(parents, axis=1)
        keep = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        for parent in problem.candidates.required[child]:
            keep &= (parents == parent).any(axis=1)
        found.append(Offer(parents[keep], scores[place, last][keep] - price, whole))
    return found


def _likely(problem: Problem, child: int, degree: int) -> tuple[Ints, bool]:
    """Return the candidates, and True; of too many for all tuples those that tell most by themselves, and False."""
    candidates = problem.candidates.of(child)
    most = max(int((_MOST_TUPLES if degree > 2 else _MOST_PAIRS) ** (1 / degree)), degree + 2)
    if len(candidates) <= most:
        return candidates, True
    nodes, values = OwnSets(problem).extended(child, (), candidates)
    return np.union1d(nodes[np.argsort(-values, kind="stable")[:most]], problem.candidates.required[child]), False


# ---- orders -----------------------------------------------------------------------------------------------------


def best_order(choices: Choices, order: Ints, rng: np.random.Generator, *, kicked: bool = True) -> Ints:
    """Return the best order of the nodes: exact for few, else by climbing from one, disturbed and repeated."""
    from kgmi.search.order_loops import best_over_subsets, climb

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
    """Return the order with some nodes moved anywhere."""
    moved = rng.choice(order, max(2, round(_KICK * len(order))), replace=False)
    rest = order[~np.isin(order, moved)].tolist()
    for node in moved.tolist():
        rest.insert(int(rng.integers(len(rest) + 1)), node)
    return np.array(rest)


def parents_in(choices: Choices, order: Ints) -> Parents:
    """Return the best parents of every node in this order, in role order."""
    from kgmi.search.order_loops import pick

    chosen = pick(choices.parents, choices.worth, choices.start, order)
    return tuple(tuple(p for p in choices.parents[number].tolist() if p >= 0) for number in chosen.tolist())


def worth_in(choices: Choices, order: Ints) -> float:
    """Return what the best parents in this order are worth together."""
    from kgmi.search.order_loops import pick

    return float(choices.worth[pick(choices.parents, choices.worth, choices.start, order)].sum())


def order_of(parents: Sequence[Sequence[int]]) -> Ints:
    """Return an order in which parents come before their children, by generation; of one generation by number."""
    return np.argsort(generations(parents), kind="stable")


def generations(parents: Sequence[Sequence[int]]) -> Ints:
    """Return [node]: length of the longest path that leads to it; a cycle raises a ValueError."""
    found = np.zeros(len(parents), dtype=np.int64)
    for node in TopologicalSorter(dict(enumerate(parents))).static_order():
        found[node] = max((found[parent] + 1 for parent in parents[node]), default=0)
    return found
