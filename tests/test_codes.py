import re

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
        ([[0, 1], [-1, 1]], None, DataError, "row 1, column 0 is -1, outside the alphabet 0..1"),
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


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[0], [1], [2]], "at least two columns"),
        ([[0, 1], [1, 2]], "2 rows are fewer than the 3 states; collect more rows"),
        ([[0, 1], [1, 1], [2, 1]], "column 1 is constant (state 1 in all 3 rows)"),
    ],
)
def test_data_that_teach_nothing_are_refused(codes, message):
    with pytest.raises(DataError, match=re.escape(message)):
        check_learnable(np.array(codes), 3)


def test_a_constant_column_is_called_by_its_name():
    with pytest.raises(DataError, match="column 'B' is constant"):
        check_learnable(np.array([[0, 1], [1, 1], [2, 1]]), 3, names=["A", "B"])
    check_learnable(np.array([[0, 1], [1, 1], [2, 0]]), 3)
