"""Data frames that are refused, and what the messages say."""

import datetime
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kgmi.data import as_table
from kgmi.errors import DataError
from tests.test_codes import Frame

DAY = datetime.date(2020, 1, 1)
TYPE = "a state is a text, a whole number, a truth value or a category: leave the column out, bin it or write it"


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([DAY, DAY], "Date"),
        ([datetime.datetime(2020, 1, 1)] * 2, "Datetime"),
        ([datetime.timedelta(1)] * 2, "Duration"),
        ([[1], [2]], "List"),
        ([{"a": 1}, {"a": 2}], "Struct"),
        ([b"a", b"b"], "Binary"),
    ],
)
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_types_that_hold_no_states(make, column, kind):
    with pytest.raises(DataError, match=rf"^column 'B' of the table is of type {kind}.*; {TYPE}"):
        as_table(make({"A": ["x", "y"], "B": column}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.to_datetime(["2020-01-01"] * 2), "column 'B' of the table is of type Datetime"),
        (pd.Series([DAY, DAY], dtype=object), "row 0, column 'B' holds a value of type date"),
        ([[1], [2]], "row 0, column 'B' holds a value of type list"),
        ([{"a": 1}, {"a": 2}], "row 0, column 'B' holds a value of type dict"),
        ([1j, 2j], "row 0, column 'B' holds a value of type complex"),
        (pd.Series([1, "x", 0.5], dtype=object)[1:], "row 1, column 'B' is 0.5; states must be whole numbers"),
    ],
)
def test_columns_of_pandas_that_hold_no_states(column, message):
    column = column if isinstance(column, pd.Series) else pd.Series(column)
    with pytest.raises(DataError, match=re.escape(message)):
        as_table(pd.DataFrame({"A": [0, 1], "B": column.to_numpy() if column.dtype == object else column.array}))


def test_objects_of_polars():
    with pytest.raises(DataError, match="row 0, column 'A' holds a value of type object"):
        as_table(pl.DataFrame({"A": pl.Series([object(), object()], dtype=pl.Object)}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_measurements_and_identifiers(make):
    with pytest.raises(
        DataError, match=r"row 1, column 'B' is 1\.5; .* looks like a measurement: leave the column"
    ):
        as_table(make({"A": [0, 1], "B": [1.0, 1.5]}))
    with pytest.raises(DataError, match=r"row 1, column 'B' is inf; states must be whole numbers"):
        as_table(make({"A": [0, 1], "B": [1.0, float("inf")]}))
    with pytest.raises(
        DataError, match="column 'A' of the table has 30 different values in 30 rows; it looks like"
    ):
        as_table(make({"A": [f"p{k}" for k in range(30)], "B": ["x", "y"] * 15}))
    with pytest.raises(DataError, match="column 'A' of the table has 30 different values in 30 rows"):
        as_table(make({"A": [10**12 + k for k in range(30)], "B": [0, 1] * 15}))
    with pytest.raises(DataError, match="column 'A' of the table has 25 different values in 26 rows"):
        as_table(
            make({"A": [None] * 24 + ["p0"] + [f"p{k}" for k in range(25)], "B": ["x"] * 50}), missing="pairwise"
        )
    with pytest.raises(
        DataError, match=re.escape("row 1, column 'B' is 3, outside the alphabet 0..2; recode it or")
    ):
        as_table(make({"A": [0, 1], "B": [0, 3]}), n_states=3)
    with pytest.raises(
        DataError, match=re.escape("'01' (column 'A') and '1' (column 'B') in the table are the same")
    ):
        as_table(make({"A": ["01", "x"], "B": [1, 2]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("missing", ["error", "category", "pairwise"])
@pytest.mark.parametrize("gap", [None, float("nan"), "NA"])
def test_a_column_without_any_value(make, missing, gap):
    with pytest.raises(DataError, match="column 'B' of the table has no value in any row; leave it out"):
        as_table(make({"A": [0, 1], "B": [gap, gap]}), missing=missing)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (pd.DataFrame(), "with at least one row and column, got (0, 0)"),
        (pd.DataFrame({"A": []}), "with at least one row and column, got (0, 1)"),
        (pd.DataFrame(index=[1, 2]), "with at least one row and column, got (2, 0)"),
        (pl.DataFrame({"A": [], "B": []}), "with at least one row and column, got (0, 2)"),
        (pa.table({"A": pa.array([], pa.string())}), "with at least one row and column, got (0, 1)"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=["A", "A"]), "two columns of the table are named 'A'; rename one"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=[1, "1"]), "two columns of the table are named '1'; rename one"),
        (pa.Table.from_arrays([pa.array([0]), pa.array([1])], names=["A", "A"]), "are named 'A'; rename one"),
        (pl.DataFrame({"": [0, 1], "B": [1, 0]}), "column 1 of the table has no name (an index column? leave it"),
        (pd.Series([0, 1]), "rows must be a table [row, node] with at least one row and column, got (2,)"),
        (pl.Series([0, 1]), "with at least one row and column, got (2,)"),
        (pa.array([0, 1]), "with at least one row and column, got (2,)"),
        (pa.chunked_array([[0, 1]]), "with at least one row and column, got (2,)"),
    ],
)
def test_frames_that_are_no_table(source, message):
    with pytest.raises(DataError, match=re.escape(message)):
        as_table(source)


def test_declared_states_must_be_texts():
    with pytest.raises(DataError, match=re.escape("two or more different texts, got [0, 1]")):
        as_table(pd.DataFrame({"A": [0, 1], "B": [1, 0]}), states=[0, 1])


def test_advice_on_the_header_is_for_files():
    with pytest.raises(DataError) as caught:
        as_table(pd.DataFrame([[0, 1], [1, 0]], columns=["A", "A"]))
    assert "header" not in str(caught.value)


def test_what_only_looks_like_a_data_frame_is_an_array_with_names():
    assert as_table(Frame([["a", "b"], ["b", "a"]])).names == ("A", "B")
    assert as_table(Frame([[0, None], [1, 1]]), missing="pairwise").codes.tolist() == [[0, -1], [1, 1]]
    with pytest.raises(DataError, match="row 0, column 'B': the value is missing"):
        as_table(Frame([["a", None], ["b", "a"]]))
