"""Filters: the same rows pass wherever they come from, and what cannot pass is not read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import csv, dataset, ipc, parquet

from kgmi.data import as_table
from kgmi.errors import DataError, SettingError
from kgmi.streams import stream

from .stream_drills import same, whole

N_ROWS = 600
STATES = ["a", "b"]


def rows():
    rng = np.random.default_rng(101)
    gaps = rng.random(N_ROWS) < 0.1
    return pa.table(
        {
            "year": pa.array(np.sort(rng.integers(2015, 2022, N_ROWS)), mask=gaps),
            "town": pa.array(rng.choice(["Oslo", "Bern", "Rome"], N_ROWS), mask=np.roll(gaps, 7)),
            "w": np.where(gaps, np.nan, rng.normal(size=N_ROWS).round(3)),
            "ill": rng.random(N_ROWS) < 0.5,
            "a": rng.integers(0, 3, N_ROWS),
            "b": rng.integers(1, 3, N_ROWS),
        }
    )


TABLE = rows()
PLAIN = {
    "year": lambda year: year is not None and year >= 2019,
    "town": lambda town: town in ("Oslo", "Rome"),
    "w": lambda w: w == w and w <= 0.25,
    "ill": lambda ill: ill,
    "a": lambda a: a != 1,
}
FILTERS = [
    (["year"], [("year", ">=", 2019)]),
    (["town", "a"], [("town", "in", ["Oslo", "Rome"]), ("a", "!=", 1)]),
    (["town"], ("town", "not in", ("Bern",))),
    (["w", "year"], [("w", "<=", 0.25), ("year", ">", 2018.5)]),
    (["ill"], [("ill", "==", True)]),
    (["year", "ill"], (pc.field("year") >= 2019) & pc.field("ill")),
]


def expected(columns):
    """The rows that pass, by plain Python."""
    kept = [all(PLAIN[name](row[name]) for name in columns) for row in TABLE.to_pylist()]
    return as_table(TABLE.filter(pa.array(kept)).select(STATES))


def write_arrow(path):
    with ipc.new_file(str(path), TABLE.schema) as out:
        out.write_table(TABLE, max_chunksize=100)
    return path


def write_parquet(path):
    parquet.write_table(TABLE, path, row_group_size=100)
    return path


SOURCES = {
    "parquet": lambda folder: write_parquet(folder / "a.parquet"),
    "arrow": lambda folder: write_arrow(folder / "a.arrow"),
    "dataset": lambda folder: dataset.dataset(write_parquet(folder / "a.parquet")),
    "dataset in memory": lambda folder: dataset.dataset(TABLE),
    "reader": lambda folder: TABLE.to_reader(max_chunksize=70),
    "table": lambda folder: TABLE,
    "pandas": lambda folder: TABLE.to_pandas(),
    "polars": lambda folder: pl.from_arrow(TABLE),
    "lazy": lambda folder: pl.from_arrow(TABLE).lazy(),
    "iterator": lambda folder: iter(TABLE.to_batches(max_chunksize=70)),
}


@pytest.mark.parametrize(("columns", "where"), FILTERS, ids=lambda one: str(one)[:30])
@pytest.mark.parametrize("make", SOURCES.values(), ids=list(SOURCES))
def test_the_same_rows_pass_wherever_they_come_from(make, columns, where, tmp_path):
    opened = stream(make(tmp_path), columns=STATES, where=where, fragment_rows=150)
    assert opened.n_rows is None
    assert opened.where
    same(whole(opened), expected(columns))


def test_row_groups_that_cannot_pass_are_not_read(tmp_path):
    write_parquet(tmp_path / "a.parquet")
    every = stream(tmp_path / "a.parquet", columns=STATES, where=[("w", "<", 100)], fragment_rows=1)
    late = stream(tmp_path / "a.parquet", columns=STATES, where=[("year", ">=", 2019)], fragment_rows=1)
    none = stream(tmp_path / "a.parquet", columns=STATES, where=[("year", ">", 2100)])
    for where in [("year", "==", 2100), ("year", "in", [2100, 1900]), ("town", "<", "Adam"), ("year", "<", 2015)]:
        assert stream(tmp_path / "a.parquet", columns=STATES, where=where).fragments == ()
    assert [fragment.pieces for fragment in every.fragments] == [(k,) for k in range(6)]
    assert [fragment.pieces for fragment in late.fragments] == [(k,) for k in range(3, 6)]
    assert none.fragments == ()


def test_texts_are_compared_as_numbers_with_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n,A,B\n 9,0,1\n10,1,0\nNA,0,0\n2.5,1,1\n")
    for where, n_rows in [
        (("n", ">", 5), 2),
        (("n", "==", 10), 1),
        (("n", "in", [9, 2.5]), 2),
        (("n", "!=", "9"), 2),
        (("n", ">", "5"), 1),
        (("A", "==", "1"), 2),
        (pc.field("A") == "1", 2),
    ]:
        opened = stream(path, columns=["A", "B"], where=where, n_states=2)
        assert len(whole(opened).codes) == n_rows
    path.write_text("n,A,B\n9,0,1\nmany,1,0\n")
    with pytest.raises(
        DataError, match=r"column 'n' is compared with a number, and .*many.*; compare it with a text"
    ):
        whole(stream(path, columns=["A", "B"], where=("n", ">", 5)))
    csv.write_csv(TABLE.select(["year", *STATES]), tmp_path / "b.csv")
    same(whole(stream(tmp_path / "b.csv", columns=STATES, where=("year", ">=", 2019))), expected(["year"]))


def test_arrays_are_filtered_too(tmp_path):
    array = np.column_stack([TABLE["a"].to_numpy(), TABLE["b"].to_numpy()])
    same(whole(stream(array, where=("X1", "!=", 1), names=STATES)), expected(["a"]))
    np.save(tmp_path / "a.npy", array)
    same(whole(stream(tmp_path / "a.npy", where=("X1", "!=", 1), names=STATES)), expected(["a"]))
    texts = np.where(array == 1, "x", "y")
    assert len(whole(stream(texts, where=("X2", "==", "x"))).codes) == (array[:, 1] == 1).sum()
    masked = np.ma.MaskedArray(array, array == 1)
    assert len(whole(stream(masked, where=("X1", "<", 5), missing="pairwise")).codes) == (array[:, 0] != 1).sum()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ([("yaer", ">", 1)], "where: there is no column 'yaer'; did you mean 'year'?"),
        ([("year", "~", 1)], "where: the operator must be one of ==, !=, <, <=, >, >=, in, not in, got '~'"),
        ([("year", "in", 1)], "where: 'year' in needs a list of values, got 1"),
        ([("year", "==", [1])], "where: 'year' == needs one value"),
        ("year > 1", r"where must be a list of \(column, operator, value\)"),
        ([("year", "==", "x")], "where: column 'year' holds numbers and cannot be compared with 'x'"),
        (pc.field("x") == 1, r"where: No match for FieldRef.Name\(x\)"),
        (pc.field("year") == "x", "where: "),
    ],
)
@pytest.mark.parametrize("source", [TABLE, TABLE.to_pandas()], ids=["table", "pandas"])
def test_filters_that_make_no_sense(source, where, message):
    with pytest.raises(SettingError, match=message):
        stream(source, columns=STATES, where=where)


def test_categories_stay_declared_where_rows_are_left_out():
    frame = pd.DataFrame({"size": pd.Categorical(["S", "L", None, "L"], ["S", "M", "L"]), "n": [0, 1, 1, 1]})
    table = whole(stream(frame, where=("n", "==", 1), missing="pairwise", alphabet="own"))
    assert (table.alphabets, table.codes[:, 0].tolist()) == ((("S", "M", "L"), ("1",)), [2, -1, 2])
    kept = stream(frame, columns=["size"], where=("size", "in", ["L", "M"]))
    assert whole(kept).codes.tolist() == [[2], [2]]


def test_an_empty_filter_is_none():
    assert stream(TABLE, columns=STATES, where=[]).where == ""
    assert stream(TABLE, columns=STATES, where=[]).n_rows == N_ROWS


def test_filters_that_differ_have_other_texts():
    texts = [
        stream(TABLE, columns=STATES, where=pc.field("year").isin([*range(100), last])).where
        for last in (7, 200, 201)
    ]
    assert len(set(texts)) == 3
