"""Whatever is read in pieces is read as if it were read at once: names, states, alphabets, codes, errors."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from kgmi.data import as_table, prepare, read_table
from kgmi.errors import KgmiError
from kgmi.streams import stream

from .stream_drills import TEXTS, cuts, random_rules, random_table, same, whole

N_TABLES = 80


def parquet_files(table, rng, folder):
    """Files with row groups; what Parquet cannot keep is lost in the whole as well."""
    for number, (start, end) in enumerate(cuts(rng, table.num_rows)):
        size = int(rng.integers(1, 30))
        parquet.write_table(table.slice(start, end - start), folder / f"{number:02}.parquet", row_group_size=size)
    parquet.write_table(table, folder.with_suffix(".parquet"))
    return folder, lambda **rules: read_table(folder.with_suffix(".parquet"), **rules)


def arrow_files(table, rng, folder):
    """Files and saved streams, with record batches."""
    for number, (start, end) in enumerate(cuts(rng, table.num_rows)):
        maker = ipc.new_stream if rng.random() < 0.3 else ipc.new_file
        with maker(str(folder / f"{number:02}.arrow"), table.schema) as out:
            out.write_table(table.slice(start, end - start), max_chunksize=int(rng.integers(1, 30)))
    return folder, lambda **rules: as_table(table, **rules)


def reader(table, rng, folder):
    """A reader, which can be read once."""
    batches = table.to_batches(max_chunksize=int(rng.integers(1, 30)))
    return pa.RecordBatchReader.from_batches(table.schema, batches), lambda **rules: as_table(table, **rules)


def iterator(table, rng, folder):
    """An iterator of tables, record batches or frames of polars."""
    make = [lambda t: t, pl.from_arrow, lambda t: t.combine_chunks().to_batches()[0]][int(rng.integers(3))]
    frames = [make(table.slice(start, end - start)) for start, end in cuts(rng, table.num_rows)]
    at_once = pl.from_arrow(table) if isinstance(frames[0], pl.DataFrame) else table
    return iter(frames), lambda **rules: as_table(at_once, **rules)


def arrow_table(table, rng, folder):
    """A table that is in memory."""
    return table, lambda **rules: as_table(table, **rules)


def pandas_frame(table, rng, folder):
    """A data frame of pandas, or an iterator of its parts."""
    frame = table.to_pandas()
    parts = [frame.iloc[start:end] for start, end in cuts(rng, len(frame))]
    return (iter(parts) if rng.random() < 0.5 else frame), lambda **rules: as_table(frame, **rules)


def polars_frame(table, rng, folder):
    """A data frame of polars, lazy or not."""
    frame = pl.from_arrow(table)
    return (frame.lazy() if rng.random() < 0.3 else frame), lambda **rules: as_table(frame, **rules)


def numbers(table, rng, folder):
    """Arrays of numbers: in memory, in parts, in files."""
    low, high = [(0, 3), (-1, 3), (-2, 2), (5, 9)][int(rng.integers(4))]
    kinds = [np.int8, np.int64, np.float32, np.float64, np.bool_, np.uint16]
    array = rng.integers(low, high, (table.num_rows, 3)).astype(kinds[int(rng.integers(len(kinds)))])
    if array.dtype.kind == "f":
        array[rng.random(array.shape) < 0.05] = np.nan
    elif rng.random() < 0.2:
        array = np.ma.MaskedArray(array, rng.random(array.shape) < 0.1)
    parts = [array[start:end] for start, end in cuts(rng, len(array))]
    draw = rng.random()
    if draw < 0.3 or isinstance(array, np.ma.MaskedArray):
        return (array if draw < 0.5 else iter(parts)), lambda **rules: as_table(array, **rules)
    for number, part in enumerate(parts):
        np.save(folder / f"{number}.npy", part if draw < 0.7 else np.asfortranarray(part))
    np.save(folder.with_suffix(".npy"), array)
    return folder, lambda **rules: read_table(folder.with_suffix(".npy"), **rules)


def cells(table, rng, folder):
    """Arrays of texts or objects."""
    array = np.array([column.to_pylist() for column in table.columns], dtype=object).T
    array[array == -1] = 7  # as a gap among objects it is refused in pieces
    if rng.random() < 0.3:
        array = rng.choice(TEXTS[:5], array.shape)
    parts = [array[start:end] for start, end in cuts(rng, len(array))]
    return (array if rng.random() < 0.4 else iter(parts)), lambda **rules: as_table(array, **rules)


def text_files(table, rng, folder):
    """CSV and TSV files, some of them packed."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    mark = {None: "", True: "1", False: "0"}
    rows = [
        [mark.get(cell, str(cell)) if cell in (None, True, False) else str(cell) for cell in row]
        for row in zip(*columns.values(), strict=True)
    ]
    header = bool(rng.random() < 0.8)

    def write(path, some):
        delimiter = "\t" if path.name.endswith((".tsv", ".tsv.gz")) else ","
        lines = ([list(columns)] if header else []) + some
        content = "".join(delimiter.join(f'"{cell}"' for cell in line) + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)

    for number, (start, end) in enumerate(cuts(rng, len(rows))):
        write(folder / f"{number}{rng.choice(['.csv', '.tsv', '.csv.gz'])}", rows[start:end])
    write(folder.with_suffix(".csv"), rows)
    return folder, lambda **rules: read_table(folder.with_suffix(".csv"), **rules), {"header": header}


WAYS = [
    parquet_files,
    arrow_files,
    reader,
    iterator,
    arrow_table,
    pandas_frame,
    polars_frame,
    numbers,
    cells,
    text_files,
]


def in_pieces(source, rng, **rules):
    return whole(stream(source, fragment_rows=int(rng.integers(1, 40)), **rules), rng)


def outcome(work, *args, **rules):
    try:
        return work(*args, **rules)
    except KgmiError as error:
        return error


def agree(read, expected):
    """The same table, or an error in both cases."""
    if isinstance(expected, KgmiError):
        assert isinstance(read, KgmiError), f"was not noticed: {expected}"
    elif isinstance(read, KgmiError):
        raise AssertionError(f"refused: {read}") from read
    else:
        same(read, expected)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_pieces_make_the_table_that_the_whole_is(way, tmp_path):
    refused = 0
    for seed in range(101, 101 + N_TABLES):
        rng = np.random.default_rng(seed)
        table, rules = random_table(rng), random_rules(rng)
        folder = tmp_path / str(seed)
        folder.mkdir()
        source, at_once, *more = way(table, rng, folder)
        rules |= more[0] if more else {}
        expected = outcome(at_once, **rules)
        read = outcome(in_pieces, source, rng, **rules)
        try:
            agree(read, expected)
        except AssertionError as error:
            raise AssertionError(
                f"seed {seed}, {rules}, {expected}\n{table.to_pydict()}\n{table.schema}"
            ) from error
        refused += isinstance(expected, KgmiError)
    assert 5 < refused < N_TABLES - 20


@pytest.mark.parametrize("way", [way for way in WAYS if way not in (numbers, cells)], ids=lambda way: way.__name__)
def test_genotypes_that_were_not_called_are_gaps_whatever_reads_them(way, tmp_path):
    rng = np.random.default_rng(811)
    calls = np.array(["0/0", "0|1", "1/1", "./.", ".|."])[rng.integers(0, 5, (60, 3))]
    table = pa.table({f"snp{k}": calls[:, k] for k in range(3)})
    folder = tmp_path / "parts"
    folder.mkdir()
    source, at_once, *more = way(table, rng, folder)
    rules = {"missing": "pairwise"} | (more[0] if more else {})
    expected = at_once(**rules)
    assert expected.states == ("0/0", "0|1", "1/1")
    assert np.array_equal(expected.codes < 0, np.char.startswith(calls, "."))
    same(in_pieces(source, rng, **rules), expected)
    same(prepare(table.to_pandas()).table, as_table(table, missing="pairwise"))


def test_what_is_not_declared_may_be_a_gap_and_the_error_says_how():
    frame = pa.table({"A": ["0/0", "0/1", "-9"], "B": ["0/1", "0/0", "0/0"]})
    told = "row 2, column 'A': '-9' is not among the states 0/0, 0/1; mend it, or declare it too; if it stands"
    for read in (as_table, lambda rows, **rules: whole(stream(rows, **rules))):
        with pytest.raises(KgmiError, match=f"{told} for a missing value, leave the cell empty, or write NA$"):
            read(frame, states=["0/0", "0/1"])
