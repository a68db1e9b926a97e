"""Parquet, Feather and Arrow files are read as the data frames that they hold."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from kgmi.data import as_table, read_table
from kgmi.data.arrow import arrow_table
from kgmi.errors import DataError, KgmiError, TooLargeError

FRAME = pd.DataFrame(
    {
        "size": pd.Categorical(["S", "L", "S", None], categories=["S", "M", "L"]),
        "dose": [1, 2, 1, 2],
        "ill": [True, False, None, True],
        "town": ["Oslo", None, "Bern", "Oslo"],
        "half": [1.0, None, 2.0, 2.0],
    }
)
POLARS = pl.DataFrame(
    {
        "size": pl.Series(["S", "L", "S", None], dtype=pl.Enum(["S", "M", "L"])),
        "dose": [1, 2, 1, 2],
        "town": pl.Series(["Oslo", None, "Bern", "Oslo"], dtype=pl.Categorical),
        "ill": [True, False, None, True],
    }
)
WAYS = {
    "pandas.parquet": (lambda path: FRAME.to_parquet(path), pd.read_parquet),
    "pandas.feather": (lambda path: FRAME.to_feather(path), pd.read_feather),
    "polars.parquet": (lambda path: POLARS.write_parquet(path), pl.read_parquet),
    "polars.pq": (lambda path: POLARS.write_parquet(path, row_group_size=2), pl.read_parquet),
    "polars.arrow": (lambda path: POLARS.write_ipc(path), pl.read_ipc),
    "polars.ipc": (lambda path: POLARS.write_ipc_stream(path), pl.read_ipc_stream),
    "packed.arrow": (lambda path: POLARS.write_ipc(path, compression="zstd"), pl.read_ipc),
    "pyarrow.parquet": (lambda path: parquet.write_table(pa.table(FRAME), path), parquet.read_table),
    "pyarrow.feather": (lambda path: feather.write_feather(pa.table(FRAME), path), feather.read_table),
}


def same(one, other):
    assert (one.names, one.states, one.alphabets) == (other.names, other.states, other.alphabets)
    assert np.array_equal(one.codes, other.codes)


@pytest.mark.parametrize("alphabet", ["shared", "own"])
@pytest.mark.parametrize("missing", ["pairwise", "category"])
@pytest.mark.parametrize("name", WAYS)
def test_a_file_gives_the_table_of_the_frame_that_its_library_reads(tmp_path, name, missing, alphabet):
    write, read = WAYS[name]
    write(tmp_path / name)
    table = read_table(tmp_path / name, missing=missing, alphabet=alphabet)
    same(table, as_table(read(tmp_path / name), missing=missing, alphabet=alphabet))
    assert table.column_states[0][:3] == ("S", "M", "L") if alphabet == "own" else "M" in table.states


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_declared_states_and_the_number_of_states_work_as_in_a_frame(tmp_path, ending):
    frame = pd.DataFrame({"A": [0, 2, 2], "B": [2, 0, 2]})
    path = tmp_path / f"data.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_feather(path)
    assert read_table(path, n_states=4).codes.tolist() == [[0, 2], [2, 0], [2, 2]]
    assert read_table(path, states=["2", "1", "0"]).codes.tolist() == [[2, 0], [0, 2], [0, 0]]


def test_categories_stay_in_their_order_over_many_row_groups(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 1] * 50), ["z", "never", "x"])
    parquet.write_table(pa.table({"A": column, "B": column}), tmp_path / "data.parquet", row_group_size=7)
    table = read_table(tmp_path / "data.parquet")
    assert table.states == ("z", "never", "x")
    assert table.codes[:4, 0].tolist() == [0, 2, 0, 1]


def test_what_pandas_wrote_for_the_index_is_no_column(tmp_path):
    frame = FRAME[["dose", "size"]].set_axis(["p", "q", "r", "s"])
    frame.to_parquet(tmp_path / "data.parquet")
    assert arrow_table(tmp_path / "data.parquet").column_names == ["dose", "size"]
    frame.rename_axis("patient").to_parquet(tmp_path / "data.parquet")
    assert read_table(tmp_path / "data.parquet", missing="pairwise").names == ("dose", "size")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"A": pa.array([1, 2], pa.date32())}, "column 'A' of the table is of type Date; a state is a text"),
        ({"A": [[1], [2]]}, "is of type List"),
        ({"A": [b"x", b"y"]}, "is of type Binary"),
        ({"A": [{"b": 1}, {"b": 2}]}, "is of type Struct"),
        ({"A": [0.5, 1.5]}, "row 0, column 'A' is 0.5; states must be whole numbers or texts"),
        ({"A": pa.array([1, 2]).cast(pa.decimal128(21, 1)), "B": [0.5, 1]}, "row 0, column 'B' is 0.5"),
        ({"A": ["x", None]}, "row 1, column 'A': the value is missing"),
        ({"A": [None, None]}, "column 'A' of the table has no value in any row"),
        ({"A": [f"p{k}" for k in range(30)]}, "has 30 different values in 30 rows; it looks like a measurement"),
        ({}, "has no columns"),
        ({"A": pa.array([], pa.string())}, "has columns but no rows"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_what_holds_no_states_is_refused_with_the_path(tmp_path, ending, columns, message):
    path = tmp_path / f"data.{ending}"
    write(pa.table(columns), path)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_table(path)
    assert str(caught.value).startswith(str(path))


def test_two_columns_of_one_name(tmp_path):
    write(pa.Table.from_arrays([pa.array(["x", "y"])] * 2, ["A", "A"]), tmp_path / "data.arrow")
    with pytest.raises(DataError, match=r"data\.arrow: two columns of the table are named 'A'; rename one$"):
        read_table(tmp_path / "data.arrow")


def test_the_first_line_is_no_question_where_columns_have_names(tmp_path):
    write(pa.table({"A": ["x", "y"]}), tmp_path / "data.parquet")
    with pytest.raises(DataError, match=r"header=False \(--no-header\) means nothing; leave it out"):
        read_table(tmp_path / "data.parquet", header=False)


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow", "ipc"])
def test_files_that_are_something_else(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    for content, message in {
        b"": "is empty",
        b"A,B\n0,1\n": "does not start like a Parquet, Feather or Arrow file; if it is text, name it .csv",
        b"FEA1....FEA1": "is a Feather file of the old version 1; write it again",
        b"PAR1....PAR1": "cannot be read, it may be damaged or cut off",
        b"ARROW1\0\0....ARROW1": "cannot be read, it may be damaged or cut off",
    }.items():
        path.write_bytes(content)
        with pytest.raises(DataError, match=re.escape(f"{path} {message}")):
            read_table(path)


@pytest.mark.parametrize("ending", ["parquet", "feather", "ipc"])
def test_a_damaged_file_is_read_or_refused_but_never_worse(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    write(pa.table(FRAME.drop(columns="half")), path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(211), 0
    for _ in range(120):
        content = bytearray(whole[: rng.integers(1, len(whole) + 1)] if rng.random() < 0.3 else whole)
        for place in rng.integers(0, len(content), 3):
            content[place] = rng.integers(0, 256)
        path.write_bytes(content)
        try:
            read_table(path, missing="pairwise")
        except KgmiError:
            refused += 1
    assert refused > 40


def test_more_rows_than_memory_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"A": pa.array(np.zeros(100_000, dtype=np.int8)), "B": ["x"] * 100_000}), path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("kgmi.data.arrow.free_bytes", lambda: 1_000_000)
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *_, **__: pytest.fail("memory was set aside"))
    with pytest.raises(TooLargeError, match=r"has 100,000 rows of 2 columns, about 1\.6 MB of memory, and 1\.0 MB"):
        read_table(path)


def write(table, path):
    """A table in the format that the ending says."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    maker = ipc.new_stream if path.suffix == ".ipc" else ipc.new_file
    with maker(str(path), table.schema) as stream:
        stream.write_table(table)
