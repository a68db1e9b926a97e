"""``Candidates``: who may be whose parent, decided before anything is scored; nodes are the columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import isfinite
from numbers import Real
from operator import index
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.errors import SettingError, TooLargeError
from kgmi.types import Bools, Ints, Names

__all__ = ["Candidates", "Columns", "NodeRef", "Order", "Rules", "TierOption", "candidate_sets"]

NodeRef: TypeAlias = int | str
TierOption: TypeAlias = Mapping[Any, float] | Iterable[float] | Iterable[Iterable[NodeRef]]
Order: TypeAlias = Literal["given", "learn"] | Sequence[NodeRef]
_Edges: TypeAlias = frozenset[tuple[int, int]]  # (parent, child)

_MOST_NODES = 50_000  # the mask takes a byte for each pair
_SHOWN = 8  # names in a message


class Columns:
    """The columns of a table, called by name or by number from 0."""

    def __init__(self, n_nodes: int, names: Names | None = None) -> None:
        self.n_nodes = _from_one(n_nodes, "n_nodes")
        if self.n_nodes > _MOST_NODES:
            raise TooLargeError(f"{self.n_nodes:,} nodes have too many pairs: take {_MOST_NODES:,} or fewer")
        self.names = None if names is None else tuple(names)
        self._number_of = {name: number for number, name in enumerate(self.names or ()) if isinstance(name, str)}
        if self.names is not None and not len(self.names) == len(self._number_of) == self.n_nodes:
            raise SettingError(f"names must be {self.n_nodes} different texts, one for each column; got {names!r}")

    def label(self, number: int) -> str:
        """Return what a message calls a column."""
        return f"node {number}" if self.names is None else repr(self.names[number])

    def listed(self, numbers: Sequence[int]) -> str:
        """Return what a message calls several columns."""
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        return ", ".join(map(self.label, numbers[:_SHOWN])) + more

    def number(self, node: NodeRef, option: str) -> int:
        """Return the number of a column; ``option`` is where it was mentioned."""
        if isinstance(node, str):
            if node not in self._number_of:
                from difflib import get_close_matches  # needed for this message only

                folded = {name.casefold(): name for name in self.names or ()}
                near = [f"did you mean {folded[one]!r}?" for one in get_close_matches(node.casefold(), folded, n=1)]
                known = near or [f"the columns are {self.listed(range(self.n_nodes))}"]
                raise SettingError(f"{option} names {node!r}, but there is no such column; {known[0]}")
            return self._number_of[node]
        number = _whole(node)
        if number is None or (str(number) not in self._number_of and not 0 <= number < self.n_nodes):
            raise SettingError(f"{option} mentions {node!r}: nodes are names, or numbers 0..{self.n_nodes - 1}")
        if self._number_of.get(str(number), number) != number:
            raise SettingError(
                f"{option} mentions {number}, which may be the column named '{number}' or column number {number}, "
                "counted from 0: give the name of the column that is meant, as a text"
            )
        return number

    def numbers(self, nodes: Iterable[NodeRef], option: str) -> tuple[int, ...]:
        """Return the numbers of several columns, as they come."""
        if isinstance(nodes, str) or not isinstance(nodes, Iterable):
            raise SettingError(f"{option} must list nodes, got {nodes!r} in place of a list")
        return tuple(self.number(node, option) for node in nodes)

    def edges(self, pairs: Iterable[tuple[NodeRef, NodeRef]], option: str) -> _Edges:
        """Return edges (parent, child) as pairs of numbers."""
        found = set()
        for pair in pairs if isinstance(pairs, Iterable) and not isinstance(pairs, Mapping) else [pairs]:
            # A text of two letters or a set would unpack too, the latter in any order.
            if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
                raise SettingError(f"{option} must be a list of pairs (parent, child), got {pair!r} for a pair")
            parent, child = self.numbers(pair, option)
            if parent == child:
                raise SettingError(f"{option} has an edge from {self.label(child)} to itself; leave it out")
            found.add((parent, child))
        return frozenset(found)

    def check_each_once(self, found: Iterable[int], option: str) -> None:
        """Refuse a list that has a column twice, or not at all."""
        times = Counter(found)
        if wrong := [number for number in range(self.n_nodes) if times[number] != 1]:
            raise SettingError(f"{option} must have every column once; missing or twice: {self.listed(wrong)}")


@dataclass(frozen=True, eq=False)
class Rules:
    """What was asked of the candidates, in column numbers, by the names of :func:`candidate_sets`.

    ``tiers[column]`` is 0 for the earliest tier, 1 for the next one that has columns, and so on. ``order`` is None
    where it is that of the columns or of the tiers.
    """

    columns: Columns
    forbidden: _Edges
    required: _Edges
    tiers: tuple[int, ...] | None
    max_lag: int | None
    only_children: tuple[int, ...] | None
    order: Literal["learn"] | tuple[int, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; as arguments of :func:`candidate_sets` they make the same candidates."""
        content = {name: value for name, value in vars(self).items() if name != "columns"}
        return {"n_nodes": self.columns.n_nodes, **json.loads(json.dumps(content, default=sorted))}


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which nodes may be parents of which; made by :func:`candidate_sets`.

    Attributes
    ----------
    allowed
        [child, candidate]: whether the candidate may be a parent of the child. Not to be changed.
    required
        ``required[child]``: the parents that the child must have, in increasing order.
    stage
        [node]: parents come from earlier stages or, while the order is open, from the same one too. It is the place
        in the order or, with tiers alone, the rank of the tier; 0 while nothing is known.
    column
        ``column[node]``: the same number, unless the nodes were :meth:`renumbered`.
    rules
        What was asked for, in column numbers.
    """

    allowed: Bools
    required: tuple[tuple[int, ...], ...]
    stage: Ints
    column: tuple[int, ...]
    rules: Rules
    _lists: dict[int, Ints] = field(default_factory=dict, init=False, repr=False)
    _numbers: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.allowed.setflags(write=False)
        object.__setattr__(self, "_numbers", np.arange(self.n_nodes))

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.allowed)

    @cached_property
    def n_pairs(self) -> int:
        """Number of allowed pairs (child, candidate)."""
        return int(np.count_nonzero(self.allowed))

    @property
    def is_open(self) -> bool:
        """Whether the order is still to be learned, so that two nodes may be candidates of each other."""
        return self.rules.order == "learn"

    @property
    def is_sequence(self) -> bool:
        """Whether these are windows of a sequence: most columns are what came before, without parents."""
        return self.rules.only_children is not None

    @property
    def is_full(self) -> bool:
        """Whether all earlier nodes are candidates, or, while the order is open, all others; none is required."""
        n_all = self.n_nodes * (self.n_nodes - 1) // (1 if self.is_open else 2)
        in_order = self.is_open or np.array_equal(self.stage, self._numbers)
        return in_order and self.n_pairs == n_all and not self.rules.required

    def of(self, child: int) -> Ints:
        """Return the candidates of a child, in increasing order. Not to be changed."""
        if child not in self._lists:
            found = np.flatnonzero(self.allowed[child])
            # Most lists are runs without gaps; as views of one array they take no memory of their own.
            if len(found) and found[-1] - found[0] + 1 == len(found):
                found = self._numbers[found[0] : found[-1] + 1]
            found.setflags(write=False)
            self._lists[child] = found
        return self._lists[child]

    def may_be_drawn_with(self, node: int, earlier: int) -> bool:
        """Return whether two roots may depend on each other: like parents, and in a tier if none is forbidden."""
        one, other, tiers = self.column[node], self.column[earlier], self.rules.tiers
        together = self.stage[node] == self.stage[earlier] if tiers is None else tiers[one] == tiers[other]
        apart = {(one, other), (other, one)} & self.rules.forbidden
        return bool(self.allowed[node, earlier] or (together and not apart))

    def check_heads(self, n_heads: int) -> None:
        """Refuse more required parents than there are heads to hold them."""
        for child, n_required in Counter(child for _, child in self.rules.required).items():
            if n_required > n_heads:
                who = f"{self.rules.columns.label(child)} has {n_required} required parents, more than {n_heads}"
                raise SettingError(f"{who}: allow more (n_parents, --parents), or require fewer edges")

    def sequence(self) -> tuple[int, ...]:
        """Return the nodes in an order that the stages allow; inside a stage they stay as they are."""
        return tuple(np.argsort(self.stage, kind="stable").tolist())

    def restricted(self, allowed: Bools) -> Candidates:
        """Return the same with no other candidates than those in ``allowed``."""
        return replace(self, allowed=self.allowed & allowed)

    def renumbered(self, order: Sequence[int]) -> Candidates:
        """Return the same with other numbers: node k is what node ``order[k]`` is here."""
        place, nodes = np.argsort(order), list(order)
        if nodes == list(range(self.n_nodes)):
            return self
        return replace(
            self,
            allowed=self.allowed[np.ix_(nodes, nodes)],
            required=tuple(tuple(sorted(place[[*self.required[node]]].tolist())) for node in nodes),
            stage=self.stage[nodes],
            column=tuple(self.column[node] for node in nodes),
        )

    def ordered(self, order: Sequence[int]) -> Candidates:
        """Return what is left once the open order is known to be ``order``, a node after the other."""
        rules = replace(self.rules, order=tuple(self.column[node] for node in order))
        return _candidates(rules).renumbered(self.column).restricted(self.allowed)

    def describe(self) -> str:
        """Return a sentence on what was asked for beforehand; empty if nothing was."""
        rules, n_all = self.rules, self.n_nodes * (self.n_nodes - 1) // 2
        asked = [
            (rules.tiers, _count(max(rules.tiers or [0]) + 1, "tier")),
            (rules.max_lag, "lags up to " + _count(rules.max_lag or 0, "tier" if rules.tiers else "column")),
            (self.is_sequence, f"parents for {_count(len(rules.only_children or ()), 'node')} only"),
            (rules.forbidden, _count(len(rules.forbidden), "forbidden edge")),
            (rules.required, _count(len(rules.required), "required edge")),
        ]
        why = "; ".join(text for is_asked, text in asked if is_asked)
        left = "" if self.is_open or self.is_full else f" to {self.n_pairs:,} of {n_all:,} pairs"
        return why and f"Candidates were restricted beforehand{left}: {why}."


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
    """Return which nodes may be parents of which; restrictions that contradict each other are errors.

    Without restrictions all earlier columns are candidates. The options are those of :func:`kgmi.learn`, and
    ``only_children``: the only nodes that may have parents at all. Columns are called by name or by number from 0.
    """
    columns = Columns(n_nodes, names)
    known = None if tiers is None else _read_tiers(tiers, columns)
    rules = Rules(
        columns,
        columns.edges(() if forbidden is None else forbidden, "forbidden"),
        columns.edges(() if required is None else required, "required"),
        known,
        None if max_lag is None else _from_one(max_lag, "max_lag"),
        None if only_children is None else tuple(sorted({*columns.numbers(only_children, "only_children")})),
        None if order is None else _read_order(order, columns, known or (0,) * columns.n_nodes),
    )
    if rules.only_children is not None and rules.order is not None:
        raise SettingError("windows of a sequence have an order, that of time: leave out the order")
    if rules.max_lag is not None and rules.tiers is None and rules.order == "learn":
        raise SettingError("max_lag counts columns back, in an order not known yet: leave it out, or give tiers")
    return _candidates(rules)


def _candidates(rules: Rules) -> Candidates:
    columns, n_nodes, is_open = rules.columns, rules.columns.n_nodes, rules.order == "learn"
    stage = np.argsort(rules.order) if isinstance(rules.order, tuple) else np.arange(n_nodes) * (not is_open)
    level = stage if rules.tiers is None else np.array(rules.tiers)  # what lags are counted in
    stage = stage if isinstance(rules.order, tuple) else level
    allowed: Bools = stage[None, :] < stage[:, None]  # a difference would take 8 bytes a pair
    if is_open:
        allowed |= stage[None, :] == stage[:, None]
        np.fill_diagonal(allowed, False)
    if rules.max_lag is not None:
        allowed &= level[None, :] >= (level - min(rules.max_lag, n_nodes))[:, None]
    if rules.only_children is not None:
        allowed[sorted({*range(n_nodes)} - {*rules.only_children})] = False
    for parent, child in rules.forbidden:
        allowed[child, parent] = False
    required: list[list[int]] = [[] for _ in range(n_nodes)]
    for parent, child in sorted(rules.required):
        required[child].append(parent)
        if not allowed[child, parent]:
            lag = int(level[child] - level[parent])
            reasons = [
                ((parent, child) in rules.forbidden, "forbidden"),
                (rules.only_children is not None and child not in rules.only_children, "only_children (windows)"),
                (lag > (rules.max_lag or n_nodes), f"max_lag = {rules.max_lag}, as it goes back by {lag}"),
                (rules.tiers is None or (lag == 0 and rules.order is not None), "the order of the columns"),
            ]
            against = next((text for is_so, text in reasons if is_so), "the tiers")
            edge = f"{columns.label(parent)} → {columns.label(child)}"
            raise SettingError(f"the required edge {edge} goes against {against}: drop the edge, or change that")
    try:
        TopologicalSorter(dict(enumerate(required))).prepare()
    except CycleError as error:
        circle = " → ".join(map(columns.label, error.args[1]))
        raise SettingError(f"the required edges go round in a circle: {circle}; drop one of them") from None
    return Candidates(allowed, tuple(map(tuple, required)), stage, tuple(range(n_nodes)), rules)


def _read_tiers(tiers: TierOption, columns: Columns) -> tuple[int, ...]:
    """Return the rank of the tier of every column; each is in one tier, and in one only."""
    if isinstance(tiers, str | Set) or not isinstance(tiers, Iterable):
        forms = "a number for each column (smaller is earlier), {column: number}, or groups of columns"
        raise SettingError(f"tiers must be {forms}; got {tiers!r}")
    items: list[Any] = list(tiers)
    pairs: list[tuple[int, Any]] = list(enumerate(items))
    if isinstance(tiers, Mapping):
        pairs = [(columns.number(node, "tiers"), tier) for node, tier in tiers.items()]
    elif any(isinstance(item, Iterable) and not isinstance(item, str) for item in items):
        pairs = [(column, rank) for rank, group in pairs for column in columns.numbers(group, "tiers")]
    elif len(items) > columns.n_nodes:
        raise SettingError(f"tiers has {len(items)} numbers for {columns.n_nodes} columns; give one for each")
    for column, tier in pairs:
        if isinstance(tier, bool) or not isinstance(tier, Real) or not isfinite(tier):
            raise SettingError(f"the tier of {columns.label(column)} must be a number, got {tier!r}")
    columns.check_each_once([column for column, _ in pairs], "tiers")
    rank_of = {tier: rank for rank, tier in enumerate(sorted({tier for _, tier in pairs}))}
    return tuple(rank_of[tier] for _, tier in sorted(pairs))


def _read_order(order: Order, columns: Columns, tiers: Sequence[int]) -> Literal["learn"] | tuple[int, ...] | None:
    """Return an order as column numbers; None where it is that of the columns."""
    if isinstance(order, str) and order in ("given", "learn"):
        return None if order == "given" else "learn"
    if isinstance(order, str | Set | Mapping) or not isinstance(order, Iterable):
        raise SettingError(f"order must be given, learn, or the columns in their order; got {order!r}")
    found = columns.numbers(order, "order")
    columns.check_each_once(found, "order")
    for pair in pairwise(found):
        if tiers[pair[0]] > tiers[pair[1]]:
            raise SettingError(f"order has {columns.listed(pair)} in turn, and tiers the other way round: mend one")
    return found


def _from_one(value: Any, option: str) -> int:
    """Return the value of an option that must be a whole number from 1."""
    if (number := _whole(value)) is None or number < 1:
        raise SettingError(f"{option} must be a whole number, 1 or more; got {value!r}")
    return number


def _whole(value: Any) -> int | None:
    """Return a whole number of any integer type as an int; None for all else, truth values included."""
    try:
        return None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        return None


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
