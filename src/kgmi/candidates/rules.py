"""``Rules``: what was asked of the candidates, in column numbers, after all checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import numpy as np

from kgmi.candidates.columns import Columns, Edge
from kgmi.candidates.tiers import Tiers
from kgmi.errors import SettingError
from kgmi.types import Ints

__all__ = ["Rules"]


@dataclass(frozen=True)
class Rules:
    """The restrictions on the parents of each column; see :func:`kgmi.candidates.candidate_sets`.

    Columns are numbers as in the table, not as the learner sees them. ``sequence`` is an order of the columns other
    than theirs, and ``is_open`` says that the order is still to be learned.
    """

    columns: Columns
    forbidden: tuple[Edge, ...]
    required: tuple[Edge, ...]
    tiers: Tiers | None
    max_lag: int | None
    only_children: tuple[int, ...] | None
    sequence: tuple[int, ...] | None = None
    is_open: bool = False

    def __post_init__(self) -> None:
        if self.only_children is not None and (self.is_open or self.sequence is not None):
            raise SettingError("windows of a sequence have an order, that of time: leave out the order")
        self._check_sequence()
        forbidden, children = set(self.forbidden), set(self.only_children or ())
        for edge in self.required:
            if edge in forbidden:
                shown = self.columns.edge_label(edge)
                raise SettingError(f"the edge {shown} is both forbidden and required; drop one of the two")
            if self.only_children is not None and edge[1] not in children:
                raise SettingError(
                    f"the edge {self.columns.edge_label(edge)} is required, but {self.columns.label(edge[1])} may "
                    f"not have parents: only_children has {self.columns.listed(self.only_children) or 'no nodes'}"
                )
            self._check_order(edge)
        if self.is_open:
            self._check_open()

    def _check_sequence(self) -> None:
        """Refuse an order of the columns that contradicts the tiers."""
        if self.tiers is None or self.sequence is None:
            return
        for early, late in pairwise(self.sequence):
            if self.tiers.ranks[late] < self.tiers.ranks[early]:
                label = self.columns.label
                raise SettingError(
                    f"the order has {label(early)} before {label(late)}, whose tier is an earlier one; mend either"
                )

    def _check_open(self) -> None:
        """Refuse what makes no sense, or leaves no order, where the order is to be learned."""
        if self.max_lag is not None and self.tiers is None:
            raise SettingError(
                "max_lag counts columns back in their order, which is not known when it is learned; leave it out, "
                "or give tiers, in which it counts"
            )
        before: dict[int, set[int]] = {}
        for parent, child in self.required:
            before.setdefault(child, set()).add(parent)
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            circle = " → ".join(self.columns.label(column) for column in error.args[1])
            raise SettingError(f"the required edges go round in a circle: {circle}; drop one of them") from None

    def _check_order(self, edge: Edge) -> None:
        """Refuse a required edge that the order, the tiers or the maximal lag rule out."""
        parent, child = edge
        lag = self.level(child) - self.level(parent)
        required = f"the required edge {self.columns.edge_label(edge)}"
        if not self._may_come_before(parent, child):
            if self.tiers is None or (lag == 0 and self.sequence is not None):
                raise SettingError(
                    f"{required} goes against the order of the columns, in which {self.columns.label(child)} comes "
                    "first: put parents before children, give tiers, or have the order learned"
                )
            where = f"the parent is in tier {self.tiers.label(parent)}, the child in tier {self.tiers.label(child)}"
            raise SettingError(f"{required} goes against the tiers: {where}, and parents come from earlier tiers")
        if self.max_lag is not None and lag > self.max_lag:
            raise SettingError(f"{required} spans {self._steps(lag)}, more than max_lag = {self.max_lag}")

    def _may_come_before(self, parent: int, child: int) -> bool:
        if self.is_open and self.stages[parent] == self.stages[child]:
            return parent != child
        return bool(self.stages[parent] < self.stages[child])

    def level(self, column: int) -> int:
        """What lags are counted in: the rank of the tier, or, without tiers, the place of the column; 0 if open."""
        return int(self.levels[column])

    @cached_property
    def levels(self) -> Ints:
        """:meth:`level` of all columns."""
        if self.tiers is not None:
            return np.array(self.tiers.ranks)
        return np.zeros(self.columns.n_nodes, dtype=np.int64) if self.is_open else self.stages

    @cached_property
    def stages(self) -> Ints:
        """[column]: a parent comes from an earlier stage, or, while the order is open, from the same one too."""
        if self.sequence is not None:
            return np.argsort(np.array(self.sequence))
        if self.tiers is not None:
            return np.array(self.tiers.ranks)
        return np.zeros(self.columns.n_nodes, dtype=np.int64) if self.is_open else np.arange(self.columns.n_nodes)

    def phrases(self, reordered: bool) -> list[str]:
        """The restrictions, a phrase each; ``reordered`` says whether the tiers moved columns."""
        found = []
        if self.tiers is not None:
            moved = ", the columns put in their order" if reordered else ""
            found.append(_count(len(self.tiers.labels), "tier") + moved)
        if self.max_lag is not None:
            found.append(f"lags up to {self._steps(self.max_lag)}")
        if self.only_children is not None:
            found.append(f"parents for {_count(len(self.only_children), 'node')} only")
        if self.forbidden:
            found.append(_count(len(self.forbidden), "forbidden edge"))
        if self.required:
            found.append(_count(len(self.required), "required edge"))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values; as arguments of :func:`kgmi.candidates.candidate_sets` they give the same candidates."""
        return {
            "n_nodes": self.columns.n_nodes,
            "forbidden": [list(edge) for edge in self.forbidden],
            "required": [list(edge) for edge in self.required],
            "tiers": None if self.tiers is None else list(self.tiers.ranks),
            "max_lag": self.max_lag,
            "only_children": None if self.only_children is None else list(self.only_children),
            "order": "learn" if self.is_open else None if self.sequence is None else list(self.sequence),
        }

    def _steps(self, lag: int) -> str:
        return _count(lag, "column" if self.tiers is None else "tier")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
