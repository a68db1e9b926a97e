"""Files with missing values, and with an alphabet for each column."""

import re

import numpy as np
import pytest

from kgmi.data import as_table, read_table
from kgmi.errors import DataError, SettingError

CONTENT = b"A,B,C\nlow,NA,0\nhigh,yes,\n?,no,1\nlow, ,1\n"


def test_missing_cells_are_errors_unless_they_are_said_to_be_something_else(write):
    path = write(CONTENT)
    advice = (
        "Fill it in or drop the row, or say what it means: missing='pairwise' (--missing pairwise) leaves it out "
        "of the counts that need it, missing='category' makes it a state"
    )
    message = (
        f"line 4 of {path} (row 3), column 'A': the value is missing ('?'; 1 such cell in this column). {advice}"
    )
    for options in ({}, {"missing": "error"}, {"alphabet": "own"}):
        with pytest.raises(DataError, match=re.escape(message)):
            read_table(path, **options)


@pytest.mark.parametrize("name", ["data.csv", "data.tsv"])
def test_missing_cells_left_out(write, name):
    content = CONTENT.replace(b",", b"\t") if name.endswith("tsv") else CONTENT
    table = read_table(write(content, name), missing="pairwise", alphabet="shared")
    assert (table.names, table.states) == (("A", "B", "C"), ("0", "1", "high", "low", "no", "yes"))
    assert table.codes.tolist() == [[3, -1, 0], [2, 5, -1], [-1, 4, 1], [3, -1, 1]]
    assert (table.n_missing, table.missing_by_column.tolist()) == (4, [1, 2, 1])


def test_missing_cells_as_a_state(write):
    table = read_table(write(CONTENT), missing="category", alphabet="shared")
    assert table.states == ("0", "1", "high", "low", "no", "yes", "missing")
    assert table.codes.tolist() == [[3, 6, 0], [2, 5, 6], [6, 4, 1], [3, 6, 1]]
    assert table.n_missing == 0
    taken = read_table(write(b"A,B\nmissing,\nx,x\n"), missing="category")
    assert (taken.states, taken.codes.tolist()) == (("missing", "x", "missing_2"), [[0, 2], [1, 1]])
    declared = read_table(write(b"A,B\nb,\na,a\n"), missing="category", states=["b", "a", "c"])
    assert (declared.states, declared.codes.tolist()) == (("b", "a", "c", "missing"), [[0, 3], [1, 1]])
    sized = read_table(write(b"A,B\n0,\n2,1\n"), missing="category", n_states=4)
    assert sized.states == ("0", "1", "2", "3", "missing")
    boxes = read_table(write(b"A,B\nx,\n,x\n"), missing="category")
    assert (boxes.states, boxes.codes.tolist()) == (("x", "missing"), [[0, 1], [1, 0]])


@pytest.mark.parametrize("missing", ["error", "category", "pairwise"])
def test_without_a_gap_all_choices_are_the_same(write, missing):
    table = read_table(write(b"A,B\nx,y\ny,x\n"), missing=missing)
    assert (table.states, table.codes.tolist()) == (("x", "y"), [[0, 1], [1, 0]])


@pytest.mark.parametrize("missing", ["error", "category", "pairwise"])
@pytest.mark.parametrize("alphabet", ["shared", "own"])
def test_a_column_without_any_value(write, missing, alphabet):
    path = write(b"A,B\n0,\n1,NA\n")
    with pytest.raises(DataError, match=re.escape(f"column 'B' of {path} has no value in any row; leave it out")):
        read_table(path, missing=missing, alphabet=alphabet)


def test_a_declared_state_is_no_gap(write):
    table = read_table(write(b"A,B\nNA,\n?,NA\n"), states=["NA", "?"], missing="pairwise")
    assert table.codes.tolist() == [[0, -1], [1, 0]]


def test_gaps_do_not_hide_other_errors(write):
    path = write(b"A,B\n0,\n1,0\n01,1\n")
    with pytest.raises(DataError, match="are the same number"):
        read_table(path, missing="pairwise")
    with pytest.raises(DataError, match=re.escape(f"line 4 of {path} (row 3), column 'A': '01' is not among")):
        read_table(path, missing="pairwise", states=["0", "1"])
    rows = "".join(f"p{k},\n" for k in range(25)) + "p0,x\n"
    with pytest.raises(DataError, match=r"column 'id' .* has 25 different values in 26 rows"):
        read_table(write(f"id,B\n{rows}".encode()), missing="pairwise")
    with pytest.raises(DataError, match="is a quote not closed"):
        read_table(write(b'A,B\n0,\n0,"1\n1,1\n'), missing="pairwise")
    with pytest.raises(DataError, match="looks like data"):
        read_table(write(b"0,1\n0,\n1,1\n"), missing="category")


def test_rows_with_values_decide_whether_a_column_is_an_identifier(write):
    rows = "".join(f"{k if k < 25 else ''},{k % 2}\n" for k in range(100))
    with pytest.raises(DataError, match=r"column 'A' .* has 25 different values in 25 rows; it looks like"):
        read_table(write(f"A,B\n{rows}".encode()), missing="pairwise")


def test_own_alphabets(write):
    table = read_table(write(b"A,B,C\nlow,yes,10\nhigh,no,9\nlow,no,10\n"), alphabet="own")
    assert table.alphabets == (("high", "low"), ("no", "yes"), ("9", "10"))
    assert table.states == ("9", "10", "high", "low", "no", "yes")
    assert table.codes.tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
    assert read_table(write(b"A,B\nx,z\ny,z\n"), alphabet="own").sizes == (2, 1)


def test_own_alphabets_with_gaps(write):
    table = read_table(write(CONTENT), alphabet="own", missing="pairwise")
    assert table.alphabets == (("high", "low"), ("no", "yes"), ("0", "1"))
    assert table.codes.tolist() == [[1, -1, 0], [0, 1, -1], [-1, 0, 1], [1, -1, 1]]
    table = read_table(write(CONTENT.replace(b"?", b"high")), alphabet="own", missing="category")
    assert table.alphabets == (("high", "low"), ("no", "yes", "missing"), ("0", "1", "missing"))
    assert table.codes.tolist() == [[1, 2, 0], [0, 1, 2], [0, 0, 1], [1, 2, 1]]


def test_own_alphabets_may_write_one_number_in_two_ways_but_not_within_a_column(write):
    assert read_table(write(b"A,B\n1,1.0\n2,2.0\n"), alphabet="own").alphabets == (("1", "2"), ("1.0", "2.0"))
    with pytest.raises(DataError, match=re.escape("'1' (column 'B') and '1.0' (column 'B') in")):
        read_table(write(b"A,B\nx,1.0\ny,1\n"), alphabet="own")


@pytest.mark.parametrize("name", ["data.csv", "data.npy"])
def test_settings_that_make_no_sense(write, name):
    path = write(CONTENT, name)
    with pytest.raises(SettingError, match="states declares one alphabet for all columns"):
        read_table(path, states=["0", "1"], alphabet="own")
    with pytest.raises(SettingError, match="n_states declares one alphabet for all columns"):
        read_table(path, n_states=3, alphabet="own")
    with pytest.raises(
        SettingError, match="missing must be one of 'error', 'category', 'pairwise', got 'listwise'"
    ):
        read_table(path, missing="listwise")


def test_an_array_file_with_gaps(tmp_path):
    path = tmp_path / "codes.npy"
    np.save(path, np.array([[0, np.nan], [2, 1], [2, 4]]))
    with pytest.raises(DataError, match=re.escape(f"{path}: row 0, column 1 is missing (NaN); fill it in")):
        read_table(path)
    assert read_table(path, missing="pairwise", alphabet="shared").codes.tolist() == [[0, -1], [2, 1], [2, 3]]
    assert read_table(path, missing="category").states == (*"0124", "missing")
    assert read_table(path, missing="pairwise", n_states=5).codes.tolist() == [[0, -1], [2, 1], [2, 4]]
    own = read_table(path, missing="pairwise", alphabet="own")
    assert (own.alphabets, own.codes.tolist()) == ((("0", "2"), ("1", "4")), [[0, -1], [1, 0], [1, 1]])


def test_a_file_and_lists_of_its_cells_are_the_same_table(write):
    cells = [line.split(",") for line in CONTENT.decode().splitlines()[1:]]
    for missing in ("pairwise", "category"):
        for alphabet in ("shared", "own"):
            table = read_table(write(CONTENT), missing=missing, alphabet=alphabet)
            again = as_table(cells, names=list("ABC"), missing=missing, alphabet=alphabet)
            assert again.codes.tolist() == table.codes.tolist()
            assert (again.names, again.states, again.alphabets) == (table.names, table.states, table.alphabets)
