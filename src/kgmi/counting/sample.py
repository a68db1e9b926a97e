"""Some rows of a stream in memory: the first ones, for checks, or some from everywhere, to choose candidates by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kgmi.data import Table
from kgmi.errors import DataError
from kgmi.streams import Alphabets, Coded, Fragment, Settled, Stream
from kgmi.types import Codes

__all__ = ["first_rows", "sample_table"]

_FIRST_FRAGMENTS = 2  # that are looked through: a filter may let hardly any row pass
_MOST_PLACES = 16  # fragments that a sample is taken from


def first_rows(stream: Stream, alphabets: Alphabets, settled: Settled, most: int) -> Codes | None:
    """The first rows [row, column] in the codes of ``settled``; None where they cannot be read again.

    ``alphabets`` are those of all rows, which ``settled`` was made of.
    """
    if not stream.rereadable:
        return None
    return _final(list(_read(stream, stream.fragments[:_FIRST_FRAGMENTS], most)), alphabets, settled)


def sample_table(stream: Stream, most: int) -> Table:
    """About ``most`` rows, the first ones of fragments that lie evenly over the stream."""
    if not stream.rereadable:
        raise DataError(
            f"with so many columns rows are looked at twice, and {stream.description} can be read once only; write "
            "them to a Parquet file first, or take fewer columns"
        )
    places = np.unique(np.linspace(0, len(stream.fragments) - 1, _MOST_PLACES).astype(int)).tolist()
    each = -(-most // len(places))
    batches = [one for place in places for one in _read(stream, [stream.fragments[place]], each)]
    if not batches:
        raise DataError(f"{stream.description} has no rows")
    alphabets = batches[0].alphabets
    for one in batches[1:]:
        alphabets = alphabets.joined(one.alphabets)[0]
    filled = np.sum([(one.columns >= 0).sum(axis=1) for one in batches], axis=0)
    settled = alphabets.settled(stream.names, stream.rules, filled)
    codes = _final(batches, alphabets, settled)
    assert codes is not None
    return Table(codes, stream.names, settled.states, settled.alphabets)


def _read(stream: Stream, fragments: Sequence[Fragment], most: int) -> Iterator[Coded]:
    """Batches until there are enough rows."""
    for fragment in fragments:
        for batch in stream.batches(fragment):
            some = batch.columns[:, :most]
            yield Coded(some, batch.alphabets)
            most -= some.shape[1]
            if most <= 0:
                return


def _final(batches: Sequence[Coded], alphabets: Alphabets, settled: Settled) -> Codes | None:
    """Rows [row, column] of batches; a gap is -1, or the state that it became."""
    if not batches:
        return None
    gaps = settled.gap_codes or (-1,) * len(settled.maps)
    sizes = [len(settled.states)] if settled.alphabets is None else [len(one) for one in settled.alphabets]
    pieces = []
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
