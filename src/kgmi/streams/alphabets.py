"""``Alphabets``: what the codes of every column mean, while rows are still coming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from kgmi.data.rules import Rules
from kgmi.errors import DataError
from kgmi.streams.seen import Seen
from kgmi.types import Ints, Names

if TYPE_CHECKING:
    from kgmi.streams.settled import Settled

__all__ = ["Alphabets", "Form"]

Form: TypeAlias = Literal["frame", "cells", "numbers", "text", "headed text"]
"""What rows come as, which says how cells are read: see :func:`kgmi.data.as_table`.

A data frame or a file with typed columns; an array of texts or objects; an array of numbers; a text file without or
with a first line of names.
"""


@dataclass(frozen=True)
class Alphabets:
    """What the codes of every column mean; those of several fragments are joined, in any order, to the same states.

    Attributes
    ----------
    columns
        What was seen in every column.
    form
        What the rows came as.
    """

    columns: tuple[Seen, ...]
    form: Form = "frame"

    @classmethod
    def of_nothing(cls, names: Names, form: Form = "frame") -> Alphabets:
        """No rows yet."""
        return cls(tuple(Seen(name) for name in names), form)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """``texts[column][code]``: the state."""
        return tuple(seen.texts for seen in self.columns)

    @property
    def declared(self) -> tuple[tuple[str, ...] | None, ...]:
        """``declared[column]``: categories that the type of the column declares, in their order."""
        return tuple(seen.categories for seen in self.columns)

    @property
    def has_gaps(self) -> bool:
        """Whether any cell had no value."""
        return any(seen.has_gaps for seen in self.columns)

    def joined(self, other: Alphabets) -> tuple[Alphabets, list[Ints], list[Ints]]:
        """The alphabets of both, and for each of them the maps [column][old code] to the new codes."""
        empty = [all(seen.is_empty for seen in one.columns) for one in (self, other)]
        if len(self.columns) != len(other.columns) or (self.form != other.form and not any(empty)):
            raise DataError(
                "rows of different forms (text, typed columns, arrays) do not make one table; convert some"
            )
        pairs = zip(self.columns, other.columns, strict=True)
        form = other.form if empty[0] else self.form
        union = Alphabets(tuple(mine.joined(theirs) for mine, theirs in pairs), form)
        if union == self:
            union = self
        return union, _maps(self, union), _maps(other, union)

    def settled(self, names: Names, rules: Rules, filled: Sequence[int] | Ints) -> Settled:
        """The final alphabets, those that :func:`kgmi.data.as_table` finds for all rows at once.

        Parameters
        ----------
        names
            What messages call the columns.
        rules
            The choices by which cells become codes.
        filled
            ``filled[column]``: rows in which the column has a value.
        """
        from kgmi.streams.settled import settle

        return settle(self, names, rules, filled)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"form": self.form, "columns": [seen.to_dict() for seen in self.columns]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Alphabets:
        """The same from plain values; a ``DataError`` where they are something else."""
        try:
            columns = tuple(Seen.from_dict(column) for column in content["columns"])
            form = content["form"]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"these are no alphabets ({error!r})") from None
        if form not in get_args(Form):
            raise DataError(f"these are no alphabets (form {form!r})")
        return cls(columns, form)


def _maps(old: Alphabets, new: Alphabets) -> list[Ints]:
    maps = []
    for before, after in zip(old.columns, new.columns, strict=True):
        if before.texts == after.texts[: len(before.texts)]:
            maps.append(np.arange(len(before.texts), dtype=np.int64))
            continue
        number = {text: code for code, text in enumerate(after.texts)}
        maps.append(np.array([number[text] for text in before.texts], dtype=np.int64))
    return maps
