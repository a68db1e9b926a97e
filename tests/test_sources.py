"""Streams and files: whatever rows come in, as a whole or in pieces, they give the same table."""

import gzip
import pickle
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, ipc, parquet

from kgmi.errors import CellError, DataError, KgmiError, SettingError, UnknownColumnError
from kgmi.sources import read_table, stream
from kgmi.table import as_table

from .tables import TEXTS, cuts, random_rules, random_table, same, whole, write_text


def parquet_files(table, rng, folder):
    for number, (start, end) in enumerate(cuts(rng, table.num_rows)):
        size = int(rng.integers(1, 30))
        parquet.write_table(table.slice(start, end - start), folder / f"{number:02}.parquet", row_group_size=size)
    parquet.write_table(table, folder.with_suffix(".parquet"))
    return folder, lambda **rules: read_table(folder.with_suffix(".parquet"), **rules)


def arrow_files(table, rng, folder):
    for number, (start, end) in enumerate(cuts(rng, table.num_rows)):
        maker = ipc.new_stream if rng.random() < 0.3 else ipc.new_file
        with maker(str(folder / f"{number:02}.arrow"), table.schema) as out:
            out.write_table(table.slice(start, end - start), max_chunksize=int(rng.integers(1, 30)))
    return folder, lambda **rules: as_table(table, **rules)


def datasets(table, rng, folder):
    parquet_files(table, rng, folder)
    return dataset.dataset(folder), lambda **rules: read_table(folder.with_suffix(".parquet"), **rules)


def reader(table, rng, folder):
    batches = table.to_batches(max_chunksize=int(rng.integers(1, 30)))
    return pa.RecordBatchReader.from_batches(table.schema, batches), lambda **rules: as_table(table, **rules)


def pieces(rng, rows, part):
    """Rows as a whole, as a list of pieces or from an iterator."""
    parts = [part(start, end) for start, end in cuts(rng, len(rows))]
    return [rows, parts, iter(parts)][int(rng.integers(3))], lambda **rules: as_table(rows, **rules)


def arrow_tables(table, rng, folder):
    return pieces(rng, table, lambda start, end: table.slice(start, end - start))


def record_batches(table, rng, folder):
    return pieces(rng, table, lambda start, end: table.slice(start, end - start).combine_chunks().to_batches()[0])


def pandas_frames(table, rng, folder):
    frame = table.to_pandas()
    return pieces(rng, frame, lambda start, end: frame.iloc[start:end])


def polars_frames(table, rng, folder):
    frame = pl.from_arrow(table)
    if rng.random() < 0.3:
        return frame.lazy(), lambda **rules: as_table(frame, **rules)
    return pieces(rng, frame, lambda start, end: frame[start:end])


def numbers(table, rng, folder):
    low, high = [(0, 3), (-1, 3), (-2, 2), (5, 9)][int(rng.integers(4))]
    kinds = [np.int8, np.int64, np.float16, np.float64, np.bool_, np.uint16, ">i4"]
    array = rng.integers(low, high, (table.num_rows, 3)).astype(kinds[int(rng.integers(len(kinds)))])
    if array.dtype.kind == "f":
        array[rng.random(array.shape) < 0.05] = np.nan
    elif rng.random() < 0.2:
        array = np.ma.MaskedArray(array, rng.random(array.shape) < 0.1)
    if rng.random() < 0.4 or isinstance(array, np.ma.MaskedArray):
        return pieces(rng, array, lambda start, end: array[start:end])
    for number, (start, end) in enumerate(cuts(rng, len(array))):
        part = array[start:end]
        np.save(folder / f"{number}.npy", part if rng.random() < 0.5 else np.asfortranarray(part))
    return folder, lambda **rules: as_table(array, **rules)


def objects(table, rng, folder):
    array = np.array([column.to_pylist() for column in table.columns], dtype=object).T
    array = rng.choice(TEXTS[:5], array.shape) if rng.random() < 0.3 else array
    return pieces(rng, array, lambda start, end: array[start:end])


def text_files(table, rng, folder):
    columns = [
        [str(cell) if cell is not None else "" for cell in table[name].to_pylist()] for name in table.column_names
    ]
    rows, names = list(zip(*columns, strict=True)), table.column_names if rng.random() < 0.8 else None
    for number, (start, end) in enumerate(cuts(rng, len(rows))):
        write_text(folder / f"{number}{rng.choice(['.csv', '.tsv', '.csv.gz'])}", names, rows[start:end])
    write_text(folder.with_suffix(".csv"), names, rows)
    rules = {"header": names is not None}
    return folder, lambda **more: read_table(folder.with_suffix(".csv"), **more), rules


WAYS = [parquet_files, arrow_files, datasets, reader, arrow_tables, record_batches, pandas_frames, polars_frames]
WAYS += [numbers, objects, text_files]
N_TABLES = 60


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_pieces_make_the_table_that_the_whole_is(way, tmp_path):
    """Names, states, alphabets, codes and errors are those of all rows read at once."""
    refused = 0
    for seed in range(101, 101 + N_TABLES):
        rng = np.random.default_rng(seed)
        table, rules = random_table(rng), random_rules(rng)
        folder = tmp_path / str(seed)
        folder.mkdir()
        source, at_once, *more = way(table, rng, folder)
        rules |= more[0] if more else {}
        size = int(rng.integers(1, 40))
        try:
            expected = at_once(**rules)
        except KgmiError:
            refused += 1
            with pytest.raises(DataError):
                whole(stream(source, fragment_rows=size, **rules), rng)
        else:
            same(whole(stream(source, fragment_rows=size, **rules), rng), expected)
    assert 5 < refused < N_TABLES - 15


TABLE = b"A,B,C\n0,1,2\n2,1,0\n1,1,1\n"
WAYS_TO_WRITE = {
    "data.tsv": TABLE.replace(b",", b"\t"),
    "DATA.TSV": TABLE.replace(b",", b"\t"),
    "data.csv.gz": gzip.compress(TABLE),
    "two.parts.tsv.gz": gzip.compress(TABLE.replace(b",", b"\t")),
    "bom.csv": b"\xef\xbb\xbf" + TABLE,
    "crlf.csv": TABLE.replace(b"\n", b"\r\n"),
    "end.csv": TABLE.rstrip(),
    "blank.csv": TABLE.replace(b"\n", b"\n\n"),
    "spaces.csv": TABLE.replace(b",", b" , ") + b"   \n",
    "quotes.csv": b'"A","B","C"\n"0","1","2"\n2,"1",0\n1,1,1\n',
}


@pytest.mark.parametrize("name", WAYS_TO_WRITE)
def test_every_way_to_write_the_same_table(write, name):
    table = read_table(write(WAYS_TO_WRITE[name], name), alphabet="shared")
    assert (table.names, table.states) == (("A", "B", "C"), ("0", "1", "2"))
    assert table.codes.tolist() == [[0, 1, 2], [2, 1, 0], [1, 1, 1]]


def test_texts_are_states_and_the_first_line_may_be_data(write):
    def read(content, **options):
        table = read_table(write(content), **options)
        return table.names, table.states, table.codes.tolist()

    quoted = read(b'A,"B, too"\nno,"maybe, yes"\n"say ""hi""",no\n', alphabet="shared")
    assert quoted[:2] == (("A", "B, too"), ("maybe, yes", "no", 'say "hi"'))
    assert read(TABLE[6:], header=False)[::2] == (("X1", "X2", "X3"), [[0, 1, 2], [2, 1, 0], [1, 1, 1]])
    assert read(b"0,B\n0,1\n1,0\n")[0] == ("0", "B")
    with pytest.raises(DataError):
        read(b"0,1\n0,1\n1,0\n")
    assert read(b"A,B\n-1,0.5\nx,10\n", alphabet="shared")[1] == ("-1", "0.5", "10", "x")
    assert read(b"A,B\n1,2\n2,3\n", n_states=3)[1] == ("1", "2", "3")
    assert read(b"A,B\n01,1\n1,1.0\n", states=["1", "1.0", "01"])[2] == [[2, 0], [0, 1]]
    assert read(b"A,B\nNA,\n?,NA\n", states=["NA", "?"], missing="pairwise")[2] == [[0, -1], [1, 0]]
    calls = read(b"A,B\n0/1,./.\n.|.,0/0\n1/1,0/1\n", missing="pairwise", alphabet="shared")
    assert calls[1:] == (("0/0", "0/1", "1/1"), [[1, -1], [-1, 0], [2, 1]])


def test_few_or_repeated_values_are_states_and_many_are_not(write):
    def size(values, **options):
        return read_table(write(b"A,B\n" + b"".join(b"0,%d\n" % value for value in values)), **options).n_states

    assert [size(range(20)), size([k % 21 for k in range(42)])] == [20, 21]
    assert size(range(1_001), n_states=1_001) == 1_001
    with pytest.raises(DataError):
        size(range(1_001))


@pytest.mark.parametrize(
    ("content", "options", "column", "row", "line"),
    [
        (b"A,B\n0,1\n\n\n1,\n", {}, "B", 1, 5),
        (b"A,B\nx,0\n?,1\n", {}, "A", 1, 3),
        (b"A,B\n0,1\n\n1,\x00\n", {"missing": "pairwise"}, "B", 1, 4),
        (b"A,B\n0,1\n7,1\n", {"states": ["0", "1"]}, "A", 1, 3),
    ],
)
def test_errors_name_column_row_and_line(write, content, options, column, row, line):
    path = write(content)
    with pytest.raises(CellError) as caught:
        read_table(path, **options)
    assert (caught.value.column, caught.value.row) == (column, row)
    assert f"line {line} of {path} (row {row})" in str(caught.value)


CODES = np.random.default_rng(101).integers(0, 3, 60)


def listed(values):
    return pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int8()), values)


COLUMNS = {
    "views": pa.array([f"t{code}" for code in CODES], pa.string_view()),
    "long texts": pa.array([f"t{code}" for code in CODES], pa.large_string()),
    "texts as bytes": pa.array([b"t%d" % code for code in CODES]),
    "decimals": pa.array([None if code == 1 else Decimal(int(code)) for code in CODES], pa.decimal128(5, 1)),
    "half floats": pa.array(CODES.astype(np.float16)),
    "large": pa.array([2**63 + int(code) for code in CODES], pa.uint64()),
    "far apart": pa.array(CODES * 10**15 - 7),
    "categories that are numbers": listed(pa.array([5, 6, 7, 8])),
    "categories that are dates": listed(pa.array([5, 6, 7, 8], pa.date32())),
    "a category that is missing": listed(pa.array(["p", None, "q"])),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_types_of_columns_in_files(tmp_path, name):
    table = pa.table({"A": COLUMNS[name], "B": CODES})
    with ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=13)
    same(read_table(tmp_path / "a.arrow", missing="pairwise"), as_table(table, missing="pairwise"))
    if name not in ("categories that are dates", "a category that is missing"):  # which Parquet cannot keep
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=13)
        read = parquet.read_table(tmp_path / "a.parquet")
        same(read_table(tmp_path / "a.parquet", missing="pairwise"), as_table(read, missing="pairwise"))


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
    "pandas.parquet": (PANDAS.to_parquet, PANDAS),
    "pandas.feather": (lambda path: PANDAS.reset_index(drop=True).to_feather(path), PANDAS),
    "polars.parquet": (lambda path: POLARS.write_parquet(path, row_group_size=3), POLARS),
    "polars.arrow": (POLARS.write_ipc, POLARS),
    "packed.arrow": (lambda path: POLARS.write_ipc(path, compression="zstd"), POLARS),
    "polars.ipc": (POLARS.write_ipc_stream, POLARS),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_other_libraries_are_the_frames_that_were_written(tmp_path, name):
    writer, frame = WRITERS[name]
    writer(tmp_path / name)
    for alphabet in ("auto", "own", "shared"):
        read = read_table(tmp_path / name, missing="pairwise", alphabet=alphabet)
        same(read, as_table(frame, missing="pairwise", alphabet=alphabet))


STATES = ["town", "a", "b"]


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
            "when": pa.array([0] * n_rows, pa.date32()),
        }
    )


def write_files(folder, table=None, n_files=3, **options):
    table = rows() if table is None else table
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // n_files)
    for number in range(n_files):
        parquet.write_table(table.slice(number * size, size), folder / f"{number}.parquet", **options)
    return table


def test_files_folders_patterns_and_lists(tmp_path, monkeypatch):
    table = write_files(tmp_path / "data")
    (tmp_path / "data" / "_SUCCESS").touch()
    (tmp_path / "data" / ".hidden.parquet").touch()
    (tmp_path / "data" / "notes.md").write_text("notes")
    paths = [tmp_path / "data" / f"{number}.parquet" for number in range(3)]
    monkeypatch.chdir(tmp_path / "data")
    for source in (tmp_path / "data", str(tmp_path / "*" / "?.parquet"), paths, "."):
        opened = stream(source, columns=STATES)
        assert (opened.n_rows, len(opened.fragments), opened.rereadable) == (400, 3, True)
        same(whole(opened), as_table(table.select(STATES)))
    for twice in ([tmp_path / "data", paths[0]], [paths[0], paths[0]]):
        with pytest.raises(DataError):
            stream(twice)


def test_only_what_is_needed_is_read(tmp_path):
    table = rows()
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    opened = stream(tmp_path / "a.parquet", columns=["b", "a"], names=["B", "A"])
    same(whole(opened), as_table(table.select(["b", "a"]), names=["B", "A"]))
    given = {"names": (n for n in "uv"), "columns": (n for n in "ba"), "fragment_rows": np.int64(100)}
    assert stream(tmp_path / "a.parquet", **given).names == ("u", "v")
    for columns in (["TOWN"], ["twon"]):
        with pytest.raises(UnknownColumnError) as caught:
            stream(tmp_path / "a.parquet", columns=columns)
        assert (caught.value.option, caught.value.column) == ("columns", columns[0])


@pytest.mark.parametrize(
    ("option", "values", "error"),
    [
        ("columns", [["a", "a"], "ab", 5, []], SettingError),
        ("fragment_rows", [0, 2.5, "5"], SettingError),
        ("names", [5], SettingError),
        ("n_states", [True], SettingError),
        ("names", [["x", "y"]], DataError),
        ("header", [False], DataError),
    ],
)
def test_options_without_sense_are_refused(tmp_path, option, values, error):
    parquet.write_table(rows(), tmp_path / "a.parquet")
    for value in values:
        with pytest.raises(error):
            stream(tmp_path / "a.parquet", **({"columns": STATES} | {option: value}))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folders_that_are_named_like_columns(tmp_path, ending):
    table = rows().select(["year", "town", "a"])
    folders = dataset.partitioning(pa.schema([("year", pa.int64()), ("town", pa.string())]), flavor="hive")
    dataset.write_dataset(table, tmp_path / "hive", format=ending, partitioning=folders)
    sorted_ = table.sort_by([("year", "ascending"), ("town", "ascending")])
    for columns in (["year", "a", "town"], ["year", "town"]):
        same(whole(stream(tmp_path / "hive", columns=columns)), as_table(sorted_.select(columns)))
    some = stream(tmp_path / "hive", columns=["a"], where="year > 2019 and town == Bern")
    assert len(some.fragments) == 2
    kept = (pa.compute.field("year") > 2019) & (pa.compute.field("town") == "Bern")
    assert len(whole(some).codes) == table.filter(kept).num_rows
    if ending == "parquet":
        made = dataset.dataset(tmp_path / "hive", partitioning="hive")
        same(whole(stream(made, columns=["town", "year"])), as_table(sorted_.select(["town", "year"])))
        same(whole(stream(made, columns=["a"], where="year > 2019 and town == Bern")), whole(some))
        parquet.write_table(table, tmp_path / "hive" / "year=2020" / "own.parquet")  # has the column itself, too
        with pytest.raises(DataError):
            stream(tmp_path / "hive", columns=["a", "year"])
        np.save(tmp_path / "hive" / "year=2020" / "a.npy", np.eye(2))
        assert stream(tmp_path / "hive" / "*" / "a.npy").table().names == ("X1", "X2", "year")


def test_codes_in_the_names_of_folders_keep_their_zeros(tmp_path):
    for zip_ in ("01", "12"):
        (tmp_path / f"zip={zip_}").mkdir()
        (tmp_path / f"zip={zip_}" / "a.csv").write_text("A\nx\ny\n")
    assert whole(stream(tmp_path, columns=["zip"])).states == ("01", "12")
    assert len(whole(stream(tmp_path, where='zip == "01"')).codes) == 2


def test_fragments_are_row_groups_up_to_a_number_of_rows(tmp_path):
    write_files(tmp_path, n_files=1, row_group_size=50)

    def found(**options):
        return [
            (one.pieces, one.first, one.n_rows) for one in stream(tmp_path, columns=STATES, **options).fragments
        ]

    assert found(fragment_rows=120) == [((k, k + 1), 50 * k, 100) for k in (0, 2, 4, 6)]
    assert found(fragment_rows=10) == [((k,), 50 * k, 50) for k in range(8)]
    assert found(where="year == 2018") == [((0, 1, 2), 0, None)]
    arrays = stream(np.zeros((100, 2), dtype=int), fragment_rows=30)
    assert [one.pieces for one in arrays.fragments] == [(0, 24), (25, 49), (50, 74), (75, 99)]


def test_errors_name_the_row_of_the_file(tmp_path):
    table = pa.table({"X1": [0] * 100, "X2": [0.0] * 70 + [0.5] + [1.0] * 29})
    array = np.zeros((100, 2))
    array[70, 1] = 0.5
    np.save(tmp_path / "a.npy", array)
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    halves = iter([array[:50], array[50:]])
    for source in (tmp_path / "a.parquet", tmp_path / "a.npy", array, np.where(array == 0.5, 7, 0), table, halves):
        with pytest.raises(CellError, match="row 70") as caught:
            whole(stream(source, fragment_rows=20, n_states=4))
        assert (caught.value.column, caught.value.row) == ("X2", 70)
        assert str(source) in str(caught.value) or not isinstance(source, Path)


def test_marks_tell_rows_and_not_files_apart(tmp_path):
    table = write_files(tmp_path / "one", n_files=2, row_group_size=50)
    write_files(tmp_path / "two", table.slice(0, 200), n_files=1, row_group_size=50)

    def marks(source, **options):
        options = {"columns": STATES} | options
        return [one.mark for one in stream(source, fragment_rows=100, **options).fragments]

    first = marks(tmp_path / "one" / "0.parquet")
    assert marks(tmp_path / "two" / "0.parquet") == first  # the same rows elsewhere
    both = marks([tmp_path / "one" / "0.parquet", tmp_path / "two" / "0.parquet"])
    assert (len({*both}), both[:2]) == (4, first)
    assert {*first}.isdisjoint(marks(tmp_path / "one" / "0.parquet", where="a < 2"))
    assert {*first}.isdisjoint(marks(tmp_path / "one" / "0.parquet", columns=["a"]))
    assert len(stream([tmp_path / "one" / "0.parquet", tmp_path / "two" / "0.parquet"], columns=STATES).marks) == 1


def test_streams_of_files_travel_as_paths(tmp_path, monkeypatch):
    table = write_files(tmp_path / "data")
    csv.write_csv(table.select(["year", *STATES[:2]]), tmp_path / "a.csv")
    np.save(tmp_path / "a.npy", np.eye(2, dtype=int))
    monkeypatch.chdir(tmp_path)
    for source, columns in (("data", STATES), (dataset.dataset("data"), STATES), ("a.csv", ["town", "a"])):
        sent = pickle.dumps(stream(source, columns=columns, where="year > 2019"))
        assert len(sent) < 10_000
        with monkeypatch.context() as elsewhere:
            elsewhere.chdir("/")
            opened = pickle.loads(sent)  # noqa: S301 our own
            right = as_table(table.filter(pa.compute.field("year") > 2019).select(columns))
            assert len(whole(opened).codes) == len(right.codes)
            if source != "a.csv":
                same(whole(opened), right)
    with pytest.raises(DataError):
        pickle.dumps(stream(iter([np.eye(2)])))


def test_threads_read_fragments_at_the_same_time(tmp_path):
    write_files(tmp_path, rows(20_000), n_files=2, row_group_size=1_000)
    opened = stream(tmp_path, columns=STATES, fragment_rows=1_000)

    def read(fragment):
        return [(batch.columns.tolist(), batch.seen) for batch in opened.batches(fragment)]

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(read, opened.fragments)] == [read(fragment) for fragment in opened.fragments]


def test_memory_does_not_grow_with_the_rows(tmp_path):
    rng, n_rows = np.random.default_rng(101), 2_000_000
    columns = {f"x{k}": pa.array(rng.integers(0, 2**62, n_rows) % 4) for k in range(6)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=n_rows, use_dictionary=False)
    usual, watched = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(watched)
    try:
        opened = stream(tmp_path / "a.parquet")
        n_read = sum(batch.columns.shape[1] for batch in opened.batches(opened.fragments[0]))
    finally:
        pa.set_memory_pool(usual)
    assert n_read == n_rows
    assert 0 < watched.max_memory() < 60e6  # of 96 MB in all


def test_lists_of_rows_and_lists_of_tables():
    texts = [["x", 1], ["y", None], [" x", 1]]
    same(whole(stream(texts, missing="pairwise")), as_table(texts, missing="pairwise"))
    assert whole(stream([np.array([[0], [1]])] * 2)).codes.tolist() == [[0], [1], [0], [1]]


def test_anything_that_hands_out_record_batches():
    class Source:
        def __init__(self, table):
            self.__arrow_c_stream__ = table.__arrow_c_stream__

    table = pa.table({"A": ["x", "y"], "B": [0, 1]})
    same(whole(stream(Source(table))), as_table(table))
    with pytest.raises(DataError):
        stream(Source(table["A"]))
    assert whole(stream(dataset.dataset(table).scanner(columns=["B"]))).names == ("B",)


def test_states_that_need_more_than_a_byte_come_in_the_middle():
    rng = np.random.default_rng(101)
    values = np.concatenate([rng.integers(0, 5, 5_000), rng.integers(0, 300, 5_000)])
    texts = pa.array([f"t{value}" for value in values])
    for column in (values, texts, texts.dictionary_encode(), values * 10**9):
        table = pa.table({"A": rng.integers(0, 2, 10_000), "B": column, "C": rng.integers(0, 2, 10_000)})
        opened = stream([table.slice(0, 5_000), table.slice(5_000)])
        assert [batch.columns.dtype for batch in opened.batches(opened.fragments[0])] == [np.int8, np.int16]
        same(whole(opened), as_table(table))


def test_categories_keep_an_order_whichever_file_is_read_first(tmp_path):
    for number, texts in enumerate([["z", "y"], ["y", "x", "w"], ["w", "v"]]):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 5, pa.int8()), texts)
        parquet.write_table(pa.table({"A": column, "B": column}), tmp_path / f"{number}.parquet")
    for seed in range(101, 105):
        assert whole(stream(tmp_path), np.random.default_rng(seed)).states == ("y", "x", "w", "v", "z")
    parquet.write_table(pa.table({"A": ["z", "NA"], "B": ["z", "z"]}), tmp_path / "3.parquet")  # and plain text
    assert whole(stream(tmp_path, missing="pairwise")).states == ("v", "w", "x", "y", "z")


def test_categories_that_read_like_missing_values_beside_plain_texts():
    plain = pa.table({"a": ["x", "NA"] * 9})
    odd = pa.table({"a": plain["a"].combine_chunks().dictionary_encode()})
    for tables in ([plain, odd], [odd, plain], [odd, plain, odd]):
        for given in (tables, iter([one.to_pandas() for one in tables])):
            with pytest.raises(DataError):
                whole(stream(given, missing="pairwise"))
