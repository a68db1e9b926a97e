"""Search with the order unknown: parents, kernels and the order of the nodes, and how sure each direction is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgmi.problem import Family, Problem
from kgmi.score import degree_costs
from kgmi.search.acyclic import (
    EXACT_NODES,
    Choices,
    OwnOffers,
    best_order,
    choices_alone,
    choices_under,
    generations,
    offers_alone,
    order_of,
    own_offers,
    parents_in,
    sets_in,
    trimmed,
    worth_in,
)
from kgmi.search.climb import FEW_NODES, VERY_FEW_NODES, climbed, different, has_cycle, own_state
from kgmi.search.given import Found, evident, regrouped, search_from
from kgmi.search.rounds import State, keyed_state, rounds
from kgmi.search.starts import start_state
from kgmi.types import Ints, Parents

__all__ = ["Opened", "canonical_order", "directions", "search_open"]

_STARTS = 2  # times as many as with a given order
_LONG_STARTS = 4  # where each takes seconds
_KINDS = (1, 0, 2, 3)  # of starts, in turn; see start_state
_CHOOSING_ROUNDS = 5
_SAME = 1e-6  # nats between scores that are equal
_CLOSE = 15.0  # nats that roots drawn together may make up for
_MOST_RIVALS = 5  # graphs whose orders are looked at
_MOST_TUPLES = 3_000  # that an integer program decides on
_MOST_STEPS = 20_000  # of the integer program
_MOST_EDGES = 1_000  # whose directions are looked at


@dataclass(frozen=True, eq=False)
class Opened:
    """What a search for the order ended with.

    Attributes
    ----------
    problem
        With the order open.
    offers
        Parent sets of every node with kernels of their own.
    ends
        The best states that starts led to, the best first.
    found
        The best graphs, in the order that was found: the problem of its states has its nodes in that order.
    order
        ``order[node]`` of ``found`` is the number of the node in ``problem``.
    is_proved
        Whether no graph without a cycle is better under the kernels of the best graph, and under what was held
        fixed.
    """

    problem: Problem
    offers: OwnOffers
    ends: tuple[State, ...]
    found: Found
    order: Ints
    is_proved: bool


def canonical_order(problem: Problem) -> Ints:
    """Return an order of the nodes that does not depend on where they are, but on what was counted for them.

    A search in this order ends with the same graph wherever columns are in a table. Ties are of columns that
    nothing distinguishes.
    """
    counts = problem.counts
    pairs = counts.pairs().counts.astype(np.float64)
    squares = np.sqrt(pairs).sum(axis=(1, 2, 3)), (pairs**2).sum(axis=(1, 2, 3))
    keys = [
        (int(problem.candidates.stage[n]), counts.sizes[n], *np.sort(counts.marginals[n]).tolist(), squares[1][n])
        for n in range(problem.n_nodes)
    ]
    return np.array(
        sorted(range(problem.n_nodes), key=lambda n: (keys[n][:-1], round(squares[0][n], 6), keys[n][-1]))
    )


def search_open(problem: Problem) -> Opened:
    """Return the best graphs and an order of the nodes, all from the counts."""
    rng = np.random.default_rng(problem.n_nodes)
    offers = own_offers(problem)
    hints = [[one.parents for one in by_size[1:] if one is not None] for by_size in sets_in(offers, None)]
    nothing = keyed_state(problem, ((),) * problem.n_nodes)
    if problem.known:
        ends = [evident(rounds(problem, nothing, hints), nothing)]
        return _settled(problem, offers, ends, None, nothing.total, 1)
    node = None
    if problem.share != "shared":
        own = replace(problem, share="node")
        node = evident(own_state(own, _graph_alone(own, offers, rng)), own_state(own, ((),) * problem.n_nodes))
        node = climbed(own, offers, [node, own_state(own, ((),) * problem.n_nodes)])
    if problem.share == "node":
        assert node is not None
        return _settled(problem, offers, [], node, node.total, 1)
    first = order_of(nothing.parents if node is None else node.parents)
    ends, start_score = _ends(problem, offers, first, -np.inf if node is None else node.total, hints, rng)
    plain = [nothing, *([] if node is None else [keyed_state(problem, node.parents)])]
    n_starts = len(ends)
    ends = different([climbed(problem, offers, [*ends, *plain]), *ends, *plain])
    return _settled(problem, offers, ends, node, start_score, n_starts)


def _graph_alone(problem: Problem, offers: OwnOffers, rng: np.random.Generator) -> Parents:
    """Return the best graph in which every node has a kernel of its own.

    What a number of parents costs depends on how many nodes have it, so they choose a few times.
    """
    costs: Mapping[int, float] = {}
    order = np.arange(problem.n_nodes)
    parents: Parents = ((),) * problem.n_nodes
    for _ in range(_CHOOSING_ROUNDS):
        choices, before = choices_alone(problem, offers, costs), parents
        order = best_order(choices, order, rng)
        parents = parents_in(choices, order)
        if parents == before:
            break
        costs = degree_costs(problem, [len(ps) for ps in parents])
    return parents


def _ends(
    problem: Problem,
    offers: OwnOffers,
    first: Ints,
    poor: float,
    hints: Sequence[Sequence[Family]],
    rng: np.random.Generator,
) -> tuple[list[State], float]:
    """Return where the starts lead, the best first, and the score of the best start.

    Where starts take long, there are more only while the best end is ``poor``, or while no two led to the best one.
    """
    ends: list[State] = []
    start_score = -np.inf
    for order, kind in _starts(problem, first, rng):
        start = start_state(problem, sets_in(offers, order), kind)
        start_score = max(start_score, start.total)
        ends.append(rounds(problem, start, hints))
        top = max(one.total for one in ends)
        if not problem.is_small and top > poor:
            break
        same = sum(one.total > top - _SAME for one in ends)
        if problem.n_nodes > FEW_NODES and same > 1 and top > poor:
            break
    return sorted(ends, key=lambda end: -end.total), start_score


def _starts(problem: Problem, order: Ints, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
    """Yield orders to start from, and how: that of the graph with a kernel for each node first, then any."""
    n_starts = _STARTS * problem.starts if problem.is_small else min(_LONG_STARTS, problem.starts)
    for number in range(n_starts):
        kind = _KINDS[number % len(_KINDS)]
        yield _allowed(problem, order if number < 2 else rng.permutation(problem.n_nodes)), kind


def _allowed(problem: Problem, order: Ints) -> Ints:
    """Return the order as far as tiers and required edges allow it."""
    required = generations(problem.candidates.required)
    return order[np.lexsort((required[order], problem.candidates.stage[order]))]


# ---- the order found --------------------------------------------------------------------------------------------


def _settled(
    problem: Problem,
    offers: OwnOffers,
    ends: Sequence[State],
    node: State | None,
    start_score: float,
    n_starts: int,
) -> Opened:
    """Return the best graph in the best order.

    Which roots are drawn together, and which nodes are of a class, shows only in an order; that may settle which of
    several graphs that are about as good is the best.
    """
    best = max([*ends, *([] if node is None else [node])], key=lambda one: one.total)
    better, proved = _proved(problem, offers, best)
    if better is not best:
        ends, node = ([better, *ends], node) if best.problem.share != "node" else (ends, better)
    problem.counts.kept.pop("choices", None)
    close = [one for one in ends if one.total >= best.total - _CLOSE][: _MOST_RIVALS if problem.is_small else 1]
    if problem.n_nodes <= FEW_NODES:
        graphs = {apart for end in close for apart in _apart(problem, end.parents)}
        close += [keyed_state(problem, parents) for parents in sorted(graphs)]
    turns = (1, -1) if problem.is_small else (1,)
    orders = [(one, _order_in(problem, one.parents, turn)) for one in close for turn in turns]
    starts = [(_shared_in(problem, order, state), order) for state, order in orders]
    if node is not None and node.total >= best.total - _CLOSE:
        starts.append((node, _order_in(problem, node.parents, 1)))
    start, order = max(starts, key=lambda one: one[0].total)
    found = _found_in(problem, order, None if start is node else start.parents, node)
    found = replace(found, start_score=start_score, n_starts=n_starts)
    return Opened(problem, offers, tuple(ends), found, order, proved and _is_same(found.best, order, better))


def _apart(problem: Problem, parents: Parents) -> Iterator[Parents]:
    """Yield the graph without one of the edges between a root and a node that has no other parent.

    Such nodes may be roots that are drawn together, which shows only in an order.
    """
    for child, chosen in enumerate(parents):
        if len(chosen) == 1 and not parents[chosen[0]] and problem.allows(child, ()):
            yield (*parents[:child], (), *parents[child + 1 :])


def _is_same(state: State, order: Ints, proved: State) -> bool:
    """Return whether a state in an order is the graph that was proved best.

    Roots that are drawn together describe the rows better than the edge between them that was proved best.
    """
    nodes = order.tolist()
    edges = {(nodes[parent], nodes[child]) for child, ps in enumerate(state.parents) for parent in ps}
    drawn = {frozenset((nodes[one], nodes[child])) for child, block in enumerate(state.together) for one in block}
    before = {(parent, child) for child, ps in enumerate(proved.parents) for parent in ps}
    return edges == {edge for edge in before if frozenset(edge) not in drawn}


def _in_order(problem: Problem, order: Ints) -> Problem:
    """Return the problem with its nodes in an order; choices cost what they did when it was open."""
    stage = problem.candidates.stage
    n_choices = tuple(int(np.count_nonzero(stage <= one)) - 1 for one in stage)
    nodes = order.tolist()
    ordered = replace(problem, candidates=problem.candidates.ordered(nodes), n_choices=n_choices)
    return ordered.renumbered(nodes)


def _moved(parents: Parents, order: Ints) -> Parents:
    place = np.argsort(order).tolist()
    return tuple(tuple(place[parent] for parent in parents[child]) for child in order.tolist())


def _shared_in(problem: Problem, order: Ints, state: State) -> State:
    """Return the best state that rounds in an order lead to, from one that was found without."""
    ordered, parents = _in_order(problem, order), _moved(state.parents, order)
    return rounds(ordered, keyed_state(ordered, parents), [[family] for family in parents])


def _found_in(problem: Problem, order: Ints, shared: Parents | None, node: State | None) -> Found:
    """Return the best graphs in an order, from the parents that rounds in it led to."""
    alone = None
    if node is not None:
        alone = _moved(node.parents, order)
        alone = alone if all(parent < child for child, ps in enumerate(alone) for parent in ps) else None
    return search_from(_in_order(problem, order), shared, alone)


def _order_in(problem: Problem, parents: Parents, turn: int) -> Ints:
    """Return parents before their children: by tier, generation and number of parents.

    Nodes with few parents come early in their generation: if they are roots that are drawn together, that has to
    show before others follow from them. The distribution of such roots depends on which of them comes first.
    """
    n_parents = np.array([len(ps) for ps in parents])
    number = turn * np.arange(len(parents))
    return np.lexsort((number, n_parents, generations(parents), problem.candidates.stage))


# ---- proof ------------------------------------------------------------------------------------------------------


def _choices(state: State, problem: Problem, offers: OwnOffers) -> Choices:
    """Return all that is open to the nodes: tuples under these kernels, or sets with kernels of their own."""
    costs = degree_costs(problem, [len(ps) for ps in state.parents])
    if state.problem.share == "node":
        return choices_alone(problem, offers, costs)
    return choices_under(problem, state.groups, costs)


def _proved(problem: Problem, offers: OwnOffers, state: State) -> tuple[State, bool]:
    """Return a better graph under the kernels of this one, if there is one, or it and whether there is none.

    Climbing gives a lower bound, the best tuple of every child by itself an upper one. A tuple that is worse than
    its child's best by more than their difference cannot be in the best graph: mostly few are left to decide on.
    """
    if problem.counts.has_gaps or state.total == -np.inf:
        return state, False
    choices, order = _choices(state, problem, offers), order_of(state.parents)
    better, sure = order, False
    if choices.n_nodes <= EXACT_NODES:
        from kgmi.search.order_loops import best_over_subsets

        better, sure = np.asarray(best_over_subsets(choices.parents, choices.worth, choices.start)), True
    else:
        top = choices.worth[choices.start[:-1]]
        behind = np.repeat(top, np.diff(choices.start)) - choices.worth
        left = np.flatnonzero(behind <= top.sum() - worth_in(choices, order) + _SAME)
        if len(left) <= _MOST_TUPLES:
            better, sure = _solved(choices, left, order)
    if worth_in(choices, better) <= worth_in(choices, order) + _SAME:
        return state, sure and choices.whole
    parents = parents_in(choices, better)
    own = state.problem.share == "node"
    found = own_state(state.problem, parents) if own else keyed_state(problem, parents)
    return (
        (found.after(state.rounds, settled=state.settled), False) if found.total > state.total else (state, False)
    )


def _solved(choices: Choices, left: Ints, order: Ints) -> tuple[Ints, bool]:
    """Choose one tuple of every child; places in the order say that parents come first (Miller, Tucker, Zemlin)."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    n_nodes, n_left = choices.n_nodes, len(left)
    child, parents = np.searchsorted(choices.start, left, side="right") - 1, choices.parents[left]
    number, head = np.nonzero(parents >= 0)
    pairs, pair = np.unique(parents[number, head] * n_nodes + child[number], return_inverse=True)
    lines = n_nodes + np.arange(len(pairs))
    # One tuple for every child; place(child) ≥ place(parent) + 1 where a tuple with that parent is chosen.
    cells = [
        (child, np.arange(n_left), np.ones(n_left)),
        (n_nodes + pair.ravel(), number, np.full(len(number), -float(n_nodes))),
        (lines, n_left + pairs % n_nodes, np.ones(len(pairs))),
        (lines, n_left + pairs // n_nodes, -np.ones(len(pairs))),
    ]
    rows, columns, values = (np.concatenate(part) for part in zip(*cells, strict=True))
    matrix = csr_matrix((values, (rows, columns)), shape=(n_nodes + len(pairs), n_left + n_nodes))
    lower = np.concatenate([np.ones(n_nodes), np.full(len(pairs), 1.0 - n_nodes)])
    upper = np.concatenate([np.ones(n_nodes), np.full(len(pairs), np.inf)])
    result = milp(
        -np.concatenate([choices.worth[left], np.zeros(n_nodes)]),
        integrality=np.concatenate([np.ones(n_left), np.zeros(n_nodes)]),
        bounds=Bounds(0, np.concatenate([np.ones(n_left), np.full(n_nodes, n_nodes - 1.0)])),
        constraints=LinearConstraint(matrix, lower, upper),
        options={"node_limit": _MOST_STEPS, "mip_rel_gap": 0.0},  # steps, not seconds: the same on any machine
    )
    if result.status != 0:
        return order, False
    better = np.argsort(result.x[n_left:], kind="stable")
    return (better if worth_in(choices, better) > worth_in(choices, order) + _SAME else order), True


# ---- directions -------------------------------------------------------------------------------------------------


def directions(opened: Opened) -> dict[tuple[int, int], float]:
    """Return nats by which the best graph with each edge (parent, child) of the problem reversed is worse.

    Infinite where the edge cannot be reversed (tiers, forbidden and required edges, given roots). The best such
    graph is what a search finds, so the true difference may be smaller, never larger.
    """
    problem, order, best = opened.problem, opened.order, opened.found.best
    place = np.argsort(order)
    parents = tuple(tuple(int(order[p]) for p in best.parents[place[node]]) for node in range(problem.n_nodes))
    edges = [(parent, child) for child, chosen in enumerate(parents) for parent in chosen]
    if len(edges) > _MOST_EDGES:
        return {}
    state = _placed(opened, parents)
    rivals = [one.parents for one in opened.ends]
    found = {}
    for parent, child in edges:
        bound = _requiring(problem, child, parent)
        reversed_graphs = [ps for ps in rivals if child in ps[parent]]
        if bound is not None:
            reversed_graphs += _reversed(opened, bound, state, parent, child)
        scores = [one.total for ps in reversed_graphs for one in _rescored(opened, state, ps)]
        found[parent, child] = max(best.total - max(scores, default=-np.inf), 0.0)
    problem.counts.kept.pop("choices", None)
    return found


def _placed(opened: Opened, parents: Parents) -> State:
    """Return the best state with its nodes numbered as in the problem."""
    problem, best, order = opened.problem, opened.found.best, opened.order.tolist()
    if best.problem.share == "node":
        return own_state(problem, parents)
    groups = [[order[child] for child in group.families] for group in best.groups]
    return regrouped(keyed_state(problem, parents), parents, groups)


def _rescored(opened: Opened, state: State, parents: Parents) -> list[State]:
    """Return a graph with kernels shared as in a state, and in the other ways that are open."""
    share = opened.problem.share
    found = [own_state(opened.problem, parents)] if share in ("auto", "node") and not opened.problem.known else []
    is_keyed = len({group.key for group in state.kernels}) == len(state.kernels)
    if state.problem.share != "node" and not is_keyed:
        found.append(regrouped(state, parents))
    if share in ("auto", "shared") or opened.problem.known or is_keyed:
        found.append(keyed_state(opened.problem, parents))
    return found


def _reversed(opened: Opened, bound: Problem, state: State, parent: int, child: int) -> list[Parents]:
    """Return graphs with the edge child → parent that are about the best; ``bound`` requires it."""
    rng, costs = np.random.default_rng(0), degree_costs(bound, [len(ps) for ps in state.parents])
    before = tuple(
        (child,) if node == parent else () if node == child else ps for node, ps in enumerate(state.parents)
    )
    order, found = order_of(before), []
    alone = choices_alone(opened.problem, opened.offers, costs)
    turned = alone.with_offer(
        parent, trimmed(offers_alone(bound, opened.offers[parent], parent, costs), bound.n_heads)
    )
    if not bound.known:
        found.append(parents_in(turned, best_order(turned, order, rng, kicked=False)))
    if state.problem.share != "node":
        under = choices_under(bound, state.groups, costs)
        found.append(parents_in(under, best_order(under, order, rng, kicked=False)))
        if bound.n_nodes <= FEW_NODES and not bound.is_exact and not bound.known:
            hints = [[()]] * bound.n_nodes
            start = keyed_state(bound, found[-1])
            found.append(rounds(bound, start, hints).parents)
            if bound.n_nodes <= VERY_FEW_NODES:
                states = [keyed_state(bound, one) for one in found]
                found.append(climbed(bound, opened.offers, states).parents)
    return [one for one in found if child in one[parent]]


def _requiring(problem: Problem, parent: int, child: int) -> Problem | None:
    """Return the problem in which this edge must be there; None where it cannot be."""
    candidates = problem.candidates
    required = tuple(
        tuple(sorted({*chosen, parent})) if node == child else chosen
        for node, chosen in enumerate(candidates.required)
    )
    if not candidates.allowed[child, parent] or child in candidates.required[parent] or has_cycle(required):
        return None
    bound = replace(problem, candidates=replace(candidates, required=required))
    possible = any(len(required[child]) <= degree for degree in {*bound.degrees_of(child)} & {*bound.degrees})
    return bound if possible else None
