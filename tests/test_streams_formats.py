"""Types and files of other libraries, and PyArrow's datasets: as ``read_table`` reads them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, feather, ipc, parquet

from kgmi.data import as_table, read_table
from kgmi.errors import DataError
from kgmi.streams import stream

from .stream_drills import same, whole

N_ROWS = 60
CODES = np.random.default_rng(101).integers(0, 3, N_ROWS)
TEXTS = [["x", "y", "z"][code] for code in CODES]


def listed(values):
    return pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int8()), values)


COLUMNS = {
    "views": pa.array(TEXTS, pa.string_view()),
    "long texts": pa.array(TEXTS, pa.large_string()),
    "decimals": pa.array([Decimal(int(code)) for code in CODES], pa.decimal128(5, 1)),
    **{
        f"decimals of {bits} bits": pa.array(
            [None if code == 1 else Decimal(int(code)) for code in CODES], getattr(pa, f"decimal{bits}")(5, 1)
        )
        for bits in (32, 64)
        if hasattr(pa, f"decimal{bits}")  # PyArrow from 19 on
    },
    "half floats": pa.array(CODES.astype(np.float16)),
    "large": pa.array([2**63 + int(code) for code in CODES], pa.uint64()),
    "identifiers in disguise": pa.array(CODES * 10**15 - 7),
    "fixed bytes": pa.array([text.encode() for text in TEXTS], pa.binary(1)),
    "categories that are numbers": listed(pa.array([5, 6, 7, 8])),
    "categories that are dates": listed(pa.array([5, 6, 7, 8], pa.date32())),
    "a category that is a gap": listed(pa.array(["p", None, "q"])),
}


NOT_IN_PARQUET = ("categories that are dates", "a category that is a gap")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("missing", ["pairwise", "category"])
def test_types(tmp_path, name, missing):
    table = pa.table({"A": COLUMNS[name], "B": CODES})
    with ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=13)
    same(whole(stream(tmp_path / "a.arrow", missing=missing)), read_table(tmp_path / "a.arrow", missing=missing))
    if name not in NOT_IN_PARQUET:
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=13)
        read = whole(stream(tmp_path / "a.parquet", missing=missing))
        same(read, read_table(tmp_path / "a.parquet", missing=missing))


@pytest.mark.parametrize(
    "column",
    [pa.array([b"x"]), pa.array([0], pa.date32()), pa.array([[1]]), pa.array([{"b": 1}]), pa.array([0.5])],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_types_that_hold_no_states(tmp_path, column, ending):
    path = tmp_path / f"a.{ending}"
    table = pa.table({"A": column, "B": [1]})
    parquet.write_table(table, path) if ending == "parquet" else feather.write_feather(table, path)
    with pytest.raises(DataError) as expected:
        read_table(path)
    with pytest.raises(DataError) as found:
        whole(stream(path))
    assert str(found.value) == str(expected.value)
    assert str(found.value).startswith(str(path))


PANDAS = pd.DataFrame(
    {"size": pd.Categorical(["S", "L", "S", None] * 5, categories=["S", "M", "L"]), "dose": [1, 2, 1, 2] * 5},
    index=pd.Index([f"p{k}" for k in range(20)], name="who"),
)
POLARS = pl.DataFrame(
    {
        "size": pl.Series(["S", "L", "S", None] * 5, dtype=pl.Enum(["S", "M", "L"])),
        "town": pl.Series(["Oslo", None, "Bern", "Oslo"] * 5, dtype=pl.Categorical),
        "ill": [True, False, None, True] * 5,
    }
)
WRITERS = {
    "pandas.parquet": PANDAS.to_parquet,
    "pandas.feather": lambda path: PANDAS.reset_index(drop=True).to_feather(path),
    "polars.parquet": lambda path: POLARS.write_parquet(path, row_group_size=3),
    "polars.arrow": POLARS.write_ipc,
    "packed.arrow": lambda path: POLARS.write_ipc(path, compression="zstd"),
    "polars.ipc": POLARS.write_ipc_stream,
}


@pytest.mark.parametrize("alphabet", ["shared", "own"])
@pytest.mark.parametrize("name", WRITERS)
def test_files_of_other_libraries(tmp_path, name, alphabet):
    WRITERS[name](tmp_path / name)
    read = whole(stream(tmp_path / name, missing="pairwise", alphabet=alphabet))
    same(read, read_table(tmp_path / name, missing="pairwise", alphabet=alphabet))


def hive(folder):
    """A folder with two columns in the names of its folders."""
    table = pa.table({"k": CODES, "q": TEXTS, "z": CODES})
    schema = pa.schema([("k", pa.int64()), ("q", pa.string())])
    dataset.write_dataset(table, folder, format="parquet", partitioning=dataset.partitioning(schema, flavor="hive"))
    return table.sort_by([("k", "ascending"), ("q", "ascending")])


def test_datasets_and_their_partitions(tmp_path):
    table = hive(tmp_path / "hive")
    opened = stream(dataset.dataset(tmp_path / "hive", partitioning="hive"), columns=["q", "k", "z"])
    same(whole(opened), as_table(table.select(["q", "k", "z"])))
    assert (opened.n_rows, len(opened.fragments), opened.rereadable) == (N_ROWS, 3, True)
    folders_only = stream(dataset.dataset(tmp_path / "hive", partitioning="hive"), columns=["k", "q"])
    same(whole(folders_only), as_table(table.select(["k", "q"])))
    same(whole(stream(tmp_path / "hive", columns=["k", "q"])), as_table(table.select(["k", "q"])))
    declared = dataset.HivePartitioning.discover(infer_dictionary=True)
    kept = stream(dataset.dataset(tmp_path / "hive", partitioning=declared), columns=["k", "q"], alphabet="own")
    same(whole(kept), as_table(table.select(["k", "q"]), alphabet="own"))


def test_datasets_of_other_files(tmp_path):
    table = pa.table({"A": CODES, "B": TEXTS})
    csv.write_csv(table, tmp_path / "a.csv")
    same(whole(stream(dataset.dataset(tmp_path / "a.csv", format="csv"))), as_table(table))
    same(whole(stream(dataset.dataset(table))), as_table(table))
    wide = pa.schema([("A", pa.int64()), ("B", pa.string())])
    parquet.write_table(pa.table({"A": CODES.astype(np.int8), "B": TEXTS}), tmp_path / "a.parquet")
    same(whole(stream(dataset.dataset(tmp_path / "a.parquet", schema=wide))), as_table(table))


def test_faults_of_datasets(tmp_path):
    table = pa.table({"A": CODES, "B": TEXTS})
    for name in ("a", "b"):
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    source = dataset.dataset(tmp_path)
    opened = stream(source)
    parquet.write_table(table.slice(1), tmp_path / "a.parquet")
    with pytest.raises(
        DataError, match=r"a\.parquet (changed while it was read|gave 59 rows where 60 were announced)"
    ):
        list(opened.batches(opened.fragments[0]))
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(DataError, match=r"b\.parquet cannot be read"):
        list(opened.batches(opened.fragments[1]))
    parquet.write_table(table.select(["A"]), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has no column 'B', which the dataset has"):
        stream(dataset.dataset(tmp_path))
