"""The best order of the nodes for given offers: exact over all subsets, or climbing by moving single nodes."""

from __future__ import annotations

import numpy as np

from kgmi.jit import compiled
from kgmi.types import Floats, Ints

__all__ = ["best_over_subsets", "climb", "pick"]

_MOST_SWEEPS = 1_000  # far more than ever needed
_TOLERANCE = 1e-5  # nats; what must not be is priced at billions, of which a double keeps no more digits


@compiled
def best_over_subsets(parents: Ints, worth: Floats, start: Ints) -> Ints:
    """Dynamic programming: the best order of every subset is that of a smaller one with a last node added.

    Returns the order. It takes T² 2^T steps and 4 T 2^T bytes.
    """
    n, n_heads = len(start) - 1, parents.shape[1]
    size = 1 << n
    rank = np.empty((n, size), dtype=np.int32)  # of the best tuple of a child inside a subset
    for child in range(n):
        first, last = start[child], start[child + 1]
        here = rank[child]
        here[:] = last - first - 1  # no parents, which is the last of every offer
        for number in range(last - 1, first - 1, -1):
            mask = 0
            for head in range(n_heads):
                if parents[number, head] >= 0:
                    mask |= 1 << parents[number, head]
            here[mask] = number - first
        for bit in range(n):
            step = 1 << bit
            for block in range(0, size, 2 * step):
                for subset in range(block, block + step):
                    if here[subset] < here[subset + step]:
                        here[subset + step] = here[subset]
    best = np.full(size, -np.inf)
    best[0] = 0.0
    last_node = np.zeros(size, dtype=np.int8)
    for subset in range(1, size):
        for node in range(n):
            if subset >> node & 1:
                before = subset ^ (1 << node)
                total = best[before] + worth[start[node] + rank[node, before]]
                if total > best[subset]:
                    best[subset] = total
                    last_node[subset] = node
    order = np.empty(n, dtype=np.int64)
    subset = size - 1
    for place in range(n - 1, -1, -1):
        order[place] = last_node[subset]
        subset ^= 1 << order[place]
    return order


@compiled
def pick(parents: Ints, worth: Floats, start: Ints, order: Ints) -> Ints:
    """[node]: its best tuple of which all parents come earlier in the order."""
    n, n_heads = len(order), parents.shape[1]
    place = np.empty(n, dtype=np.int64)
    for at in range(n):
        place[order[at]] = at
    chosen = np.empty(n, dtype=np.int64)
    for node in range(n):
        number = start[node]
        while True:
            fits = True
            for head in range(n_heads):
                parent = parents[number, head]
                if parent >= 0 and place[parent] > place[node]:
                    fits = False
                    break
            if fits:
                break
            number += 1
        chosen[node] = number
    return chosen


@compiled
def _users_of(parents: Ints, start: Ints) -> tuple[Ints, Ints, Ints]:
    """Numbers of the offers that have each node as a parent, where those of each begin, and whose offer each is."""
    n_nodes = len(start) - 1
    begin = np.zeros(n_nodes + 1, dtype=np.int64)
    for number in range(len(parents)):
        for head in range(parents.shape[1]):
            if parents[number, head] >= 0:
                begin[parents[number, head] + 1] += 1
    for node in range(n_nodes):
        begin[node + 1] += begin[node]
    users, at = np.empty(begin[n_nodes], dtype=np.int64), begin[:-1].copy()
    children = np.empty(len(parents), dtype=np.int64)
    for node in range(n_nodes):
        for number in range(start[node], start[node + 1]):
            children[number] = node
            for head in range(parents.shape[1]):
                parent = parents[number, head]
                if parent >= 0:
                    users[at[parent]] = number
                    at[parent] += 1
    return users, begin, children


@compiled
def climb(parents: Ints, worth: Floats, start: Ints, order: Ints, turns: Ints) -> float:
    """Move one node after the other to its best place until none moves; the order is changed in place.

    For every node all places are compared at once: the nodes behind it can have it as a parent, those before can
    not. Only offers that have it as a parent are looked at, and those of the nodes that lose one by it.
    """
    n = len(order)
    users, begin, children = _users_of(parents, start)
    place = np.empty(n, dtype=np.int64)
    rest = np.empty(n - 1, dtype=np.int64)
    chosen = pick(parents, worth, start, order)  # the best offer of every node in the order
    without = np.empty(n, dtype=np.int64)  # the same without one node
    gain = np.empty(n, dtype=np.float64)  # what having the node before it is worth to each of the rest
    own = np.empty(n, dtype=np.float64)
    total = -np.inf
    for _ in range(_MOST_SWEEPS):
        moved = False
        for turn in range(n):
            node = turns[turn]
            was = _take_out(order, node, rest, place)
            _best_without(parents, start, node, rest, place, chosen, without)
            _gains(parents, worth, node, children, users[begin[node] : begin[node + 1]], place, without, gain)
            _own_places(parents, worth, start, node, place, own)
            base, behind = 0.0, 0.0
            for spot in range(n - 1):
                base += worth[without[rest[spot]]]
            best, best_spot, now = -np.inf, was, -np.inf
            for spot in range(n - 1, -1, -1):
                if spot < n - 1:
                    behind += gain[rest[spot]]
                value = own[spot] + behind
                if value > best + _TOLERANCE:
                    best, best_spot = value, spot
                if spot == was:
                    now = value
            total = base + max(now, best)
            if best > now + _TOLERANCE:
                moved = True
                for spot in range(n - 1):
                    order[spot + (1 if spot >= best_spot else 0)] = rest[spot]
                order[best_spot] = node
                chosen = pick(parents, worth, start, order)
        if not moved:
            break
    return total


@compiled
def _take_out(order: Ints, node: int, rest: Ints, place: Ints) -> int:
    """The order without the node, and the places of the rest in it; where the node was."""
    at, was = 0, 0
    for spot in range(len(order)):
        if order[spot] == node:
            was = spot
        else:
            rest[at] = order[spot]
            place[order[spot]] = at
            at += 1
    return was


@compiled
def _best_without(
    parents: Ints, start: Ints, node: int, rest: Ints, place: Ints, chosen: Ints, without: Ints
) -> None:
    """``without[other]``: the best offer of each of the rest that does not have the node as a parent."""
    for spot in range(len(rest)):
        other = rest[spot]
        number = chosen[other]
        while True:  # offers before the one chosen do not fit, with the node or without it
            fits = True
            for head in range(parents.shape[1]):
                parent = parents[number, head]
                if parent == node or (parent >= 0 and place[parent] >= spot):
                    fits = False
                    break
            if fits:
                break
            number += 1
        without[other] = number


@compiled
def _gains(
    parents: Ints, worth: Floats, node: int, children: Ints, users: Ints, place: Ints, without: Ints, gain: Floats
) -> None:
    """``gain[other]``: how much more each of the rest is worth with the node before it."""
    gain[:] = 0.0
    for number in users:
        other = children[number]
        if number >= without[other] or worth[number] - worth[without[other]] <= gain[other]:
            continue
        fits = True
        for head in range(parents.shape[1]):
            parent = parents[number, head]
            if parent >= 0 and parent != node and place[parent] >= place[other]:
                fits = False
                break
        if fits:
            gain[other] = worth[number] - worth[without[other]]


@compiled
def _own_places(parents: Ints, worth: Floats, start: Ints, node: int, place: Ints, own: Floats) -> None:
    """``own[spot]``: what the node is worth with the first ``spot`` of the rest before it."""
    own[:] = -np.inf
    for number in range(start[node], start[node + 1]):
        needs = 0
        for head in range(parents.shape[1]):
            parent = parents[number, head]
            if parent >= 0 and place[parent] + 1 > needs:
                needs = place[parent] + 1
        own[needs] = max(own[needs], worth[number])
        if needs == 0:
            break
    for spot in range(1, len(own)):
        own[spot] = max(own[spot], own[spot - 1])
