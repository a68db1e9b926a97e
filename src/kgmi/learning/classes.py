"""Kernel classes as users give them: which columns follow the same kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np

from kgmi.candidates import Columns
from kgmi.errors import SettingError

__all__ = ["Classes", "class_labels", "read_classes"]

Classes: TypeAlias = Mapping[Any, Any] | Iterable[Any]
"""The class of every column, by column or in their order; or groups of columns."""

_FORMS = (
    "classes must be {column: class}, a class (a text or a whole number) for every column in order, or groups of "
    "columns"
)
_REST = "rest"


def read_classes(classes: Classes | None, columns: Columns) -> dict[str, str] | None:
    """The name of the class of every column, by name; columns that are not mentioned are a class of their own."""
    if classes is None:
        return None
    if isinstance(classes, str | Set) or not isinstance(classes, Iterable):
        raise SettingError(f"{_FORMS}; got {classes!r}")
    if isinstance(classes, Mapping):
        found = _collected(((node, _name(one)) for node, one in classes.items()), columns)
    else:
        items = list(classes)
        groups = [isinstance(item, Iterable) and not isinstance(item, str) for item in items]
        if any(groups) and not all(groups):
            alone = items[groups.index(False)]
            raise SettingError(f"classes mixes groups with {alone!r}; a group of one is written [{alone!r}]")
        if groups and all(groups):
            found = _collected(((n, str(place)) for place, g in enumerate(items, start=1) for n in g), columns)
        elif len(items) == columns.n_nodes:
            found = {column: _name(item) for column, item in enumerate(items)}
        else:
            raise SettingError(
                f"classes has {len(items)} entries for {columns.n_nodes} columns; give one for each, or "
                "{column: class} for some of them"
            )
    if not found:
        raise SettingError("classes is empty; leave it out")
    rest = _REST if _REST not in found.values() else f"{_REST} of the columns"
    names = columns.names or tuple(map(str, range(columns.n_nodes)))
    return {name: found.get(column, rest) for column, name in enumerate(names)}


def class_labels(classes: Mapping[str, str] | None, names: Iterable[str]) -> tuple[int, ...]:
    """A number for every node, the same for those of one class; classes count from 0 as they come."""
    if classes is None:
        return tuple(0 for _ in names)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(classes.values()))}
    return tuple(numbers[classes[name]] for name in names)


def _collected(pairs: Iterable[tuple[Any, str]], columns: Columns) -> dict[int, str]:
    """The class of every column that is mentioned; nobody is in two."""
    found: dict[int, str] = {}
    for node, one in pairs:
        column = columns.number(node, "classes")
        if found.setdefault(column, one) != one:
            raise SettingError(
                f"{columns.label(column)} is in class {found[column]} and again in class {one}; leave it in one"
            )
    return found


def _name(one: Any) -> str:
    if isinstance(one, bool | np.bool_) or not isinstance(one, str | int | np.integer):
        raise SettingError(f"{_FORMS}; got {one!r} for a class")
    return str(one)
