"""Small problems: every change of one node or edge, each with the kernels that follow from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgmi.problem import Family, Problem
from kgmi.score import make_group
from kgmi.search.acyclic import OwnOffers, generations, order_of
from kgmi.search.rounds import State, keyed_state, make_state
from kgmi.search.starts import in_alphabets
from kgmi.search.tuples import role_orders
from kgmi.types import Parents

__all__ = ["FEW_NODES", "VERY_FEW_NODES", "climbed", "different", "has_cycle", "own_state"]

FEW_NODES = 20
"""Nodes up to which edges are turned."""
VERY_FEW_NODES = 6
"""Nodes up to which every change of one node is scored, from several graphs."""
_MOST_CLIMBED = 8  # graphs that are changed
_MOST_SWEEPS = 50
_SAME = 1e-6  # nats between scores that are equal


def own_state(problem: Problem, parents: Parents) -> State:
    """Return the graph in which every node has a kernel of its own."""
    own = replace(problem, share="node")
    return make_state(own, [make_group(own, {c: in_alphabets(own, ps)}) for c, ps in enumerate(parents)])


def climbed(problem: Problem, offers: OwnOffers, states: Sequence[State]) -> State:
    """Return the best state that changes of single nodes and edges lead to, each with the kernels that follow.

    Under kernels that were learned with an edge in one direction the other one looks poor, and turning it changes
    two nodes at once. Where nodes are very few, everything is tried from several graphs.
    """
    best = max(states, key=lambda one: one.total)
    if problem.n_nodes > FEW_NODES or not problem.is_small:
        return best
    very_few = problem.n_nodes <= VERY_FEW_NODES
    scored: dict[Parents, State] = {}

    def state(parents: Parents) -> State:
        if parents not in scored:
            own = problem.share == "node"
            scored[parents] = own_state(problem, parents) if own else keyed_state(problem, parents)
        return scored[parents]

    found = []
    for now in different(sorted(states, key=lambda one: -one.total))[: _MOST_CLIMBED if very_few else 1]:
        for _ in range(_MOST_SWEEPS):
            changes = [*_turns(problem, now.parents)]
            if very_few:
                changes += _changes(problem, offers, now.parents)
            top = max((state(parents) for parents in changes), key=lambda one: one.total, default=now)
            if top.total <= now.total + _SAME:
                break
            now = top.after(now.rounds, settled=now.settled)
        found.append(now)
    return max([best, *found], key=lambda one: one.total)


def _changes(problem: Problem, offers: OwnOffers, parents: Parents) -> Iterator[Parents]:
    """Yield graphs without cycles in which one node has another set of parents, in any roles."""
    for child, now in enumerate(parents):
        below = {child}
        for node in order_of(parents).tolist():
            if below & {*parents[node]}:
                below.add(node)
        for degree in problem.degrees_of(child):
            for one in offers[child][degree].parents.tolist():
                if below & {*one} or not problem.allows(child, one):
                    continue
                for some in _in_roles(problem, tuple(one)):
                    if some != now:
                        yield (*parents[:child], some, *parents[child + 1 :])


def _in_roles(problem: Problem, parents: Family) -> list[Family]:
    ordered = in_alphabets(problem, parents)
    if problem.share == "node" or len(parents) < 2:
        return [ordered]
    return role_orders(problem, ordered, [problem.counts.alphabets[parent] for parent in ordered])


def _turns(problem: Problem, parents: Parents) -> Iterator[Parents]:
    """Yield graphs without cycles in which an edge is turned; its old parent may give up one of its own for it."""
    for child, chosen in enumerate(parents):
        for parent in chosen:
            left = tuple(one for one in chosen if one != parent)
            if not problem.candidates.allowed[parent, child] or not problem.allows(child, left):
                continue
            kept = [tuple(one for one in parents[parent] if one != gone) for gone in parents[parent]]
            for rest in {*kept, *([parents[parent]] if len(parents[parent]) < problem.n_heads else [])}:
                for more in _in_roles(problem, (*rest, child)):
                    turned = list(parents)
                    turned[child], turned[parent] = left, more
                    if problem.allows(parent, more) and not has_cycle(turned):
                        yield tuple(turned)


def has_cycle(parents: Sequence[Family]) -> bool:
    """Return whether a graph has a cycle."""
    try:
        generations(parents)
    except ValueError:
        return True
    return False


def different(states: Sequence[State]) -> list[State]:
    """Return one state of each graph, the first ones."""
    graphs = {tuple(map(frozenset, one.parents)): one for one in reversed(states)}
    return sorted(graphs.values(), key=lambda one: -one.total)
