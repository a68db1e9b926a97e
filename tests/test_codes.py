import re
from pathlib import Path

import numpy as np
import pytest

from kgmi import count_pairs
from kgmi.data import check_learnable, checked_codes
from kgmi.errors import DataError, SettingError


@pytest.mark.parametrize(
    ("rows", "n_states", "kind", "message"),
    [
        ([0, 1], 2, DataError, "rows must be a table [row, node] with at least one row and column, got (2,)"),
        (np.zeros((0, 3)), 2, DataError, "got (0, 3)"),
        (np.zeros((3, 0)), 2, DataError, "got (3, 0)"),
        ([[0, 1], [0]], 2, DataError, "these rows are not equally long"),
        (
            [[0, 1], [0, 3]],
            3,
            DataError,
            "row 1, column 1 is 3, outside the alphabet 0..2; recode it or raise n_st",
        ),
        (
            [[0, 1], [-1, 1]],
            None,
            DataError,
            "row 1, column 0 is -1, outside the alphabet 0..1; recode it: codes st",
        ),
        ([[-1, -1]], None, DataError, "row 0, column 0 is -1, outside the alphabet 0..1"),
        ([[0.0, 1.0], [np.nan, 1.0]], 2, DataError, "row 1, column 0 is missing (NaN); fill it in or drop the row"),
        ([[0.0, 1.5]], 2, DataError, "row 0, column 1 is 1.5; codes must be whole numbers"),
        ([[0.0, np.inf]], 2, DataError, "row 0, column 1 is inf; codes must be whole numbers"),
        ([[0.0, 1e300]], 2, DataError, "row 0, column 1 is 1e+300; codes must be whole numbers"),
        ([[0, 10**30]], 2, DataError, "row 0, column 1 is 1e+30"),
        ([[0, 1j]], 2, DataError, "rows must be whole-number codes 0..S-1"),
        ([["a", "b"]], 2, DataError, "rows must be whole-number codes 0..S-1; read text with kgmi.read_table"),
        ([[1, None]], 2, DataError, "row 0, column 1 is missing"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), 2, DataError, "rows must be whole-number codes"),
        ([[0, 0]], 1, SettingError, "n_states must be at least 2, got 1"),
    ],
)
def test_bad_rows_are_named_by_row_and_column(rows, n_states, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        count_pairs(rows, n_states)


def test_the_column_is_called_by_its_name_where_it_has_one():
    with pytest.raises(DataError, match="row 1, column 'B' is 3, outside the alphabet"):
        checked_codes([[0, 1], [0, 3]], 2, names=["A", "B"])
    with pytest.raises(DataError, match="row 0, column 'A' is missing"):
        checked_codes([[np.nan, 1]], 2, names=["A", "B"])


class Frame:
    """What the checks see of a data frame: columns, and cells as an array."""

    def __init__(self, cells, columns=("A", "B")):
        self.cells, self.columns = cells, list(columns)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.cells, dtype=object)


class NotAvailable:
    """Like the NA of pandas: neither equal to itself nor not."""

    def __ne__(self, other):
        return self

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    def __repr__(self):
        return "<NA>"

    __hash__ = None


NA = NotAvailable()


def test_a_data_frame_of_whole_numbers_is_rows():
    codes, n_states = checked_codes(Frame([[0, 1], [2, 0]]))
    assert (codes.tolist(), n_states) == ([[0, 1], [2, 0]], 3)


@pytest.mark.parametrize("gap", [NA, None, float("nan")])
def test_a_gap_in_a_data_frame_is_named_by_row_and_column(gap):
    with pytest.raises(DataError, match=r"row 1, column 'B' is missing \((<NA>|NaN)\); fill it in or drop"):
        checked_codes(Frame([[0, 1], [1, gap]]))
    with pytest.raises(DataError, match="row 1, column 1 is missing"):
        checked_codes(Frame([[0, 1], [1, gap]], columns=[7, 8]))
    with pytest.raises(DataError, match="row 1, column 'D' is missing"):
        checked_codes(Frame([[0, 1], [1, gap]]), names=["C", "D"])


def test_a_data_frame_of_texts_says_what_to_do():
    message = "recode the data frame so, or write it as a CSV file and use kgmi.read_table(path)"
    with pytest.raises(DataError, match=re.escape(f"rows must be whole-number codes 0..S-1; {message}")):
        checked_codes(Frame([["low", "high"], ["high", "low"]]))


def test_masked_arrays():
    cells = np.array([[0, 1], [1, 0]])
    codes, n_states = checked_codes(np.ma.array(cells, mask=False))
    assert (codes.tolist(), n_states) == (cells.tolist(), 2)
    assert checked_codes(np.ma.array(cells))[0].tolist() == cells.tolist()
    with pytest.raises(DataError, match=r"row 1, column 0 is masked \(missing\); fill it in or drop the row"):
        checked_codes(np.ma.array(cells, mask=[[False, False], [True, False]]))
    with pytest.raises(DataError, match="row 0, column 'B' is masked"):
        checked_codes(np.ma.array(cells / 1, mask=[[False, True], [True, False]]), names=["A", "B"])


@pytest.mark.parametrize("rows", [None, "data.csv", b"data.csv", Path("data.csv")])
def test_a_path_is_not_rows(rows):
    message = f"rows must be a table [row, node] of codes, got {rows!r}; read a file with kgmi.read_table(path)"
    with pytest.raises(DataError, match=re.escape(message)):
        checked_codes(rows)


def state_counts(codes, n_states=3):
    return np.einsum("iiss->is", count_pairs(codes, n_states).counts)


@pytest.mark.parametrize(
    ("codes", "n_states", "message"),
    [
        ([[0], [1], [2]], 3, "at least two columns"),
        ([[0, 1], [1, 2]], 4, "2 rows are fewer than the 4 states; collect more rows"),
        ([[0, 1]], 3, "1 row is fewer than the 3 states; collect more rows"),
        (
            [[0, 0], [0, 1], [0, 2]],
            4,
            "3 rows are fewer than the 4 states; column 1 alone takes 3 of them: leave it out if it is an "
            "identifier or a measurement, or collect more rows",
        ),
        ([[0, 1], [1, 1], [2, 1]], 3, "column 1 is constant (state 1 in all 3 rows)"),
    ],
)
def test_data_that_teach_nothing_are_refused(codes, n_states, message):
    with pytest.raises(DataError, match=re.escape(message)):
        check_learnable(state_counts(codes, n_states))


def test_columns_and_states_are_called_by_their_names():
    constant = state_counts([[0, 1], [1, 1], [2, 1]])
    with pytest.raises(DataError, match=r"column 'B' is constant \(state mid in all 3 rows\)"):
        check_learnable(constant, ["A", "B"], ["low", "mid", "high"])
    with pytest.raises(DataError, match="column 'id' alone takes 3 of them"):
        check_learnable(state_counts([[0, 1], [1, 1], [2, 1]], 4), ["id", "B"])
    check_learnable(state_counts([[0, 1], [1, 1], [2, 0]]))


def test_rows_are_counted_column_by_column_where_values_are_missing():
    counts = np.array([[5, 5, 0], [0, 0, 0], [1, 1, 1]])
    with pytest.raises(DataError, match=r"^column 'B' has no value in any row; leave it out, or let kgmi"):
        check_learnable(counts, ["A", "B", "C"])
    counts[1] = [0, 4, 0]
    with pytest.raises(DataError, match=r"column 1 is constant \(state 1 in all 4 rows that have a value\)"):
        check_learnable(counts)
    counts[1] = [1, 1, 0]
    with pytest.raises(
        DataError, match="column 'B' has values in 2 rows only, fewer than the 3 states; leave it out or"
    ):
        check_learnable(counts, ["A", "B", "C"])
    counts[1] = [0, 1, 0]
    with pytest.raises(DataError, match="column 1 has a value in 1 row only, fewer than the 3 states"):
        check_learnable(counts)
    counts[1] = [2, 1, 0]
    check_learnable(counts)
    with pytest.raises(DataError, match="2 rows are fewer than the 3 states; column 2 alone takes 2 of them"):
        check_learnable(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0]]))


def test_columns_with_alphabets_of_their_own():
    counts, states = np.array([[1, 1, 0], [1, 1, 1]]), (("no", "yes"), ("low", "mid", "high"))
    check_learnable(np.array([[1, 1, 0], [2, 1, 1]]), ["A", "B"], states)
    check_learnable(counts, ["A", "B"], states)
    with pytest.raises(DataError, match=r"column 'B' is constant \(state high in all 3 rows\)"):
        check_learnable(np.array([[1, 2, 0], [0, 0, 3]]), ["A", "B"], states)
    with pytest.raises(DataError, match="column 'A' has values in 2 rows only, fewer than the 3 states"):
        check_learnable(counts, ["A", "B"], (("no", "yes", "never"), states[1]))
