"""Tables that Dask holds in partitions as a source of rows: data frames, arrays, lists of delayed tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.errors import DataError, KgmiError, first_line
from kgmi.sources.base import Block, Choice, Fragment
from kgmi.sources.memory import Batches, selected
from kgmi.table import Batch

__all__ = ["Partitions", "open_partitions", "uncomputed"]

_HEAD = 1 << 15  # rows of a partition that come first where rows are read here: mostly they are enough


@dataclass(eq=False)
class Partitions(Batches):
    """Tables that Dask holds as a source; each partition is a fragment, and is counted where it was computed.

    What a partition holds is known only then, so fragments have no marks before, and a checkpoint needs files.

    Attributes
    ----------
    partitions
        Delayed tables, one for each fragment; workers get none of them.
    rows
        The rows of a fragment, as one table or several, where they are here.
    """

    partitions: tuple[Any, ...]
    rows: Iterable[Any] | None = None

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a partition, which are computed and brought here where they are not."""
        try:
            yield from self.blocks_of(self._computed(fragment) if self.rows is None else self.rows, fragment.label)
        except DataError as error:
            raise error if fragment.label in str(error) else DataError(f"{fragment.label}: {error}") from None

    def container(self, fragment: Fragment) -> str:
        """Return what messages put before the number of a row."""
        return f"{fragment.label}: "

    def _computed(self, fragment: Fragment) -> Iterator[Any]:
        for first, last in ((0, _HEAD), (_HEAD, None)):
            yield (rows := _computed(self.partitions[fragment.number], first, last, fragment.label))
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
    batch = Batch.of(model)
    columns, where = selected(batch, choice)
    known = batch.names if choice.columns is None else None
    description = f"the Dask {kind} ({len(parts):,} partition{'s' if len(parts) > 1 else ''})"
    made = Partitions(batch.form, columns, where, description, known, ())
    if kind == "data frame":  # other columns are not computed
        parts = (source if known else source[[one for one in source if str(one) in made.needed]]).to_delayed()
    made.partitions = tuple(parts)
    made.cut(
        Fragment(f"partition {number} of {description}", n_rows=size)
        for number, size in enumerate(sizes or [None] * len(parts))
    )
    return made


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
