"""Random tables with columns of all types, the ways in which rows come in, and streams read as a whole."""

from __future__ import annotations

import gzip
from itertools import pairwise

import numpy as np
import pyarrow as pa

TEXTS = ["a", "b ", " c", "10", "9", "NA", "", "?", "missing", "x\u00e9"]
KINDS = ["int8", "int64", "uint16", "spins", "wide", "bool", "float", "text", "category", "numbers"]
KINDS += ["null", "halves"]
WEIGHTS = [16, 16, 6, 6, 6, 10, 10, 12, 10, 4, 2, 2]


def whole(stream, rng=None):
    """The table of all rows: fragments read in any order, as by the threads that count."""
    order = list(stream.fragments)
    if rng is not None:
        rng.shuffle(order)
    parts = {}
    for fragment in order:
        batches = list(stream.batches(fragment))
        if fragment.n_rows is not None:
            assert sum(batch.columns.shape[1] for batch in batches) == fragment.n_rows
        parts[fragment.number] = batches
    return stream.joined([batch for number in sorted(parts) for batch in parts[number]])


def same(one, other):
    """Check that two tables are the same, cell by cell."""
    assert (one.names, one.states, one.alphabets) == (other.names, other.states, other.alphabets)
    assert np.array_equal(one.codes, other.codes)


def random_column(rng, n_rows):
    """A column of any type that may hold states, or nearly."""
    kind = rng.choice(KINDS, p=np.array(WEIGHTS) / 100)
    gaps = rng.random(n_rows) < rng.choice([0, 0, 0.1])
    low, high = {"spins": (-1, 2), "bool": (0, 2)}.get(kind, (0, int(rng.integers(2, 5))))
    values = rng.integers(low, high, n_rows)
    if kind in ("int8", "int64", "uint16"):
        return pa.array(values, pa.from_numpy_dtype(kind), mask=gaps)
    if kind in ("wide", "spins"):
        return pa.array(values * (10**12 if kind == "wide" else 1), mask=gaps)
    if kind == "bool":
        return pa.array(values.astype(bool), mask=gaps)
    if kind in ("float", "halves"):
        cells = np.where(gaps, np.nan, values / (2 if kind == "halves" else 1))
        return pa.array(cells, pa.float32() if rng.random() < 0.3 else pa.float64())
    if kind == "null":
        return pa.nulls(n_rows)
    if kind == "text":
        some = rng.choice(TEXTS, high, replace=False, p=np.array([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]) / 20)
        return pa.array([None if gap else str(some[value]) for gap, value in zip(gaps, values, strict=True)])
    listed = [int(k) for k in rng.permutation(high + 2)] if kind == "numbers" else None
    listed = [str(text) for text in rng.permutation(TEXTS)[: high + 2]] if listed is None else listed
    return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8(), mask=gaps), pa.array(listed))


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
    elif draw < 0.8:
        rules["alphabet"] = str(rng.choice(["own", "shared"]))
    return rules


def cuts(rng, n_rows):
    """Ranges of rows that follow one another."""
    ends = np.unique(rng.integers(0, n_rows + 1, int(rng.integers(1, 5))))
    return list(pairwise([0, *(int(end) for end in ends if 0 < end < n_rows), n_rows]))


def write_text(path, names, rows):
    """Write a CSV or TSV file, packed if its name says so."""
    mark = "\t" if ".tsv" in path.name else ","
    lines = "".join(mark.join(f'"{cell}"' for cell in line) + "\n" for line in [*([names] if names else []), *rows])
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
