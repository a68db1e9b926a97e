"""Streams read as a whole, to be compared with tables that are in memory; and tables of all sorts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from kgmi.data.table import Table
from kgmi.errors import DataError
from kgmi.streams import Alphabets


def whole(stream, rng=None):
    """The table of all rows: fragments read and joined in any order, then settled."""
    order = list(stream.fragments)
    if rng is not None:
        rng.shuffle(order)
    parts, total = {}, None
    for fragment in order:
        batches = list(stream.batches(fragment))
        assert all(len(batch.columns) == len(stream.names) for batch in batches)
        assert len(stream.mark_of(fragment)) == 64
        if fragment.n_rows is not None:
            assert sum(batch.columns.shape[1] for batch in batches) == fragment.n_rows
        parts[fragment.number] = batches
        if batches:
            last = Alphabets.from_dict(batches[-1].alphabets.to_dict())
            assert last == batches[-1].alphabets
            total = last if total is None else total.joined(last)[0]
    if total is None:
        raise DataError("no rows")
    codes = [_recoded(batch, total) for number in sorted(parts) for batch in parts[number]]
    codes = np.concatenate(codes, axis=1)
    settled = total.settled(stream.names, stream.rules, (codes >= 0).sum(axis=1))
    rows = np.empty(codes.shape[::-1], dtype=np.int64)
    for column, mapped in enumerate(settled.maps):
        gap = -1 if settled.gap_codes is None else settled.gap_codes[column]
        rows[:, column] = np.append(mapped, gap)[codes[column]]
    return Table(rows, stream.names, settled.states, settled.alphabets)


def _recoded(batch, total):
    """The codes of a batch in the alphabets of all."""
    assert batch.columns.flags.c_contiguous
    assert batch.columns.dtype == np.min_scalar_type(-max(2, *map(len, batch.alphabets.texts)))
    _, maps, _ = batch.alphabets.joined(total)
    union, mine, theirs = total.joined(batch.alphabets)
    assert union.texts == total.texts
    assert all(np.array_equal(one, np.arange(len(one))) for one in mine)
    assert all(len(one) == len(two) for one, two in zip(maps, theirs, strict=True))
    return np.stack([np.append(one, -1)[codes] for one, codes in zip(theirs, batch.columns, strict=True)])


def same(one, other):
    """Whether two tables are the same, cell by cell."""
    assert (one.names, one.states, one.alphabets) == (other.names, other.states, other.alphabets)
    assert np.array_equal(one.codes, other.codes)


TEXTS = ["a", "b ", " c", "10", "9", "NA", "", "?", "missing", "x\u00e9"]


def random_column(rng, n_rows):
    """A column of any type that may hold states, or nearly."""
    kind = rng.choice(
        [
            "int8",
            "int64",
            "uint16",
            "spins",
            "wide",
            "bool",
            "float",
            "text",
            "category",
            "numbers",
            "null",
            "halves",
        ],
        p=[0.16, 0.16, 0.06, 0.06, 0.06, 0.1, 0.1, 0.12, 0.1, 0.04, 0.02, 0.02],
    )
    gaps = rng.random(n_rows) < rng.choice([0, 0, 0.1])
    low, high = {"spins": (-1, 2), "bool": (0, 2)}.get(kind, (0, int(rng.integers(2, 5))))
    values = rng.integers(low, high, n_rows)
    if kind in ("int8", "int64", "uint16"):
        return pa.array(values, pa.from_numpy_dtype(kind), mask=gaps)
    if kind == "wide":
        return pa.array(values * 10**12, pa.int64(), mask=gaps)
    if kind == "spins":
        return pa.array(values, pa.int32(), mask=gaps)
    if kind == "bool":
        return pa.array(values.astype(bool), mask=gaps)
    if kind in ("float", "halves"):
        cells = np.where(gaps, np.nan, values / (2 if kind == "halves" else 1))
        return pa.array(
            cells, pa.float32() if rng.random() < 0.3 else pa.float64(), from_pandas=bool(rng.random() < 0.5)
        )
    if kind == "null":
        return pa.nulls(n_rows)
    if kind == "text":
        some = rng.choice(TEXTS, high, replace=False, p=np.array([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]) / 20)
        return pa.array([None if gap else str(some[value]) for gap, value in zip(gaps, values, strict=True)])
    listed = (
        pa.array([int(k) for k in rng.permutation(high + 2)])
        if kind == "numbers"
        else pa.array([str(t) for t in rng.permutation(TEXTS)[: high + 2]])
    )
    return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8(), mask=gaps), listed)


def random_table(rng):
    """A table of a few such columns."""
    n_rows = int(rng.integers(1, 60))
    return pa.table({f"c{k}": random_column(rng, n_rows) for k in range(int(rng.integers(1, 5)))})


def random_rules(rng):
    """Choices by which cells become codes."""
    rules = {"missing": str(rng.choice(["error", "pairwise", "category"], p=[0.3, 0.4, 0.3]))}
    draw = rng.random()
    if draw < 0.15:
        rules["n_states"] = int(rng.integers(2, 5))
    elif draw < 0.25:
        rules["states"] = [["0", "1", "2"], ["low", "high", "NA"], ["a", "b", "c", "9", "10"]][int(rng.integers(3))]
    elif draw < 0.6:
        rules["alphabet"] = "own"
    return rules


def cuts(rng, n_rows):
    """Ranges of rows that follow one another."""
    ends = np.unique(rng.integers(0, n_rows + 1, int(rng.integers(1, 5))))
    ends = [0, *(int(end) for end in ends if 0 < end < n_rows), n_rows]
    return list(pairwise(ends))
