"""Tables, and arrays and lists as tables."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from kgmi.data import Table, as_table, checked_codes
from kgmi.errors import DataError

CODES = np.array([[0, 1], [2, 0], [1, 1]])


def test_a_table_with_a_shared_alphabet():
    table = Table(CODES, ("A", "B"), ("x", "y", "z"))
    assert (table.n_states, table.own_alphabets, table.alphabets) == (3, False, None)
    assert table.column_states == (("x", "y", "z"),) * 2
    assert table.sizes == (3, 3)
    assert (table.n_missing, table.missing_by_column.tolist()) == (0, [0, 0])


def test_a_table_with_an_alphabet_for_each_column():
    table = Table(CODES, ("A", "B"), ("x", "y", "z"), (("x", "y", "z"), ("z", "x")))
    assert (table.n_states, table.own_alphabets) == (3, True)
    assert table.column_states == (("x", "y", "z"), ("z", "x"))
    assert table.sizes == (3, 2)


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_missing_cells_are_counted(dtype):
    table = Table(np.array([[0, -1], [-1, -1], [1, 0]], dtype=dtype), ("A", "B"), ("x", "y"))
    assert table.n_missing == 3
    assert table.missing_by_column.tolist() == [1, 2]
    assert Table(np.array([[0, 255]], dtype=np.uint8), ("A", "B"), ("x", "y")).n_missing == 0


def test_alphabets_must_fit_the_table():
    with pytest.raises(DataError, match="2 columns need as many alphabets, got 1"):
        Table(CODES, ("A", "B"), ("x", "y", "z"), (("x", "y"),))
    with pytest.raises(DataError, match=r"'q' of column 'B' is not among the states of the table"):
        Table(CODES, ("A", "B"), ("x", "y", "z"), (("x", "y"), ("x", "q")))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.float64, object])
def test_whole_numbers_are_codes(dtype):
    table = as_table(CODES.astype(dtype))
    assert (table.names, table.states, table.alphabets) == (("X1", "X2"), ("0", "1", "2"), None)
    assert table.codes.tolist() == CODES.tolist()
    assert table.codes.dtype.kind in "iu"
    assert as_table(CODES.astype(dtype), n_states=5).states == tuple("01234")
    assert as_table(CODES.astype(dtype), states=["low", "mid", "high"]).states == ("low", "mid", "high")


def test_plain_codes_are_taken_as_they_are_and_not_copied():
    table = as_table(CODES)
    assert np.shares_memory(table.codes, CODES)
    assert as_table(CODES.tolist()).codes.tolist() == CODES.tolist()
    assert as_table(CODES, names=["A", "B"]).names == ("A", "B")


def test_truth_values_in_an_array_are_codes():
    table = as_table(np.array([[True, False], [False, False]]))
    assert (table.states, table.codes.tolist()) == (("0", "1"), [[1, 0], [0, 0]])
    assert as_table([[True, None], [False, True]], missing="pairwise").codes.tolist() == [[1, -1], [0, 1]]


TEXTS = [["low", "high"], ["mid", "low"], ["low", "low"]]


@pytest.mark.parametrize(
    "source",
    [
        TEXTS,
        tuple(map(tuple, TEXTS)),
        np.array(TEXTS),
        np.array(TEXTS).astype("S4"),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS, dtype=np.dtypes.StringDType()),
        [[f" {text} " for text in row] for row in TEXTS],
    ],
    ids=["lists", "tuples", "U", "S", "objects", "StringDType", "spaces"],
)
def test_texts_are_states_in_order(source):
    table = as_table(source, names=["A", "B"], alphabet="shared")
    assert (table.names, table.states) == (("A", "B"), ("high", "low", "mid"))
    assert table.codes.tolist() == [[1, 0], [2, 1], [1, 1]]
    assert as_table(source, states=["low", "mid", "high"]).codes.tolist() == [[0, 2], [1, 0], [0, 0]]


def test_numbers_among_texts_are_states_by_their_text():
    table = as_table([["a", 2], ["b", 10.0], ["a", np.int8(2)], ["b", True]], alphabet="shared")
    assert table.states == ("2", "10", "True", "a", "b")
    assert table.codes.tolist() == [[3, 0], [4, 1], [3, 0], [4, 2]]
    assert as_table([["0", "2"], ["2", "0"]]).states == ("0", "2")
    assert as_table([["0", "2"], ["2", "0"]], n_states=4).states == tuple("0123")


def test_a_declared_state_is_a_state_whatever_it_reads_like():
    table = as_table([["NA", " a"], [" a", "NA"]], states=["NA", " a"])
    assert table.codes.tolist() == [[0, 1], [1, 0]]


GAPS = [[0, None], [1, 1], [None, 2]]


@pytest.mark.parametrize(
    "source",
    [
        GAPS,
        np.array(GAPS, dtype=object),
        np.array(GAPS, dtype=float),
        [[0, -1], [1, 1], [-1, 2]],
        np.array([[0, -1], [1, 1], [-1, 2]], dtype=np.int8),
        np.ma.array([[0, 9], [1, 1], [9, 2]], mask=[[0, 1], [0, 0], [1, 0]]),
        np.ma.array([[0, 9], [1, 1], [9, 2]], mask=[[0, 1], [0, 0], [1, 0]], dtype=np.uint8),
        np.ma.array([[0, np.nan], [1, 1], [0.5, 2]], mask=[[0, 0], [0, 0], [1, 0]]),
        np.ma.array([[0, "x"], [1, 1], [None, 2]], mask=[[0, 1], [0, 0], [0, 0]], dtype=object),
    ],
    ids=["None", "objects", "NaN", "-1", "int8", "mask", "mask of uint8", "mask and NaN", "mask of objects"],
)
def test_missing_codes(source):
    before = source.copy() if isinstance(source, np.ndarray) else [list(row) for row in source]
    table = as_table(source, missing="pairwise", alphabet="shared")
    assert (table.codes.tolist(), table.states) == ([[0, -1], [1, 1], [-1, 2]], ("0", "1", "2"))
    table = as_table(source, missing="category", alphabet="shared")
    assert (table.codes.tolist(), table.states) == ([[0, 3], [1, 1], [3, 2]], ("0", "1", "2", "missing"))
    table = as_table(source, missing="pairwise", n_states=4)
    assert (table.codes.tolist(), table.n_states) == ([[0, -1], [1, 1], [-1, 2]], 4)
    assert np.array_equal(
        np.asarray(source, dtype=object).astype(str), np.asarray(before, dtype=object).astype(str)
    )
    with pytest.raises(DataError, match=r"row \d, column \d.* is (m|-1).*missing='pairwise'"):
        as_table(source)


@pytest.mark.parametrize("gap", [None, "", "  ", "NA", "?", float("nan")])
def test_missing_texts(gap):
    source = [["b", gap], ["a", "a"], [gap, "b"]]
    assert as_table(source, missing="pairwise").codes.tolist() == [[1, -1], [0, 0], [-1, 1]]
    table = as_table(source, missing="category")
    assert (table.codes.tolist(), table.states) == ([[1, 2], [0, 0], [2, 1]], ("a", "b", "missing"))
    with pytest.raises(DataError, match=r"row 2, column 0: the value is missing .*1 such cell.*--missing pairwise"):
        as_table(source)


def test_masked_texts():
    source = np.ma.array([["b", "x"], ["a", "a"]], mask=[[0, 1], [0, 0]])
    assert as_table(source, missing="pairwise").codes.tolist() == [[1, -1], [0, 0]]
    assert source.tolist() == [["b", None], ["a", "a"]]


def test_the_state_of_a_gap_has_a_name_that_is_free():
    assert as_table([["missing", None], ["a", "a"]], missing="category").states == ("a", "missing", "missing_2")
    source = [["missing", "missing_2"], [None, "a"]]
    assert as_table(source, missing="category").states == ("a", "missing", "missing_2", "missing_3")
    assert as_table([["a", "b"], ["b", "a"]], missing="category").states == ("a", "b")
    assert as_table([["x", None], [None, "x"]], missing="category").states == ("x", "missing")


def test_gaps_may_be_a_declared_state():
    states = ["b", "a", "missing"]
    table = as_table([["b", None], ["a", "a"]], states=states, missing="category")
    assert (table.states, table.codes.tolist()) == (tuple(states), [[0, 2], [1, 1]])
    table = as_table([[0, None], [1, 1]], states=states, missing="category")
    assert (table.states, table.codes.tolist()) == (tuple(states), [[0, 2], [1, 1]])
    assert as_table([["b", None], ["a", "a"]], states=["b", "a"], missing="category").states == tuple(states)


def test_own_alphabets():
    table = as_table([["a", "c"], ["b", "b"], ["a", "c"]], alphabet="own")
    assert table.alphabets == (("a", "b"), ("b", "c"))
    assert (table.states, table.codes.tolist()) == (("a", "b", "c"), [[0, 1], [1, 0], [0, 1]])
    table = as_table([[0, 5], [3, 7], [3, 7]], alphabet="own")
    assert (table.alphabets, table.states) == ((("0", "3"), ("5", "7")), ("0", "3", "5", "7"))
    assert table.codes.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert as_table([["a", "c"], ["b", "c"]], alphabet="own").sizes == (2, 1)


@pytest.mark.parametrize(
    "source", [[["a", None], ["b", "c"]], [[0, None], [3, 7]], np.array([[0, np.nan], [3, 7]])]
)
def test_own_alphabets_with_gaps(source):
    shared = as_table(source, missing="pairwise", alphabet="own")
    assert (shared.sizes, shared.codes.tolist()) == ((2, 1), [[0, -1], [1, 0]])
    table = as_table(source, missing="category", alphabet="own")
    assert table.codes.tolist() == [[0, 1], [1, 0]]
    assert table.alphabets == (shared.alphabets[0], (*shared.alphabets[1], "missing"))
    assert table.states == (*shared.states, "missing")


def test_own_alphabets_tell_one_number_from_another_column_by_column():
    assert as_table([["1", "1.0"], ["2", "2.0"]], alphabet="own").alphabets == (("1", "2"), ("1.0", "2.0"))
    with pytest.raises(DataError, match=re.escape("'1' (column 0) and '1.0' (column 0) in the table are the same")):
        as_table([["1", "x"], ["1.0", "y"]], alphabet="own")


@given(
    npst.arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1, 5)),
    st.sampled_from(["pairwise", "category"]),
    st.sampled_from(["shared", "own"]),
)
def test_every_cell_keeps_its_state(cells, missing, alphabet):
    cells = np.vstack([cells, np.zeros_like(cells[:1]), np.ones_like(cells[:1])])  # two states, no empty column
    table = as_table(cells, missing=missing, alphabet=alphabet)
    for (row, column), cell in np.ndenumerate(cells):
        code, states = int(table.codes[row, column]), table.column_states[column]
        read = "missing" if code < 0 else states[code]
        assert read == ("missing" if cell < 0 else str(cell))
    assert table.n_missing == (np.count_nonzero(cells < 0) if missing == "pairwise" else 0)


@given(npst.arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1, 5)))
def test_texts_and_numbers_give_the_same_own_alphabets(cells):
    cells[0] = np.arange(cells.shape[1])
    cells = np.vstack([cells, cells[0] + 1])  # two states and no empty column
    texts = np.where(cells < 0, "NA", cells.astype(str))
    for missing in ("pairwise", "category"):
        table = as_table(cells, missing=missing, alphabet="own")
        again = as_table(texts, missing=missing, alphabet="own")
        assert (again.alphabets, again.states) == (table.alphabets, table.states)
        assert again.codes.tolist() == table.codes.tolist()


def test_checked_codes_with_gaps():
    codes, n_states = checked_codes([[0.0, np.nan], [2.0, 1.0]], missing="pairwise")
    assert (codes.tolist(), n_states) == ([[0, -1], [2, 1]], 3)
    rows = np.array([[0, -1], [2, 1]])
    assert checked_codes(rows, missing="category")[0] is rows
