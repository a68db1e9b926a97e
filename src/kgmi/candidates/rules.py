"""``Rules``: what was asked of the candidates, in column numbers, after all checks."""

from __future__ import annotations

from dataclasses import dataclass
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

    Columns are numbers as in the table, not as the learner sees them.
    """

    columns: Columns
    forbidden: tuple[Edge, ...]
    required: tuple[Edge, ...]
    tiers: Tiers | None
    max_lag: int | None
    only_children: tuple[int, ...] | None

    def __post_init__(self) -> None:
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

    def _check_order(self, edge: Edge) -> None:
        """Refuse a required edge that the order, the tiers or the maximal lag rule out."""
        parent, child = edge
        lag = self.level(child) - self.level(parent)
        required = f"the required edge {self.columns.edge_label(edge)}"
        if lag <= 0 and self.tiers is None:
            raise SettingError(
                f"{required} goes against the order of the columns, in which {self.columns.label(child)} comes "
                "first: put parents before children, or give tiers"
            )
        if lag <= 0 and self.tiers is not None:
            where = f"the parent is in tier {self.tiers.label(parent)}, the child in tier {self.tiers.label(child)}"
            raise SettingError(f"{required} goes against the tiers: {where}, and parents come from earlier tiers")
        if self.max_lag is not None and lag > self.max_lag:
            raise SettingError(f"{required} spans {self._steps(lag)}, more than max_lag = {self.max_lag}")

    def level(self, column: int) -> int:
        """What orders the columns: the rank of the tier, or, without tiers, the place of the column."""
        return column if self.tiers is None else self.tiers.ranks[column]

    def levels(self) -> Ints:
        """:meth:`level` of all columns."""
        return np.arange(self.columns.n_nodes) if self.tiers is None else np.array(self.tiers.ranks)

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
        }

    def _steps(self, lag: int) -> str:
        return _count(lag, "column" if self.tiers is None else "tier")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
