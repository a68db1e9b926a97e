"""Small counts, and files of counts that are changed by hand."""

import json
import struct
import zlib
from hashlib import sha256

import numpy as np

from kgmi.counting.counts import Counts
from kgmi.statistics.sets import all_sets
from kgmi.statistics.tallying import tally_rows

FRONT = struct.Struct("<8sIQ")


def rows_of(seed, n_rows=200, sizes=(2, 3, 2, 4), gaps=False):
    """Rows [column, row] of random codes."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.int8)
    if gaps:
        rows[rng.random(rows.shape) < 0.1] = -1
    return rows


def counts_of(rows, sizes=(2, 3, 2, 4), *, mark="a", gaps=False, sets=None, width=3, **changed):
    """Counts of rows whose columns have alphabets of their own, or share one where all sizes are the same."""
    shared = len(set(sizes)) == 1
    alphabets = tuple(
        tuple(f"{'' if shared else column}s{code}" for code in range(size)) for column, size in enumerate(sizes)
    )
    content = {
        "names": tuple(f"x{column}" for column in range(len(sizes))),
        "states": alphabets[0] if shared else tuple(text for one in alphabets for text in one),
        "alphabets": None if shared else alphabets,
        "tally": tally_rows(rows, sizes, width, has_gaps=gaps, sets=sets),
        "marks": (sha256(mark.encode()).hexdigest(),),
        "reading": {"missing": "pairwise" if gaps else "error", "alphabet": "shared" if shared else "own"},
    }
    return Counts(**(content | changed))


KINDS = {
    "own": lambda mark="a", seed=101: counts_of(rows_of(seed), mark=mark),
    "shared": lambda mark="a", seed=101: counts_of(rows_of(seed, sizes=(3,) * 5), (3,) * 5, mark=mark),
    "gaps": lambda mark="a", seed=101: counts_of(rows_of(seed, gaps=True), gaps=True, mark=mark),
    "sets": lambda mark="a", seed=101: counts_of(rows_of(seed), sets=all_sets(4, 3)[[0, 2]], mark=mark),
    "pairs": lambda mark="a", seed=101: counts_of(rows_of(seed, 300_000), width=2, mark=mark),
}


def same(counts, other):
    """Whether two counts have the same content, bit for bit, whatever was counted in them."""
    plain = ("names", "states", "alphabets", "reading")
    sets = [None if one.tally.sets is None else one.tally.sets.tolist() for one in (counts, other)]
    return (
        all(getattr(counts, key) == getattr(other, key) for key in plain)
        and [getattr(counts.tally, key) for key in ("sizes", "width", "n_rows", "has_gaps")]
        == [getattr(other.tally, key) for key in ("sizes", "width", "n_rows", "has_gaps")]
        and np.array_equal(counts.tally.cells, other.tally.cells)
        and sets[0] == sets[1]
    )


def taken_apart(path):
    """Version, header and arrays (bytes) of a file of counts."""
    content = path.read_bytes()
    _, version, length = FRONT.unpack(content[: FRONT.size])
    header = json.loads(content[FRONT.size : FRONT.size + length])
    return version, header, zlib.decompress(content[FRONT.size + length : -32])


def put_together(path, version, header, arrays, *, packed=None, length=None):
    """Write such a file, with a checksum that holds; ``packed`` and ``length`` say something else than is so."""
    text = json.dumps(header, sort_keys=True).encode() if isinstance(header, dict) else header
    magic = b"\x93KGMI\r\n\x1a"
    front = FRONT.pack(magic, version, len(text) if length is None else length)
    content = front + text + (zlib.compress(arrays) if packed is None else packed)
    path.write_bytes(content + sha256(content).digest())


def write_rows(path, seed, n_rows, group, *, columns=4, states=3, first=0):
    """A Parquet file of whole numbers, in row groups of so many rows; its rows [row, column]."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = np.random.default_rng(seed).integers(first, first + states, (n_rows, columns)).astype(np.int8)
    table = pa.table({f"x{column}": rows[:, column] for column in range(columns)})
    pq.write_table(table, path, row_group_size=group)
    return rows


def write_categories(path, categories):
    """A Parquet file of three columns that declare these categories."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = np.random.default_rng(len(path.name)).integers(0, len(categories), (3, 50)).astype(np.int8)
    columns = [pa.DictionaryArray.from_arrays(one, categories) for one in codes]
    pq.write_table(pa.table(columns, names=["x0", "x1", "x2"]), path)


def write_files(folder, n_files, n_rows, *, columns=4):
    """So many Parquet files of different rows."""
    folder.mkdir()
    for number in range(n_files):
        write_rows(folder / f"rows-{number:04}.parquet", 1_000 + number, n_rows, n_rows, columns=columns)
    return folder
