"""The best parents of one child under one kernel: among all tuples, among short lists, or head by head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations, product
from math import prod

import numpy as np

from kgmi.guides.contextual import Contextual
from kgmi.guides.likelihood import Likelihood
from kgmi.problem import Family, Problem
from kgmi.score import Group, node_part
from kgmi.types import Floats, Ints

__all__ = ["best_tuple", "head_scores", "role_orders", "roles_of", "worth_under"]

_SHORTEST_LIST = 3
_FEW_HEADS = 4  # whose short lists are searched together: of more heads even these have too many tuples
_MOST_LISTS = 3  # times that short lists are made around what the last ones led to
_MOST_SWEEPS = 20  # over the heads of one child
_TUPLES_AT_ONCE = 5_000
_FEW_PARENTS = 4  # whose orders are all tried
_ROUNDING = 1e-9


def best_tuple(
    problem: Problem, group: Group, child: int, starts: Sequence[Family], *, thorough: bool
) -> Family | None:
    """Return the best parents of a child under the kernel of a group; None where there are no candidates for it.

    Where not all tuples are looked at, the heads start from the first of ``starts`` that has as many parents.
    """
    roles = roles_of(problem, group, child)
    if min(map(len, roles)) == 0 or len({*np.concatenate(roles).tolist()}) < len(roles):
        return None
    assert problem.guide is not None
    table = problem.guide.prepare(child, group.seen)
    begin = None
    if len(roles) > 1 and not (problem.is_exhaustive and thorough):
        begin = _start(problem, child, table, roles, starts)
    if begin is None:
        best = _best_joint(problem, child, table, roles)
    elif problem.search == "heads" or len(roles) > _FEW_HEADS:
        best = _by_heads(problem, child, table, roles, begin)
    else:
        best = _by_lists(problem, child, table, roles, begin)
    if best is not None and group.symmetric and len({*group.key[1]}) == 1:
        return tuple(sorted(best))  # all orders are as good: rounding must not choose between them
    return best


def worth_under(problem: Problem, group: Group, child: int, parents: Family) -> float:
    """Return what parents are worth under the present kernel of a group, less the prices of set, roles and gaps."""
    fit = float((problem.family(child, parents) * np.log(np.maximum(group.seen, 1e-300))).sum())
    return fit + node_part(problem, child, parents) - (0.0 if problem.is_exact else group.role_cost)


def roles_of(problem: Problem, group: Group, child: int) -> list[Ints]:
    """Return for every role the candidates of the child that have the alphabet of the role."""
    candidates = problem.candidates.of(child)
    alphabets = problem.alphabets[candidates]
    return [candidates[alphabets == alphabet] for alphabet in group.key[1]]


def role_orders(problem: Problem, parents: Family, alphabets: Sequence[int]) -> list[Family]:
    """Return orders of the parents with these alphabets: all, or, of many, one and every exchange of two."""
    if len(parents) <= _FEW_PARENTS:
        every: Iterator[Family] = permutations(parents)
    else:
        base = sorted(parents, key=lambda parent: (problem.counts.alphabets[parent], parent))
        every = iter([tuple(base), *(_exchanged(base, *two) for two in combinations(range(len(base)), 2))])
    return [o for o in every if all(problem.counts.alphabets[p] == a for p, a in zip(o, alphabets, strict=True))]


def _exchanged(parents: list[int], one: int, other: int) -> Family:
    turned = list(parents)
    turned[one], turned[other] = parents[other], parents[one]
    return tuple(turned)


def head_scores(problem: Problem, child: int, table: Floats, role: Ints, parents: Family, head: int) -> Floats:
    """Return the scores of a head's candidates, NaN for the parents that other heads hold."""
    assert problem.guide is not None
    scores = np.array(problem.guide.head(child, table, parents, head, role))
    for other, parent in enumerate(parents):
        if other != head:
            scores[role == parent] = np.nan
    return scores


def _start(
    problem: Problem, child: int, table: Floats, roles: Sequence[Ints], starts: Sequence[Family]
) -> Family | None:
    """Return where the heads begin: the first start of as many parents in its best order, or any tuple."""
    alphabets = [problem.counts.alphabets[int(role[0])] for role in roles]
    for start in starts:
        if len(start) == len(roles) and (orders := role_orders(problem, start, alphabets)):
            return orders[0] if len(orders) == 1 else max(orders, key=lambda o: _score(problem, child, table, o))
    likely = list(dict.fromkeys(parent for start in starts for parent in start))
    chosen: list[int] = []
    for role in roles:
        free = [p for p in (*likely, *role.tolist()) if p in role and p not in chosen]
        if not free:
            return None
        chosen.append(free[0])
    return tuple(chosen)


def _score(problem: Problem, child: int, table: Floats, parents: Family) -> float:
    if isinstance(problem.guide, Likelihood):
        return problem.guide.score(table, problem.family(child, parents))
    assert problem.guide is not None
    return float(problem.guide.head(child, table, parents, 0, np.array(parents[:1]))[0])


def _by_lists(problem: Problem, child: int, table: Floats, roles: Sequence[Ints], parents: Family) -> Family:
    """Return the best tuple over short lists around the parents; where that is another one, once more around it."""
    length = problem.list_length
    if len(roles) > 2:  # as many tuples as two heads have, or nearly so
        length = max(_SHORTEST_LIST, round(length ** (2 / len(roles))))
    for _ in range(_MOST_LISTS):
        lists = []
        for head, role in enumerate(roles):
            scores = head_scores(problem, child, table, role, parents, head)
            keep = role[np.argsort(-scores, kind="stable")[:length]]  # NaN comes last
            here = [p for p in (*parents, *problem.candidates.required[child]) if p in role]
            lists.append(np.unique(np.concatenate([keep, np.array(here, dtype=keep.dtype)])))
        best = _best_joint(problem, child, table, lists)
        if best is None or best == parents:
            break
        parents = best
    return parents


def _by_heads(problem: Problem, child: int, table: Floats, roles: Sequence[Ints], parents: Family) -> Family:
    """Move one head after the other to its best candidate, given the others, until none moves."""
    required = {*problem.candidates.required[child]}
    for _ in range(_MOST_SWEEPS):
        before = parents
        for head in range(len(parents)):
            if parents[head] in required:
                continue
            scores = head_scores(problem, child, table, roles[head], parents, head)
            now = int(np.flatnonzero(roles[head] == parents[head])[0])
            best = int(np.nanargmax(scores))
            if scores[best] > scores[now] + _ROUNDING:
                parents = (*parents[:head], int(roles[head][best]), *parents[head + 1 :])
        if parents == before:
            break
    return parents


def _best_joint(problem: Problem, child: int, table: Floats, roles: Sequence[Ints]) -> Family | None:
    """Return the best tuple with one candidate of each role, all different, the required ones among them."""
    top, winner = -np.inf, None
    required = problem.candidates.required[child]
    for tuples, candidates, scores, is_half in _scored(problem, child, table, roles):
        if required or not is_half:  # half of all pairs has no pair twice, and -inf elsewhere
            _rule_out(scores, tuples, candidates, required)
        best, last = np.unravel_index(int(scores.argmax()), scores.shape)
        if scores[best, last] > top:
            top, winner = float(scores[best, last]), (*tuples[best].tolist(), int(candidates[last]))
    return winner


def _scored(
    problem: Problem, child: int, table: Floats, roles: Sequence[Ints]
) -> Iterator[tuple[Ints, Ints, Floats, bool]]:
    """Yield tuples of all roles but the last, candidates of the last, their scores, and whether these are half."""
    guide, last = problem.guide, roles[-1]
    if isinstance(guide, Contextual):
        if len(roles) == 1:
            yield np.empty((1, 0), dtype=np.int64), last, guide.head(child, table, (-1,), 0, last)[None], False
        else:
            yield roles[0][:, None], last, guide.joint_scores(child, table, roles[0], last), False
        return
    assert guide is not None
    if len(roles) == 2 and np.array_equal(roles[0], last):
        for turned, scores in enumerate(guide.unordered(child, table, last)):
            yield last[:, None], last, scores.T if turned else scores, True
        return
    every = product(*(role.tolist() for role in roles[:-1]))
    for _ in range(0, prod(map(len, roles[:-1])), _TUPLES_AT_ONCE):
        some = [*islice(every, _TUPLES_AT_ONCE)]
        tuples = np.array(some, dtype=np.int64).reshape(len(some), len(roles) - 1)
        yield tuples, last, guide.joint(child, table, tuples, last), False


def _rule_out(scores: Floats, tuples: Ints, candidates: Ints, required: Sequence[int]) -> None:
    """Set to -inf the scores of tuples in which a node is twice, or that leave out a required parent."""
    held = (tuples[:, :, None] == candidates).any(axis=1)
    for role in range(1, tuples.shape[1]):
        held |= (tuples[:, :role] == tuples[:, role : role + 1]).any(axis=1)[:, None]
    for parent in required:
        held |= ~((tuples == parent).any(axis=1)[:, None] | (candidates == parent))
    scores[held] = -np.inf
