"""``kgmi.stream``: what it takes, what it reads of it, and what its pieces are called and marked by."""

import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, ipc, parquet

import kgmi
from kgmi.data import as_table
from kgmi.errors import DataError, SettingError
from kgmi.streams import stream

from .stream_drills import same, whole


def rows(n_rows=400, seed=101):
    rng = np.random.default_rng(seed)
    towns = np.array(["Oslo", "Bern"])
    return pa.table(
        {
            "year": np.sort(rng.integers(2018, 2022, n_rows)),
            "town": pa.array(towns[rng.integers(0, 2, n_rows)]),
            "a": rng.integers(0, 3, n_rows).astype(np.int8),
            "b": pa.DictionaryArray.from_arrays(
                pa.array(rng.integers(0, 2, n_rows), pa.int8()), ["y", "x", "never"]
            ),
            "w": rng.normal(size=n_rows),
        }
    )


def write(folder, table=None, n_files=3, **options):
    table = rows() if table is None else table
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // n_files)
    for number in range(n_files):
        parquet.write_table(table.slice(number * size, size), folder / f"{number}.parquet", **options)
    return table


STATES = ["town", "a", "b"]


def test_files_folders_patterns_and_lists(tmp_path):
    table = write(tmp_path / "data")
    (tmp_path / "data" / "_SUCCESS").touch()
    (tmp_path / "data" / ".hidden.parquet").touch()
    (tmp_path / "data" / "notes.md").write_text("notes")
    expected = as_table(table.select(STATES))
    paths = [tmp_path / "data" / f"{number}.parquet" for number in range(3)]
    for source in (tmp_path / "data", str(tmp_path / "data"), str(tmp_path / "*" / "?.parquet"), paths):
        opened = stream(source, columns=STATES)
        assert (opened.n_rows, len(opened.fragments), opened.rereadable) == (400, 3, True)
        same(whole(opened), expected)
    assert kgmi.stream is stream
    assert stream(tmp_path / "data").description == f"3 Parquet files ({tmp_path / 'data'})"
    assert stream(paths[0]).description == str(paths[0])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none.parquet", r"there is no file .*none\.parquet"),
        ("*.csv", r"no file matches .*\*\.csv"),
        ("folder", r"there are no tables .* in the folder .*folder"),
        ("both", r"files are of several kinds: text \(.*\) and Parquet \(.*\); give a pattern for one kind"),
        ("sheet.xlsx", "is a spreadsheet, which is not read"),
    ],
)
def test_paths_that_are_no_tables(tmp_path, source, message):
    (tmp_path / "folder").mkdir()
    write(tmp_path / "both")
    (tmp_path / "both" / "0.csv").write_text("A\n0\n")
    (tmp_path / "sheet.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match=message):
        stream(tmp_path / source)


def test_a_file_that_is_given_twice(tmp_path):
    write(tmp_path)
    with pytest.raises(DataError, match=r"0\.parquet is given twice, so that its rows would count twice"):
        stream([tmp_path, tmp_path / "0.parquet"])


def test_folders_that_are_named_like_columns(tmp_path):
    table = rows()
    dataset.write_dataset(
        table,
        tmp_path / "hive",
        format="parquet",
        partitioning=dataset.partitioning(pa.schema([("year", pa.int64()), ("town", pa.string())]), flavor="hive"),
    )
    expected = as_table(table.select(["year", "a", "town"]).sort_by([("year", "ascending"), ("town", "ascending")]))
    same(whole(stream(tmp_path / "hive", columns=["year", "a", "town"])), expected)
    some = stream(tmp_path / "hive", columns=["a", "b"], where=[("year", ">", 2019), ("town", "==", "Bern")])
    assert [fragment.label.split("hive/")[1][:19] for fragment in some.fragments] == [
        "year=2020/town=Bern",
        "year=2021/town=Bern",
    ]
    chosen = table.filter((pa.compute.field("year") > 2019) & (pa.compute.field("town") == "Bern"))
    assert len(whole(some).codes) == chosen.num_rows
    (tmp_path / "hive" / "other").mkdir()
    parquet.write_table(table, tmp_path / "hive" / "other" / "x.parquet")
    with pytest.raises(
        DataError, match=r"the folders of .* name \['year', 'town'\], those of .*x\.parquet \[\]; all"
    ):
        stream(tmp_path / "hive")


def test_only_what_is_needed_is_read(tmp_path):
    table = rows().append_column("when", pa.array([0] * 400, pa.date32()))
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    opened = stream(tmp_path / "a.parquet", columns=["b", "a"], names=["B", "A"])
    assert opened.names == ("B", "A")
    same(whole(opened), as_table(table.select(["b", "a"]), names=["B", "A"]))
    with pytest.raises(
        DataError, match=r"a\.parquet: column 'when' of the table is of type Date; a state is a text"
    ):
        stream(tmp_path / "a.parquet", columns=["a", "when"])
    with pytest.raises(SettingError, match="columns: there is no column 'TOWN'; did you mean 'town'"):
        stream(tmp_path / "a.parquet", columns=["TOWN"])
    with pytest.raises(SettingError, match="columns: there is no column 'twon'; did you mean 'town'"):
        stream(tmp_path / "a.parquet", columns=["twon"])
    with pytest.raises(SettingError, match="columns: 'a' is named twice"):
        stream(tmp_path / "a.parquet", columns=["a", "a"])
    with pytest.raises(DataError, match="2 columns need as many names, got 1"):
        stream(tmp_path / "a.parquet", columns=["a", "b"], names=["A"])


def test_fragments_are_row_groups_up_to_a_number_of_rows(tmp_path):
    write(tmp_path, n_files=1, row_group_size=50)
    path = tmp_path / "0.parquet"
    pieces = [fragment.pieces for fragment in stream(path, fragment_rows=120).fragments]
    assert pieces == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert [fragment.n_rows for fragment in stream(path, fragment_rows=10).fragments] == [50] * 8
    assert stream(path, fragment_rows=120).fragments[1].label == f"{path}, row groups 2–3"
    assert len(stream(path).fragments) == 1
    arrays = stream(np.zeros((100, 2), dtype=int), fragment_rows=30)
    assert [fragment.pieces for fragment in arrays.fragments] == [(0, 25), (25, 50), (50, 75), (75, 100)]
    with ipc.new_file(str(tmp_path / "a.arrow"), rows().schema) as out:
        out.write_table(rows(), max_chunksize=50)
    batches = stream(tmp_path / "a.arrow", columns=STATES, fragment_rows=200)
    assert [fragment.pieces for fragment in batches.fragments] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    with pytest.raises(SettingError, match="fragment_rows must be at least 1, got 0"):
        stream(path, fragment_rows=0)


def test_errors_name_the_row_of_the_file(tmp_path):
    table = pa.table({"a": ["x", "y"] * 50, "b": [0] * 77 + [None] + [1] * 22})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    message = f"{tmp_path / 'a.parquet'}: row 77, column 'b': the value is missing (no value). Fill it in or drop"
    with pytest.raises(DataError, match=re.escape(message)):
        whole(stream(tmp_path / "a.parquet", fragment_rows=20))
    (tmp_path / "a.csv").write_text("A,B\n" + "0,1\n\n" * 30 + "0,?\n7,1\n")
    with pytest.raises(
        DataError, match=r"line 62 of .*a\.csv \(row 31\), column 'B': the value is missing \('\?'\)"
    ):
        whole(stream(tmp_path / "a.csv"))
    with pytest.raises(
        DataError, match=r"line 63 of .*a\.csv \(row 32\), column 'A': '7' is not among the states 0"
    ):
        whole(stream(tmp_path / "a.csv", states=["0", "1"], missing="pairwise"))
    array = np.zeros((100, 2))
    array[70, 1] = 0.5
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(
        DataError, match=r"a\.npy: row 70, column 'X2' is 0\.5; states must be whole numbers or texts"
    ):
        whole(stream(tmp_path / "a.npy", fragment_rows=30))
    with pytest.raises(
        DataError, match=r"^row 70, column 'X2' is 7, outside the alphabet 0\.\.3; recode it or raise"
    ):
        whole(stream(np.where(array == 0.5, 7, array), n_states=4, fragment_rows=30))
    names = pd.DataFrame({"id": [f"p{k}" for k in range(1_500)], "b": [0, 1] * 750})
    with pytest.raises(
        DataError, match=r"column 'id' of the rows has 1,001 different values in 1,500 rows; it looks"
    ):
        whole(stream(names))


def test_the_order_of_categories_is_that_of_the_rows_whoever_is_read_first(tmp_path):
    lists = [["z", "y"], ["y", "x", "w"], ["w", "v", "z"]]
    for number, texts in enumerate(lists):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 5, pa.int8()), texts)
        parquet.write_table(pa.table({"A": column, "B": column}), tmp_path / f"{number}.parquet")
    expected = as_table(pa.concat_tables(parquet.read_table(tmp_path / f"{n}.parquet") for n in range(3)))
    assert expected.states == ("z", "y", "x", "w", "v")
    for seed in range(101, 107):
        same(whole(stream(tmp_path), np.random.default_rng(seed)), expected)


def test_categories_beside_plain_texts_that_mean_something_else(tmp_path):
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["NA", "x"])
    frames = [pa.table({"A": declared}), pa.table({"A": ["NA", "x"]})]
    streams = [stream(frame, missing="pairwise") for frame in frames]
    first, second = (list(one.batches(one.fragments[0]))[-1].alphabets for one in streams)
    for one, other in ((first, second), (second, first)):
        with pytest.raises(DataError, match="column 'A' declares the category 'NA' in some rows and is plain text"):
            one.joined(other)


def test_marks(tmp_path):
    table = write(tmp_path / "one", n_files=2, row_group_size=50)
    write(tmp_path / "two", table.slice(0, 200), n_files=1, row_group_size=50)

    def marks(source, **options):
        return [
            fragment.mark for fragment in stream(source, columns=STATES, fragment_rows=100, **options).fragments
        ]

    first = marks(tmp_path / "one" / "0.parquet")
    assert len(set(first)) == 2
    assert marks(tmp_path / "two" / "0.parquet") == first  # the same rows elsewhere
    assert marks(tmp_path / "one")[:2] == first
    both = marks([tmp_path / "one" / "0.parquet", tmp_path / "two" / "0.parquet"])
    assert len(set(both)) == 4
    assert both[:2] == first
    assert set(first).isdisjoint(marks(tmp_path / "one" / "0.parquet", where=[("a", "<", 2)]))
    fewer = stream(tmp_path / "one" / "0.parquet", columns=["a"], fragment_rows=100).fragments
    assert set(first).isdisjoint(fragment.mark for fragment in fewer)
    first_unequal = next(row for row in range(199) if table["a"][row] != table["a"][row + 1])
    order = [*range(first_unequal), first_unequal + 1, first_unequal, *range(first_unequal + 2, 200)]
    swapped = table.slice(0, 200).take(pa.array(order)).set_column(3, "b", table["b"].slice(0, 200))
    parquet.write_table(swapped, tmp_path / "two" / "0.parquet", row_group_size=50)
    assert set(first).isdisjoint(marks(tmp_path / "two" / "0.parquet"))


def test_marks_of_rows_that_pass_by_do_not_depend_on_how_they_are_cut():
    table = rows().select(STATES)

    def mark(*ends):
        parts = [table.slice(start, end - start) for start, end in zip((0, *ends), (*ends, 400), strict=True)]
        opened = stream(iter(parts))
        whole(opened)
        return opened.mark_of(opened.fragments[0])

    assert mark() == mark(1) == mark(100, 300)
    other = stream(iter([table.slice(0, 399)]))
    whole(other)
    assert other.mark_of(other.fragments[0]) != mark()


def test_streams_travel_where_they_are_made_of_files(tmp_path):
    table = write(tmp_path)
    where = pa.compute.field("year") > 2019
    for source in (tmp_path, dataset.dataset(tmp_path)):
        opened = pickle.loads(pickle.dumps(stream(source, columns=STATES, where=where)))  # noqa: S301 our own
        same(whole(opened), as_table(table.filter(where).select(STATES)))
    with pytest.raises(DataError, match="cannot be sent to other processes; give files, or a table in memory"):
        pickle.dumps(stream(iter([np.eye(2)])))


def test_threads_read_fragments_at_the_same_time(tmp_path):
    table = write(tmp_path, rows(20_000), n_files=2, row_group_size=1_000)
    opened = stream(tmp_path, columns=STATES, fragment_rows=1_000)

    def read(fragment):
        return [(batch.columns.tolist(), batch.alphabets) for batch in opened.batches(fragment)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, opened.fragments))
    assert found == [read(fragment) for fragment in opened.fragments]
    assert len(found) == 20
    assert table.num_rows == sum(len(batch[0][0]) for batches in found for batch in batches)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "rows cannot be read from NoneType"),
        (5, "rows cannot be read from int"),
        ({"a": [0, 1]}, "got a dict"),
        (iter([]), "hands out no batch"),
        (iter([5]), "rows must come as arrays"),
        (np.zeros(3), r"rows must be a table \[row, node\]"),
        (np.zeros((0, 3)), r"at least one row and column, got \(0, 3\)"),
        (np.zeros((2, 2), dtype=complex), "all columns are of type complex128"),
        (pl.DataFrame(), "got no column"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]), "two columns of the table are named 'a'"),
        ("s3://bucket/a.parquet", "give a pyarrow.dataset.Dataset of what lies elsewhere"),
        (pl.LazyFrame({"a": ["x"]}).select(pl.col("b")), "the lazy frame cannot be computed"),
        (as_table([[0, 1], [1, 0]]), "rows cannot be read from Table"),
    ],
)
def test_what_is_no_source_of_rows(source, message):
    with pytest.raises(DataError, match=message):
        stream(source)


def test_a_stream_is_not_made_of_a_stream():
    with pytest.raises(SettingError, match="this is a stream already"):
        stream(stream(np.eye(2)))


def test_files_without_rows_beside_others(tmp_path):
    table = rows().select(STATES)
    write(tmp_path, table, n_files=2)
    parquet.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    assert len(whole(stream(tmp_path)).codes) == 400
    assert stream(tmp_path / "empty.parquet").n_rows == 0


_PEAK = """
import sys
import pyarrow
from kgmi.streams import stream
rows = stream(sys.argv[1])
n = sum(batch.columns.shape[1] for fragment in rows.fragments for batch in rows.batches(fragment))
print(n, pyarrow.default_memory_pool().max_memory())
"""


def test_memory_does_not_grow_with_the_rows(tmp_path):
    n_rows = 2_000_000
    rng = np.random.default_rng(101)
    table = pa.table({f"x{k}": pa.array(rng.integers(0, 4, n_rows)) for k in range(6)})
    parquet.write_table(table, tmp_path / "one.parquet", row_group_size=n_rows)
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, tmp_path / "one.parquet"], capture_output=True, text=True, check=True
    )
    n_read, peak = map(int, done.stdout.split())
    assert n_read == n_rows
    assert peak < table.nbytes / 2  # although all rows are in one row group
