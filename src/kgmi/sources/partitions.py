"""Tables that Dask holds in partitions as a source of rows: data frames, arrays, lists of delayed tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.errors import DataError, KgmiError, first_line
from kgmi.sources.base import Block, Choice, Form, Fragment
from kgmi.sources.memory import Batch, Passing, passing
from kgmi.where import Filter

__all__ = ["Partitions", "open_partitions", "uncomputed"]

_HEAD = 1 << 15  # rows of a partition that come first where rows are read here: mostly they are enough


@dataclass(eq=False)
class Partitions:
    """Tables that Dask holds as a source; each partition is a fragment, and is counted where it was computed.

    What a partition holds is known only then, so fragments have no marks before, and a checkpoint needs files.

    Attributes
    ----------
    model
        A table without rows that has the columns.
    every
        Whether all columns are read, so that a partition may have no further ones.
    partitions
        Delayed tables, one for each fragment; workers get none of them.
    rows
        The rows of a fragment, as one table or several, where they are here.
    """

    model: Batch
    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    every: bool
    description: str
    fragments: tuple[Fragment, ...]
    partitions: tuple[Any, ...]
    rows: Iterable[Any] | None = None
    rereadable: bool = True

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a partition, which are computed and brought here where they are not."""
        label, rows = self._label(fragment), self._computed(fragment) if self.rows is None else self.rows
        held = Passing(
            rows, self.model, self.form, self.columns, self.filter, (fragment,), self.every, label, rereadable=True
        )
        try:
            yield from held.read(fragment)
        except DataError as error:
            raise error if label in str(error) else DataError(f"{label}: {error}") from None

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = "" if self.filter is None else " of those that pass the filter"
        return lambda row, name: f"{self._label(fragment)}: row {row}{which}, column '{name}'"

    def _label(self, fragment: Fragment) -> str:
        return f"{fragment.label} of {self.description}"

    def _computed(self, fragment: Fragment) -> Iterator[Any]:
        for first, last in ((0, _HEAD), (_HEAD, None)):
            yield (rows := _computed(self.partitions[fragment.number], first, last, self._label(fragment)))
            if len(rows) < _HEAD:
                return

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"partitions": ()}


def open_partitions(source: Any, choice: Choice) -> Partitions:
    """Return a ``dask.dataframe``, a ``dask.array`` [row, column] or a list of delayed tables as a source."""
    from dask.delayed import Delayed

    parts: Sequence[Any] = [source] if isinstance(source, Delayed) else source
    sizes: Sequence[int | None] = ()
    if isinstance(parts, list | tuple):
        kind = "list of delayed tables"
        if not all(isinstance(one, Delayed) for one in parts):
            raise DataError("a list of partitions must hold delayed tables only (dask.delayed)")
        if len({one.key for one in parts}) < len(parts):
            raise DataError(
                "a delayed table is in the list twice, so that its rows would count twice; leave one out"
            )
        model = _computed(parts[0], 0, 1, f"partition 0 of the Dask {kind}")
    elif hasattr(source, "rechunk"):
        kind, width = "array", source.shape[-1] if source.ndim == 2 else np.nan
        if width != width:
            raise DataError(f"rows must be a table [row, node], got a Dask array with shape {source.shape}")
        whole = source.rechunk({1: -1})
        model, parts = whole._meta.reshape(0, width), whole.to_delayed()[:, 0]
        sizes = [int(size) if size == size else None for size in whole.chunks[0]]  # NaN: not known yet
    elif hasattr(source, "npartitions") and hasattr(source, "columns"):
        kind, model = "data frame", source._meta
    else:
        raise DataError(
            f"rows cannot be read from {type(source).__module__}.{type(source).__name__}; give a dask.dataframe, a "
            "dask.array [row, column], or a list of delayed tables"
        )
    read = passing((), Batch.of(model), choice, "", rereadable=True)
    if kind == "data frame":
        needed = {*read.columns, *(() if read.filter is None else read.filter.columns)}  # others are not computed
        parts = (source if read.every else source[[one for one in source if str(one) in needed]]).to_delayed()
    fragments = tuple(
        Fragment(number, f"partition {number}", n_rows=size if read.filter is None else None)
        for number, size in enumerate(sizes or [None] * len(parts))
    )
    description = f"the Dask {kind} ({len(parts):,} partition{'s' if len(parts) > 1 else ''})"
    what = read.columns, read.filter, read.every
    return Partitions(read.model, read.form, *what, description, fragments, tuple(parts))


def _computed(part: Any, first: int, last: int | None, label: str) -> Any:
    """Return some rows of a delayed table, computed by the open client or as Dask's configuration says."""
    from dask import delayed

    try:
        return delayed(_rows_between)(part, first, last).compute()
    except KgmiError as error:
        raise DataError(f"{label}: {error}") from None
    except Exception as error:
        raise uncomputed(error, label) from error


def _rows_between(table: Any, first: int, last: int | None) -> Any:
    """Return some rows of a table of any kind, as such a table."""
    batch = Batch.of(table)
    rows = batch.part(first, len(batch.rows) if last is None else last).rows
    return rows.to_native() if batch.form == "typed" else rows


def uncomputed(error: BaseException, label: str) -> DataError:
    """Return the error on rows that code of the user could not compute."""
    return DataError(f"{label} cannot be computed: {type(error).__name__}: {first_line(error)}")
