"""The best tuple over lists of candidates, one for each role: all of them scored together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from kgmi.guides.likelihood import Likelihood
from kgmi.search.plan import Plan
from kgmi.types import Floats, Ints

__all__ = ["best_joint", "keep_required"]

_FEW_TUPLES = 5_000  # that are looked at all at once


def best_joint(
    plan: Plan, child: int, table: Floats, roles: Sequence[Ints], required: Sequence[int]
) -> tuple[int, ...] | None:
    """The best tuple with one candidate from each list, all different, the required ones among them."""
    if len(roles) == 1:
        scores = plan.guide.singles(child, table, roles[0])
        if required:
            scores = np.where(np.isin(roles[0], required), scores, -np.inf)
        best = int(scores.argmax())
        return (int(roles[0][best]),) if np.isfinite(scores[best]) else None
    if len(roles) == 2 and np.array_equal(roles[0], roles[1]) and isinstance(plan.guide, Likelihood):
        return _best_unordered(plan.guide.unordered(child, table, roles[0]), roles[0], required)
    if prod(map(len, roles)) <= _FEW_TUPLES and isinstance(plan.guide, Likelihood):
        tuples = np.array([*product(*(role.tolist() for role in roles[:-1]))], dtype=np.int64)
        return _best_of_all(plan.guide.joint(child, table, tuples, roles[-1]), tuples, roles[-1], required)
    top, winner = -np.inf, None
    *lead_roles, firsts, seconds = roles
    for leads in product(*(role.tolist() for role in lead_roles)):
        if len(set(leads)) < len(leads):
            continue
        scores = plan.guide.pairs(child, table, leads, firsts, seconds)
        _rule_out_repeats(scores, firsts, seconds, leads)
        if required:
            keep_required(scores, firsts, seconds, leads, required)
        best = int(scores.argmax())
        if scores.flat[best] > top:
            first, second = divmod(best, len(seconds))
            top, winner = float(scores.flat[best]), (*leads, int(firsts[first]), int(seconds[second]))
    return winner


def _best_of_all(scores: Floats, tuples: Ints, candidates: Ints, required: Sequence[int]) -> tuple[int, ...] | None:
    """The best tuple of different nodes, the required ones among them, from scores [tuple, candidate]."""
    held = (tuples[:, :, None] == candidates).any(axis=1)
    for role in range(1, tuples.shape[1]):
        held |= (tuples[:, :role] == tuples[:, role : role + 1]).any(axis=1)[:, None]
    for parent in required:
        held |= ~((tuples == parent).any(axis=1)[:, None] | (candidates == parent))
    scores[held] = -np.inf
    best, last = divmod(int(scores.argmax()), len(candidates))
    return None if held[best, last] else (*tuples[best].tolist(), int(candidates[last]))


def _best_unordered(both: Floats, nodes: Ints, required: Sequence[int]) -> tuple[int, ...] | None:
    """The best pair in the best order, from scores [order, node, later node]."""
    for scores in both if required else ():
        keep_required(scores, nodes, nodes, (), required)
    best = int(both.argmax())
    turned, first, second = np.unravel_index(best, both.shape)
    if both.flat[best] == -np.inf:
        return None
    pair = int(nodes[first]), int(nodes[second])
    return pair[::-1] if turned else pair


def _rule_out_repeats(scores: Floats, firsts: Ints, seconds: Ints, leads: Sequence[int]) -> None:
    _, at, also_at = np.intersect1d(firsts, seconds, assume_unique=True, return_indices=True)
    scores[at, also_at] = -np.inf
    for lead in leads:
        scores[firsts == lead] = -np.inf
        scores[:, seconds == lead] = -np.inf


def keep_required(
    scores: Floats, firsts: Ints, seconds: Ints, leads: Sequence[int], required: Sequence[int]
) -> None:
    """Rule out pairs that, with the leads, leave out a required parent."""
    left = [parent for parent in required if parent not in leads]
    held = np.isin(firsts, left)[:, None].astype(int) + np.isin(seconds, left)
    scores[held < len(left)] = -np.inf
