"""``candidate_sets``: from what the user knows to the candidates of every node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from kgmi.candidates.candidates import Candidates
from kgmi.candidates.columns import Columns, NodeRef, whole_number
from kgmi.candidates.rules import Rules
from kgmi.candidates.tiers import TierOption, read_tiers
from kgmi.errors import SettingError
from kgmi.types import Bools, Ints

__all__ = ["Order", "candidate_sets", "in_order"]

Order: TypeAlias = Literal["given", "learn"] | Sequence[NodeRef]
"""The order of the columns: theirs, one to be learned, or the columns one after the other."""


def candidate_sets(
    n_nodes: int,
    *,
    names: Sequence[str] | None = None,
    forbidden: Iterable[tuple[NodeRef, NodeRef]] | None = None,
    required: Iterable[tuple[NodeRef, NodeRef]] | None = None,
    tiers: TierOption | None = None,
    max_lag: int | None = None,
    only_children: Iterable[NodeRef] | None = None,
    order: Order | None = None,
) -> Candidates:
    """Decide which nodes may be parents of which, before anything is scored.

    Without restrictions every column may have every earlier column as a parent. Restrictions that contradict
    each other are errors.

    Parameters
    ----------
    n_nodes
        Number of columns T.
    names
        Names of the columns, for calling them by name below; numbers, from 0, always work.
    forbidden
        Edges (parent, child) that are not there. One that the order rules out anyway does no harm.
    required
        Edges (parent, child) that are there. Each takes up one of the heads of its child.
    tiers
        Groups whose order is known, while the order inside each is not (generations): a node's candidates are
        the nodes of all earlier tiers, and none of its own. A number for each column (smaller is earlier), a
        mapping from column to number, or a list of groups of columns, earliest first. Columns may come in
        any order; the learner sees them by tier (``order`` of the result).
    max_lag
        How far back a parent may be: in columns, or, with tiers, in tiers (1: the tier before). Only tiers that
        have columns count as a step.
    only_children
        The only nodes that may have parents at all.
    order
        ``given`` (or None): that of the columns. The columns in another order. Or ``learn``: every node is a
        candidate of every other one (of its own tier or an earlier one), and the search keeps cycles out.

    Examples
    --------
    >>> candidates = candidate_sets(4, names=["child", "mother", "father", "aunt"],
    ...                             tiers=[["mother", "father", "aunt"], ["child"]], forbidden=[("aunt", "child")])
    >>> candidates.order
    (1, 2, 3, 0)
    >>> candidates.of(3).tolist()
    [0, 1]
    """
    columns = Columns(n_nodes, names)
    rules = Rules(
        columns,
        columns.edges(() if forbidden is None else forbidden, "forbidden"),
        columns.edges(() if required is None else required, "required"),
        None if tiers is None else read_tiers(tiers, columns),
        None if max_lag is None else whole_number(max_lag, "max_lag"),
        None if only_children is None else columns.numbers(only_children, "only_children"),
        _sequence(order, columns),
        isinstance(order, str) and order == "learn",
    )
    return _candidates(rules)


def in_order(candidates: Candidates, order: Sequence[int]) -> Candidates:
    """The candidates once the order of the nodes is known; ``order`` has their present numbers."""
    columns = tuple(candidates.order[node] for node in order)
    return _candidates(replace(candidates.rules, sequence=columns, is_open=False))


def _sequence(order: Order | None, columns: Columns) -> tuple[int, ...] | None:
    if order is None or isinstance(order, str):
        if order not in (None, "given", "learn"):
            raise SettingError(f"order must be given, learn, or the columns in their order; got {order!r}")
        return None
    if not isinstance(order, Iterable):
        raise SettingError(f"order must be given, learn, or the columns in their order; got {order!r}")
    found = [columns.number(column, "order") for column in order]
    for column in found:
        if found.count(column) > 1:
            raise SettingError(f"the order has {columns.label(column)} twice")
    missing = [column for column in range(columns.n_nodes) if column not in found]
    if missing:
        raise SettingError(f"the order must have every column once, but has not {columns.listed(missing)}")
    return tuple(found)


def _candidates(rules: Rules) -> Candidates:
    columns = rules.columns
    order = np.argsort(rules.stages, kind="stable")
    place = np.argsort(order)
    parents: list[list[int]] = [[] for _ in range(columns.n_nodes)]
    for parent, child in rules.required:
        parents[place[child]].append(int(place[parent]))
    return Candidates(
        allowed=_mask(rules, order, place),
        required=tuple(tuple(sorted(ps)) for ps in parents),
        order=tuple(order.tolist()),
        rules=rules,
    )


def _mask(rules: Rules, order: Ints, place: Ints) -> Bools:
    """[child, candidate] in the order of the learner. Comparisons only: a difference would take 8 bytes a pair."""
    level, stage = rules.levels[order], rules.stages[order]
    allowed = stage[None, :] < stage[:, None]
    if rules.is_open:
        allowed |= stage[None, :] == stage[:, None]
        np.fill_diagonal(allowed, False)
    if rules.max_lag is not None:
        allowed &= level[None, :] >= (level - min(rules.max_lag, len(level)))[:, None]
    if rules.only_children is not None:
        childless = np.ones(len(level), dtype=bool)
        childless[place[list(rules.only_children)]] = False
        allowed[childless] = False
    if rules.forbidden:
        parents, children = np.array(rules.forbidden).T
        allowed[place[children], place[parents]] = False
    allowed.setflags(write=False)
    return np.asarray(allowed)
