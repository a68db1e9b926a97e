"""Files that vanish, change, are cut off, damaged or do not fit together: errors, never fewer or other rows."""

import gzip
import os
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, ipc, parquet

from kgmi.errors import CellError, DataError, KgmiError, SettingError, TooLargeError
from kgmi.memory import within
from kgmi.sources import read_table, stream
from kgmi.table import as_table

from .tables import whole

N_ROWS = 30_000


def rows(seed=101, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    texts = np.array(["low", "mid", "high"])
    return pa.table(
        {
            "a": rng.integers(0, 3, n_rows).astype(np.int8),
            "b": pa.array(texts[rng.integers(0, 3, n_rows)]),
            "c": pa.array(rng.normal(size=n_rows) > 0),
        }
    )


def write_ipc(table, path, maker=ipc.new_file):
    with maker(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=5_000)


def write_csv(table, path):
    lines = [",".join(map(str, row)) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]
    path.write_text("\n".join([",".join(table.column_names), *lines]) + "\n")


def write_npy(table, path):
    np.save(path, np.column_stack([table["a"].to_numpy(), table["a"].to_numpy() % 2]))


def write_column(table, path):
    path.write_text("\n\na\n" + "\n".join(map(str, table["a"].to_pylist())) + "\n")


KINDS = {
    "a.parquet": lambda table, path: parquet.write_table(table, path, row_group_size=5_000),
    "a.arrow": write_ipc,
    "a.ipc": lambda table, path: write_ipc(table, path, ipc.new_stream),
    "a.csv": write_csv,
    "one.csv": write_column,
    "a.npy": write_npy,
}


@pytest.fixture(params=["kept in memory", "read in pieces"])
def size(request, monkeypatch):
    """Whether files count as small, so that they are read at once."""
    if request.param == "read in pieces":
        monkeypatch.setattr("kgmi.sources._SMALL_FILES", 0)
    return request.param


@pytest.fixture(params=KINDS)
def file(request, tmp_path, size):
    """A file of every kind, and how it is written."""
    path = tmp_path / request.param
    KINDS[path.name](rows(), path)
    return path, KINDS[path.name]


def begin(path):
    """Batches of a file that is half read."""
    opened = stream(path)
    with within(20_000):
        batches = opened.batches(opened.fragments[-1])
        first = next(batches)
    assert 0 < first.columns.shape[1] < N_ROWS
    return batches


def vanish(path, write):
    path.unlink()


def rewrite(path, write):
    new = path.with_name(f"new{path.suffix}")
    write(rows(103), new)
    new.replace(path)


def grow(path, write):
    with path.open("ab") as out:
        out.write(b"1\n" if path.name == "one.csv" else b"1,low,True\n")


def cut(share):
    def harm(path, write):
        with path.open("r+b") as out:
            out.truncate(int(share * path.stat().st_size))

    return harm


@pytest.mark.parametrize("harm", [vanish, rewrite, grow, cut(0), cut(0.3), cut(0.95)])
@pytest.mark.parametrize("is_begun", [True, False])
def test_a_file_that_changes_after_it_was_opened(file, harm, is_begun):
    path, write = file
    opened = stream(path)
    batches = begin(path) if is_begun else opened.batches(opened.fragments[0])
    harm(path, write)
    with pytest.raises(DataError, match=str(path)):
        list(batches)


@pytest.mark.parametrize("share", [0, 0.2, 0.7, 0.999])
def test_a_file_that_was_cut_off_before(file, share):
    path, _ = file
    if path.suffix != ".csv" or not share:  # a text file has no end by which this could be seen
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        with pytest.raises(DataError, match=str(path)):
            whole(stream(path))


def test_packed_text_and_streams_that_were_cut_off(tmp_path):
    write_csv(rows(), tmp_path / "a.csv")
    packed = gzip.compress((tmp_path / "a.csv").read_bytes())
    write_ipc(rows(), tmp_path / "a.ipc", ipc.new_stream)
    between_batches = (tmp_path / "a.ipc").read_bytes()[:-8]
    for name, content in (("b.csv.gz", packed[:-8]), ("b.csv.gz", packed[:9_000]), ("b.ipc", between_batches)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError):
            whole(stream(tmp_path / name))


def test_fewer_rows_than_were_announced(tmp_path):
    KINDS["a.parquet"](rows(), tmp_path / "a.parquet")
    opened = stream(tmp_path / "a.parquet")
    with pytest.raises(DataError):
        list(opened.batches(replace(opened.fragments[0], n_rows=N_ROWS + 1)))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "ipc", "npy"])
def test_a_damaged_file_is_read_or_refused_but_never_worse(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    KINDS[path.name](rows(n_rows=60), path)
    content, rng, refused = path.read_bytes(), np.random.default_rng(107), 0
    for _ in range(150):
        harmed = bytearray(content[: rng.integers(1, len(content) + 1)] if rng.random() < 0.3 else content)
        for place in rng.integers(0, len(harmed), 3):
            harmed[place] = rng.integers(0, 256)
        path.write_bytes(harmed)
        for work in (lambda: whole(stream(path)), lambda: read_table(path, missing="pairwise")):
            try:
                work()
            except KgmiError:
                refused += 1
    assert refused > 80


def npy(shape, content=b"", dtype="<i8"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


@pytest.mark.parametrize(
    "content",
    [
        *(npy(shape, bytes(40)) for shape in [(10**6, 10**6), (2**32, 2**32), (2**63, 2), (3, 2)]),
        *(npy(shape, bytes(4_000)) for shape in [(-1, 2), (2**63, 0), (0, 3), "(2, 'a')", "(((", "{1: 2}", (500,)]),
        npy((1, 2), bytes(8), "<U1"),
        npy((1, 1), bytes(8), "|O"),
        npy((1, 1), bytes(16), "<c16"),
        npy((1, 1), bytes(16), "<f16"),
        b"\x93NUMPY\x01\x00junk",
        b"\x93NUMPY\x03\x00" + npy((1, 1), bytes(8))[8:],
        b"A,B\n0,1\n",
    ],
)
def test_array_files_that_are_none(write, content):
    with pytest.raises(DataError, match=r"data\.npy"):
        stream(write(content, "data.npy"))


def test_an_array_file_with_a_long_header(write):
    content = npy((2, 2), np.array([[0, 1], [1, 0]]).tobytes())
    long = b"\x93NUMPY\x02\x00" + content[8:10] + bytes(2) + content[10:]
    assert read_table(write(long, "data.npy")).codes.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("wrong widths.csv", [b"A,B\n0,1\n0,0,1\n", b"A,B\n0,1\n\n1\n", b"# made by us\nA,B\n0,1\n"]),
        ("quotes.csv", [b'A,B\n0,1\n1,"x\ny"\n', b'A,B\n0,"1\n1,0\n']),
        ("letters.csv", [b"A,B\n0,\xff\n1,0\n", "A,B\n0,1\n1,0\n".encode("utf-16"), b"A\x00,B\n0,1\n1,0\n"]),
        ("semicolons.csv", [b"A;B\n0;1\n1;0\n"]),
        ("bars.csv", [b"A|B\n0|1\n1|0\n"]),
        ("rows.counts", [b"A,B\n0,1\n1,0\n"]),
        ("commas.tsv", [b"A,B\n0,1\n1,0\n"]),
        ("names.csv", [b"A,A\n0,1\n1,0\n", b"A,\n0,1\n1,0\n"]),
        ("no rows.csv", [b"A,B\n", b"\n\n"]),
        ("no states.csv", [b"A,B\n1,1.0\n2,x\n"]),
        ("binary.csv", [b"PAR1....", b"PK\x03\x04rest", bytes(range(256)) * 9]),
        ("unpacked.csv.gz", [b"\x1f\x8brest"]),
        *((name, [b"A,B\n0,1\n0,1\n"]) for name in ("a.xlsx", "a.txt", "a", "a.npy.gz", "a.parquet", "a.arrow")),
        ("a.arrow", [b"PAR1 and so on"]),
        ("a.feather", [b"FEA1 and so on"]),
    ],
)
def test_files_that_hold_something_else(write, name, contents):
    for content in contents:
        path = write(content, name)
        with pytest.raises(DataError) as caught:
            read_table(path, missing="pairwise")
        assert str(path) in str(caught.value) or name == "no states.csv" or isinstance(caught.value, CellError)
        assert len(str(caught.value)) < 500


def test_the_line_of_an_open_quote_is_named(write):
    path = write(b"A,B\n" + b"0,1\n" * 20 + b'"0,1\n' + b"0,1\n" * 40, "a.csv")
    with pytest.raises(DataError, match=r"line 22 of .*a.csv has a quote"):
        read_table(path)


def test_no_part_of_a_folder_is_left_out(tmp_path, monkeypatch):
    for name in ("data/a.csv", "elsewhere/b.csv", "data/_hidden/c.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("A,B\n0,1\n1,0\n")
    (tmp_path / "data" / "linked").symlink_to(tmp_path / "elsewhere")
    assert len(whole(stream(tmp_path / "data")).codes) == 4
    (tmp_path / "data" / "part2").symlink_to(tmp_path / "gone")
    with pytest.raises(DataError, match="part2"):
        stream(tmp_path / "data")
    (tmp_path / "data" / "part2").rename(tmp_path / "data" / "broken.csv")
    for source in (tmp_path / "data", str(tmp_path / "data" / "*.csv")):
        with pytest.raises(DataError, match=r"broken\.csv"):
            stream(source)

    def refused(folder):  # who runs the tests may have the right to read everything
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr("os.scandir", refused)
    with pytest.raises(DataError, match="Permission denied"):
        stream(tmp_path / "data")


def test_empty_lines_of_a_single_column_are_missing_values(write):
    assert read_table(write(b"\n\nA\n0\n1\n", "b.csv")).codes.tolist() == [[0], [1]]
    path = write(b"A\n0\n\n1\n0\n", "a.csv")
    assert read_table(path, missing="pairwise").codes.tolist() == [[0], [-1], [1], [0]]
    with pytest.raises(CellError, match="line 3"):
        read_table(path)
    with pytest.raises(CellError, match=r"line 6 .*row 2"):
        read_table(write(b"\n\nA\n0\n1\n7\n", "c.csv"), states=["0", "1"])


def test_text_that_is_not_utf_8_far_behind_the_start(write, capsys):
    path = write(b"A,B\n" + b"0,1\n1,0\n" * 1_000 + b"M\xfcller\n", "a.csv")
    with pytest.raises(DataError, match="UTF-8"):
        read_table(path)
    assert capsys.readouterr() == ("", "")


def test_folders_that_name_different_columns_are_refused(tmp_path):
    for name in ("year=2020/a.csv", "year=2021/b.csv", "c.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("A,B\n0,1\n1,0\n")
    with pytest.raises(DataError, match="different columns in the names of their folders"):
        stream(tmp_path)
    (tmp_path / "c.csv").unlink()
    assert stream(tmp_path).names == ("A", "B", "year")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_line_of_a_row_with_too_many_values_is_named(write, pack):
    path = write(pack(b"A,B\n" + b"0,1\n\n" * 50 + b"0,1,1\n"), "a.csv" if pack is bytes else "a.csv.gz")
    with pytest.raises(DataError, match=rf"line 102 of {path}"):
        read_table(path)


NO_STATES = [pa.array([1, 2], pa.date32()), [[1], [2]], [b"\xff", b"y"], [{"b": 1}, {"b": 2}], [0.5, 1.5]]
NO_STATES += [["x", None], [None, None], [f"p{k}" for k in range(30)], pa.array([], pa.string())]


@pytest.mark.parametrize("columns", [{}, *({"A": column} for column in NO_STATES)])
def test_typed_files_without_states(tmp_path, columns):
    table = pa.table(columns)
    for ending, put in (("parquet", parquet.write_table), ("feather", feather.write_feather)):
        put(table, tmp_path / f"a.{ending}")
        with pytest.raises(DataError):
            read_table(tmp_path / f"a.{ending}")


def test_paths_that_are_no_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("folder", "both"):
        (tmp_path / folder).mkdir()
    write_csv(rows(n_rows=9), tmp_path / "both" / "a.csv")
    write_npy(rows(n_rows=9), tmp_path / "both" / "b.npy")
    os.mkfifo(tmp_path / "pipe.csv")
    bad = ["none.parquet", "*.csv.bz2", "folder", "both", "pipe.csv", "-", "/dev/stdin", "/dev/null", ""]
    for path in (*bad, ["both", ""], "a\0b.parquet", "a" * 5_000, "s3://bucket/a.parquet"):
        with pytest.raises(DataError):
            stream(path)
    with pytest.raises(DataError):
        read_table(tmp_path / "both")


NO_SOURCES = [None, 5, {"a": [0, 1]}, iter([]), iter([5]), np.zeros(3), np.zeros((0, 3)), np.zeros((2, 2), complex)]
NO_SOURCES += [pl.DataFrame(), pl.LazyFrame({"a": ["x"]}).select(pl.col("b")), as_table([[0, 1], [1, 0]])]


@pytest.mark.parametrize("source", NO_SOURCES, ids=lambda one: type(one).__name__)
def test_what_is_no_source_of_rows(source):
    with pytest.raises(DataError):
        stream(source).table()


def test_streams_and_parts_of_datasets_are_no_sources(tmp_path):
    with pytest.raises(SettingError):
        stream(stream(np.eye(2)))
    parquet.write_table(rows(n_rows=9), tmp_path / "a.parquet")
    made = dataset.dataset(tmp_path / "a.parquet")
    for source in (made.filter(pa.compute.field("a") == 1), next(made.get_fragments())):
        with pytest.raises(DataError):
            stream(source)


def test_files_that_do_not_fit_together(tmp_path):
    first = rows(n_rows=50)
    parquet.write_table(first, tmp_path / "a.parquet")
    wide = first.set_column(0, "a", first["a"].cast(pa.int64()))
    parquet.write_table(wide.select(["c", "b", "a"]), tmp_path / "b.parquet")  # the same columns in another order
    assert whole(stream(tmp_path)).codes.tolist() == 2 * whole(stream(tmp_path / "a.parquet")).codes.tolist()
    for second in (first.drop_columns(["b"]), first.append_column("d", first["a"])):
        parquet.write_table(second, tmp_path / "b.parquet")
        for source in (tmp_path, dataset.dataset(tmp_path, schema=first.schema)):
            with pytest.raises(DataError, match=r"b\.parquet"):
                stream(source)
        assert stream(tmp_path, columns=["a", "c"]).n_rows == 100
    np.save(tmp_path / "a.npy", np.eye(2))
    np.save(tmp_path / "b.npy", np.eye(3))
    with pytest.raises(DataError):
        stream(tmp_path / "*.npy")


def test_text_files_that_do_not_fit_together(tmp_path):
    (tmp_path / "a.csv").write_text("A,B\n0,1\n1,0\n")
    (tmp_path / "b.csv").write_text("B, A\n1,0\n")
    assert whole(stream(tmp_path)).codes.tolist() == [[0, 1], [1, 0], [0, 1]]
    for content in ("A,C\n1,0\n", "A,B\n1,0,1\n", "A,B,C\n1,0,1\n"):
        (tmp_path / "b.csv").write_text(content)
        with pytest.raises(DataError, match=r"b\.csv"):
            whole(stream(tmp_path))


def test_batches_that_do_not_fit_together():
    frame = pl.DataFrame({"a": ["x", "y"], "b": [0, 1]})
    for second in (frame.drop("b"), frame.with_columns(c=1), np.eye(2)):
        with pytest.raises(DataError):
            whole(stream(iter([frame, second])))
    same_columns = stream(iter([frame, frame.drop("a")]), columns=["b"])
    assert len(whole(same_columns).codes) == 4


def test_a_dataset_whose_files_change(tmp_path):
    for name in ("a", "b"):
        parquet.write_table(rows(n_rows=60), tmp_path / f"{name}.parquet")
    opened = stream(dataset.dataset(tmp_path))
    parquet.write_table(rows(n_rows=59), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").unlink()
    for fragment in opened.fragments:
        with pytest.raises(DataError):
            list(opened.batches(fragment))


def test_a_reader_that_fails_and_rows_that_can_be_read_once():
    table = pa.table({"A": ["x", "y"]})

    def batches():
        yield from table.to_batches()
        raise OSError("the line is dead")

    with pytest.raises(DataError):
        whole(stream(pa.RecordBatchReader.from_batches(table.schema, batches())))
    once = stream(iter([np.eye(2, dtype=int)] * 2))
    next(once.batches(once.fragments[0]))
    for again in (once, replace(once, names=("A", "B"))):  # never the rows that are left
        with pytest.raises(DataError, match="once"):
            whole(again)


def test_more_rows_than_memory_are_refused_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    columns = {"A": pa.array(np.zeros(1_000_000, dtype=np.int8)), "B": pa.repeat("x", 1_000_000)}
    parquet.write_table(pa.table(columns), path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("kgmi.sources.base.free_bytes", lambda: 1_000_000)
    with pytest.raises(TooLargeError):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "name", "remedy"),
    [
        (b"A;B\n0;1\n", "a.csv", "write commas"),
        (b"A\tB\n0\t1\n", "a.csv", "a tab.*name the file .tsv"),
        (b"A,B\n0,1\n", "a.tsv", "name the file .csv"),
    ],
)
def test_other_signs_between_columns_have_a_remedy(write, content, name, remedy):
    with pytest.raises(DataError, match=remedy):
        read_table(write(content, name))
