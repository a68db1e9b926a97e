"""``Prepared``: a table that was made fit for learning, and what was done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kgmi.data.bins import Bins
from kgmi.data.table import Table

__all__ = ["ORDER_NOTE", "Prepared"]

ORDER_NOTE = (
    "The columns are taken in the order in which they stand, parents before children; if they are in no such "
    "order, have it found: order='learn' (--order learn)."
)
"""What cannot be seen in any table, and is said wherever a prepared one is learned in its own order."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table fit for learning; :func:`kgmi.learn` takes it as it is.

    Attributes
    ----------
    table
        The table: names, states of every column, codes, and -1 for missing values.
    notes
        All that was done, each in a sentence; none where the table could be learned from as it was.
    left_out
        Columns that are not in the table, in their order, with the reason.
    bins
        Where each column of measurements was cut.
    """

    table: Table
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    bins: Mapping[str, Bins] = field(default_factory=lambda: MappingProxyType({}))

    def notes_for(self, order: object, tiers: object) -> tuple[str, ...]:
        """The notes, and, for a fit in the order of the columns, that this order is believed."""
        is_believed = isinstance(order, str) and order == "given" and tiers is None
        return (*self.notes, *((ORDER_NOTE,) if is_believed else ()))
