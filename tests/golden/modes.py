"""How rows reach kgmi, and what is read off the result.

All that the golden set knows of kgmi's names stands here and, for processes and samples, at the top of
``problems``: where a name changes, these two files are all there is to mend.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import numpy as np

import kgmi

WORKERS = "local:2"
READING = ("missing", "alphabet", "states", "n_states")
"""Options that say how cells are read: ``learn`` takes them for rows in memory, ``stream`` for all others."""
_PIECES = 3


# Rows in other forms.


def as_arrow(rows):
    """Rows as a PyArrow table; columns of arrays are named as kgmi names them."""
    import pyarrow as pa

    if not isinstance(rows, np.ndarray):
        return pa.Table.from_pandas(rows, preserve_index=False)
    return pa.table({f"X{number}": column for number, column in enumerate(rows.T, start=1)})


def pieces(rows):
    """The rows in a few pieces, none of them like another in length."""
    table = as_arrow(rows)
    ends = [0, *(table.num_rows * (2 * piece + 1) // (2 * _PIECES) for piece in range(1, _PIECES)), table.num_rows]
    return [table.slice(start, end - start) for start, end in pairwise(ends)]


def written(rows, folder, kind):
    """A folder of files with the rows."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    target = folder / kind
    target.mkdir(parents=True)
    for number, piece in enumerate(pieces(rows)):
        if kind == "csv":
            pc.write_csv(piece, target / f"part{number}.csv")
        else:
            pq.write_table(piece, target / f"part{number}.parquet", row_group_size=200)
    return target


# The modes: (what ``learn`` gets, options of ``learn`` that the mode adds, what counts the pairs).


def in_memory(rows, reading, folder):
    return rows, reading, lambda: table_pairs(rows, reading)


def as_pandas(rows, reading, folder):
    frame = as_arrow(rows).to_pandas()
    return frame, reading, lambda: table_pairs(frame, reading)


def as_polars(rows, reading, folder):
    import polars

    frame = polars.from_arrow(as_arrow(rows))
    return frame, reading, lambda: table_pairs(frame, reading)


def as_read_table(rows, reading, folder):
    import pyarrow.csv as pc

    path = folder / "table.csv"
    pc.write_csv(as_arrow(rows), path)
    table = kgmi.read_table(path, **reading)
    return table, {}, lambda: kgmi.count(path, width=2, **reading).tally.pairs().counts


def as_csv_stream(rows, reading, folder):
    return _streamed(written(rows, folder, "csv"), reading)


def as_parquet_stream(rows, reading, folder):
    return _streamed(written(rows, folder, "parquet"), reading, fragment_rows=150)


def as_dataset_stream(rows, reading, folder):
    import pyarrow.dataset as ds

    return _streamed(ds.dataset(written(rows, folder, "parquet"), format="parquet"), reading)


def as_lazy_stream(rows, reading, folder):
    import polars

    return _streamed(polars.from_arrow(as_arrow(rows)).lazy(), reading)


def as_iterator_stream(rows, reading, folder):
    def batches():
        return iter(pieces(rows))

    made = kgmi.stream(batches(), **reading)  # it can be read once, so that pairs need another
    return made, {}, lambda: kgmi.count(kgmi.stream(batches(), **reading), width=2).tally.pairs().counts


def as_array_stream(rows, reading, folder):
    """An iterator of arrays, whose columns have no names."""

    def batches():
        return iter(np.array_split(rows, _PIECES))

    made = kgmi.stream(batches(), **reading)
    return made, {}, lambda: kgmi.count(kgmi.stream(batches(), **reading), width=2).tally.pairs().counts


def as_filtered_stream(rows, reading, folder):
    """Some of the rows and columns of a file: as many others are there too, and a column that tells them apart."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = as_arrow(rows)
    both = pa.concat_tables([table, table.take(np.arange(table.num_rows)[::-1] // 2)])
    kept = (np.arange(both.num_rows) < table.num_rows).astype(int)
    pq.write_table(both.add_column(0, "kept", [kept]), folder / "more.parquet", row_group_size=200)
    return _streamed(folder / "more.parquet", reading, columns=table.column_names, where=[("kept", "==", 1)])


def as_checkpointed(rows, reading, folder):
    source, _, pairs = as_parquet_stream(rows, reading, folder)
    return source, {"checkpoint": folder / "kept"}, pairs


def as_counts(rows, reading, folder):
    kgmi.count(rows, **reading).save(folder / "all.counts")
    counts = kgmi.CountedTable.load(folder / "all.counts")
    return counts, {}, lambda: counts.tally.pairs().counts


def as_merged_counts(rows, reading, folder):
    """Counts of pieces, which must know all states: words are declared where not every piece has them all."""
    paths = [folder / f"{number}.counts" for number in range(_PIECES)]
    for path, piece in zip(paths, pieces(rows), strict=True):
        kgmi.count(piece, **reading).save(path)
    counts = kgmi.merge([kgmi.CountedTable.load(path) for path in reversed(paths)])
    return counts, {}, lambda: counts.tally.pairs().counts


def as_pair_counts(rows, reading, folder):
    counts = kgmi.count_pairs(rows, **reading)
    return counts, {}, lambda: counts.counts


def as_exact_joint(process, reading, folder):
    return kgmi.exact_joint(process), reading, None


def on_cluster(rows, reading, folder):
    source, _, _ = as_parquet_stream(rows, reading, folder)
    return source, {"cluster": WORKERS}, lambda: kgmi.count(source, width=2, cluster=WORKERS).tally.pairs().counts


def on_device(rows, reading, folder):
    return rows, {**reading, "device": "cpu"}, lambda: table_pairs(rows, reading)


def _streamed(source, reading, **options):
    made = kgmi.stream(source, **reading, **options)
    return made, {}, lambda: kgmi.count(made, width=2).tally.pairs().counts


MODES = {
    "memory": in_memory,
    "pandas": as_pandas,
    "polars": as_polars,
    "table": as_read_table,
    "csv": as_csv_stream,
    "parquet": as_parquet_stream,
    "dataset": as_dataset_stream,
    "lazy": as_lazy_stream,
    "iterator": as_iterator_stream,
    "arrays": as_array_stream,
    "filtered": as_filtered_stream,
    "checkpoint": as_checkpointed,
    "counts": as_counts,
    "merged": as_merged_counts,
    "pairs": as_pair_counts,
    "joint": as_exact_joint,
    "dask": on_cluster,
    "device": on_device,
}
"""Name and function (rows, reading, folder) of every way in which the same problem is solved."""


# Counts of pairs [child, candidate, s', s].


def table_pairs(rows, reading):
    """Counts of rows in memory; of whole numbers in two ways, which must agree."""
    counts = kgmi.count(rows, width=2, **reading).tally.pairs().counts
    if isinstance(rows, np.ndarray) and rows.dtype.kind == "i" and set(reading) <= {"n_states"}:
        plain = kgmi.count_pairs(rows, **reading).counts
        assert np.array_equal(plain, counts)
    return counts


def other_pairs(source, options):
    """Counts of what is no table: labelled rows, and the windows of a sequence; None where there are no rows."""
    if isinstance(source, kgmi.LabelledRows):
        n_states = int(source.rows.max()) + 1
        return kgmi.count_labelled(source, n_states, options.get("kappa", 0.0)).pairs
    if "windows" in options:
        codes = np.unique(np.array(list(source)), return_inverse=True)[1]
        return kgmi.count_pairs(np.lib.stride_tricks.sliding_window_view(codes, options["windows"])).counts
    return None


# The answer.


def solve(problem, mode, folder):
    """What kgmi answers to a problem in one of its modes, as plain values."""
    options = dict(problem.options)
    reading = {name: options.pop(name) for name in READING if name in options}
    rows = problem.make()
    is_table = isinstance(rows, np.ndarray) or hasattr(rows, "columns")
    if is_table and "windows" not in options:
        if "kernel" in options:  # as ``learn`` does by itself
            reading.setdefault("n_states", options["kernel"].n_states)
        source, added, count = MODES[mode](rows, reading, folder)
        counts = count()
    else:
        source, added, _ = MODES[mode](rows, reading, folder)
        counts = other_pairs(rows, options)
    learned = kgmi.learn(source, **options, **added)
    return {
        "edges": edges_of(learned),
        "score": score_of(learned),
        "kernels": kernels_of(learned),
        "counts": None if counts is None else hash_of(counts),
    }


def edges_of(learned):
    """Edges by name, sorted."""
    return sorted([learned.names[parent], learned.names[child]] for parent, child in learned.dag.edges)


def score_of(learned):
    """The penalised likelihood of a search; of the paper's guides the sum of the scores of all edges."""
    if learned.fit is not None:
        return float(learned.fit.score)
    return float(sum(np.nanmax(learned.scores[:, child, parent]) for parent, child in learned.dag.edges))


def kernels_of(learned):
    """Kernels with the nodes that follow them, in the order of their children; or the kernel that was given."""
    found = [([learned.names[child] for child in one.children], one.table, one.error) for one in learned.kernels]
    if not found and learned.kernel is not None:
        several = getattr(learned.kernel, "kernels", (learned.kernel,))
        found = [([], one.table, 0.0) for one in several]
    return [
        {"children": children, "error": round(float(error), 10), "table": (np.round(table, 10) + 0.0).tolist()}
        for children, table, error in found
    ]


def hash_of(counts):
    """SHA-256 of counts in C order."""
    return sha256(np.ascontiguousarray(counts, dtype="<i8").tobytes()).hexdigest()
