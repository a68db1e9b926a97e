"""What may come into the estimator: arrays and data frames of numbers, texts, categories and truth values."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score

import kgmi
from kgmi import KGMI
from kgmi.errors import DataError
from kgmi.estimator.intake import take_cells
from tests.estimator_rows import NAMES, ROWS, STATES, TRUTH, WORDS, by_column

ARRAYS = {
    "whole numbers": ROWS.astype(np.int64),
    "bytes": ROWS.astype(np.uint8),
    "floats": ROWS.astype(np.float32),
    "objects": ROWS.astype(object),
    "decimals": np.array([[Decimal(int(cell)) for cell in row] for row in ROWS], dtype=object),
    "lists": ROWS.tolist(),
    "texts": WORDS,
    "objects of texts": WORDS.astype(object),
    "lists of texts": WORDS.tolist(),
    "masked": np.ma.array(ROWS),
    "from -1": ROWS.astype(np.int8) - 1,
    "by columns": np.asfortranarray(ROWS),
    "far below 0": -100 * ROWS.astype(np.int16),
}
FRAMES = {
    "pandas": pd.DataFrame(by_column(ROWS), index=np.arange(600)[::-1]),
    "pandas texts": pd.DataFrame(by_column(WORDS)),
    "pandas categories": pd.DataFrame(by_column(WORDS)).astype(pd.CategoricalDtype(STATES)),
    "pandas objects": pd.DataFrame(by_column(ROWS)).astype(object),
    "pandas nullable": pd.DataFrame(by_column(ROWS)).astype("Int8"),
    "pandas numbered": pd.DataFrame(ROWS),
    "pandas below 0": pd.DataFrame(by_column(ROWS.astype(int) - 1)),
    "polars": pl.DataFrame(by_column(ROWS)),
    "polars lazy": pl.DataFrame(by_column(WORDS)).lazy(),
    "polars enum": pl.DataFrame(by_column(WORDS)).with_columns(pl.all().cast(pl.Enum(STATES))),
    "arrow": pa.table(by_column(ROWS)),
    "arrow texts": pa.table(by_column(WORDS)),
    "arrow dictionary": pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in by_column(WORDS).items()}
    ),
}


@pytest.mark.parametrize("rows", [*ARRAYS.values(), *FRAMES.values()], ids=[*ARRAYS, *FRAMES])
def test_every_form_gives_the_same_graph_and_comes_back_as_it_is(rows):
    model = KGMI(random_state=1).fit(rows)
    assert np.array_equal(model.adjacency_matrix_, TRUTH.matrix_parent_child())
    assert model.score(rows) == pytest.approx(KGMI().fit(ROWS).score(ROWS))
    assert np.array_equal(model._reader.codes(take_cells(model, rows, reset=False)), model._kept)
    drawn = model.sample(40)
    again = model._reader.codes(take_cells(model, drawn, reset=False))
    assert np.array_equal(again, model.learned_.model.sample(40, 1))


@pytest.mark.parametrize("rows", [*FRAMES.values()], ids=[*FRAMES])
def test_frames_come_back_from_the_same_library(rows):
    model = KGMI(random_state=1).fit(rows)
    drawn = model.sample(40)
    wanted = pl.DataFrame if isinstance(rows, pl.LazyFrame) else type(rows)
    assert type(drawn) is wanted
    assert drawn.shape == (40, 5)
    assert [str(name) for name in getattr(drawn, "column_names", None) or drawn.columns] == list(model.parents_)


def test_categories_come_back_as_they_were():
    def drawn(rows):
        return KGMI(random_state=7).fit(rows).sample(30)

    words = pd.DataFrame(by_column(WORDS))
    for kind in (pd.CategoricalDtype([*STATES, "never"]), pd.CategoricalDtype(STATES[::-1], ordered=True)):
        assert drawn(words.astype(kind)).dtypes.unique().tolist() == [kind]
    numbers = pd.CategoricalDtype([2, 0, 1])
    again = drawn(pd.DataFrame(by_column(ROWS)).astype(numbers))
    assert again.dtypes.unique().tolist() == [numbers]
    assert set(again["a"]) <= {0, 1, 2}
    assert drawn(FRAMES["polars enum"]).dtypes == [pl.Enum(STATES)] * 5
    assert drawn(pl.DataFrame(by_column(WORDS)).cast(pl.Categorical)).dtypes == [pl.Categorical] * 5
    assert {pa.types.is_dictionary(kind) for kind in drawn(FRAMES["arrow dictionary"]).schema.types} == {True}
    few = words.assign(a=words["a"].replace("high", "low").astype("category"))  # lacks a state of the others
    assert not isinstance(drawn(few)["a"].dtype, pd.CategoricalDtype)


def test_names_are_kept():
    assert list(KGMI().fit(FRAMES["arrow"]).feature_names_in_) == NAMES
    assert list(KGMI().fit(FRAMES["polars lazy"]).feature_names_in_) == NAMES
    assert list(KGMI().fit(FRAMES["polars"]).causal_graph_.predecessors("e")) == ["a", "d"]
    numbered = KGMI().fit(FRAMES["pandas numbered"])
    assert not hasattr(numbered, "feature_names_in_")
    assert list(numbered.parents_) == ["0", "1", "2", "3", "4"]


def test_arrays_come_back_with_the_type_they_had():
    def drawn(rows):
        return KGMI().fit(rows).sample(30)

    assert drawn(ARRAYS["floats"]).dtype == np.int64
    assert set(np.unique(drawn(ARRAYS["far below 0"]))) <= {0, -100, -200}
    assert drawn(ROWS > 0).dtype == np.bool_
    assert set(drawn(WORDS).ravel()) <= set(STATES)
    assert drawn(pd.DataFrame(by_column(ROWS > 0))).dtypes.unique() == [np.bool_]
    assert drawn((ROWS > 0).astype(object)).dtype == np.bool_


@pytest.mark.parametrize("rows", [FRAMES["pandas texts"], pl.DataFrame(by_column(WORDS)), FRAMES["arrow texts"]])
def test_frames_can_be_cross_validated(rows):
    assert np.allclose(cross_val_score(KGMI(), rows, cv=3), cross_val_score(KGMI(), WORDS, cv=3))


def test_columns_in_another_order_are_refused():
    model = KGMI().fit(FRAMES["polars"])
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.score(FRAMES["polars"].select(NAMES[::-1]))


def test_a_frame_may_mix_texts_numbers_and_truth_with_own_alphabets():
    mixed = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1] > 0, "c": WORDS[:, 2], "d": ROWS[:, 3] + 5})
    model = KGMI(alphabet="own", random_state=1).fit(mixed)
    drawn = model.sample(50)
    assert drawn.dtypes.astype(str).tolist() == ["int64", "bool", "str", "int64"]
    assert set(drawn["d"]) <= {5, 6, 7}
    assert np.isfinite(model.score(drawn))
    mixed.loc[7, "a"] = 3
    with pytest.raises(DataError, match="row 7, column 'a': the state '3' is new; in fit the states were 0, 1, 2"):
        model.score(mixed)


def test_declared_states_that_are_numbers_are_names_and_others_are_listed_by_position():
    tens = 10 * ROWS.astype(int)
    by_name = KGMI(states=[0, 10, 20, 30]).fit(tens)
    assert by_name.learned_.states == ("0", "10", "20", "30")
    assert np.array_equal(by_name._kept, ROWS)
    by_position = KGMI(states=STATES, random_state=1).fit(ROWS)
    assert by_position.learned_.states == tuple(STATES)
    assert by_position.score(WORDS) == by_position.score(ROWS)
    assert set(np.unique(by_position.sample(50))) == {0, 1, 2}
    with pytest.raises(DataError, match="row 0, column 'x0': the state '3' is new"):
        by_position.score(np.full((2, 5), 3))


def test_numbers_below_zero_are_states_and_the_status_says_so():
    for rows in (ARRAYS["from -1"], FRAMES["pandas below 0"]):
        assert "-1 is taken for a state in" in KGMI().fit(rows).status_
    for rows in (ROWS, ARRAYS["far below 0"]):
        assert "taken for a state" not in KGMI().fit(rows).status_


def test_an_array_after_a_frame_is_read_by_the_same_states():
    ones = pd.DataFrame(by_column(ROWS.astype(int) - 1))
    model = KGMI().fit(ones)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert model.score(ones.to_numpy()) == model.score(ones)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (kgmi.Table(ROWS, tuple(NAMES), ("0", "1", "2")), DataError, "kgmi.Table with kgmi.learn"),
        ([[0, 1], [1]], DataError, "not equally long"),
        (by_column(ROWS), DataError, r"got a dict; .* make a data frame of it: pandas.DataFrame\(rows\)"),
        (pd.DataFrame(by_column(ROWS))[:1], DataError, r"1 sample\(s\) \(shape=\(1, 5\)\) while a minimum of 2"),
        (pd.DataFrame({"a": ROWS[:, 0]}), DataError, r"1 feature\(s\) .* required by KGMI"),
        (
            pd.DataFrame(ROWS, columns=["a", "a", "c", "d", "e"]),
            DataError,
            "two columns of the table are named 'a'",
        ),
        (pd.DataFrame(ROWS, columns=["a", 1, 2, 3, 4]), TypeError, "all input features have string names"),
        (ROWS[:, 0], ValueError, "Reshape your data"),
        ("rows.csv", ValueError, "Expected 2D array"),
        (ROWS + 1j, ValueError, "Complex data not supported"),
        (
            pd.DataFrame(by_column(ROWS)).assign(d=None),
            DataError,
            "column 'd' of the table has no value in any row",
        ),
    ],
)
def test_bad_tables_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        KGMI().fit(rows)
