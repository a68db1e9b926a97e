"""One batch of rows among many: a column may have no value in it yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kgmi.cells import MISSING, Missing
from kgmi.data.columns import read_cells
from kgmi.data.frames import as_frame, frame_columns
from kgmi.data.rows import as_array
from kgmi.errors import TooFewRowsError
from kgmi.learning.inputs import Source
from kgmi.table import Table, as_table, checked_names

__all__ = ["columns_of", "read_batch"]


def read_batch(rows: Source, missing: Missing, reading: dict[str, Any]) -> Table:
    """The batch as a table; a column without any value has gaps only, which a whole table is refused for."""
    try:
        return as_table(rows, missing=missing, **reading)
    except TooFewRowsError:
        cells = _cells(rows)
        filled = _filled(cells)
        n_rows, n_columns = cells.shape
        if missing != "pairwise" or len(filled) == n_columns:
            raise
    codes = np.full((n_rows, n_columns), -1, dtype=np.int64)
    states = tuple(reading["states"] or map(str, range(reading["n_states"] or 0)))
    if filled:
        some = as_table(cells[:, filled], missing=missing, **{**reading, "names": None})
        codes[:, filled], states = some.codes, some.states
    return Table(codes, checked_names(reading["names"] or columns_of(rows), n_columns), states)


def columns_of(rows: Source) -> tuple[str, ...] | None:
    """What the rows themselves call their columns; None where they have no names."""
    if isinstance(rows, Table):
        return rows.names
    frame = as_frame(rows)
    columns = getattr(rows if frame is None else frame, "columns", None)
    return tuple(str(name) for name in columns) if isinstance(columns, Iterable) else None


def _cells(rows: Source) -> Any:
    """A narwhals data frame, or an array."""
    if isinstance(rows, Table):
        return rows.codes
    frame = as_frame(rows)
    if frame is not None:
        return frame
    return rows if isinstance(rows, np.ma.MaskedArray) else as_array(rows)


def _filled(cells: Any) -> list[int]:
    """Columns with a value."""
    if hasattr(cells, "iter_columns"):
        columns, nothing = frame_columns(cells), {*MISSING}
    else:
        listed = [cells[:, place].tolist() for place in range(cells.shape[1])]  # masked cells are None
        columns = [read_cells(str(place), str(place), one) for place, one in enumerate(listed)]
        nothing = {*MISSING, "-1"}  # which is a gap in arrays, where gaps are allowed
    gaps = [[text is None or str(text).strip() in nothing for text in (*one.texts, None)] for one in columns]
    return [k for k, one in enumerate(columns) if not all(gaps[k][place] for place in set(one.index.tolist()))]
