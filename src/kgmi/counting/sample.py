"""Some rows of a stream in memory: the first ones, for checks, or some from everywhere, to choose candidates by.

They are read a second time, so that is bounded: a filter that lets hardly any row pass does not cost a second pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kgmi.data import Table
from kgmi.errors import DataError
from kgmi.streams import Alphabets, Coded, Fragment, Settled, Stream
from kgmi.streams.filters import Filter
from kgmi.streams.sources import Projected
from kgmi.types import Codes, Ints

__all__ = ["first_rows", "no_rows", "sample_table", "some_batches"]

_MOST_FRAGMENTS = 256  # that are looked through: files may be small
_MOST_FAR = 4  # of those that are computed or fetched, as partitions of Dask are
_MOST_LOOKED_AT = 4_000_000  # rows that a filter is put to
_FEWEST_PLACES = 16  # fragments that a sample is taken from, where there are so many


def first_rows(stream: Stream, alphabets: Alphabets, settled: Settled, most: int) -> Codes | None:
    """The first rows [row, column] in the codes of ``settled``; None where they cannot be read again.

    There are none of them where the filter lets no row of the first ones pass. ``alphabets`` are those of all rows,
    which ``settled`` was made of.
    """
    if not stream.rereadable:
        return None
    return _final(list(some_batches(stream, stream.fragments, most)), alphabets, settled)


def no_rows(stream: Stream) -> str:
    """What is wrong with a stream without rows, in words."""
    which = " that the filter lets through" if stream.where else ""
    return f"there are no rows{which} in {stream.description}"


def sample_table(stream: Stream, most: int) -> Table:
    """About ``most`` rows, the first ones of fragments that lie evenly over the stream."""
    if not stream.rereadable:
        raise DataError(
            f"with so many columns rows are looked at twice, and {stream.description} can be read once only; write "
            "them to a Parquet file first, or take fewer columns"
        )
    places = _places(len(stream.fragments))
    each = -(-most // min(_FEWEST_PLACES, max(1, len(places))))
    batches = list(some_batches(stream, [stream.fragments[place] for place in places], most, each))
    if not batches:
        raise DataError(_none_found(stream))
    alphabets = batches[0].alphabets
    for one in batches[1:]:
        alphabets = alphabets.joined(one.alphabets)[0]
    filled = np.sum([(one.columns >= 0).sum(axis=1) for one in batches], axis=0)
    settled = alphabets.settled(stream.names, stream.rules, filled)
    return Table(_final(batches, alphabets, settled), stream.names, settled.states, settled.alphabets)


def _places(n_fragments: int) -> list[int]:
    """Numbers of fragments: some that lie evenly over all, then further ones, evenly too, if these are small."""
    if not n_fragments:
        return []
    places = [np.linspace(0, n_fragments - 1, many).astype(int) for many in (_FEWEST_PLACES, _MOST_FRAGMENTS)]
    return list(dict.fromkeys(np.concatenate(places).tolist()))


def _none_found(stream: Stream) -> str:
    if not stream.where or not stream.fragments:
        return no_rows(stream)
    return (
        f"{stream.description}: with so many columns some rows are looked at first, and the filter lets none of "
        "these pass; write those that pass to a Parquet file first, or take fewer columns (columns=…)"
    )


def some_batches(
    stream: Stream, fragments: Sequence[Fragment], most: int, each: int | None = None
) -> Iterator[Coded]:
    """Batches until there are enough rows, at most ``each`` of a fragment, or until enough was looked at."""
    patience = _Patience(_MOST_LOOKED_AT if each is None else _FEWEST_PLACES * _MOST_LOOKED_AT // 2)
    stream = _patient(stream, patience)
    few = _MOST_FAR if each is None else _FEWEST_PLACES
    for fragment in fragments[: few if hasattr(stream.source, "runner") else _MOST_FRAGMENTS]:
        patience.here = patience.left if each is None else min(patience.left, _MOST_LOOKED_AT // 2)
        for batch in _of_fragment(stream, fragment, most if each is None else min(most, each)):
            most -= batch.columns.shape[1]
            yield batch
        if most <= 0 or patience.left <= 0:
            return


def _of_fragment(stream: Stream, fragment: Fragment, most: int) -> Iterator[Coded]:
    """The first rows of a fragment, as far as there is patience for them."""
    try:
        for batch in stream.batches(fragment):
            some = batch.columns[:, :most]
            yield Coded(some, batch.alphabets)
            most -= some.shape[1]
            if most <= 0:
                return
    except _OutOfPatienceError:
        return


class _OutOfPatienceError(Exception):
    """Enough rows were looked at."""


@dataclass
class _Patience:
    """Rows that a filter may still be put to: in all, and in the present fragment."""

    left: int
    here: int = 0


@dataclass(frozen=True)
class _Patient(Filter):
    """A filter that is put to so many rows and not to more."""

    patience: _Patience = field(default_factory=lambda: _Patience(0), compare=False)

    def rows(self, table: Any, *, is_text: bool = False) -> Ints | None:
        """The rows that pass; see :meth:`Filter.rows`."""
        if self.patience.here <= 0:
            raise _OutOfPatienceError
        self.patience.here -= table.num_rows
        self.patience.left -= table.num_rows
        return super().rows(table, is_text=is_text)


def _patient(stream: Stream, patience: _Patience) -> Stream:
    """The same rows while there is patience; it does not end where rows are in memory, or filtered elsewhere."""
    source, where = stream.source, stream.source.filter
    if where is None or not isinstance(source, Projected):
        return stream
    filtered = _Patient(where.text, where.columns, where.conditions, where.expression, patience)
    bounded: Any = replace(source, projection=replace(source.projection, filter=filtered))
    return replace(stream, source=bounded)


def _final(batches: Sequence[Coded], alphabets: Alphabets, settled: Settled) -> Codes:
    """Rows [row, column] of batches; a gap is -1, or the state that it became."""
    gaps = settled.gap_codes or (-1,) * len(settled.maps)
    sizes = [len(settled.states)] if settled.alphabets is None else [len(one) for one in settled.alphabets]
    pieces = [np.empty((0, len(settled.maps)), dtype=np.int8)]
    for batch in batches:
        union, _, known = alphabets.joined(batch.alphabets)
        if union.texts != alphabets.texts or (union.has_gaps and not alphabets.has_gaps):
            raise DataError("the rows have changed since they were counted; count them again")
        columns = [
            np.append(final[own], gap)[column]  # -1 looks at the last
            for own, final, gap, column in zip(known, settled.maps, gaps, batch.columns, strict=True)
        ]
        pieces.append(np.column_stack(columns).astype(np.min_scalar_type(-max(sizes))))
    return np.concatenate(pieces)
