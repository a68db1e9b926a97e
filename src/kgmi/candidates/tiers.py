"""``Tiers``: groups of columns whose order is known, while the order inside each group is not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

from kgmi.candidates.columns import Columns, NodeRef
from kgmi.errors import SettingError

__all__ = ["TierOption", "Tiers", "read_tiers"]

TierOption: TypeAlias = Mapping[Any, float] | Iterable[float] | Iterable[Iterable[NodeRef]]
"""A number for each column, in a mapping or in the order of the columns; or the groups, earliest first."""

_FORMS = (
    "tiers must be a number for each column (smaller is earlier), a mapping from column to number, or a list of "
    "groups of columns, earliest first"
)


@dataclass(frozen=True)
class Tiers:
    """The tier of every column.

    Attributes
    ----------
    ranks
        ``ranks[column]``: 0 for the earliest tier, 1 for the next one that has columns, and so on.
    labels
        ``labels[rank]``: what the user calls the tier, for messages.
    """

    ranks: tuple[int, ...]
    labels: tuple[str, ...]

    def label(self, column: int) -> str:
        """What the user calls the tier of a column."""
        return self.labels[self.ranks[column]]


def read_tiers(tiers: TierOption, columns: Columns) -> Tiers:
    """Tiers in any of their forms, checked: every column is in one tier, and in one only."""
    if isinstance(tiers, str | Set) or not isinstance(tiers, Iterable):
        raise SettingError(f"{_FORMS}; got {tiers!r}")
    if isinstance(tiers, Mapping):
        return _from_numbers(_pairs(tiers, columns), columns)
    items: list[Any] = list(tiers)
    groups = [_is_group(item) for item in items]
    if items and all(groups):
        return _from_groups(items, columns)
    if any(groups):
        alone = items[groups.index(False)]
        raise SettingError(f"tiers mixes groups with {alone!r}; a group of one is written [{alone!r}]")
    text = next((item for item in items if isinstance(item, str)), None)
    if text is not None:
        raise SettingError(f"{_FORMS}; got the text {text!r}, which has no place in an order")
    if len(items) > columns.n_nodes:
        raise SettingError(f"tiers has {len(items)} numbers for {columns.n_nodes} columns")
    return _from_numbers(list(enumerate(items)), columns)


def _is_group(item: Any) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str)


def _pairs(tiers: Mapping[Any, Any], columns: Columns) -> list[tuple[int, Any]]:
    """(column, tier) from a mapping; a column called by its name and by its number is there twice."""
    pairs: dict[int, Any] = {}
    for node, tier in tiers.items():
        if _is_group(tier):
            raise SettingError(f"{_FORMS}; got {tier!r} for {node!r}")
        column = columns.number(node, "tiers")
        if column in pairs:
            raise SettingError(_twice(columns, column, str(pairs[column]), str(tier)))
        pairs[column] = tier
    return list(pairs.items())


def _from_numbers(pairs: Sequence[tuple[int, Any]], columns: Columns) -> Tiers:
    for column, tier in pairs:
        if isinstance(tier, bool) or not (tier is None or isinstance(tier, Real)):
            raise SettingError(f"the tier of {columns.label(column)} must be a number, got {tier!r}")
    tier_of = {column: tier for column, tier in pairs if tier is not None and math.isfinite(tier)}
    _check_complete(tier_of, columns)
    distinct = sorted(set(tier_of.values()))
    rank = {tier: place for place, tier in enumerate(distinct)}
    return Tiers(tuple(rank[tier_of[c]] for c in range(columns.n_nodes)), tuple(map(str, distinct)))


def _from_groups(groups: Sequence[Iterable[NodeRef]], columns: Columns) -> Tiers:
    rank_of: dict[int, int] = {}
    for rank, group in enumerate(groups):
        members = [columns.number(node, "tiers") for node in group]
        if not members:
            raise SettingError(f"tier {rank + 1} has no columns; leave it out")
        for column in members:
            if column in rank_of:
                raise SettingError(_twice(columns, column, str(rank_of[column] + 1), str(rank + 1)))
            rank_of[column] = rank
    _check_complete(rank_of, columns)
    labels = tuple(str(place + 1) for place in range(len(groups)))
    return Tiers(tuple(rank_of[column] for column in range(columns.n_nodes)), labels)


def _check_complete(known: Mapping[int, Any], columns: Columns) -> None:
    missing = [column for column in range(columns.n_nodes) if column not in known]
    if missing:
        raise SettingError(f"tiers must hold every column once, but none has {columns.listed(missing)}")


def _twice(columns: Columns, column: int, first: str, second: str) -> str:
    return f"{columns.label(column)} is in tier {first} and again in tier {second}; leave it in one"
