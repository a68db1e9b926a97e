"""Rare tables: many states, wide numbers, odd arrays and texts, alphabets that do not fit together."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from kgmi.data import as_table
from kgmi.errors import DataError, KgmiError, SettingError, TooFewRowsError
from kgmi.streams import Alphabets, stream

from .stream_drills import same, whole


@pytest.mark.parametrize("kind", ["numbers", "texts", "categories", "far apart"])
def test_states_that_need_more_than_a_byte(kind):
    """They come in the middle of a batch, after other columns were coded in bytes."""
    rng = np.random.default_rng(101)
    values = np.concatenate([rng.integers(0, 5, 5_000), rng.integers(0, 300, 5_000)])
    made = {
        "numbers": pa.array(values),
        "texts": pa.array([f"t{value}" for value in values]),
        "categories": pa.array([f"t{value}" for value in values]).dictionary_encode(),
        "far apart": pa.array(values * 10**9),
    }[kind]
    table = pa.table({"A": rng.integers(0, 2, 10_000), "B": made, "C": rng.integers(0, 2, 10_000)})
    opened = stream(table)
    assert [batch.columns.dtype for batch in opened.batches(opened.fragments[0])] == [np.int16]
    same(whole(opened), as_table(table))
    parts = stream(iter([table.slice(0, 5_000), table.slice(5_000)]), alphabet="own")
    assert [batch.columns.dtype for batch in parts.batches(parts.fragments[0])] == [np.int8, np.int16]
    again = stream([table.slice(0, 5_000), table.slice(5_000)], alphabet="own")
    same(whole(again), as_table(table, alphabet="own"))


def test_numbers_that_come_from_both_ends():
    arrays = [np.array([[k, -k], [k + 1, 0]]) for k in (0, 7, 300, 40_000, -3, 10**15, -(10**15))]
    with_all = np.concatenate(arrays)
    same(whole(stream(arrays)), as_table(with_all))
    large = np.array([[2**64 - 1, 0], [5, 2**63]], dtype=np.uint64)
    same(whole(stream([large, large])), as_table(np.concatenate([large, large])))


@pytest.mark.parametrize("dtype", [">i4", "<u2", "float16", "longdouble", ">f8", "bool"])
def test_arrays_of_other_types(dtype, tmp_path):
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    same(whole(stream(array)), as_table(array))
    np.save(tmp_path / "a.npy", array)
    same(whole(stream(tmp_path / "a.npy")), as_table(array))
    assert len(whole(stream(array, where=("X1", "==", bool(1) if dtype == "bool" else 1), n_states=2)).codes) == 2


def test_lists_of_rows_and_lists_of_tables():
    texts = [["x", 1], ["y", None], [" x", 1]]
    same(whole(stream(texts, missing="pairwise")), as_table(texts, missing="pairwise"))
    batch = pa.record_batch({"A": [0, 1]})
    for tables in ([batch, batch], [pl.from_arrow(batch)] * 2, [np.array([[0], [1]])] * 2, [batch.to_pandas()] * 2):
        assert whole(stream(tables)).codes.tolist() == [[0], [1], [0], [1]]


def test_an_object_that_hands_out_record_batches_by_the_protocol():
    class Source:
        def __init__(self, table):
            self._table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self._table.__arrow_c_stream__(requested_schema)

    table = pa.table({"A": ["x", "y"], "B": [0, 1]})
    same(whole(stream(Source(table))), as_table(table))
    with pytest.raises(DataError, match="Source hands out no record batches"):
        stream(Source(table["A"]))


def test_a_reader_that_fails():
    table = pa.table({"A": ["x", "y"]})

    def batches():
        yield from table.to_batches()
        raise OSError("the line is dead")

    with pytest.raises(DataError, match=r"the record-batch reader .* failed: .*the line is dead"):
        whole(stream(pa.RecordBatchReader.from_batches(table.schema, batches())))


def test_minus_one_may_be_a_gap():
    spins = np.array([[1, -1], [-1, 1]])
    with pytest.raises(
        DataError, match="column 'X2' holds -1, the only number below 0; if -1 means that the value is"
    ):
        whole(stream(np.array([[1, -1], [0, 1]])))
    assert whole(stream(spins, missing="pairwise", n_states=2)).codes.tolist() == [[1, -1], [-1, 1]]
    with pytest.raises(DataError, match="row 1, column 'X1' is -2, but with missing='pairwise' numbers below 0"):
        whole(stream(np.array([[1, 0], [-2, 1]]), missing="pairwise"))
    with pytest.raises(DataError, match="-1 stands among texts or objects and may be a missing value"):
        whole(stream(np.array([[1, -1], [0, 1]], dtype=object), missing="pairwise"))


def test_codes_outside_a_declared_alphabet():
    frame = pd.DataFrame({"A": [0, 1, 7], "B": [1, 0, 0]})
    with pytest.raises(
        DataError, match=r"column 'A' holds 7, outside the alphabet 0\.\.3; recode it or raise n_states"
    ):
        whole(stream(frame, n_states=4))
    with pytest.raises(DataError, match="row 2, column 'A': '7' is not among the states 0, 1"):
        whole(stream(frame, states=["0", "1"]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("A,B\n0,1\n1,\0\n", r"line 3 of .* \(row 2\), column 'B': the value '\\x00' contains a NUL byte"),
        ('A,B\n0,1\n1,"x\ny"\n', "is a quote not closed"),
        ("0,1\n0,1\n1,0\n", r"the first line of the rows looks like data \(0, 1 are also states\)"),
        ("A;B\n0;1\n", "has one column only, and its first line contains ';'"),
        ("A,A\n0,1\n", "two columns of .* are named 'A'"),
        ("A,B\n1,1.0\n", r"'1' \(column 'A'\) and '1.0' \(column 'B'\) in the rows are the same number"),
        ("A,B\n0,1\n0,0,1\n", "line 3 of .* has 3 values where 2 are expected"),
        ("A\0,B\n0,1\n", "the name .* contains a NUL byte"),
    ],
)
def test_texts_that_are_no_tables(tmp_path, content, message):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        whole(stream(tmp_path / "a.csv"))


def test_text_without_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("0,1\n1,0\n")
    (tmp_path / "b.csv").write_text("1,1\n")
    opened = stream(tmp_path, header=False)
    assert (opened.names, whole(opened).codes.tolist()) == (("X1", "X2"), [[0, 1], [1, 0], [1, 1]])
    assert whole(stream(tmp_path, header=False, columns=["X2"], names=["B"])).codes.tolist() == [[1], [0], [1]]
    (tmp_path / "b.csv").write_text("1\n")
    with pytest.raises(
        DataError, match=r"b\.csv has no column 'X2', which .* has; give tables with the same columns"
    ):
        stream(tmp_path, header=False)


def test_the_first_line_is_no_question_where_columns_have_names(tmp_path):
    table = pa.table({"A": ["x", "y"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(DataError, match=r"header=False \(--no-header\) means nothing; leave it out"):
            stream(tmp_path / name, header=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros(3), r"rows must be a table \[row, node\]"),
        (np.array([["x"]]), "it is of type <U1; save whole numbers"),
        (np.array([[None]]), "it is of type object; save whole numbers"),
        (b"\x93NUMPY\x01\x00junk", "cannot be read as a .npy array"),
        (b"A,B\n0,1\n0,1\n", "cannot be read as a .npy array"),
    ],
)
def test_arrays_in_files_that_are_none(tmp_path, content, message):
    path = tmp_path / "a.npy"
    path.write_bytes(content) if isinstance(content, bytes) else np.save(path, content)
    with pytest.raises(DataError, match=message):
        stream(path)


def test_arrays_in_files_that_do_not_fit_together(tmp_path):
    (tmp_path / "k=1").mkdir()
    np.save(tmp_path / "k=1" / "a.npy", np.zeros((2, 2)))
    with pytest.raises(DataError, match="arrays in folders that are named like k=… are not read"):
        stream(tmp_path)
    np.save(tmp_path / "k=1" / "b.npy", np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"b\.npy has 3 columns, .*a\.npy has 2"):
        stream([tmp_path / "k=1" / "a.npy", tmp_path / "k=1" / "b.npy"])


def test_alphabets_that_do_not_fit_together():
    def alphabets(rows):
        opened = stream(rows, missing="pairwise")
        return list(opened.batches(opened.fragments[0]))[-1].alphabets

    frame, array = alphabets(pd.DataFrame({"X1": ["x", "y"]})), alphabets(np.array([[0], [1]]))
    with pytest.raises(DataError, match="rows of different forms"):
        frame.joined(array)
    nothing = Alphabets.of_nothing(["X1"])
    assert nothing.joined(array)[0] == array
    assert array.joined(nothing)[0] == array
    assert frame.declared == (None,)
    with pytest.raises(TooFewRowsError, match="there are no rows"):
        nothing.settled(["X1"], stream(np.eye(2)).rules, [0])
    with pytest.raises(DataError, match="1 columns need as many names"):
        array.settled(["X1", "X2"], stream(np.eye(2)).rules, [2])


@pytest.mark.parametrize(
    "harm",
    [
        lambda content: content.pop("columns"),
        lambda content: content.update(form="other"),
        lambda content: content["columns"][0].update(texts=[1]),
        lambda content: content["columns"][0].update(texts=["x", "x"]),
        lambda content: content["columns"][0].update(kinds="1"),
        lambda content: content["columns"][0].update(places=[1]),
        lambda content: content["columns"][0].update(kinds=3),
        lambda content: content.update(columns=5),
    ],
)
def test_alphabets_that_are_none(harm):
    opened = stream(np.eye(2, dtype=int))
    content = next(opened.batches(opened.fragments[0])).alphabets.to_dict()
    harm(content)
    with pytest.raises(KgmiError):
        Alphabets.from_dict(content)


def test_options_that_make_no_sense(tmp_path):
    table = pa.table({"n": ["1", "2"], "when": pa.array([1, 2], pa.timestamp("ns")), "A": [0, 1], "B": [1, 0]})
    with pytest.raises(SettingError, match="columns must be a list of names, got the text 'AB'"):
        stream(table, columns="AB")
    with pytest.raises(SettingError, match="columns: name at least one column"):
        stream(table, columns=[])
    (tmp_path / "a.csv").write_text("n,A,B\n1,0,1\n2,1,0\n")
    for value in (2**60, True):
        with pytest.raises(SettingError, match="where: "):
            whole(stream(tmp_path / "a.csv", columns=["A", "B"], where=("n", "<", value)))
    parquet.write_table(table, tmp_path / "a.parquet")
    late = stream(tmp_path / "a.parquet", columns=["A", "B"], where=("when", ">", "1970-01-01"))
    assert len(whole(late).codes) == 2
    with pytest.raises(DataError, match="cells of different types cannot be compared"):
        whole(stream(np.array([["x", 1], [1, 0]], dtype=object), where=("X1", "==", "x")))


def test_files_with_a_wrong_name(tmp_path):
    parquet.write_table(pa.table({"A": ["x", "y"]}), tmp_path / "a.arrow")
    with pytest.raises(DataError, match=r"is a Parquet file: name it \.parquet"):
        stream(tmp_path / "a.arrow")
    (tmp_path / "a.parquet").write_bytes(b"A,B\n0,1\n0,1\n")
    with pytest.raises(DataError, match="does not end as a Parquet file does"):
        stream(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_bytes((tmp_path / "a.arrow").read_bytes())
    with pytest.raises(DataError, match=r"is not text but a Parquet file: name it \.parquet"):
        stream(tmp_path / "a.csv")
