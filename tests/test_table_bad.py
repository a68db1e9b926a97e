"""Arrays, lists and settings that are refused, and what the messages say."""

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_matrix, dok_array

from kgmi.data import Table, as_table, checked_codes
from kgmi.errors import DataError, SettingError, TooLargeError

STATE = "a state is a text, a whole number or a truth value"


def test_names_of_files_say_what_reads_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("data", "result"):
        Path(folder).mkdir()
    Path("result", "record.json").touch()
    Path("a[1].csv").touch()
    Path("one.csv").touch()
    for source, message in (
        ("data", "got 'data'; read a folder or a pattern of files with kgmi.stream('data')"),
        (Path("data"), "; read a folder or a pattern of files with kgmi.stream('data')"),
        ("data/*.csv", "with kgmi.stream('data/*.csv')"),
        ("a[1].csv", "with kgmi.read_table(path), or, where it may not fit into memory, with kgmi.stream(path)"),
        ("all.counts", "; read a file of counts with kgmi.Counts.load('all.counts')"),
        ("result", "; this is a result: read it with kgmi.load('result')"),
        (["one.csv", "two.csv"], "got ['one.csv', 'two.csv']; read several files with kgmi.stream([…])"),
        ([Path("two.csv")], "; read several files with kgmi.stream([…])"),
        (["data"] * 900, "'data',…; read several files"),
        (["yes", "no"], "with at least one row and column, got (2,)"),
        ("x" * 5000, "kgmi.read_table(path)"),
        ("a\0b", "kgmi.read_table(path)"),
    ):
        with pytest.raises(DataError) as caught:
            as_table(source)
        assert message in str(caught.value)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "rows must be a table [row, node] of codes, got None"),
        ("data.csv", "got 'data.csv'; read a file with kgmi.read_table(path)"),
        ([0, 1], "with at least one row and column, got (2,)"),
        ({"a": [0, 1]}, "got a dict; if it holds columns by name, make a data frame of it: pandas.DataFrame(rows)"),
        (csr_matrix([[0, 1], [1, 0]]), "got a sparse matrix; give rows.toarray(), where 0 is a state like others"),
        (coo_array([[0, 1], [1, 0]]), "got a sparse matrix; give rows.toarray()"),
        (dok_array([[0, 1], [1, 0]]), "got a sparse matrix; give rows.toarray()"),
        (np.zeros((0, 2)), "got (0, 2)"),
        (np.zeros((2, 2, 2)), "got (2, 2, 2)"),
        (np.zeros(3, dtype=[("a", int), ("b", int)]), "got (3,)"),
        ([[0, 1], [0]], "these rows are not equally long"),
        ([[0, 1.5], [0, 1]], "row 0, column 1 is 1.5; codes must be whole numbers"),
        ([[0, np.inf], [0, 1]], "row 0, column 1 is inf; codes must be whole numbers"),
        (
            np.array([[1j, 0]]),
            "all columns are of type complex128; states are texts, whole numbers or truth values",
        ),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "all columns are of type datetime64[D]"),
        (np.array([[5]], dtype="m8[s]"), "all columns are of type timedelta64[s]"),
        ([["a", 0.5], ["b", 1]], "row 0, column 1 is 0.5; states must be whole numbers or texts. It looks like a"),
        ([["a", Decimal("0.5")], ["b", 1]], "row 0, column 1 is 0.5; states must be whole numbers"),
        ([["a", Fraction(1, 2)], ["b", 1]], "row 0, column 1 is 1/2; states must be whole numbers"),
        ([["a", float("inf")], ["b", 1]], "row 0, column 1 is inf; states must be whole numbers"),
        ([["a", 1j], ["b", 1]], f"row 0, column 1 holds a value of type complex; {STATE}"),
        ([["a", datetime.date(2020, 1, 1)]], f"row 0, column 1 holds a value of type date; {STATE}"),
        ([["a", object()]], "row 0, column 1 holds a value of type object"),
        (np.array([["a", {1}], ["b", {2}]], dtype=object), "row 0, column 1 holds a value of type set"),
        (np.array([[b"a", b"\xff"]]), r"row 0, column 1 is b'\xff', which is not UTF-8 text; decode the column"),
        ([[0, None], [10**30, 1]], "column 0 holds 1000000000000000000000000000000; it looks like an identifier"),
        (
            [[k % 2, 10**7 + k] for k in range(30)],
            "column 1 of the table has 30 different values in 30 rows; it looks like a measurement or an",
        ),
        ([[7, 7], [7, 7]], "the whole table has one state only ('7'), so there is nothing to learn"),
        ([["x", "x"], ["x", "x"]], "the whole table has one state only ('x'), so there is nothing to learn"),
        ([["1", "x"], ["1.0", "y"]], "'1' (column 0) and '1.0' (column 0) in the table are the same number"),
        (
            [[f"p{k}", k % 2] for k in range(50)],
            "column 0 of the table has 50 different values in 50 rows; it look",
        ),
    ],
)
@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_sources_that_are_no_table_of_states(source, message, missing):
    with pytest.raises(DataError, match=re.escape(message)):
        as_table(source, missing=missing)


def test_lists_in_cells():
    cells = np.empty((2, 2), dtype=object)
    cells[:] = [["a", "b"], ["b", "a"]]
    cells[1, 0] = [1, 2]
    with pytest.raises(DataError, match="row 1, column 'A' holds a value of type list"):
        as_table(cells, names=["A", "B"])
    cells[1, 0] = np.zeros(3)
    with pytest.raises(DataError, match="row 1, column 0 holds a value of type ndarray"):
        as_table(cells)
    with pytest.raises(DataError, match="rows must be whole-number codes"):
        checked_codes(cells)
    cells[1, 0] = ([],)
    with pytest.raises(DataError, match="row 1, column 0 holds a value of type tuple"):
        as_table(cells)


def test_minus_one_is_missing_only_where_that_is_said():
    with pytest.raises(
        DataError, match=r"row 0, column 1 is -1.*if -1 means that the value is missing, say so with.*astype\(str\)"
    ):
        as_table([[0, -1], [1, 0]])
    assert as_table(np.array([[0, -1], [1, 0]]).astype(str)).states == ("-1", "0", "1")  # what the advice gives
    with pytest.raises(
        DataError, match=r"row 1, column 0 is -2, but with missing='pairwise' numbers below 0 other"
    ):
        as_table([[0, -1], [-2, 0]], missing="pairwise")
    with pytest.raises(DataError) as caught:
        checked_codes([[0, -1], [1, 0]])
    assert "missing" not in str(caught.value)


@pytest.mark.parametrize("missing", ["error", "category", "pairwise"])
@pytest.mark.parametrize(
    "source",
    [
        [[0, None], [1, None]],
        [["a", None], ["b", "NA"]],
        np.array([[0, np.nan], [1, np.nan]]),
        np.ma.array([[0, 1], [1, 1]], mask=[[0, 1], [0, 1]]),
    ],
)
def test_a_column_without_any_value(source, missing):
    with pytest.raises(DataError, match=r"column 1 (of the table )?has no value in any row; leave it out"):
        as_table(source, missing=missing)
    with pytest.raises(DataError, match=r"column 'B' (of the table )?has no value in any row; leave it out"):
        as_table(source, missing=missing, names=["A", "B"])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"missing": "drop"}, SettingError, "missing must be one of 'error', 'category', 'pairwise', got 'drop'"),
        ({"missing": None}, SettingError, "missing must be one of 'error', 'category', 'pairwise', got None"),
        ({"alphabet": "each"}, SettingError, "alphabet must be one of 'auto', 'shared', 'own', got 'each'"),
        ({"alphabet": ["own"]}, SettingError, "alphabet must be one of 'auto', 'shared', 'own', got ['own']"),
        (
            {"alphabet": "own", "states": ["0", "1"]},
            SettingError,
            "states declares one alphabet for all columns, al",
        ),
        (
            {"alphabet": "own", "n_states": 2},
            SettingError,
            "n_states declares one alphabet for all columns, alphab",
        ),
        ({"n_states": 1}, SettingError, "n_states must be at least 2, got 1"),
        ({"n_states": 10**9}, TooLargeError, "n_states is 1,000,000,000; the limit is 1,000,000 states"),
        ({"n_states": 3, "states": ["a", "b"]}, SettingError, "n_states is 3, but 2 states are declared"),
        ({"states": [0, 1]}, DataError, "the declared states must be two or more different texts, got [0, 1]"),
        ({"states": ["a", "a"]}, DataError, "the declared states must be two or more different texts"),
        ({"names": ["A"]}, DataError, "2 columns need as many names, got 1"),
        ({"names": ["A", "A"]}, DataError, "two columns are named 'A'; names must differ"),
    ],
)
def test_settings_that_make_no_sense(options, kind, message):
    for source in ([[0, 1], [1, 0]], [["0", "1"], ["1", "0"]]):
        with pytest.raises(kind, match=re.escape(message)):
            as_table(source, **options)


def test_a_state_outside_the_declared_alphabet():
    with pytest.raises(DataError, match="row 1, column 'B': 'c' is not among the states a, b"):
        as_table([["a", "b"], ["b", "c"]], states=["a", "b"], names=["A", "B"])
    with pytest.raises(DataError, match=re.escape("row 1, column 'B' is 2, outside the alphabet 0..1")):
        as_table([[0, 1], [1, 2]], states=["a", "b"], names=["A", "B"])


TABLE = Table(np.array([[0, -1], [2, 0], [1, 1]], dtype=np.int8), ("A", "B"), ("low", "NA", "high"))


def test_a_table_is_a_table():
    made = as_table(TABLE)
    assert np.shares_memory(made.codes, TABLE.codes)
    assert (made.names, made.states, made.alphabets) == (TABLE.names, TABLE.states, None)
    assert as_table(TABLE, states=TABLE.states, n_states=3, names=["C", "D"]).names == ("C", "D")
    made = as_table(TABLE, missing="category")
    assert (made.states, made.codes.tolist()) == (("low", "NA", "high", "missing"), [[0, 3], [2, 0], [1, 1]])
    assert TABLE.codes.tolist() == [[0, -1], [2, 0], [1, 1]]


def test_a_table_gets_own_alphabets_and_keeps_them():
    own = as_table(TABLE, alphabet="own")
    assert own.alphabets == (("low", "NA", "high"), ("low", "NA"))
    assert (own.states, own.codes.tolist()) == (TABLE.states, [[0, -1], [2, 0], [1, 1]])
    assert as_table(own).alphabets == as_table(own, alphabet="own").alphabets == own.alphabets
    assert as_table(own, missing="category").alphabets == (("low", "NA", "high"), ("low", "NA", "missing"))


def test_a_table_whose_codes_do_not_fit():
    with pytest.raises(DataError, match=re.escape("row 0, column 'B' is 3, outside the alphabet 0..2")):
        as_table(Table(np.array([[0, 3]]), ("A", "B"), ("a", "b", "c")))
    with pytest.raises(DataError, match=re.escape("row 1, column 'B' is 2, outside the alphabet 0..1")):
        as_table(Table(np.array([[0, 1], [2, 2]]), ("A", "B"), tuple("abc"), (tuple("abc"), tuple("ab"))))
    with pytest.raises(DataError, match=re.escape("row 0, column 'A' is -2, outside the alphabet")):
        as_table(Table(np.array([[-2, 0]]), ("A", "B"), ("a", "b")))
    with pytest.raises(DataError, match="column 'B' has no value in any row; leave it out"):
        as_table(Table(np.array([[0, -1], [1, -1]]), ("A", "B"), ("a", "b")))


def test_a_table_has_its_states():
    with pytest.raises(SettingError, match="n_states is 4, but there are 3 states in the table"):
        as_table(TABLE, n_states=4)
    with pytest.raises(
        SettingError, match=re.escape("the table has states of its own (low, NA, high); leave states")
    ):
        as_table(TABLE, states=["high", "NA", "low"])
