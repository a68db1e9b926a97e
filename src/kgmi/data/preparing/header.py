"""Whether the first line of a text file names the columns at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgmi.data.preparing.raw import Raw
from kgmi.errors import DataError

__all__ = ["check_header_names"]

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?")
_YEAR = re.compile(r"(1[89]|20)\d\d")  # a column may well be called 2019
_SHOWN = 8


def check_header_names(origin: str, names: Sequence[str], columns: Sequence[Raw]) -> None:
    """Refuse a first line that is data: every name is also a value, or most of them are numbers."""
    import pyarrow as pa
    from pyarrow import compute as pc

    wanted = pa.array(names, pa.large_string())
    unseen = set(names)
    for column in columns:
        found = column.values.filter(pc.is_in(column.values, value_set=wanted))
        unseen.difference_update(found.to_pylist())
    n_numbers = sum(_NUMBER.fullmatch(name) is not None and _YEAR.fullmatch(name) is None for name in names)
    if not unseen or 2 * n_numbers >= max(2, len(names)):
        shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
        raise DataError(
            f"the first line of {origin} looks like data ({shown}): if it is, say so with header=False "
            "(--no-header); if not, rename the columns"
        )
