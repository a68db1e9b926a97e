"""``Candidates``: which earlier nodes may be parents of which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kgmi.candidates.rules import Rules
from kgmi.errors import SettingError
from kgmi.types import Bools, Codes, Ints

__all__ = ["Candidates"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which nodes may be parents of which; made by :func:`kgmi.candidates.candidate_sets`.

    A *column* is a number as in the table. A *node* is its number as the learner sees it: the same, unless tiers
    move columns. Everything here is about nodes, except where it says columns.

    Attributes
    ----------
    allowed
        [child, candidate]: whether the candidate may be a parent of the child. Only earlier
        nodes ever are, unless the order is open.
        Not to be changed.
    required
        ``required[child]``: the parents that the child must have, in increasing order; all are allowed.
    order
        ``order[node]``: the column that is this node. By tier, and inside a tier as in the table.
    rules
        What was asked for, in column numbers.
    """

    allowed: Bools
    required: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    rules: Rules
    _lists: dict[int, Ints] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.order)

    @cached_property
    def n_pairs(self) -> int:
        """Number of allowed pairs (child, candidate)."""
        return int(np.count_nonzero(self.allowed))

    @property
    def is_open(self) -> bool:
        """Whether the order is still to be learned, so that any two nodes may be candidates of each other."""
        return self.rules.is_open

    @property
    def is_full(self) -> bool:
        """Whether every earlier node is a candidate and no edge is required; columns may have moved even so."""
        n_all = self.n_nodes * (self.n_nodes - 1) // (1 if self.is_open else 2)
        return self.n_pairs == n_all and not any(self.required)

    @cached_property
    def is_reordered(self) -> bool:
        """Whether the learner sees the columns in another order than that of the table."""
        return self.order != tuple(range(self.n_nodes))

    @cached_property
    def place(self) -> tuple[int, ...]:
        """``place[column]``: the node that this column is; the inverse of ``order``."""
        return tuple(np.argsort(np.array(self.order)).tolist())

    def of(self, child: int) -> Ints:
        """The candidates of a child, in increasing order. Not to be changed."""
        if child not in self._lists:
            found = np.flatnonzero(self.allowed[child])
            # Most lists are runs without gaps; as views of one array they take no memory of their own.
            if len(found) and found[-1] - found[0] + 1 == len(found):
                found = self._numbers[found[0] : found[-1] + 1]
            found.setflags(write=False)
            self._lists[child] = found
        return self._lists[child]

    @cached_property
    def _numbers(self) -> Ints:
        return np.arange(self.n_nodes)

    def may_be_drawn_with(self, node: int, earlier: int) -> bool:
        """Whether two roots may depend on each other: like parents, and inside a tier if none is forbidden."""
        if self.allowed[node, earlier]:
            return True
        one, other = self.order[node], self.order[earlier]
        apart = {(one, other), (other, one)} & set(self.rules.forbidden)
        return self.rules.level(one) == self.rules.level(other) and not apart

    def to_nodes(self, columns: Iterable[int]) -> tuple[int, ...]:
        """The nodes that these columns are."""
        return tuple(self.place[column] for column in columns)

    def to_columns(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """The columns that these nodes are."""
        return tuple(self.order[node] for node in nodes)

    def arrange_rows(self, rows: Codes) -> Codes:
        """Rows [row, column] as [row, node]: the same array where nothing moves, otherwise a copy."""
        return rows[:, self.order] if self.is_reordered else rows

    def arrange_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns as names of the nodes."""
        return tuple(names[column] for column in self.order)

    def check_heads(self, n_heads: int) -> None:
        """Refuse more required parents than there are heads to hold them."""
        for node, parents in enumerate(self.required):
            if len(parents) > n_heads:
                label, listed = self.rules.columns.label, self.rules.columns.listed
                raise SettingError(
                    f"{label(self.order[node])} has {len(parents)} required parents "
                    f"({listed(self.to_columns(parents))}), but a node has at most {n_heads}: allow more "
                    "(n_parents, --parents), or require fewer edges"
                )

    def describe(self) -> str:
        """One sentence on what was ruled out beforehand; empty if nothing was, and nothing moved."""
        n_all = self.n_nodes * (self.n_nodes - 1) // 2
        why = "; ".join(self.rules.phrases(self.is_reordered))
        if self.rules.sequence is not None and self.is_full:
            return f"Before the order was found: {why}." if why else ""
        if (self.is_full and not self.is_reordered) or not why:
            return ""
        return f"Candidates were restricted beforehand to {self.n_pairs:,} of {n_all:,} pairs: {why}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a record; ``candidate_sets(**content)`` gives the same candidates."""
        return self.rules.to_dict()
