"""``Columns``: columns called by name or by number, and what to call them in a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, TypeAlias

import numpy as np

from kgmi.errors import SettingError, TooLargeError
from kgmi.types import Names

__all__ = ["Columns", "Edge", "NodeRef", "whole_number"]

NodeRef: TypeAlias = int | str
"""A column by its number from 0, or by its name; a number that is the name of another column is refused."""
Edge: TypeAlias = tuple[int, int]
"""(parent, child), as column numbers."""

_MOST_NODES = 50_000  # the mask takes a byte for each pair
_SHOWN = 8  # names in a message


@dataclass(frozen=True)
class Columns:
    """The columns of a table, with or without names.

    Parameters
    ----------
    n_nodes
        Number of columns T.
    names
        Their names, all different, or None: then columns go by their numbers.
    """

    n_nodes: int
    names: tuple[str, ...] | None

    def __init__(self, n_nodes: int, names: Names | None = None) -> None:
        object.__setattr__(self, "n_nodes", whole_number(n_nodes, "n_nodes"))
        object.__setattr__(self, "names", None if names is None else tuple(names))
        if self.n_nodes > _MOST_NODES:
            raise TooLargeError(f"{self.n_nodes:,} nodes have too many pairs; the limit is {_MOST_NODES:,} nodes")
        if self.names is not None and (isinstance(names, str) or not all(isinstance(n, str) for n in self.names)):
            raise SettingError(f"names must be a list of texts, got {names!r}")
        if self.names is not None and len(self.names) != self.n_nodes:
            raise SettingError(f"{self.n_nodes} nodes need {self.n_nodes} names, got {len(self.names)}")
        if self.names is not None and len(self._number_of) < self.n_nodes:
            twice = next(name for place, name in enumerate(self.names) if self._number_of[name] != place)
            raise SettingError(f"two columns are named {twice!r}; rename one")

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names or ())}

    def label(self, number: int) -> str:
        """What a message calls a column."""
        return f"node {number}" if self.names is None else repr(self.names[number])

    def listed(self, numbers: Iterable[int]) -> str:
        """What a message calls several columns."""
        labels = [self.label(number) for number in numbers]
        return ", ".join(labels[:_SHOWN]) + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "")

    def edge_label(self, edge: Edge) -> str:
        """What a message calls an edge."""
        return f"{self.label(edge[0])} → {self.label(edge[1])}"

    def number(self, node: NodeRef, option: str) -> int:
        """The number of a column; ``option`` is where it was mentioned."""
        if isinstance(node, str):
            if node not in self._number_of:
                raise SettingError(f"{option} names {node!r}, but {self._known(node)}")
            return self._number_of[node]
        self.check_number(node, option)
        try:
            number = -1 if isinstance(node, bool | np.bool_) else index(node)
        except TypeError:
            number = -1
        if not 0 <= number < self.n_nodes:
            raise SettingError(f"{option} mentions {node!r}: nodes are {self._kinds()}")
        return number

    def check_number(self, node: Any, option: str) -> None:
        """Refuse a number that is the name of one column and the place of another, or of none."""
        if isinstance(node, bool | np.bool_) or not isinstance(node, int | np.integer):
            return
        named = self._number_of.get(str(int(node)))
        if named is None or named == node:
            return
        other = f"is {self.label(int(node))}" if 0 <= node < self.n_nodes else "is not there"
        raise SettingError(
            f"{option} mentions {int(node)}, which may be the column named {self.label(named)} or column number "
            f"{int(node)}, which {other} (numbers count from 0); write the name as a text: {self.label(named)}"
        )

    def numbers(self, nodes: Iterable[NodeRef], option: str) -> tuple[int, ...]:
        """The numbers of several columns, each once, in increasing order."""
        if isinstance(nodes, str) or not isinstance(nodes, Iterable):
            raise SettingError(f"{option} must be a list of nodes, got {nodes!r}")
        return tuple(sorted({self.number(node, option) for node in nodes}))

    def edges(self, pairs: Iterable[tuple[NodeRef, NodeRef]], option: str) -> tuple[Edge, ...]:
        """Edges as pairs of numbers, each once, by parent and then by child."""
        if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
            raise SettingError(f"{option} must be a list of pairs (parent, child), got {pairs!r}")
        found: set[Edge] = set()
        for pair in pairs:
            # A text of two letters or a set would unpack too, the latter in any order.
            if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
                raise SettingError(f"{option} must hold pairs (parent, child), got {pair!r} in place of a pair")
            edge = self.number(pair[0], option), self.number(pair[1], option)
            if edge[0] == edge[1]:
                raise SettingError(f"{option} has an edge from {self.label(edge[0])} to itself; leave it out")
            found.add(edge)
        return tuple(sorted(found))

    def _known(self, name: str) -> str:
        """What there is instead of an unknown name."""
        from difflib import get_close_matches  # needed for a message only

        if self.names is None:
            return f"the columns have no names: give numbers 0..{self.n_nodes - 1}"
        folded = {known.casefold(): known for known in self.names}
        near = get_close_matches(name.casefold(), folded, n=1)
        if near:
            return f"there is no such column; did you mean {folded[near[0]]!r}?"
        return f"there is no such column; the columns are {self.listed(range(self.n_nodes))}"

    def _kinds(self) -> str:
        return f"numbers 0..{self.n_nodes - 1}" + ("" if self.names is None else " or names of columns")


def whole_number(value: Any, option: str) -> int:
    """The value of an option that must be a whole number from 1."""
    try:
        number = 0 if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise SettingError(f"{option} must be a whole number, 1 or more; got {value!r}")
    return number
