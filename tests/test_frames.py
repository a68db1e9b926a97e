"""Data frames of pandas, polars and PyArrow as tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kgmi.data import as_table
from kgmi.errors import DataError

MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "record batch": lambda columns: pa.table(columns).combine_chunks().to_batches()[0],
}


@pytest.fixture(params=MAKERS.values(), ids=list(MAKERS))
def make(request):
    return request.param


def rows(frame):
    """The content, to see that nothing changed."""
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    return str(frame.to_pydict() if isinstance(frame, pa.Table | pa.RecordBatch) else frame.to_dict())


def test_whole_numbers_are_states_and_codes_where_their_number_is_declared(make):
    table = as_table(make({"A": [0, 2, 0], "B": [3, 1, 1]}), alphabet="shared")
    assert (table.names, table.states) == (("A", "B"), ("0", "1", "2", "3"))
    assert table.codes.tolist() == [[0, 3], [2, 1], [0, 1]]
    assert as_table(make({"A": [0, 2], "B": [1, 0]}), n_states=5).n_states == 5
    assert as_table(make({"A": [0, 2], "B": [2, 0]}), n_states=5).codes.tolist() == [[0, 2], [2, 0]]
    assert as_table(make({"A": [0, 2], "B": [2, 0]})).codes.tolist() == [[0, 1], [1, 0]]
    assert as_table(make({"A": [0.0, 2.0], "B": [1, 0]}), alphabet="shared").codes.tolist() == [[0, 1], [2, 0]]


def test_other_whole_numbers_are_states_by_their_text(make):
    table = as_table(make({"A": [-1, 10, 2], "B": [2, 2, 10]}))
    assert (table.states, table.codes.tolist()) == (("-1", "2", "10"), [[0, 1], [2, 1], [1, 2]])
    table = as_table(make({"A": [0, 2], "B": ["x", "2"]}), alphabet="shared")
    assert (table.states, table.codes.tolist()) == (("0", "2", "x"), [[0, 2], [1, 1]])
    table = as_table(make({"A": [0.0, 2.0], "B": ["x", "2"]}), alphabet="shared")
    assert (table.states, table.codes.tolist()) == (("0", "2", "x"), [[0, 2], [1, 1]])


def test_texts_and_truth_values(make):
    frame = make({"A": ["no", " yes"], "B": [True, True]})
    before = rows(frame)
    table = as_table(frame, alphabet="shared")
    assert table.states == ("False", "True", "no", "yes")
    assert table.codes.tolist() == [[2, 1], [3, 1]]
    assert rows(frame) == before
    for own in (as_table(frame), as_table(frame, alphabet="own")):
        assert own.alphabets == (("no", "yes"), ("False", "True"))
        assert own.codes.tolist() == [[0, 1], [1, 1]]
    assert as_table(make({"A": [True, False], "B": [True, True]})).states == ("False", "True")


GAPS = {
    "numbers": ([0, None, 2], [1, 1, None], ("0", "1", "2"), [[0, 1], [-1, 1], [2, -1]]),
    "floats": ([0.0, None, 2.0], [1.0, 1.0, None], ("0", "1", "2"), [[0, 1], [-1, 1], [2, -1]]),
    "texts": (["b", None, "a"], ["a", "a", None], ("a", "b"), [[1, 0], [-1, 0], [0, -1]]),
    "gaps by text": (["b", "?", "a"], ["a", "a", " NA "], ("a", "b"), [[1, 0], [-1, 0], [0, -1]]),
    "truth values": ([True, None, False], [True, True, None], ("False", "True"), [[1, 1], [-1, 1], [0, -1]]),
}


@pytest.mark.parametrize(("first", "second", "states", "codes"), GAPS.values(), ids=list(GAPS))
def test_missing_values(make, first, second, states, codes):
    frame = make({"A": first, "B": second})
    before = rows(frame)
    table = as_table(frame, missing="pairwise", alphabet="shared")
    assert (table.states, table.codes.tolist()) == (states, codes)
    assert table.missing_by_column.tolist() == [1, 1]
    table = as_table(frame, missing="category", alphabet="shared")
    filled = np.where(np.array(codes) < 0, len(states), codes)
    assert (table.states, table.codes.tolist()) == ((*states, "missing"), filled.tolist())
    with pytest.raises(
        DataError, match=r"row 1, column 'A': the value is missing \(.*1 such cell.*--missing pairw"
    ):
        as_table(frame)
    assert rows(frame) == before


def test_names_may_be_given(make):
    frame = make({"A": ["x", None], "B": ["y", "x"]})
    assert as_table(frame, names=["C", "D"], missing="pairwise").names == ("C", "D")
    with pytest.raises(DataError, match="row 1, column 'C': the value is missing"):
        as_table(frame, names=["C", "D"])
    with pytest.raises(DataError, match="2 columns need as many names, got 1"):
        as_table(frame, names=["C"])


def categorical(texts, categories, kind):
    """One column that declares its categories."""
    if kind == "pandas":
        return pd.Series(pd.Categorical(texts, categories))
    if kind == "ordered pandas":
        return pd.Series(pd.Categorical(texts, categories, ordered=True))
    if kind == "polars":
        return pl.Series(texts, dtype=pl.Enum(categories))
    codes = pa.array([None if text is None else categories.index(text) for text in texts], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(categories))


@pytest.fixture(params=["pandas", "ordered pandas", "polars", "pyarrow"])
def frame(request):
    maker = MAKERS[request.param.split()[-1]]

    def put(**columns):
        return maker(
            {
                name: column if isinstance(column, list) else categorical(*column, request.param)
                for name, column in columns.items()
            }
        )

    return put


SIZES = ["low", "mid", "high"]


def test_categories_are_states_in_their_order_even_where_they_never_occur(frame):
    table = as_table(frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES)))
    assert (table.states, table.codes.tolist()) == (tuple(SIZES), [[0, 0], [2, 0]])
    table = as_table(frame(A=(["low", "high"], SIZES), B=["zero", "high"]), alphabet="shared")
    assert (table.states, table.codes.tolist()) == ((*SIZES, "zero"), [[0, 3], [2, 2]])
    table = as_table(frame(A=(["low", "high"], SIZES), B=(["yes", "no"], ["yes", "no"])))
    assert table.states == (*SIZES, "yes", "no")


def test_categories_that_disagree_come_in_the_usual_order(frame):
    table = as_table(frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES[::-1])))
    assert (table.states, table.codes.tolist()) == (("high", "low", "mid"), [[1, 1], [0, 1]])


def test_categories_and_what_is_declared_beside_them(frame):
    source = frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES))
    assert as_table(source, n_states=3).states == tuple(SIZES)
    assert as_table(source, states=["high", "low"]).codes.tolist() == [[1, 1], [0, 1]]
    with pytest.raises(DataError, match="2 states were expected, the data have 3: 'low', 'mid', 'high'"):
        as_table(source, n_states=2)
    with pytest.raises(DataError, match="row 1, column 'A': 'high' is not among the states low, mid"):
        as_table(source, states=["low", "mid"])


def test_own_categories(frame):
    table = as_table(frame(A=(["low", "high"], SIZES), B=["x", "w"]), alphabet="own")
    assert table.alphabets == (tuple(SIZES), ("w", "x"))
    assert (table.states, table.codes.tolist()) == ((*SIZES, "w", "x"), [[0, 1], [2, 0]])


def test_categories_with_gaps(frame):
    source = frame(A=(["low", None], SIZES), B=(["low", "mid"], SIZES))
    assert as_table(source, missing="pairwise").codes.tolist() == [[0, 0], [-1, 1]]
    assert as_table(source, missing="category").states == (*SIZES, "missing")
    assert as_table(source, missing="category", alphabet="own").sizes == (4, 3)
    with pytest.raises(DataError, match=r"row 1, column 'A': the value is missing \(no value; 1 such cell"):
        as_table(source)
    with pytest.raises(DataError, match="column 'A' of the table has no value in any row; leave it out"):
        as_table(frame(A=([None, None], SIZES), B=(["low", "mid"], SIZES)), missing="pairwise")


def test_a_category_is_a_state_whatever_it_reads_like(frame):
    table = as_table(frame(A=(["NA", "?"], ["NA", "?"]), B=(["NA", " x"], ["NA", "?", " x"])))
    assert (table.states, table.codes.tolist()) == (("NA", "?", " x"), [[0, 0], [1, 2]])


def test_categories_of_polars_that_nobody_declared_are_those_that_occur():
    first = pl.Series(["y", "x"], dtype=pl.Categorical)
    table = as_table(pl.DataFrame({"A": first, "B": pl.Series(["q", "y"], dtype=pl.Categorical)}), alphabet="own")
    assert (table.alphabets, table.codes.tolist()) == ((("x", "y"), ("q", "y")), [[1, 0], [0, 1]])


def test_categories_of_other_types():
    numbers = pd.Categorical([1, 3], [3, 2, 1])
    table = as_table(pd.DataFrame({"A": numbers, "B": [1, 2]}))
    assert (table.states, table.codes.tolist()) == (("3", "2", "1"), [[2, 2], [0, 1]])
    bins = pd.cut(pd.Series([0.5, 1.5, 0.5]), [0, 1, 2, 3])
    table = as_table(pd.DataFrame({"A": bins, "B": bins}))
    assert (table.states, table.codes[:, 0].tolist()) == (("(0, 1]", "(1, 2]", "(2, 3]"), [0, 1, 0])
    halves = pd.Categorical([0.5, None], [0.5, 1.0])
    assert as_table(pd.DataFrame({"A": halves, "B": halves}), missing="pairwise").states == ("0.5", "1")


def test_a_frame_of_whole_numbers_with_declared_states():
    codes, values = pd.DataFrame({"A": [0, 1], "B": [1, 0]}), pd.DataFrame({"A": [1, 2], "B": [2, 1]})
    assert as_table(codes, states=["low", "high"]).codes.tolist() == [[0, 1], [1, 0]]
    assert as_table(values, states=["3", "2", "1"]).codes.tolist() == [[2, 1], [1, 2]]
    with pytest.raises(DataError, match="row 0, column 'A': '0' is not among the states 3, 2, 1"):
        as_table(codes, states=["3", "2", "1"])


def test_types_of_pandas():
    objects = pd.DataFrame({"A": pd.Series(["x", 1, None, 2.0], dtype=object), "B": [b"y", b"x", b"x", b"y"]})
    table = as_table(objects, missing="pairwise", alphabet="shared")
    assert (table.states, table.codes.tolist()) == (("1", "2", "x", "y"), [[2, 3], [0, 2], [-1, 2], [1, 3]])
    for dtype in ("Int64", "Float64", "int64[pyarrow]", object):
        frame = pd.DataFrame({"A": pd.Series([0, None, 2], dtype=dtype), "B": [1, 1, 0]})
        assert as_table(frame, missing="pairwise", alphabet="shared").codes.tolist() == [[0, 1], [-1, 1], [2, 0]]
    for dtype in ("string", "string[pyarrow]", object):
        frame = pd.DataFrame({"A": pd.Series(["x", None, "y"], dtype=dtype), "B": ["y", "x", "x"]})
        assert as_table(frame, missing="pairwise").codes.tolist() == [[0, 1], [-1, 0], [1, 0]]
    sparse = pd.DataFrame({"A": pd.arrays.SparseArray([0, 1]), "B": pd.array([True, None], dtype="boolean")})
    assert as_table(sparse, missing="pairwise", alphabet="own").codes.tolist() == [[0, 1], [1, -1]]
    assert as_table(pd.DataFrame([[0, 1], [1, 0]])).names == ("0", "1")
    columns = pd.MultiIndex.from_tuples([("A", 1), ("A", 2)])
    assert as_table(pd.DataFrame([[0, 1], [1, 0]], columns=columns)).names == ("('A', 1)", "('A', 2)")


def test_types_of_polars_and_pyarrow():
    wide = pl.DataFrame({"A": pl.Series([0, 1], dtype=pl.Int128), "B": pl.Series([1, 0], dtype=pl.Decimal(5, 0))})
    assert as_table(wide).codes.tolist() == [[0, 1], [1, 0]]
    views = pa.table({"A": pa.array(["x", None], pa.string_view()), "B": pa.array(["y", "x"], pa.large_string())})
    assert as_table(views, missing="pairwise").codes.tolist() == [[0, 1], [-1, 0]]
    parts = pa.chunked_array([pa.array(["y"]).dictionary_encode(), pa.array(["x", "y"]).dictionary_encode()])
    assert as_table(pa.table({"A": parts})).codes.tolist() == [[0], [1], [0]]
    hole = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array(["p", None, "q"]))
    assert as_table(pa.table({"A": hole}), missing="pairwise").codes.tolist() == [[0], [-1], [1]]
