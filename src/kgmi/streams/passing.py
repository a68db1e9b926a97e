"""Rows that pass by: iterators, record-batch readers, lazy data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from kgmi.errors import DataError, KgmiError, first_line
from kgmi.streams.alphabets import Form
from kgmi.streams.batches import Batch, batch_of
from kgmi.streams.files import select
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Choice, Fragment, Piece, block_rows
from kgmi.streams.lazy import polars_filter

__all__ = ["Passing", "open_iterable", "open_lazy", "open_reader"]


@dataclass(eq=False)
class Passing:
    """Batches that come one after the other, as a source of rows; all of them are one fragment."""

    begin: Callable[[], Iterable[Any]]
    model: Batch
    columns: tuple[str, ...]
    filter: Filter | None
    every: bool
    description: str
    rereadable: bool
    is_filtered: bool = False  # before the batches come here
    is_taken: bool = field(default=False, init=False)

    @property
    def form(self) -> Form:
        """What the rows come as."""
        return self.model.form

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All rows."""
        return (Fragment(0, "", None, self.description),)

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows."""
        if self.is_taken and not self.rereadable:
            raise DataError(
                f"{self.description} can be read once only, and it was; give files, a table in memory, or the "
                "source anew"
            )
        self.is_taken = True
        for number, rows in enumerate(self.begin()):
            batch = batch_of(rows)
            self._check(batch, number)
            yield from batch.pieces(self.columns, None if self.is_filtered else self.filter)

    def _check(self, batch: Batch, number: int) -> None:
        """Refuse a batch whose cells are read in another way than those of the first, or with other columns."""
        where = f"batch {number} of {self.description}"
        if batch.form != self.form:
            raise DataError(
                f"{where} is an {batch.kind} of another kind than the first batch; give all in one form"
            )
        filtered_by = () if self.filter is None or self.is_filtered else self.filter.columns
        needed = dict.fromkeys((*self.columns, *filtered_by))
        lacking = next((name for name in needed if name not in batch.names), None)
        further = next((name for name in batch.names if name not in self.model.names), None)
        if lacking is not None:
            raise DataError(f"{where} has no column {lacking!r}, which the first batch has")
        if further is not None and self.every:
            raise DataError(f"{where} has a column {further!r} that the first batch does not have; say columns=…")

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        passed = "" if self.filter is None else " of those that the filter lets through"
        return lambda row, label: f"row {row}{passed}, {label}"

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def open_iterable(source: Iterable[Any], choice: Choice) -> Passing:
    """Arrays, data frames or record batches that an iterator hands out, or a list that has them."""
    once = isinstance(source, Iterator)
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        raise DataError("the iterator hands out no batch, so there are no rows")
    model = batch_of(first)
    described = f"the {'iterator' if once else 'list'} of batches ({type(source).__name__})"
    begin = (lambda: chain([first], rows)) if once else (lambda: source)
    return _passing(begin, model, choice, described, not once)


def open_reader(source: Any, choice: Choice) -> Passing:
    """Anything that hands out Arrow record batches."""
    import pyarrow as pa

    try:
        is_reader = isinstance(source, pa.RecordBatchReader)
        reader = source if is_reader else pa.RecordBatchReader.from_stream(source)
    except (TypeError, pa.ArrowInvalid) as error:
        raise DataError(f"{type(source).__name__} hands out no record batches: {first_line(error)}") from None
    described = f"the record-batch reader ({type(source).__name__})"

    def begin() -> Iterator[Any]:
        try:
            yield from reader
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{described} failed: {first_line(error)}") from None

    return _passing(begin, batch_of(reader.schema.empty_table()), choice, described, False)


def open_lazy(frame: Any, choice: Choice) -> Passing:
    """A lazy data frame of polars, computed in batches."""
    import polars as pl

    if not hasattr(frame, "collect_batches"):
        raise DataError(
            f"polars {pl.__version__} cannot hand out a lazy frame in batches; update it, or write the frame with "
            "sink_parquet and give that file"
        )
    model = batch_of(_computed(lambda: frame.head(0).collect()))
    found = _passing(lambda: (), model, choice, "the lazy frame", True)
    condition = None if found.filter is None else polars_filter(found.filter, model.schema, frame.collect_schema())
    if condition is not None:
        frame, found.is_filtered = frame.filter(condition), True
    kept_for = () if found.filter is None or found.is_filtered else found.filter.columns
    needed = dict.fromkeys((*found.columns, *kept_for))
    lean = frame.select(list(needed))

    def begin() -> Iterator[Any]:
        batches = _computed(
            lambda: iter(lean.collect_batches(chunk_size=block_rows(len(needed)), maintain_order=True))
        )
        while (batch := _computed(lambda: next(batches, None))) is not None:
            yield batch

    found.begin, found.every = begin, False
    return found


def _computed(work: Callable[[], Any]) -> Any:
    """What polars computes; its errors in words."""
    from polars.exceptions import PolarsError

    try:
        return work()
    except (PolarsError, OSError) as error:
        if isinstance(error, KgmiError):
            raise
        raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None


def _passing(
    begin: Callable[[], Iterable[Any]], model: Batch, choice: Choice, described: str, rereadable: bool
) -> Passing:
    columns, where = select(model.names, choice, None if choice.where is None else model.schema)
    return Passing(begin, model.part(0, 0), columns, where, choice.columns is None, described, rereadable)
