"""Rows that would count twice, and files that are not what they were: noticed by what they hold."""

import os
import shutil

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import dataset, feather, parquet

import kgmi
from kgmi.counting.container import read_container, write_container
from kgmi.errors import CountsError, DataError, SettingError
from kgmi.streams import stream

from .stream_drills import whole

N_ROWS = 300


def rows(seed=111, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.integers(0, 3, n_rows) for name in "xyz"})


def write(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    elif path.suffix == ".npy":
        np.save(path, table.to_pandas().to_numpy())
    else:
        (feather.write_feather if path.suffix == ".feather" else parquet.write_table)(table, path)
    return path


def count(source, **options):
    return kgmi.count(source, n_parents=1, states=["0", "1", "2"], **options)


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "npy"])
def test_counts_of_one_file_or_of_its_copy_do_not_merge(tmp_path, ending):
    file = write(rows(), tmp_path / f"a.{ending}")
    second = "X2" if ending == "npy" else "y"
    copy = tmp_path / f"copy.{ending}"
    shutil.copyfile(file, copy)
    os.utime(copy, ns=(1, 1))
    some = count(file, where=(second, ">=", 1))
    for other in (
        count(file, where=(second, ">=", 2)),
        count(file),
        count(copy),
        count(copy, where=(second, "<", 1)),
    ):
        with pytest.raises(CountsError, match=r"same file or a copy of it \(all of its files\).*--allow-repeats"):
            some + other
    assert kgmi.merge([some, count(copy)], repeats=True).contents == some.contents
    new = count(write(rows(113), tmp_path / f"b.{ending}"), where=(second, ">=", 1))
    assert len((some + new).contents) == 2
    with pytest.raises(CountsError, match="the counts number 2 and the counts number 1 were"):
        (some + new) + count(copy)


def test_contents_are_kept_in_files(tmp_path):
    counts = count(write(rows(), tmp_path / "a.csv"))
    counts.save(tmp_path / "a.counts")
    read = kgmi.Counts.load(tmp_path / "a.counts")
    assert read.contents == counts.contents == stream(tmp_path / "a.csv").contents
    assert len(read.contents) == 1
    assert read.in_order([2, 0, 1]).contents == read.contents
    header, arrays = read_container(tmp_path / "a.counts")
    own = {key: value for key, value in header.items() if key not in ("kgmi", "arrays", "contents")}
    write_container(tmp_path / "old.counts", own, arrays)  # as kgmi wrote them before there were contents
    assert kgmi.Counts.load(tmp_path / "old.counts").contents == ()
    large = write(rows(n_rows=400_000), tmp_path / "large.npy")
    marks = {stream(large).contents}
    for place in (0.0, 0.5, 1.0):  # ends and middle of what is too large to be looked at whole
        values = np.load(large)
        values[int(place * (len(values) - 1))] += 1
        np.save(large, values)
        marks.add(stream(large).contents)
    assert len(marks) == 4


def test_datasets_know_the_same_files(tmp_path):
    file = write(rows(), tmp_path / "a.parquet")
    assert stream(dataset.dataset(file)).contents == stream(file).contents
    assert stream(rows()).contents == stream(iter(rows().to_batches())).contents == ()
    opened = stream(file)
    write(rows(113), file)
    with pytest.raises(DataError, match="changed while it was read"):
        opened.contents  # noqa: B018


def test_links_to_one_file_are_refused(tmp_path):
    file = write(rows(), tmp_path / "a.csv")
    os.link(file, tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"b\.csv and .*a\.csv are links to the same file, so that its rows would"):
        stream(tmp_path)
    assert whole(stream(tmp_path / "b.csv")).codes.shape == (N_ROWS, 3)


@pytest.mark.parametrize("ending", ["parquet", "csv", "feather"])
def test_folders_that_are_swapped_are_other_rows(tmp_path, ending):
    """The value in the name of a folder is part of the rows, and so of their marks."""
    table = rows()
    data, old, new = (tmp_path / name for name in ("data", "data/year=2020", "data/year=2021"))
    write(table, old / f"f.{ending}")
    write(rows(113, 100), new / f"f.{ending}")
    options = {"checkpoint": tmp_path / "kept", "columns": ["x", "year"], "alphabet": "own"}
    first = kgmi.count(data, n_parents=1, **options)
    assert first.tally.family((1,)).tolist() == [N_ROWS, 100]
    old.rename(tmp_path / "aside")
    new.rename(old)
    (tmp_path / "aside").rename(new)
    with pytest.raises(DataError, match="the source changed since it was counted in part"):
        kgmi.count(data, n_parents=1, **options)
    plain = stream(data, columns=["x"]).fragments
    new.rename(tmp_path / "data" / "year=2022")
    moved = stream(data, columns=["x"]).fragments
    assert [one.mark for one in moved] == [one.mark for one in plain]  # nothing of the folders is read


def test_folders_of_a_dataset_are_part_of_its_marks(tmp_path):
    write(rows(), tmp_path / "year=2020" / "f.parquet")
    before = stream(dataset.dataset(tmp_path, partitioning="hive")).fragments[0].mark
    (tmp_path / "year=2020").rename(tmp_path / "year=2021")
    assert stream(dataset.dataset(tmp_path, partitioning="hive")).fragments[0].mark != before


@pytest.mark.parametrize("ending", ["parquet", "csv", "feather"])
def test_filters_by_folders(tmp_path, ending):
    """Also where a folder has no value; a file none of whose rows can pass is no part of the contents."""
    for number, year in enumerate(["2020", "2021", "__HIVE_DEFAULT_PARTITION__"]):
        write(rows(120 + number, 50 + number), tmp_path / f"year={year}" / f"f.{ending}")
    by_year = [count(tmp_path, columns=list("xyz"), where=("year", "in", [year, 1900])) for year in (2020, 2021)]
    assert [one.n_rows for one in by_year] == [50, 51]
    assert [len(one.contents) for one in by_year] == [1, 1]
    assert by_year[0].contents != by_year[1].contents
    for where, n_rows in [
        (("year", "not in", [2020]), 51),
        (("year", "==", 2021), 51),
        (("year", ">", 1999.5), 101),
    ]:
        assert count(tmp_path, columns=list("xyz"), where=where).n_rows == n_rows


def test_a_first_line_of_names_or_of_values_is_another_count(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("X1,X2\n" + "0,1\n1,0\n" * 10)
    options = {"states": ["0", "1"], "checkpoint": tmp_path / "kept", "n_parents": 1}
    assert kgmi.count(file, **options).n_rows == 20
    with pytest.raises(DataError, match=r"another count: .*\(header=True\), now without a .*\(header=False\)"):
        kgmi.count(file, header=False, **options)


def test_numbers_with_and_without_a_sign_follow_one_another():
    for first, second in [("int8", "uint8"), ("uint8", "int8"), ("int8", "uint64"), ("uint64", "int16")]:
        signed = np.array([[-3, 1], [2, -1]])
        batches = [
            np.abs(signed).astype(kind) if kind[0] == "u" else signed.astype(kind) for kind in (first, second)
        ]
        found = whole(stream(iter(batches), alphabet="shared"))
        cells = [[int(found.states[code]) for code in row] for row in found.codes]
        assert cells == np.vstack([batch.astype(int) for batch in batches]).tolist()
    high = np.array([[2**63 + 1, 2**63], [2**63, 2**63 + 2]], dtype=np.uint64)
    assert whole(stream(iter([high]))).states == tuple(str(2**63 + k) for k in range(3))


def test_datasets_with_a_filter_of_their_own_and_scanners(tmp_path):
    table = rows()
    source = dataset.dataset(write(table, tmp_path / "a.parquet"))
    with pytest.raises(
        DataError, match=r"was filtered or projected before; give it as it was opened, with the filter"
    ):
        stream(source.filter(pc.field("x") == 1))
    n_rows = int((table["x"].to_numpy() == 1).sum())
    assert count(source, where=pc.field("x") == 1).n_rows == n_rows
    assert count(source.scanner(columns=["y", "z"], filter=pc.field("x") == 1)).n_rows == n_rows
    with pytest.raises(DataError, match="rows cannot be read from ParquetFileFragment"):
        stream(next(source.get_fragments()))


def test_polars_reads_only_what_passes(tmp_path, monkeypatch):
    """Conditions and columns are in the query: its plan names them beside the file."""
    table = rows().append_column("w", pa.array([f"t{k % 7}" for k in range(N_ROWS)]))
    file = write(table, tmp_path / "a.parquet")
    asked, usual = [], pl.LazyFrame.collect_batches

    def noted(frame, **options):
        asked.append((frame.collect_schema().names(), "SELECTION:" in frame.explain()))
        return usual(frame, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", noted)
    options = {"columns": ["y", "z"], "where": [("w", "in", ["t1", "t2"]), ("x", ">", 0.5)]}
    assert count(pl.scan_parquet(file), **options).n_rows == count(table, **options).n_rows
    assert set(map(str, asked)) == {"(['y', 'z'], True)"}
    options["where"] = pc.field("x") == 1  # of PyArrow, which polars does not know
    assert count(pl.scan_parquet(file), **options).n_rows == count(table, **options).n_rows


def test_views_of_texts_are_filtered():
    frame = pl.DataFrame({"c": pl.Series(["a", "b", None, "a"], dtype=pl.Categorical), "t": ["u", "v", "u", "v"]})
    table = pa.RecordBatchReader.from_stream(frame).read_all()
    assert table.schema.field("t").type == pa.string_view()
    assert whole(stream(table, columns=["t", "c"], where=("c", "==", "a"))).codes.shape == (2, 2)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (("t", "==", True), "'t' is text in the file; .* not True: put it in quotes"),
        (("t", "==", "NA"), "a cell 'NA' of a text file means that there is no value"),
        (("n", "==", 2**53), "too large a number"),
    ],
)
def test_conditions_on_text_files_are_checked_before_they_are_read(tmp_path, where, message):
    (tmp_path / "a.csv").write_text("t,n\nTrue,9007199254740993\nFalse,1\n")
    with pytest.raises(SettingError, match=message):
        stream(tmp_path / "a.csv", where=where)
