"""Random tables, counts by hand, and every implementation of the protocol ``Counts``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from kgmi.alphabets import Rules, Seen
from kgmi.counts.bits import RowCounts
from kgmi.counts.counted import CountedTable
from kgmi.counts.stream import count
from kgmi.counts.tally import Tallier
from kgmi.sources import stream
from kgmi.threads import one_thread

WIDTH = 3
"""Columns that all implementations count together."""


def by_hand(codes, sizes, nodes, weights=None):
    """Counts [states of the nodes …] over the rows [row, node] in which all have a value, one row at a time."""
    out = np.zeros([sizes[node] for node in nodes], dtype=np.int64 if weights is None else np.float64)
    for row, states in enumerate(codes[:, list(nodes)].astype(int).tolist()):
        if min(states, default=0) >= 0:
            out[tuple(states)] += 1 if weights is None else weights[row]
    return out


def random_codes(rng, n_rows, sizes, *, gaps=False, dtype=np.int8):
    """Rows [row, node]; about a fifth of the values are missing where there are gaps."""
    codes = (rng.random((n_rows, len(sizes))) * sizes).astype(dtype)
    if gaps:
        codes[rng.random(codes.shape) < 0.2] = -1
    return codes


@st.composite
def tables(draw, min_nodes=2, max_nodes=5):
    """Rows in which every state occurs, with the number of states of every column; with and without gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes = draw(st.integers(min_nodes, max_nodes))
    kind = draw(st.sampled_from(["binary", "three", "mixed", "many"]))
    most = {"binary": (2, 3), "three": (3, 4), "mixed": (1, 6), "many": (2, 31)}[kind]
    sizes = (2, *rng.integers(*most, n_nodes - 1).tolist())  # a table of one state only is refused
    gaps = draw(st.booleans())
    codes = random_codes(rng, draw(st.sampled_from([0, 1, 30, 63, 64, 65, 140])), sizes, gaps=gaps)
    every = np.stack([np.arange(max(sizes)) % size for size in sizes], axis=1).astype(np.int8)
    return np.concatenate([codes, *[every] * 3]), sizes  # three times, so that no column looks like row numbers


def cells(codes):
    """Rows as a data user has them: numbers, and NaN where a value is missing."""
    return np.where(codes < 0, np.nan, codes)


def counted(codes, *, width=WIDTH, **options):
    """The counts of rows that come as a stream, in fragments of 50 rows."""
    given = {"missing": "pairwise", "alphabet": "own", "fragment_rows": 50}
    return count(stream(cells(codes), **(given | options)), width=min(width, codes.shape[1]))


def _rows(codes, sizes, _):
    return RowCounts(codes, sizes)


def _rows_one_thread(codes, sizes, _):
    with one_thread():
        return RowCounts(np.asfortranarray(codes.astype(np.int64)), sizes)


def _weighted(codes, sizes, _):
    different, times = np.unique(codes, axis=0, return_counts=True)
    return RowCounts(different, sizes, times.astype(np.float64))


def _law(codes, sizes, _):
    return RowCounts(codes, sizes, np.full(len(codes), 1.0 / len(codes)), is_exact=True)


def _tallied(codes, sizes, _):
    tallier = Tallier(sizes, min(WIDTH, len(sizes)), bool((codes < 0).any()))
    for part in np.array_split(codes.T, 3, axis=1):
        tallier.add(part)
    return tallier.tally()


def _streamed(codes, sizes, _):
    return counted(codes).tally


def _saved(codes, sizes, folder):
    path = folder / "some.counts"
    counted(codes).save(path)
    return CountedTable.load(path).tally


def _clustered(codes, sizes, _):
    import dask

    parts = [dask.delayed(part) for part in np.array_split(cells(codes), 3)]
    return count(stream(parts, missing="pairwise", alphabet="own"), width=min(WIDTH, len(sizes))).tally


def _on_device(codes, sizes, _):
    from kgmi.counts.torch import TorchCounts

    return TorchCounts(codes, sizes)


IMPLEMENTATIONS = [
    pytest.param(_rows, id="rows"),
    pytest.param(_rows_one_thread, id="rows of long codes, in one thread"),
    pytest.param(_weighted, id="different rows with weights"),
    pytest.param(_law, id="law"),
    pytest.param(_tallied, id="tally"),
    pytest.param(_streamed, id="stream"),
    pytest.param(_saved, id="file"),
    pytest.param(_clustered, id="cluster", marks=pytest.mark.cluster),
    pytest.param(_on_device, id="device", marks=pytest.mark.torch),
]
"""Functions (codes [row, node], sizes, folder) → Counts; all count alike, bit for bit, but a law up to rounding."""


# Small counts with names


def rows_of(seed, n_rows=200, sizes=(2, 3, 2, 4), gaps=False):
    """Random rows [column, row]."""
    return np.ascontiguousarray(random_codes(np.random.default_rng(seed), n_rows, sizes, gaps=gaps).T)


def table_of(rows, sizes=(2, 3, 2, 4), *, mark="a", gaps=False, sets=None, width=3, **changed):
    """Counts of rows whose columns share an alphabet where all sizes are the same, and have their own otherwise."""
    shared = len(set(sizes)) == 1
    own = tuple(tuple(f"{'' if shared else column}s{code}" for code in range(n)) for column, n in enumerate(sizes))
    tallier = Tallier(sizes, width, gaps, sets)
    tallier.add(rows)
    content = {
        "names": tuple(f"x{column}" for column in range(len(sizes))),
        "rules": Rules(missing="pairwise" if gaps else "error", alphabet="shared" if shared else "own"),
        "seen": tuple(Seen(texts, has_gaps=gaps) for texts in own),
        "part": tallier.tally(),
        "marks": (mark,),
    }
    return CountedTable(**(content | changed))


FAR = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
KINDS = {
    "own": lambda seed=101, mark="a": table_of(rows_of(seed), mark=mark),
    "shared": lambda seed=101, mark="a": table_of(rows_of(seed, sizes=(3,) * 5), (3,) * 5, mark=mark),
    "gaps": lambda seed=101, mark="a": table_of(rows_of(seed, gaps=True), gaps=True, mark=mark),
    "sets": lambda seed=101, mark="a": table_of(rows_of(seed), sets=FAR, mark=mark),
    "pairs": lambda seed=101, mark="a": table_of(rows_of(seed, 70_000), width=2, mark=mark),
}


def same(counts, other):
    """Whether two counts have the same content, bit for bit, whatever was counted in them."""
    plain = ("names", "states", "alphabets", "reading")
    mine, theirs = counts.tally, other.tally
    return (
        all(getattr(counts, key) == getattr(other, key) for key in plain)
        and all(getattr(mine, key) == getattr(theirs, key) for key in ("sizes", "width", "rows", "has_gaps"))
        and mine.cells.dtype == theirs.cells.dtype
        and np.array_equal(mine.cells, theirs.cells)
        and np.array_equal(mine.sets, theirs.sets)
    )


# Files of rows


def write_rows(path, seed, n_rows, group=None, *, states=3, first=0):
    """Write a Parquet file of four columns of whole numbers, in row groups of so many rows; return its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = np.random.default_rng(seed).integers(first, first + states, (4, n_rows)).astype(np.int8)
    pq.write_table(pa.table(list(rows), names=["x0", "x1", "x2", "x3"]), path, row_group_size=group or n_rows)
    return rows.T


def write_files(folder, n_files, n_rows):
    """Write so many Parquet files of different rows into a new folder."""
    folder.mkdir()
    for number in range(n_files):
        write_rows(folder / f"rows-{number:04}.parquet", 1_000 + number, n_rows)
    return folder


def write_categories(path, categories):
    """Write a Parquet file of three columns that declare these categories."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = np.random.default_rng(len(categories)).integers(0, len(categories), (3, 50)).astype(np.int8)
    pq.write_table(
        pa.table([pa.DictionaryArray.from_arrays(one, categories) for one in codes], ["a", "b", "c"]), path
    )
