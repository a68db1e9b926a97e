"""``discover``: from a plan to parents and kernels, shared by all nodes, by classes of them, or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

from kgmi.search.alternate import State, alternate, pools_of, state_of
from kgmi.search.classes import classify, same_classes, with_classes
from kgmi.search.decisive import decide
from kgmi.search.found import Found, Share
from kgmi.search.gaps import weigh_gaps
from kgmi.search.own import OwnSearch, ParentSet
from kgmi.search.plan import Plan
from kgmi.search.polish import polish
from kgmi.search.pools import Key, Pool, fit_of, key_of, make_pool
from kgmi.search.reopen import reopen, unhappy
from kgmi.search.roles import reorient
from kgmi.search.simplify import simplify, without_idle_blocks
from kgmi.search.starts import first_parents, own_sets, start_state
from kgmi.types import Parents

__all__ = [
    "alone_state",
    "best_alone",
    "discover",
    "evident",
    "in_classes",
    "is_far_off",
    "weigh_all_gaps",
    "without_edges",
]

_LONG_STARTS = 2  # where a start takes seconds
_GAP_PASSES = 3  # over all nodes, with kernels estimated anew
_FAR_OFF = 0.02  # of the score with a kernel for each node
_EVIDENT = log(100)  # nats, so that at most about 1 in 100 tables of independent columns gets an edge
_SEVERAL = 5  # nodes that hardly ever seem to have parents by chance, all of them


def discover(plan: Plan, share: Share = "auto") -> Found:
    """Search with shared kernels, with one for each node, or with both, and keep what describes the rows better."""
    clear = decide(plan, share)
    return _search(plan.compressed(), share) if clear is None else clear


def weigh_all_gaps(found: Found) -> Found:
    """Compare parents that have missing values with others on the rows that have the values of both.

    The score of the result counts the rows that its families have, so that alternatives can be compared only when
    this was done for each of them.
    """
    plan = found.plan
    for _ in range(_GAP_PASSES if plan.observed.has_gaps and not plan.observed.is_exact else 0):
        parents = weigh_gaps(found.plan, found.state)
        if parents == found.state.parents:
            break
        found = _with_parents(found, parents)
    score = found.state.score
    if not found.shared:
        return replace(found, node_score=score)
    if found.share == "classes" and found.classes_score is not None:  # that were found, not given
        return replace(found, classes_score=score)
    return replace(found, shared_score=score)


def _with_parents(found: Found, parents: Parents) -> Found:
    """The same with other parents for some nodes; its score counts what rows each family happens to have."""
    plan, was = found.plan, found.state
    if found.classes_score is not None and found.share == "classes":
        plan, state = same_classes(plan, parents, was)
        return replace(found, plan=plan, state=state)
    if not found.shared:
        state = alone_state(plan, parents)
    else:
        together = tuple(
            () if ps or any(parents[one] for one in block) else block
            for ps, block in zip(parents, was.together, strict=True)
        )
        state = state_of(plan, parents, pools_of(plan, parents), together)
    return replace(found, state=replace(state, rounds=was.rounds, settled=was.settled))


def _search(plan: Plan, share: Share) -> Found:
    sets = own_sets(plan)
    hints = [[one.parents for one in by_size[1:] if one is not None] for by_size in sets]
    empty: Parents = ((),) * plan.observed.n_nodes
    if plan.known:
        start = state_of(plan, empty, pools_of(plan, empty))
        state = evident(plan, without_idle_blocks(plan, alternate(plan, start, hints, frozenset())), start)
        misfits = tuple((child, nats) for nats, child, _ in unhappy(plan, state, sets))
        return weigh_all_gaps(Found(plan, state, True, state.score, None, 1, start.score, misfits))
    alone = _each_alone(plan, sets) if share != "shared" else None
    if share == "node":
        assert alone is not None
        return alone
    best, n_starts, start_score = _best_start(plan, sets, hints, poor=None if alone is None else alone.state.score)
    best = simplify(plan, best, hints)
    if alone is None or plan.is_small or not is_far_off(best, alone.state.score):
        best = polish(plan, reopen(plan, best, sets, hints))
    others = (empty,) if alone is None else (empty, alone.state.parents)
    plain = [replace(state_of(plan, ps, pools_of(plan, ps)), rounds=1, settled=True) for ps in others]
    best = evident(plan, without_idle_blocks(plan, max(best, *plain, key=lambda state: state.score)), plain[0])
    together = weigh_all_gaps(Found(plan, best, True, best.score, None, n_starts, start_score))
    if alone is None:
        return together
    return replace(_best_sharing(plan, sets, together, alone, thorough=share == "classes"), n_starts=n_starts)


def _best_sharing(
    plan: Plan, sets: list[list[ParentSet | None]], together: Found, alone: Found, *, thorough: bool
) -> Found:
    """The shortest description with kernels for all, for classes, or for each node; of equal ones the simplest."""
    between = in_classes(plan, sets, together, alone.state.parents, thorough=thorough)
    if between is not None and not any(evident(plan, between.state, without_edges(plan)).parents):
        between = None
    found = [one for one in (together, between, alone) if one is not None]
    enough = max(one.state.score for one in found) - plan.indifference * plan.observed.n_nodes
    better = next(one for one in found if one.state.score >= enough)
    scored = None if between is None else between.state.score
    return replace(better, shared_score=together.state.score, node_score=alone.state.score, classes_score=scored)


def in_classes(
    plan: Plan, sets: list[list[ParentSet | None]], together: Found, alone: Parents, *, thorough: bool
) -> Found | None:
    """The best graph with several kernels, if it is not one of the limits: these have been searched better.

    Classes that are given are not looked for.
    """
    if len({*plan.labels}) > 1:
        return None
    classes = classify(plan, sets, together.state.parents, alone, thorough=thorough)
    if classes.kind != "classes":
        return None
    labelled, state = with_classes(plan, classes)
    return weigh_all_gaps(replace(together, plan=labelled, state=state, classes_score=state.score))


def _best_start(
    plan: Plan,
    sets: list[list[ParentSet | None]],
    hints: Sequence[Sequence[tuple[int, ...]]],
    poor: float | None,
) -> tuple[State, int, float]:
    """The best end of several starts; where a start takes long, more than one only while the best is ``poor``."""
    best, number, start_score = None, 0, -float("inf")
    for number in range(1, plan.starts + 1):
        start = start_state(plan, sets, number - 1)
        start_score = max(start_score, start.score)
        end = alternate(plan, start, hints, frozenset())
        if (turned := reorient(plan, end)) is not end:
            end = alternate(plan, turned, hints, frozenset())
        if best is None or end.score > best.score:
            best = end
        if not plan.is_small and (poor is None or best.score > poor or is_far_off(best, poor)):
            break  # good enough, or so far off that another start will not help
        if not plan.is_small and number >= _LONG_STARTS:
            break
    assert best is not None
    return best, number, start_score


def is_far_off(state: State, alone: float) -> bool:
    """Whether kernels for each node are so much better that no more search will change that."""
    return state.score < alone - _FAR_OFF * abs(alone)


def _each_alone(plan: Plan, sets: list[list[ParentSet | None]]) -> Found:
    """Every node with the parents that it would take by itself, and a kernel of its own."""
    own = replace(plan, labels=tuple(range(plan.observed.n_nodes)))
    state = best_alone(own, first_parents(plan, sets))
    return weigh_all_gaps(Found(own, state, False, None, state.score, 1, state.score))


def best_alone(plan: Plan, parents: Parents) -> State:
    """Return the state with these parents, or with none for any node where that is better and allowed."""
    state = alone_state(plan, parents)
    if any(0 not in plan.degrees_of(node) for node in range(len(parents))):
        return state
    nothing = alone_state(plan, ((),) * len(parents))
    return evident(plan, max(state, nothing, key=lambda one: one.score), nothing)


def evident(plan: Plan, state: State, nothing: State) -> State:
    """Return the state, or that without any edges where the edges are few and may be there by chance.

    Among many columns the best edge gains a little by chance, and so do a few; hardly ever do many.
    """
    few = 0 < sum(map(bool, state.parents)) < _SEVERAL
    by_chance = few and not plan.observed.is_exact and state.score < nothing.score + _EVIDENT
    return replace(nothing, rounds=state.rounds, settled=state.settled) if by_chance else state


def without_edges(plan: Plan) -> State:
    """The state without edges."""
    empty: Parents = ((),) * plan.observed.n_nodes
    return state_of(plan, empty, pools_of(plan, empty))


def alone_state(plan: Plan, parents: Parents) -> State:
    """The state in which every node has its own kernel."""
    search = OwnSearch(plan.observed, plan.penalty, 1)
    score = -plan.degrees_cost([len(ps) for ps in parents]) - plan.indifference * sum(map(len, parents))
    pools: dict[Key, Pool] = {}
    for child, chosen in enumerate(parents):
        score += search.value(child, chosen) - plan.choice_cost(child, len(chosen))
        pool = _own_pool(plan, child, chosen)
        pools[key_of(plan.observed, plan.labels, chosen, child)] = pool
        if pool.error > 0 and chosen:  # the value knows of no errors, which no kernel can do without
            score += fit_of(pool) - fit_of(_own_pool(replace(plan, error=0.0), child, chosen))
    return State(parents, ((),) * len(parents), pools, score, rounds=1, settled=True)


def _own_pool(plan: Plan, child: int, parents: tuple[int, ...]) -> Pool:
    """The kernel that a node has to itself."""
    return make_pool(
        plan.family(child, parents),
        1,
        plan.price,
        smoothing=0.0 if plan.observed.is_exact else plan.smoothing,
        error=plan.error or 0.0,
        exchangeable=False,
    )
