"""Tables in several files, in which states and gaps come up late, and what two counts must agree in."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.counts.tables import same


def columns(number, n_rows, n_columns=8):
    """Some rows; later numbers have further states, and gaps from the fourth on."""
    rng = np.random.default_rng(500 + number)
    words = np.array(["no", "yes", "maybe", "never", "always"])[: min(2 + number, 5)]
    made = {}
    for column in range(n_columns):
        texts = rng.choice(words[::-1] if number % 2 else words, size=n_rows)
        cells = [None if number > 3 and rng.random() < 0.1 else str(text) for text in texts]
        made[f"C{column}"] = pa.array(cells, pa.string())
    return pa.table(made)


def write_files(folder, n_files=6, n_rows=900):
    """So many Parquet files, each with several row groups."""
    folder.mkdir(exist_ok=True)
    for number in range(n_files):
        pq.write_table(columns(number, n_rows), folder / f"part{number}.parquet", row_group_size=250)
    return folder


def agree(one, other, *, marks=True):
    """Two counts are the same, bit for bit."""
    assert same(one, other)
    assert not marks or one.marks == other.marks
    first, others = one.first_rows, other.first_rows
    if first is not None and others is not None:  # counts of a checkpoint may have fewer
        n_rows = min(len(first), len(others))
        np.testing.assert_array_equal(first[:n_rows], others[:n_rows])
