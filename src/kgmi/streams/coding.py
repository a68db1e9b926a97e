"""``Coder``: the columns of one fragment, batch by batch, to small codes; what is new is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.data.rules import Rules
from kgmi.streams.alphabets import Alphabets, Form
from kgmi.streams.column import ColumnCoder
from kgmi.streams.raw import Raw
from kgmi.types import Codes, Names

__all__ = ["Coded", "Coder"]


@dataclass(frozen=True, eq=False)
class Coded:
    """Some rows as codes.

    Attributes
    ----------
    columns
        [column, row], each column in one piece, of the smallest type with a sign that holds them; -1: no value.
    alphabets
        What the codes mean; later batches of the same fragment may know more, but nothing else.
    """

    columns: Codes
    alphabets: Alphabets


class Coder:
    """Codes the rows of one fragment.

    Parameters
    ----------
    names
        What messages call the columns.
    own_names
        The names that they have where they come from.
    rules
        What the states are, and what becomes of missing values.
    form
        What the rows come as.
    number
        The place of the fragment in the stream.
    place
        Where a row, counted from 0 in the fragment, and the column with this label stand, in words.
    """

    def __init__(
        self,
        names: Names,
        own_names: Names,
        rules: Rules,
        form: Form,
        number: int,
        place: Callable[[int, str], str],
    ) -> None:
        self._form: Form = form
        self._columns = [
            ColumnCoder(name, own, rules, form, number, place) for name, own in zip(names, own_names, strict=True)
        ]
        self._n_rows = 0
        self._alphabets: Alphabets | None = None

    def code(self, raws: Sequence[Raw], n_rows: int) -> Coded:
        """The next rows; an error names the first cell that cannot be a state."""
        codes: Codes = np.empty((len(self._columns), n_rows), dtype=self._dtype())
        for number, (column, raw) in enumerate(zip(self._columns, raws, strict=True)):
            while not column.code(raw, codes[number], self._n_rows):  # its codes have become too large for the type
                codes = codes.astype(self._dtype())
        self._n_rows += n_rows
        seen = tuple(column.seen() for column in self._columns)
        if self._alphabets is None or self._alphabets.columns != seen:
            self._alphabets = Alphabets(seen, self._form)
        return Coded(codes, self._alphabets)

    def _dtype(self) -> np.dtype[np.signedinteger]:
        most = max(column.n_texts for column in self._columns)
        return np.min_scalar_type(-max(most, 2))
