"""Tables, and arrays, lists and data frames as tables."""

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

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


def place(error):
    """Where the cell of an error is, and what it holds."""
    return error.value.column, error.value.row, error.value.value


def test_a_table_knows_its_states_and_missing_values():
    own = Table(CODES, ("A", "B"), ("x", "y", "z"), (("x", "y", "z"), ("z", "x")))
    assert (own.n_states, own.sizes, own.column_states[1], own.n_missing) == (3, (3, 2), ("z", "x"), 0)
    same(own.in_order([1, 0]), Table(CODES[:, ::-1], ("B", "A"), own.states, (("z", "x"), ("x", "y", "z"))))
    gaps = Table(np.array([[0, -1], [-1, -1], [1, 0]], dtype=np.int8), ("A", "B"), ("x", "y"))
    assert (gaps.n_missing, gaps.missing_by_column.tolist(), gaps.own_alphabets) == (3, [1, 2], False)
    assert Table(np.array([[0, 255]], dtype=np.uint8), ("A", "B"), ("x", "y")).n_missing == 0
    for names, alphabets in ((("A",), None), (("A", "B"), (("x",),)), (("A", "B"), (("x",), ("q",)))):
        with pytest.raises(DataError):
            Table(CODES, names, ("x", "y", "z"), alphabets)


POOLS = [(0, 1, 2), (10, 0, 5), (10**12, 0, 10**12 + 1), ("b", "a", "c d"), ("x", "10", "9"), (False, True)]
NEGATIVE = [(-3, 4, -30), (-(10**15), 0, 10**15)]


@st.composite
def tables(draw, gaps):
    """Columns by name, each with at least two values; with ``gaps``, None where a value is missing."""
    n_rows, columns = draw(st.integers(0, 6)), {}
    for pool in draw(st.lists(st.sampled_from(POOLS if gaps else POOLS + NEGATIVE), min_size=1, max_size=3)):
        cells = st.sampled_from([*pool, *[None] * gaps])
        columns[f"X{len(columns) + 1}"] = [*pool[:2], *draw(st.lists(cells, min_size=n_rows, max_size=n_rows))]
    return columns


def in_every_form(columns):
    """The same table in other forms."""
    cells = np.array(list(columns.values()), dtype=object).T
    yield from (cells, np.asfortranarray(cells), np.ma.array(cells, mask=pd.isna(cells)))
    yield from (make(columns) for make in FRAMES.values())
    yield pd.DataFrame(columns).convert_dtypes()
    if all(type(cell) is int for cell in cells.flat):
        yield from (cells.tolist(), cells.astype(np.int64), cells.astype(">i8"), cells.astype(np.longdouble))


def in_order(texts):
    """Numbers by value, then words."""
    numbers = [text for text in texts if text.removeprefix("-").isdecimal()]
    return (*sorted(numbers, key=int), *sorted({*texts}.difference(numbers)))


@given(st.data(), st.sampled_from(["error", "pairwise", "category"]), st.sampled_from(["auto", "shared", "own"]))
def test_every_cell_keeps_its_value_in_every_form(data, missing, alphabet):
    columns = data.draw(tables(missing != "error"))
    gap = "missing" if missing == "category" else None
    texts = [[gap if cell is None else str(cell) for cell in cells] for cells in columns.values()]
    own = [in_order({*cells} - {None, gap}) + (gap,) * (bool(gap) and gap in cells) for cells in texts]
    for source in in_every_form(columns):
        before = repr(source)
        table = as_table(source, names=list(columns), missing=missing, alphabet=alphabet)
        assert repr(source) == before  # inputs are never changed
        for codes, states, right in zip(table.codes.T, table.column_states, texts, strict=True):
            assert [None if code < 0 else states[code] for code in codes] == right
        assert {*table.states} == {text for states in own for text in states}
        assert table.gap == (gap if gap in table.states else None)
        assert table.alphabets == {"own": tuple(own), "shared": None}.get(alphabet, table.alphabets)


P, C = ({"missing": missing, "alphabet": "shared"} for missing in ("pairwise", "category"))
WORDS, ONE = np.array([["x", "b"], ["a", "x"]]), np.array([[True], [True]])
SOME = [[2, 1], [0, 2]]
FORMS = {
    "bytes": (WORDS.astype("S4"), {}, SOME, "abx"),
    "StringDType": (WORDS.astype(np.dtypes.StringDType()), {}, SOME, "abx"),
    "spaces": ([[" x", "b "], ["a", "x\t"]], {}, SOME, "abx"),
    "declared": (WORDS, {"states": ["b", "x", "a"]}, [[1, 0], [2, 1]], "bxa"),
    "mixed": ([["a", 2], ["b", 7.0], ["a", np.int8(2)], ["b", "7"]], {}, [[2, 0], [3, 1], [2, 0], [3, 1]], "27ab"),
    "texts as codes": ([["0", "2"], ["2", "0"]], {"n_states": 4}, [[0, 2], [2, 0]], "0123"),
    "NA declared": ([["NA", " a"], [" a", "NA"]], {"states": ["NA", " a"]}, [[0, 1], [1, 0]], ["NA", " a"]),
    "huge": (np.array([[2**63, 5]], np.uint64), {}, [[1, 0]], ["5", str(2**63)]),
    "True": (ONE, {}, [[1], [1]], ["False", "True"]),
    "True as object": (ONE.astype(object), {}, [[1], [1]], ["False", "True"]),
    "True is 1": (ONE, {"n_states": 2}, [[1], [1]], "01"),
    "-1 as text": ([["0", "-1"], ["-1", "0"]], {}, [[1, 0], [0, 1]], ["-1", "0"]),
    "-1 is missing": (np.array([[0, -1], [1, 1]], np.int8), P, [[0, -1], [1, 1]], "01"),
    "markers": ([[0, "NA"], [1, "?"], [0, 1]], P, [[0, -1], [1, -1], [0, 1]], "01"),
    "NaN": (np.array([[0, np.nan], [1, 1]], np.float16), P, [[0, -1], [1, 1]], "01"),
    "masked": (np.ma.array([[0, 0.5], [1, 1]], mask=[[0, 1], [0, 0]]), P, [[0, -1], [1, 1]], "01"),
    "free name": ([["missing", None], ["a", "a"]], C, [[1, 2], [0, 0]], ["a", "missing", "missing_2"]),
    "no gap": ([["a", "b"], ["b", "a"]], C, [[0, 1], [1, 0]], "ab"),
    "gap and one state": ([["x", None], [None, "x"]], C, [[0, 1], [1, 0]], ["x", "missing"]),
    "gap declared": ([[0, None], [1, 1]], C | {"states": ["a", "missing"]}, [[0, 1], [1, 1]], ["a", "missing"]),
}


@pytest.mark.parametrize(("source", "options", "codes", "states"), FORMS.values(), ids=list(FORMS))
def test_what_cells_mean(source, options, codes, states):
    table = as_table(source, **({"alphabet": "shared"} | options))
    same(table, Table(np.array(codes), table.names, tuple(states)))


NUMBERS = [CODES.astype(kind) for kind in (np.int8, np.uint64, ">i4", np.float16, np.longdouble, object)]
NUMBERS += [make(dict(zip(("X1", "X2"), CODES.T.tolist(), strict=True))) for make in FRAMES.values()]


@pytest.mark.parametrize("source", NUMBERS, ids=[str(k) for k in range(len(NUMBERS))])
def test_numbers_are_positions_among_declared_states(source):
    for options, states in (({"n_states": 5}, "01234"), ({"states": ["a", "b", "c"]}, "abc")):
        same(as_table(source, **options), Table(CODES, ("X1", "X2"), tuple(states)))
    assert np.shares_memory(as_table(CODES, alphabet="shared").codes, CODES)  # plain codes are not copied


@pytest.mark.parametrize(
    ("source", "options", "where"),
    [
        ([[0, -1], [1, 0]], {}, ("X2", 0, -1)),
        (np.array([[0, -1], [1, 0]], dtype=object), {}, ("X2", 0, -1)),
        ([[0, -1], [-2, 0]], {"missing": "pairwise"}, ("X1", 1, -2)),
        ([["a", None], ["b", 0.5]], {}, ("X2", 0, None)),
        ([["a", 0.5], ["b", None]], {}, ("X2", 0, 0.5)),
        (np.array([[0, 0.5], [1, np.nan]]), {"missing": "pairwise"}, ("X2", 0, 0.5)),
        ([["a", "b"], ["b", " ? "]], {}, ("X2", 1, " ? ")),
        (pd.DataFrame({"A": [0, 1], "B": [0, 3]}), {"n_states": 3}, ("B", 1, 3)),
        (pa.table({"A": [0, 1], "B": [0, 3]}), {"states": ["a", "b"]}, ("B", 1, 3)),
        (pl.DataFrame({"A": ["a", "b"], "B": ["a", "c"]}), {"states": ["a", "b"]}, ("B", 1, "c")),
    ],
)
def test_cells_that_are_refused_are_named_by_row_and_column(source, options, where):
    with pytest.raises(CellError) as caught:
        as_table(source, **options)
    assert place(caught) == where


ALPHABETS = (("1st", "2nd", "3rd"), ("female", "male"), ("0", "1"))


def test_columns_that_have_nothing_in_common_have_their_own_states(tmp_path):
    codes = np.random.default_rng(7).integers(0, (3, 2, 2), (60, 3))
    columns = [np.array(states)[some] for states, some in zip(ALPHABETS, codes.T, strict=True)]
    frame = pd.DataFrame(dict(zip(("PClass", "Sex", "Survived"), columns, strict=True))).astype({"Survived": int})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    np.save(tmp_path / "t.npy", codes)
    for table in (as_table(frame), read_table(tmp_path / "t.csv"), read_table(tmp_path / "t.parquet")):
        same(table, Table(codes, tuple(frame.columns), table.states, ALPHABETS))
    same(read_table(tmp_path / "t.npy"), as_table(codes))
    rows = np.array([[0, 2, 5], [1, 0, 7], [0, 1, 6]])
    assert as_table(rows).alphabets == (tuple("012"), tuple("012"), tuple("567"))
    assert as_table(rows[:, :2]).alphabets is None


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

    source = frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES))
    for options in ({}, {"n_states": 3}):
        table = as_table(source, **options)
        assert (table.states, table.codes.tolist()) == (tuple(SIZES), [[0, 0], [2, 0]])
    with pytest.raises(DataError):
        as_table(source, n_states=2)
    mixed = frame(A=(["low", "high"], SIZES), B=["zero", "high"])
    assert as_table(mixed, alphabet="shared").states == (*SIZES, "zero")
    turned = as_table(frame(A=(["low", "high"], SIZES), B=(["low", "low"], SIZES[::-1])))
    assert turned.states == ("high", "mid", "low")  # they disagree: the first in the alphabet
    odd = frame(A=(["NA", None, " b"], ["NA", " b", "never"]), B=["x", "y", "y"])
    own = as_table(odd, missing="pairwise", alphabet="own")
    assert (own.alphabets[0], own.codes[:, 0].tolist()) == (("NA", " b", "never"), [0, -1, 1])


def test_categories_of_polars_declare_nothing_and_those_of_pandas_may_be_of_any_type():
    frame = pl.DataFrame({"A": ["z", "x"], "B": ["p", "q"]}).cast(pl.Categorical)  # one list for all columns
    assert as_table(frame).alphabets == (("x", "z"), ("p", "q"))
    dates = pd.Categorical(pd.to_datetime(["2020-01-02", "2020-01-01"]))
    assert as_table(pd.DataFrame({"A": dates, "B": [0, 1]})).column_states[0][0].startswith("2020-01-01")


DAY = datetime.date(2020, 1, 1)
NO_STATES = [0.5, float("inf"), 1e300, Decimal("0.5"), Fraction(1, 2), DAY, {1}, [1, 2], b"\xff"]


@pytest.mark.parametrize("cell", NO_STATES, ids=repr)
def test_cells_that_are_no_states_are_named_by_row_and_column(cell):
    column = np.array(["a", cell, "b"], dtype=object)
    for source in (
        pd.DataFrame({"A": list("aba"), "B": column}),
        pd.DataFrame({"A": [0, 1, 0], "B": [1, cell, 0]}),
    ):
        for rows, name in ((source, "B"), (source.to_numpy(), "X2")):
            with pytest.raises(CellError) as caught:
                as_table(rows)
            assert place(caught) == (name, 1, cell)


@pytest.mark.parametrize(
    "source",
    [
        *(None, "data.csv", b"abc", Path("x"), [0, 1], {"a": [0, 1]}, [[0, 1], [0]], np.array([[1j, 0]])),
        *(csr_matrix([[0, 1], [1, 0]]), coo_array([[0, 1], [1, 0]])),
        *(np.zeros((0, 2)), np.zeros((2, 2, 2)), np.zeros(3, dtype=[("a", int)])),
        np.array([["2020-01-01"]], dtype="M8[D]"),
        pd.DataFrame(),
        pd.DataFrame({"A": []}),
        pa.table({"A": pa.array([], pa.string())}),
        pd.DataFrame([[0, 1], [1, 0]], columns=["A", "A"]),
        pa.Table.from_arrays([pa.array([0]), pa.array([1])], names=["A", "A"]),
        pl.DataFrame({"": [0, 1], "B": [1, 0]}),
        pd.Series([0, 1]),
        pa.array([0, 1]),
        pa.table({"A": ["x"], "B": pa.array([1], pa.date32())}),
        *(make({"A": ["x"], "B": [cell]}) for make in (pl.DataFrame, pa.table) for cell in (b"\xff", [1])),
        [["1", "1.0"], ["2", "x"]],
        pd.DataFrame({"A": ["01", "x"], "B": [1, 2]}),
        [[f"p{k}", k % 2] for k in range(30)],
    ],
    ids=lambda one: str(one)[:20].replace("\n", " "),
)
@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_what_is_no_table_of_states(source, missing):
    with pytest.raises(DataError) as caught:
        as_table(source, missing=missing)
    assert len(str(caught.value)) < 400


SETTINGS = [
    *(({"missing": odd}, SettingError) for odd in (["drop"], None, "drop")),
    *(({"alphabet": odd}, SettingError) for odd in (["own"], "each")),
    *(({"n_states": odd}, SettingError) for odd in (1, "2", True)),
    *(({"alphabet": "own"} | more, SettingError) for more in ({"states": ["0", "1"]}, {"n_states": 2})),
    ({"n_states": 3, "states": ["a", "b"]}, SettingError),
    ({"n_states": 10**9}, TooLargeError),
    *(({"states": odd}, DataError) for odd in ([0, 1], ["a", "a"], ["a"])),
    *(({"states": odd}, SettingError) for odd in (5, "ab")),
    *(({"names": odd}, DataError) for odd in (["A"], ["A", "A"], ["A", ""])),
    ({"names": 5}, SettingError),
]


@pytest.mark.parametrize(("options", "kind"), SETTINGS, ids=str)
def test_settings_that_make_no_sense(options, kind, tmp_path):
    np.save(tmp_path / "a.npy", [[0, 1], [1, 0]])
    for source in ([[0, 1], [1, 0]], [["0", "1"], ["1", "0"]]):
        with pytest.raises(kind):
            as_table(source, **options)
    with pytest.raises(kind):
        as_table(read_table(tmp_path / "a.npy", **{k: v for k, v in options.items() if k != "names"}), **options)


TABLE = Table(np.array([[0, -1], [2, 0], [1, 1]], dtype=np.int8), ("A", "B"), ("low", "NA", "high"))


def test_a_table_keeps_its_states_and_may_get_own_ones():
    assert as_table(TABLE).codes is TABLE.codes
    assert as_table(TABLE, states=TABLE.states, n_states=3, names=["C", "D"]).names == ("C", "D")
    filled, own = as_table(TABLE, missing="category"), as_table(TABLE, alphabet="own")
    same(filled, Table(np.array([[0, 3], [2, 0], [1, 1]]), TABLE.names, (*TABLE.states, "missing")))
    same(own, Table(TABLE.codes, TABLE.names, TABLE.states, (TABLE.states, TABLE.states[:2])))
    both = as_table(own, missing="category")
    assert (both.alphabets[1], both.codes[0].tolist(), both.gap) == (("low", "NA", "missing"), [0, 2], "missing")
    assert TABLE.codes.tolist() == [[0, -1], [2, 0], [1, 1]]
    for options in ({"n_states": 4}, {"states": ["high", "NA", "low"]}):
        with pytest.raises(SettingError):
            as_table(TABLE, **options)

    for codes in ([[0, 3], [1, 1]], [[-2, 0], [1, 1]], [[0.0, 1.0]]):
        with pytest.raises(DataError):
            as_table(Table(np.array(codes), ("A", "B"), ("a", "b", "c")))


class Frame(SimpleNamespace):
    """What only looks like a data frame: columns, and cells as an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.cells, dtype=object)


def test_codes_are_numbers_and_not_values():
    rows = np.array([[0, -1], [2, 1]])
    assert checked_codes(rows, missing="pairwise")[0] is rows
    for given_ in (
        [[0.0, np.nan], [2.0, 1.0]],
        Frame(cells=[[0, None], [2, 1]], columns=list("AB")),
        pd.DataFrame([[0, None], [2, 1]]),
    ):
        codes, n_states = checked_codes(given_, missing="pairwise")
        assert (codes.tolist(), n_states) == ([[0, -1], [2, 1]], 3)
    assert checked_codes(np.ma.array([[0, 3]], mask=False))[1] == 4
    assert checked_codes([[0, 0]], 5)[1] == 5
    assert as_table(Frame(cells=[["a", "b"], ["b", "a"]], columns=list("AB"))).names == ("A", "B")


@pytest.mark.parametrize(
    ("rows", "n_states", "where"),
    [
        ([[0, 1], [0, 3]], 3, ("X2", 1)),
        ([[0, 1], [-1, 1]], None, ("X1", 1)),
        *([[[0.0, odd]], 2, ("X2", 0)] for odd in (np.nan, 1.5, np.inf, 10**30, None)),
        (Frame(cells=[[0, 1], [1, None]], columns=list("AB")), 2, ("B", 1)),
        (np.ma.array([[0, 1], [1, 0]], mask=[[0, 0], [1, 0]]), 2, ("X1", 1)),
        *((odd, 2, None) for odd in ([["a", "b"]], [[0, 1j]], [0, 1], None)),
    ],
)
def test_bad_codes_are_named_by_row_and_column(rows, n_states, where):
    with pytest.raises(DataError) as caught:
        checked_codes(rows, n_states)
    assert where is None or place(caught)[:2] == where


@pytest.mark.parametrize(
    "counts", [[[3, 3]], [[1, 1, 0], [5, 5, 5]], [[3, 0], [1, 1]], [[0, 0], [1, 1]], [[], [2, 1]]]
)
def test_data_that_teach_nothing(counts):
    states = [tuple(map(str, range(len(one)))) for one in counts]
    with pytest.raises(DataError) as caught:
        check_learnable([np.array(one, dtype=int) for one in counts], ["A", "B"], states)
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
    codes[-1, 40] += 1
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


@pytest.mark.parametrize(
    ("rows", "remedy"),
    [
        (pd.DataFrame({"a": [], "b": []}), "there are no rows"),
        ("rows.csv", "read_table"),
        ({"a": [0, 1]}, "DataFrame"),
        ([0, 1], "DataFrame"),
    ],
)
def test_the_remedy_fits_what_was_given(rows, remedy):
    others = {"there are no rows", "read_table", "DataFrame(rows)"}
    with pytest.raises(DataError, match=remedy) as caught:
        as_table(rows)
    assert sum(other in str(caught.value) for other in others) == 1
