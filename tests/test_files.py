import gzip
import re

import numpy as np
import pytest

from kgmi import Table, read_table
from kgmi.errors import DataError, SettingError

TABLE = b"A,B,C\n0,1,2\n2,1,0\n1,1,1\n"


def test_a_table_with_a_header(write):
    table = read_table(write(TABLE))
    assert table.names == ("A", "B", "C")
    assert table.states == ("0", "1", "2")
    assert table.n_states == 3
    assert table.codes.tolist() == [[0, 1, 2], [2, 1, 0], [1, 1, 1]]
    assert np.array_equal(read_table(str(write(TABLE))).codes, table.codes)


def test_a_table_without_a_header(write):
    table = read_table(write(TABLE[6:]), header=False)
    assert table.names == ("X1", "X2", "X3")
    assert table.codes.tolist() == [[0, 1, 2], [2, 1, 0], [1, 1, 1]]
    assert read_table(write(b"A,B\nx,y\n"), header=False).states == ("A", "B", "x", "y")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (TABLE.replace(b",", b"\t"), "data.tsv"),
        (TABLE.replace(b",", b"\t"), "DATA.TSV"),
        (gzip.compress(TABLE), "data.csv.gz"),
        (gzip.compress(TABLE.replace(b",", b"\t")), "two.parts.tsv.gz"),
        (b"\xef\xbb\xbf" + TABLE, "data.csv"),
        (TABLE.replace(b"\n", b"\r\n"), "data.csv"),
        (TABLE.rstrip(), "data.csv"),
        (TABLE.replace(b"\n", b"\n\n"), "data.csv"),
        (TABLE.replace(b",", b" , "), "data.csv"),
        (b'"A","B","C"\n"0","1","2"\n2,"1",0\n1,1,1\n', "data.csv"),
    ],
    ids=[
        "tsv",
        "capitals",
        "csv.gz",
        "tsv.gz",
        "BOM",
        "CRLF",
        "no last line end",
        "blank lines",
        "spaces",
        "quotes",
    ],
)
def test_every_way_to_write_the_same_table(write, content, name):
    table = read_table(write(content, name))
    assert table.names == ("A", "B", "C")
    assert table.states == ("0", "1", "2")
    assert table.codes.tolist() == [[0, 1, 2], [2, 1, 0], [1, 1, 1]]


def test_texts_are_states_in_order_and_quotes_keep_commas(write):
    table = read_table(write(b'A,"B, too"\nno,"maybe, yes"\n"say ""hi""",no\n'), alphabet="shared")
    assert table.names == ("A", "B, too")
    assert table.states == ("maybe, yes", "no", 'say "hi"')
    assert table.codes.tolist() == [[1, 0], [2, 1]]


def test_numbers_come_by_value_and_before_texts(write):
    assert read_table(write(b"A,B\n10,2\n2,1\n")).states == ("1", "2", "10")
    assert read_table(write(b"A,B\n-1,0.5\nx,10\n")).states == ("-1", "0.5", "10", "x")


def test_a_declared_alphabet_keeps_its_order_and_its_unseen_states(write):
    table = read_table(write(b"A,B\nlow,high\nhigh,low\n"), states=["low", "mid", "high"])
    assert table.states == ("low", "mid", "high")
    assert table.codes.tolist() == [[0, 2], [2, 0]]


def test_a_declared_state_may_read_like_a_gap(write):
    table = read_table(write(b"A,B\nNA,?\n?,NA\n"), states=["NA", "?"])
    assert table.codes.tolist() == [[0, 1], [1, 0]]


def test_declared_states_may_be_the_same_number_and_as_many_as_the_rows(write):
    table = read_table(write(b"A,B\n01,1\n1,1.0\n"), states=["1", "1.0", "01"])
    assert table.codes.tolist() == [[2, 0], [0, 1]]
    for count in (30, 1_001):
        path = write(b"A,B\n" + b"".join(b"%d,%d\n" % (k, k) for k in range(count)))
        assert read_table(path, n_states=count).n_states == count
        assert read_table(path, states=[str(k) for k in range(count)]).n_states == count


def test_long_identifiers_and_texts_are_not_the_same_number(write):
    texts = ("9007199254740992", "9007199254740993", "1_0", "10", "NAN", "nAn")
    table = read_table(write(("A,B\n" + "".join(f"{a},{b}\n" for a in texts for b in texts)).encode()))
    assert table.states == ("10", "9007199254740992", "9007199254740993", "1_0", "NAN", "nAn")


def test_some_names_may_be_states(write):
    assert read_table(write(b"0,B\n0,1\n1,0\n")).names == ("0", "B")
    assert read_table(write(b"0,1\n0,1\n1,0\n"), header=False).codes.shape == (3, 2)


def test_few_or_repeated_values_are_states(write):
    assert read_table(write(b"A,B\n" + b"".join(b"0,%d\n" % k for k in range(20)))).n_states == 20
    twice = [k % 21 for k in range(42)]
    assert read_table(write(b"A,B\n" + b"".join(b"0,%d\n" % k for k in twice))).n_states == 21


def test_one_column_is_read(write):
    assert read_table(write(b"A\nx\ny\n")).codes.tolist() == [[0], [1]]
    assert read_table(write(b"A;B,C\nx,y\n")).names == ("A;B", "C")


def test_a_declared_number_of_states(write):
    codes = write(b"A,B\n0,2\n2,0\n")
    assert read_table(codes).states == ("0", "2")
    assert read_table(codes, n_states=4).states == ("0", "1", "2", "3")
    assert read_table(codes, n_states=4).codes.tolist() == [[0, 2], [2, 0]]
    assert read_table(write(b"A,B\n1,2\n2,3\n"), n_states=3).states == ("1", "2", "3")
    assert read_table(write(b"A,B\nx,y\ny,x\n"), n_states=2).states == ("x", "y")
    with pytest.raises(DataError, match="3 states were expected, the data have 2: 'x', 'y'; declare the states"):
        read_table(write(b"A,B\nx,y\ny,x\n"), n_states=3)
    with pytest.raises(DataError, match="2 states were expected, the data have 3: '0', '1', '2'"):
        read_table(write(TABLE), n_states=2)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"states": ["0", "0"]}, DataError, "two or more different texts, got ['0', '0']"),
        ({"states": ["0"]}, DataError, "two or more different texts, got ['0']"),
        ({"n_states": 1}, SettingError, "n_states must be at least 2, got 1"),
        ({"states": ["0", "1", "2"], "n_states": 4}, SettingError, "n_states is 4, but 3 states are declared"),
    ],
)
def test_declarations_that_make_no_sense(write, tmp_path, options, kind, message):
    np.save(tmp_path / "data.npy", np.array([[0, 1], [2, 0]]))
    for path in (write(TABLE), tmp_path / "data.npy"):
        with pytest.raises(kind, match=re.escape(message)):
            read_table(path, **options)


def test_many_states_over_all_columns_get_a_type_that_holds_them(write):
    head = ",".join(f"C{k}" for k in range(40))
    lines = (",".join(f"{k}-{row % 1_000}" for k in range(40)) for row in range(2_000))
    table = read_table(write("\n".join([head, *lines]).encode()), alphabet="shared")
    assert table.n_states == 40_000
    assert table.codes.min() == 0
    assert table.codes.max() == 39_999


@pytest.mark.parametrize("array", [np.uint8, np.int64, np.float64])
def test_an_array_file(tmp_path, array):
    path = tmp_path / "codes.npy"
    np.save(path, np.array([[0, 2], [1, 0]], dtype=array))
    table = read_table(path, alphabet="shared")
    assert (table.names, table.states) == (("X1", "X2"), ("0", "1", "2"))
    assert table.codes.tolist() == [[0, 2], [1, 0]]
    assert read_table(path, n_states=5).n_states == 5
    assert read_table(path, states=["a", "b", "c"]).states == ("a", "b", "c")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[0, None]], dtype=object), "it holds Python objects, which are not loaded"),
        (
            np.zeros((2, 2, 2), dtype=int),
            "rows must be a table [row, node] with at least one row and column, got (2",
        ),
        (np.array([[0.0, 1.5]]), "row 0, column 1 is 1.5; codes must be whole numbers"),
        (np.array([[0, 3]]), "row 0, column 1 is 3, outside the alphabet 0..2"),
        (np.array([["a", "b"]]), "rows must be whole-number codes"),
    ],
)
def test_an_array_file_that_holds_no_codes(tmp_path, array, message):
    path = tmp_path / "codes.npy"
    np.save(path, array, allow_pickle=True)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_table(path, n_states=3)
    assert str(path) in str(caught.value)


def test_an_array_file_that_is_none(write):
    with pytest.raises(DataError, match=r"is not a \.npy file: it does not start as one"):
        read_table(write(b"A,B\n0,1\n", "data.npy"))
    with pytest.raises(DataError, match=r"cannot be read as a \.npy array"):
        read_table(write(b"\x93NUMPY\x01\x00", "data.npy"))


def npy(shape, content=b"", dtype="<i8"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


@pytest.mark.parametrize("shape", [(10**6, 10**6), (2**32, 2**32), (2**63, 2), (3, 2)])
def test_an_array_file_that_announces_more_than_it_holds(write, monkeypatch, shape):
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("memory was set aside"))
    announced = f"its header announces {shape[0] * shape[1] * 8:,} bytes of values, but 40 follow"
    with pytest.raises(DataError, match=re.escape(announced)) as caught:
        read_table(write(npy(shape, bytes(40)), "data.npy"))
    assert "data.npy cannot be read as a .npy array" in str(caught.value)


@pytest.mark.parametrize("shape", [(-1, 2), (2**63, 0), (0, 3), "(2, 'a')", "(((", "{1: 2}"])
def test_an_array_file_with_a_header_that_makes_no_sense(write, shape):
    with pytest.raises(DataError, match=r"data\.npy"):
        read_table(write(npy(shape, bytes(4_000)), "data.npy"))


def test_an_array_file_of_identifiers(write):
    few = read_table(write(npy((1, 2), np.array([0, 2**63 - 1]).tobytes()), "data.npy"))
    assert few.states == ("0", "9223372036854775807")
    many = np.array([[row % 2, 2**40 + row] for row in range(30)])
    with pytest.raises(
        DataError, match=r"column 1 of .*data\.npy has 30 different values in 30 rows; it looks like"
    ):
        read_table(write(npy((30, 2), many.tobytes()), "data.npy"))


def test_an_array_file_with_a_long_header(write):
    content = npy((2, 2), np.array([[0, 1], [1, 0]]).tobytes())
    header = content[10:-32]
    long = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + content[-32:]
    assert read_table(write(long, "data.npy")).codes.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DataError, match=r"data\.npy cannot be read as a \.npy array: it has named fields"):
        read_table(write(long.replace(b"\x02", b"\x03", 1), "data.npy"))


def test_names_must_fit_the_codes():
    with pytest.raises(DataError, match=re.escape("2 names do not fit codes of shape (4, 3)")):
        Table(np.zeros((4, 3), dtype=int), ("A", "B"), ("0", "1"))
