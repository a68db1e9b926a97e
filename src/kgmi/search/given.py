"""Search with the order given: kernels shared by all nodes, by classes of them, or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log

from kgmi.problem import Family, Key, Problem
from kgmi.score import Group, make_group, root_price
from kgmi.search.acyclic import own_offers
from kgmi.search.climb import VERY_FEW_NODES, climbed, own_state
from kgmi.search.gaps import weighed
from kgmi.search.own import OwnSets
from kgmi.search.rounds import Hints, State, keyed_state, make_state, rounds
from kgmi.search.sharing import classes, polish
from kgmi.search.starts import Sets, own_parents, start_state
from kgmi.search.tuples import worth_under
from kgmi.types import Parents

__all__ = ["Found", "evident", "regrouped", "search_from", "search_given", "weigh_gaps"]

_LONG_STARTS = 2  # where a start takes seconds
_GAP_PASSES = 3  # over all nodes, with kernels estimated anew
_FAR_OFF = 0.02  # of the score with a kernel for each node
_SEVERAL = 5  # nodes that hardly ever seem to have parents by chance, all of them
_NOTICEABLE = 1.0  # nats that so many must gain
_EVIDENT = log(100)  # nats, so that at most about 1 in 100 tables of independent columns gets an edge
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Found:
    """The best graph for each way of sharing kernels; None for those that were not looked for.

    Attributes
    ----------
    shared, classes, node
        One kernel for all nodes of a key, any number of them, one for each node.
    start_score, n_starts
        Score of the best start, and how many were tried.
    misfits
        (node, nats): nodes that parents with a kernel of their own would describe better than known kernels do.
    """

    shared: State | None = None
    classes: State | None = None
    node: State | None = None
    start_score: float = 0.0
    n_starts: int = 1
    misfits: tuple[tuple[int, float], ...] = ()

    @property
    def best(self) -> State:
        """The shortest description; of equal ones the simplest."""
        states = [one for one in (self.shared, self.classes, self.node) if one is not None]
        top = max(one.total for one in states)
        enough = top - states[0].problem.indifference * states[0].problem.n_nodes
        return next(one for one in states if one.total >= enough)


def search_given(problem: Problem) -> Found:
    """Return the best graphs whose kernels are shared as the problem allows."""
    return search_from(problem)


def search_from(problem: Problem, shared: Parents | None = None, alone: Parents | None = None) -> Found:
    """Return the best graphs, from these graphs with shared kernels and with kernels for each node, if any."""
    sets = OwnSets(problem).every()
    hints = [[one.parents for one in by_size[1:] if one is not None] for by_size in sets]
    nothing = keyed_state(problem, ((),) * problem.n_nodes)
    if problem.known:
        start = nothing if shared is None else keyed_state(problem, shared)
        state = rounds(problem, start, hints)
        state = _polished(state.problem, state, sets, hints) if problem.is_small else state
        state = evident(_changed(state.problem, [state, nothing], sets, hints), nothing)
        return Found(shared=weigh_gaps(state), start_score=nothing.total, misfits=_misfits(problem, state, sets))
    node = None
    if problem.share != "shared":
        own = replace(problem, share="node")
        node = own_state(own, own_parents(problem, sets) if alone is None else alone)
        node = _changed(own, [node, own_state(own, ((),) * problem.n_nodes)], sets, hints)
        node = weigh_gaps(evident(node, own_state(problem, ((),) * problem.n_nodes)))
    if problem.share == "node":
        return Found(node=node)
    if shared is None:
        best, n_starts, start_score = _best_start(problem, sets, hints, None if node is None else node.total)
    else:
        start = keyed_state(problem, shared)
        best, n_starts, start_score = rounds(problem, start, hints), 1, start.total
    if problem.is_small or node is None or not _is_far_off(best, node.total):
        best = _polished(problem, best, sets, hints)
    others = [nothing, *([keyed_state(problem, node.parents)] if node is not None else [])]
    best = _changed(problem, [best, *others], sets, hints)
    found = Found(weigh_gaps(evident(best, nothing)), None, node, start_score, n_starts)
    if problem.share == "shared" or len({*problem.labels}) > 1:
        return found
    assert node is not None
    assert found.shared is not None
    between = classes(problem, sets, found.shared.parents, node.parents, thorough=problem.share == "classes")
    between = weigh_gaps(evident(between, nothing))
    if all(group.size == 1 for group in between.kernels):  # nobody shares a kernel after all
        return replace(found, node=max(node, own_state(problem, between.parents), key=lambda one: one.total))
    if len({group.key for group in between.kernels}) == len(between.kernels):  # or all of a key do
        return replace(found, shared=max(found.shared, between, key=lambda one: one.total))
    return replace(found, classes=between)


def _best_start(problem: Problem, sets: Sets, hints: Hints, poor: float | None) -> tuple[State, int, float]:
    """Return the best end of several starts; where a start takes long, more only while the best is ``poor``."""
    best, number, start_score = None, 0, -float("inf")
    for number in range(1, problem.starts + 1):
        start = start_state(problem, sets, number - 1)
        start_score = max(start_score, start.total)
        end = rounds(problem, start, hints)
        best = end if best is None or end.total > best.total else best
        if not problem.is_small and (poor is None or best.total > poor or _is_far_off(best, poor)):
            break  # good enough, or so far off that another start will not help
        if not problem.is_small and number >= _LONG_STARTS:
            break
    assert best is not None
    return best, number, start_score


def _is_far_off(state: State, alone: float) -> bool:
    """Return whether kernels for each node are so much better that no more search will change that."""
    return state.total < alone - _FAR_OFF * abs(alone)


def _polished(problem: Problem, state: State, sets: Sets, hints: Hints) -> State:
    """Return the state after moves of single nodes and further rounds, as long as the score rises."""
    while True:
        found = polish(problem, state, sets)
        if found is state:
            return state
        again = keyed_state(problem, found.parents, found.together)
        end = rounds(problem, max(found, again, key=lambda one: one.total), hints)
        if end.total <= state.total + _LEAST:
            return state
        state = end


def _changed(problem: Problem, states: list[State], sets: Sets, hints: Hints) -> State:
    """Return the best of these states, of very few nodes after every change of single ones that helps."""
    best = max(states, key=lambda one: one.total)
    if problem.n_nodes > VERY_FEW_NODES or not problem.is_small:
        return best
    found = climbed(problem, own_offers(problem), states)
    if problem.share != "node" and found is not best:
        found = _polished(problem, found, sets, hints)
    return max(best, found, key=lambda one: one.total)


def evident(state: State, nothing: State) -> State:
    """Return the state, or that without any edges where edges may be there by chance.

    Among many columns the best edge gains a little by chance, and so do a few; hardly ever do many.
    """
    n_children = sum(map(bool, state.parents))
    margin = 0.0 if state.problem.is_exact or not n_children else _EVIDENT if n_children < _SEVERAL else _NOTICEABLE
    return nothing.after(state.rounds, settled=state.settled) if state.total < nothing.total + margin else state


def weigh_gaps(state: State) -> State:
    """Compare parents that have missing values with others on the rows that have the values of both.

    The score of the result counts the rows that its families have, so that alternatives can be compared only when
    this was done for each of them.
    """
    problem = state.problem
    for _ in range(_GAP_PASSES if problem.counts.has_gaps and not problem.is_exact else 0):
        parents = weighed(state)
        if parents == state.parents:
            break
        state = regrouped(state, parents)
    return state


def regrouped(state: State, parents: Parents, groups: Sequence[Iterable[int]] | None = None) -> State:
    """Return the state with other parents for some nodes, which leave their group where its kernel does not fit.

    ``groups`` are the nodes that share kernels; by default those of the state.
    """
    problem = state.problem
    together = tuple(
        () if ps or any(parents[one] for one in block) else block
        for ps, block in zip(parents, state.together, strict=True)
    )
    joined: dict[tuple[int, Key], dict[int, Family]] = {}
    left = {node for node, block in enumerate(together) if not block}
    for number, members in enumerate([one.families for one in state.groups] if groups is None else groups):
        for child in [one for one in members if one in left]:
            joined.setdefault((number, problem.key(child, parents[child])), {})[child] = parents[child]
            left.remove(child)
    alone = [{node: parents[node]} for node in sorted(left)]
    made = [make_group(problem, families) for families in (*joined.values(), *alone)]
    return make_state(problem, made, together).after(state.rounds, settled=state.settled)


def _misfits(problem: Problem, state: State, sets: Sets) -> tuple[tuple[int, float], ...]:
    """Return nodes that a kernel of their own would explain better than the known ones do, the worst first."""
    found: dict[int, float] = {}
    for child, by_size in enumerate(sets):
        group = state.group_of.get(child)
        if group is None:
            continue
        now = _worth_in(problem, group, child)
        for one in by_size[1:]:
            if one is not None and len(one.parents) in problem.degrees_of(child):
                excess = one.value - problem.choice_cost(child, len(one.parents)) - now
                if excess > log(problem.n_nodes):  # the best of so many has this much by chance
                    found[child] = max(found.get(child, 0.0), excess)
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _worth_in(problem: Problem, group: Group, child: int) -> float:
    family = group.families[child]
    return worth_under(problem, group, child, family) if family else -root_price(problem, child)
