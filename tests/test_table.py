"""Tables, and arrays, lists and data frames as tables."""

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import coo_array, csr_matrix

from kgmi.errors import CellError, DataError, SettingError, TooFewRowsError, TooLargeError
from kgmi.guides.labelled import split_tail, tail_length, tail_names
from kgmi.sources import read_table
from kgmi.table import Table, as_table, check_learnable, checked_codes, duplicate_columns

from .tables import same

CODES = np.array([[0, 1], [2, 0], [1, 1]])
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "batch": lambda columns: pa.table(columns).combine_chunks().to_batches()[0],
}


@pytest.fixture(params=FRAMES.values(), ids=list(FRAMES))
def make(request):
    """A maker of data frames from columns by name."""
    return request.param


def test_a_table_knows_its_states_and_missing_values():
    table = Table(CODES, ("A", "B"), ("x", "y", "z"))
    assert (table.n_states, table.own_alphabets, table.sizes, table.n_missing) == (3, False, (3, 3), 0)
    own = Table(CODES, ("A", "B"), ("x", "y", "z"), (("x", "y", "z"), ("z", "x")))
    assert (own.sizes, own.column_states[1], own.in_order([1, 0]).alphabets[0]) == ((3, 2), ("z", "x"), ("z", "x"))
    gaps = Table(np.array([[0, -1], [-1, -1], [1, 0]], dtype=np.int8), ("A", "B"), ("x", "y"))
    assert (gaps.n_missing, gaps.missing_by_column.tolist()) == (3, [1, 2])
    assert Table(np.array([[0, 255]], dtype=np.uint8), ("A", "B"), ("x", "y")).n_missing == 0
    for names, alphabets in ((("A",), None), (("A", "B"), (("x",),)), (("A", "B"), (("x",), ("q",)))):
        with pytest.raises(DataError):
            Table(CODES, names, ("x", "y", "z"), alphabets)


NAMES = list("ABC")
CELLS = np.random.default_rng(78).integers(0, 3, (200, 3))
VALUES = {
    "plain": (0, 1, 2),
    "gaps between": (0, 5, 10),
    "negative": (-30, -3, 4),
    "huge": (10**12, 10**12 + 1, 2**62),
    "far apart": (-(2**62), 0, 2**62),
}


def csv(cells, folder):
    pd.DataFrame(cells, columns=NAMES).to_csv(folder / "table.csv", index=False)
    return read_table(folder / "table.csv")


def npy(cells, folder):
    np.save(folder / "table.npy", cells)
    return as_table(read_table(folder / "table.npy"), names=NAMES)


FORMS = {
    "csv": csv,
    "npy": npy,
    "numpy": lambda cells, _: as_table(cells, names=NAMES),
    "Fortran": lambda cells, _: as_table(np.asfortranarray(cells), names=NAMES),
    "objects": lambda cells, _: as_table(cells.astype(object), names=NAMES),
    "lists": lambda cells, _: as_table(cells.tolist(), names=NAMES),
    "pandas": lambda cells, _: as_table(pd.DataFrame(cells, columns=NAMES)),
    "pandas Int64": lambda cells, _: as_table(pd.DataFrame(cells, columns=NAMES).astype("Int64")),
    "polars": lambda cells, _: as_table(pl.DataFrame(cells, schema=NAMES)),
    "pyarrow": lambda cells, _: as_table(pa.table(dict(zip(NAMES, cells.T, strict=True)))),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_numbers_in_every_form_are_the_states_that_occur(values, form, tmp_path):
    table = form(np.array(values)[CELLS], tmp_path)
    same(table, Table(CELLS, tuple(NAMES), tuple(map(str, values))))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int64, np.uint64, ">i4", np.float16, np.longdouble, object]
)
def test_numbers_of_every_type(dtype):
    table = as_table(CODES.astype(dtype))
    assert (table.states, table.codes.tolist()) == (("0", "1", "2"), CODES.tolist())
    assert as_table(CODES.astype(dtype), n_states=5).states == tuple("01234")
    assert as_table(CODES.astype(dtype), states=["low", "mid", "high"]).states == ("low", "mid", "high")


def test_plain_codes_are_not_copied():
    assert np.shares_memory(as_table(CODES, alphabet="shared").codes, CODES)


TEXT_CELLS = [["low", "high"], ["mid", "low"], ["low", "low"]]


@pytest.mark.parametrize(
    "source",
    [
        TEXT_CELLS,
        np.array(TEXT_CELLS),
        np.array(TEXT_CELLS).astype("S4"),
        np.array(TEXT_CELLS, dtype=object),
        np.array(TEXT_CELLS, dtype=np.dtypes.StringDType()),
        [[f" {text} " for text in row] for row in TEXT_CELLS],
        pd.DataFrame(TEXT_CELLS),
        pl.DataFrame(TEXT_CELLS, orient="row"),
    ],
    ids=["lists", "U", "S", "objects", "StringDType", "spaces", "pandas", "polars"],
)
def test_texts_are_states_in_order(source):
    table = as_table(source, names=["A", "B"], alphabet="shared")
    assert (table.names, table.states) == (("A", "B"), ("high", "low", "mid"))
    assert table.codes.tolist() == [[1, 0], [2, 1], [1, 1]]
    assert as_table(source, states=["low", "mid", "high"]).codes.tolist() == [[0, 2], [1, 0], [0, 0]]


def test_mixtures_are_states_by_their_text():
    table = as_table([["a", 2], ["b", 10.0], ["a", np.int8(2)], ["b", True]], alphabet="shared")
    assert (table.states, table.codes[:, 1].tolist()) == (("2", "10", "True", "a", "b"), [0, 1, 0, 2])
    assert as_table([["0", "2"], ["2", "0"]], n_states=4).states == tuple("0123")
    assert as_table([["NA", " a"], [" a", "NA"]], states=["NA", " a"]).codes.tolist() == [[0, 1], [1, 0]]
    for truth in (np.array([[True], [True]]), pd.DataFrame({"X1": [True, True]}), [[True], [None]]):
        assert as_table(truth, missing="pairwise").states == ("False", "True")
    assert as_table(np.array([[True], [False]]), n_states=2).states == ("0", "1")


GAPS = [[0, None], [1, 1], [None, 2]]


@pytest.mark.parametrize(
    "source",
    [
        GAPS,
        np.array(GAPS, dtype=object),
        np.array(GAPS, dtype=float),
        [[0, -1], [1, 1], [-1, 2]],
        np.array([[0, -1], [1, 1], [-1, 2]], dtype=np.int8),
        np.ma.array([[0, 9], [1, 1], [9, 2]], mask=[[0, 1], [0, 0], [1, 0]], dtype=np.uint8),
        np.ma.array([[0, np.nan], [1, 1], [0.5, 2]], mask=[[0, 0], [0, 0], [1, 0]]),
        np.ma.array([[0, "x"], [1, 1], [None, 2]], mask=[[0, 1], [0, 0], [0, 0]], dtype=object),
        [[0, "NA"], [1, 1], ["?", 2]],
        *(make({"X1": [0, 1, None], "X2": [None, 1, 2]}) for make in FRAMES.values()),
        pd.DataFrame({"X1": [0, 1, None], "X2": [None, 1, 2]}, dtype="Int8"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_missing_values(source):
    before = str(source.collect() if isinstance(source, pl.LazyFrame) else source)
    table = as_table(source, missing="pairwise", alphabet="shared")
    assert (table.codes.tolist(), table.states, table.gap) == ([[0, -1], [1, 1], [-1, 2]], tuple("012"), None)
    table = as_table(source, missing="category", alphabet="shared")
    assert (table.codes.tolist(), table.states) == ([[0, 3], [1, 1], [3, 2]], (*"012", "missing"))
    assert as_table(source, missing="pairwise", alphabet="own").alphabets == (("0", "1"), ("1", "2"))
    assert as_table(source, missing="category", alphabet="own").codes.tolist() == [[0, 2], [1, 0], [2, 1]]
    with pytest.raises(CellError) as caught:
        as_table(source)
    assert (caught.value.column, caught.value.row) in {("X1", 2), ("X2", 0)}
    assert str(source.collect() if isinstance(source, pl.LazyFrame) else source) == before


def test_the_state_of_a_gap_has_a_name_that_is_free():
    assert as_table([["missing", None], ["a", "a"]], missing="category").states == ("a", "missing", "missing_2")
    assert as_table([["a", "b"], ["b", "a"]], missing="category").states == ("a", "b")
    assert as_table([["x", None], [None, "x"]], missing="category").states == ("x", "missing")
    for cells in ([["b", None], ["a", "a"]], [[0, None], [1, 1]]):
        table = as_table(cells, states=["b", "a", "missing"], missing="category")
        assert (table.states, table.codes.tolist()) == (("b", "a", "missing"), [[0, 2], [1, 1]])


def test_minus_one_is_missing_only_where_that_is_said():
    for cells in ([[0, -1], [1, 0]], np.array([[0, -1], [1, 0]], dtype=object)):
        with pytest.raises(CellError) as caught:
            as_table(cells)
        assert (caught.value.column, caught.value.row, caught.value.value) == ("X2", 0, -1)
    assert as_table(np.array([[0, -1], [1, 0]]).astype(str)).states == ("-1", "0", "1")
    assert as_table([[0, -1], [-2, 0]]).states == ("-2", "-1", "0")
    with pytest.raises(CellError) as caught:
        as_table([[0, -1], [-2, 0]], missing="pairwise")
    assert (caught.value.column, caught.value.row) == ("X1", 1)


@given(
    npst.arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1, 5)),
    st.sampled_from(["pairwise", "category"]),
    st.sampled_from(["auto", "shared", "own"]),
)
def test_every_cell_keeps_its_state_in_numbers_texts_and_frames(cells, missing, alphabet):
    cells = np.vstack([cells, np.zeros_like(cells[:1]), np.ones_like(cells[:1])])  # two states, no empty column
    table = as_table(cells, missing=missing, alphabet=alphabet)
    for (row, column), cell in np.ndenumerate(cells):
        code, states = int(table.codes[row, column]), table.column_states[column]
        assert ("missing" if code < 0 else states[code]) == ("missing" if cell < 0 else str(cell))
    assert table.n_missing == (np.count_nonzero(cells < 0) if missing == "pairwise" else 0)
    texts = np.where(cells < 0, "NA", cells.astype(str))
    frame = pd.DataFrame(cells, columns=list(table.names)).astype("Int8").mask(cells < 0)
    for other in (texts, frame, np.where(cells < 0, np.nan, cells), pl.from_pandas(frame)):
        same(as_table(other, names=table.names, missing=missing, alphabet=alphabet), table)


ALPHABETS = (("1st", "2nd", "3rd"), ("female", "male"), ("0", "1"))


def titanic(n_rows=60):
    rng = np.random.default_rng(7)
    draws = [np.array(states)[rng.integers(0, len(states), n_rows)] for states in ALPHABETS]
    frame = pd.DataFrame(dict(zip(("PClass", "Sex", "Survived"), draws, strict=True)))
    return frame.assign(Survived=frame["Survived"].astype(int))


def test_columns_that_have_nothing_in_common_have_their_own_states(tmp_path):
    frame = titanic()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    sources = [as_table(frame), as_table(pl.from_pandas(frame)), as_table(frame.astype(object).to_numpy())]
    for table in (*sources, read_table(tmp_path / "t.csv"), read_table(tmp_path / "t.parquet")):
        assert table.alphabets == ALPHABETS
        assert (table.codes == sources[0].codes).all()
    rows = np.column_stack([CELLS[:, 0] % 2, CELLS[:, 1], CELLS[:, 2] + 5])
    assert as_table(rows).alphabets == (tuple("012"), tuple("012"), tuple("567"))
    assert as_table(rows[:, :2]).alphabets is as_table(rows, alphabet="shared").alphabets is None


def test_names_and_columns_of_frames(make):
    frame = make({"A": ["no", " yes"], "B": [True, True], "C": [0, 2]})
    assert as_table(frame).alphabets == (("no", "yes"), ("False", "True"), ("0", "2"))
    assert as_table(frame, names=list("xyz")).names == tuple("xyz")
    assert as_table(make({"A": [0, 2], "B": [1, 0]}), n_states=5).codes.tolist() == [[0, 1], [2, 0]]
    with pytest.raises(CellError) as caught:
        as_table(make({"A": [0, 1], "B": [0, 3]}), n_states=3)
    assert (caught.value.column, caught.value.row, caught.value.value) == ("B", 1, 3)
    with pytest.raises(DataError):
        as_table(frame, names=["A"])


def categorical(texts, categories, kind):
    if "pandas" in kind:
        return pd.Series(pd.Categorical(texts, categories, ordered="ordered" in kind))
    if kind == "polars":
        return pl.Series(texts, dtype=pl.Enum(categories))
    codes = pa.array([None if text is None else categories.index(text) for text in texts], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(categories))


SIZES = ["low", "mid", "high"]


@pytest.mark.parametrize("kind", ["pandas", "ordered pandas", "polars", "pyarrow"])
def test_categories_are_states_in_their_order_even_where_they_never_occur(kind):
    def frame(**columns):
        made = {n: c if isinstance(c, list) else categorical(*c, kind) for n, c in columns.items()}
        return FRAMES[kind.split()[-1]](made)

    table = as_table(frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES)))
    assert (table.states, table.codes.tolist()) == (tuple(SIZES), [[0, 0], [2, 0]])
    mixed = frame(A=(["low", "high"], SIZES), B=["zero", "high"])
    assert as_table(mixed, alphabet="shared").states == (*SIZES, "zero")
    turned = as_table(frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES[::-1])))
    assert turned.states == ("high", "mid", "low")  # they disagree: the first in the alphabet
    odd = frame(A=(["NA", None, " b"], ["NA", " b", "never"]), B=["x", "y", "y"])
    own = as_table(odd, missing="pairwise", alphabet="own")
    assert (own.alphabets[0], own.codes[:, 0].tolist()) == (("NA", " b", "never"), [0, -1, 1])
    source = frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES))
    assert as_table(source, n_states=3).states == tuple(SIZES)
    with pytest.raises(DataError):
        as_table(source, n_states=2)
    with pytest.raises(CellError) as caught:
        as_table(source, states=["low", "mid"])
    assert (caught.value.column, caught.value.row, caught.value.value) == ("A", 1, "high")


def test_categories_of_polars_are_shared_by_all_columns_and_declare_nothing():
    frame = pl.DataFrame({"A": ["z", "x"], "B": ["p", "q"]}).cast(pl.Categorical)
    assert as_table(frame).alphabets == (("x", "z"), ("p", "q"))
    dates = pd.Categorical(pd.to_datetime(["2020-01-02", "2020-01-01"]))
    assert as_table(pd.DataFrame({"A": dates, "B": [0, 1]})).column_states[0][0].startswith("2020-01-01")


DAY = datetime.date(2020, 1, 1)
NO_STATES = [0.5, float("inf"), 1e300, Decimal("0.5"), Fraction(1, 2), 1j, DAY, {1}, [1, 2], b"\xff"]


@pytest.mark.parametrize("cell", NO_STATES, ids=repr)
def test_cells_that_are_no_states_are_named_by_row_and_column(cell):
    cells = np.empty((3, 2), dtype=object)
    cells[:] = [["a", "b"], ["b", "a"], ["a", "a"]]
    cells[1, 1] = cell
    for names in (None, ["A", "B"]):
        with pytest.raises(CellError) as caught:
            as_table(cells, names=names)
        assert (caught.value.column, caught.value.row, caught.value.value) == ("B" if names else "X2", 1, cell)
    if isinstance(cell, float):
        for frame in (pd.DataFrame({"A": [0, 1], "B": [1.0, cell]}), pl.DataFrame({"A": [0, 1], "B": [1.0, cell]})):
            with pytest.raises(CellError) as caught:
                as_table(frame)
            assert (caught.value.column, caught.value.row, caught.value.value) == ("B", 1, cell)


@pytest.mark.parametrize(
    "source",
    [
        *(None, "data.csv", b"abc", Path("x"), [0, 1], {"a": [0, 1]}, [[0, 1], [0]], np.array([[1j, 0]])),
        *(csr_matrix([[0, 1], [1, 0]]), coo_array([[0, 1], [1, 0]])),
        *(np.zeros((0, 2)), np.zeros((2, 2, 2)), np.zeros(3, dtype=[("a", int)])),
        np.array([["2020-01-01"]], dtype="M8[D]"),
        np.array([[5]], dtype="m8[s]"),
        pd.DataFrame(),
        pd.DataFrame({"A": []}),
        pd.DataFrame(index=[1, 2]),
        pa.table({"A": pa.array([], pa.string())}),
        pd.DataFrame([[0, 1], [1, 0]], columns=["A", "A"]),
        pd.DataFrame([[0, 1], [1, 0]], columns=[1, "1"]),
        pa.Table.from_arrays([pa.array([0]), pa.array([1])], names=["A", "A"]),
        pl.DataFrame({"": [0, 1], "B": [1, 0]}),
        pd.Series([0, 1]),
        pa.array([0, 1]),
        pa.table({"A": ["x"], "B": pa.array([1], pa.date32())}),
        *(
            make({"A": ["x"], "B": [cell]})
            for make in (pl.DataFrame, pa.table)
            for cell in (b"\xff", [1], {"a": 1})
        ),
        [[0, 0], [0, 0]],
        [["1", "1.0"], ["2", "x"]],
        pd.DataFrame({"A": ["01", "x"], "B": [1, 2]}),
        [[f"p{k}", k % 2] for k in range(30)],
        [[10**30 + k, k % 2] for k in range(30)],
        [[0, None], [1, None]],
        pd.DataFrame({"A": [0, 1], "B": ["NA", None]}),
    ],
    ids=lambda one: str(one)[:20].replace("\n", " "),
)
@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_what_is_no_table_of_states(source, missing):
    with pytest.raises(DataError) as caught:
        as_table(source, missing=missing)
    assert len(str(caught.value)) < 400


ODD = {
    "missing": ["drop", None],
    "alphabet": [["own"], "each"],
    "n_states": [1, "2", True],
    "states": [5],
    "names": [5],
}
SETTINGS = [({name: value}, SettingError) for name, values in ODD.items() for value in values]
SETTINGS += [({"alphabet": "own"} | more, SettingError) for more in ({"states": ["0", "1"]}, {"n_states": 2})]
SETTINGS += [({"n_states": 3, "states": ["a", "b"]}, SettingError), ({"n_states": 10**9}, TooLargeError)]
SETTINGS += [({"states": states}, DataError) for states in ([0, 1], ["a", "a"], ["a"])]
SETTINGS += [({"names": names}, DataError) for names in (["A"], ["A", "A"])]


@pytest.mark.parametrize(("options", "kind"), SETTINGS, ids=str)
def test_settings_that_make_no_sense(options, kind, tmp_path):
    np.save(tmp_path / "a.npy", [[0, 1], [1, 0]])
    for source in ([[0, 1], [1, 0]], [["0", "1"], ["1", "0"]]):
        with pytest.raises(kind):
            as_table(source, **options)
    if "names" not in options:
        with pytest.raises(kind):
            read_table(tmp_path / "a.npy", **options)


TABLE = Table(np.array([[0, -1], [2, 0], [1, 1]], dtype=np.int8), ("A", "B"), ("low", "NA", "high"))


def test_a_table_keeps_its_states_and_may_get_own_ones():
    assert as_table(TABLE).codes is TABLE.codes
    assert as_table(TABLE, states=TABLE.states, n_states=3, names=["C", "D"]).names == ("C", "D")
    filled = as_table(TABLE, missing="category")
    assert (filled.states, filled.codes.tolist()) == ((*TABLE.states, "missing"), [[0, 3], [2, 0], [1, 1]])
    own = as_table(TABLE, alphabet="own")
    assert (own.alphabets, own.states) == ((("low", "NA", "high"), ("low", "NA")), TABLE.states)
    assert own.codes.tolist() == TABLE.codes.tolist()
    both = as_table(own, missing="category")
    assert (both.alphabets[1], both.codes[0].tolist(), both.gap) == (("low", "NA", "missing"), [0, 2], "missing")
    assert TABLE.codes.tolist() == [[0, -1], [2, 0], [1, 1]]
    for options in ({"n_states": 4}, {"states": ["high", "NA", "low"]}):
        with pytest.raises(SettingError):
            as_table(TABLE, **options)


@pytest.mark.parametrize("codes", [[[0, 3], [1, 1]], [[-2, 0], [1, 1]], [[0.0, 1.0]]])
def test_a_table_whose_codes_do_not_fit(codes):
    with pytest.raises(DataError):
        as_table(Table(np.array(codes), ("A", "B"), ("a", "b", "c")))


class Frame:
    """What only looks like a data frame: columns, and cells as an array."""

    def __init__(self, cells, columns=("A", "B")):
        self.cells, self.columns = cells, list(columns)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.cells, dtype=object)


def test_codes_are_numbers_and_not_values():
    rows = np.array([[0, -1], [2, 1]])
    assert checked_codes(rows, missing="pairwise")[0] is rows
    for given_ in ([[0.0, np.nan], [2.0, 1.0]], Frame([[0, None], [2, 1]]), pd.DataFrame([[0, None], [2, 1]])):
        codes, n_states = checked_codes(given_, missing="pairwise")
        assert (codes.tolist(), n_states) == ([[0, -1], [2, 1]], 3)
    assert checked_codes(np.ma.array([[0, 3]], mask=False))[1] == 4
    assert checked_codes([[0, 0]], 5) == (pytest.approx(np.zeros((1, 2))), 5)
    assert as_table(Frame([["a", "b"], ["b", "a"]])).names == ("A", "B")


@pytest.mark.parametrize(
    ("rows", "n_states", "place"),
    [
        ([[0, 1], [0, 3]], 3, ("X2", 1)),
        ([[0, 1], [-1, 1]], None, ("X1", 1)),
        ([[0.0, 1.0], [np.nan, 1.0]], 2, ("X1", 1)),
        ([[0.0, 1.5]], 2, ("X2", 0)),
        ([[0.0, np.inf]], 2, ("X2", 0)),
        ([[0, 10**30]], 2, ("X2", 0)),
        ([[1, None]], 2, ("X2", 0)),
        (Frame([[0, 1], [1, None]]), 2, ("B", 1)),
        (np.ma.array([[0, 1], [1, 0]], mask=[[0, 0], [1, 0]]), 2, ("X1", 1)),
        ([["a", "b"]], 2, None),
        ([[0, 1j]], 2, None),
        ([0, 1], 2, None),
        (None, None, None),
    ],
)
def test_bad_codes_are_named_by_row_and_column(rows, n_states, place):
    with pytest.raises(DataError) as caught:
        checked_codes(rows, n_states)
    if place is not None:
        assert (caught.value.column, caught.value.row) == place


@pytest.mark.parametrize("counts", [[[3, 3]], [[1, 1, 0], [5, 5, 5]], [[3, 0], [1, 1]], [[0, 0], [1, 1]]])
def test_data_that_teach_nothing(counts):
    states = [tuple(map(str, range(len(one)))) for one in counts]
    with pytest.raises(DataError) as caught:
        check_learnable([np.array(one) for one in counts], ["A", "B"], states)
    assert isinstance(caught.value, TooFewRowsError) == ("A" in str(caught.value)) == (len(counts) > 1)


@given(npst.arrays(np.int8, st.tuples(st.integers(1, 4), st.integers(0, 12)), elements=st.integers(-1, 1)))
def test_equal_columns_are_those_of_a_slow_search(codes):
    groups = {}
    for column in range(codes.shape[1]):
        groups.setdefault(tuple(codes[:, column].tolist()), []).append(column)
    slow = sorted(tuple(group) for group in groups.values() if len(group) > 1)
    assert duplicate_columns(codes) == duplicate_columns(np.asfortranarray(codes)) == slow


def test_equal_columns_that_differ_far_down():
    codes = np.random.default_rng(0).integers(0, 3, (5_000, 60))
    codes[:, [3, 40]] = codes[:, [50]]
    codes[-1, 40] = (codes[-1, 40] + 1) % 3
    assert duplicate_columns(codes) == [(3, 50)]


@given(st.lists(st.sampled_from(["uniform1", "uniform2", "uniform03", "label", "x"]), max_size=6))
def test_the_labelled_tail_is_the_one_that_spelling_out_every_length_finds(names):
    spelled = (k + 1 for k in range(1, len(names)) if tuple(names[-k - 1 :]) == tail_names(k))
    assert tail_length(names) == next(spelled, 0)


def test_the_labelled_tail_is_split_off():
    table = as_table(np.arange(10).reshape(2, 5) % 3, n_states=3)
    labelled, names = split_tail(table, 2)
    assert (labelled.rows.shape, labelled.uniform.shape, labelled.label.shape) == ((2, 2), (2, 2), (2,))
    assert names == ("X1", "X2")
    with pytest.raises(DataError):
        split_tail(table, 4)


def test_an_array_needs_neither_pandas_nor_pyarrow():
    work = "import sys, kgmi.table as t; t.as_table([[0, 1], [1, 0]]); t.as_table([['a', 'b'], ['b', 'a']])"
    check = "print({'pandas', 'pyarrow', 'polars', 'narwhals', 'dask'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", f"{work}; {check}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
