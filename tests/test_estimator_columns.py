"""Rows of every form on their way into the estimator, and drawn rows on their way out."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score

import kgmi
from kgmi import KGMI
from kgmi.bins import quantile_bins
from kgmi.cells import cells_of_objects
from kgmi.errors import CellError, DataError
from tests.estimator_rows import KERNEL, NAMES, ROWS, STATES, TRUTH, WORDS, by_column, coded

NUMBERS, TEXTS = pd.DataFrame(by_column(ROWS)), pd.DataFrame(by_column(WORDS))
FORMS = {
    "floats": ROWS.astype(np.float32),
    "lists": ROWS.tolist(),
    "texts": WORDS,
    "far below 0": -100 * ROWS.astype(np.int16),
    "pandas decimals": NUMBERS.map(lambda cell: Decimal(int(cell))),
    "pandas categories": TEXTS.astype(pd.CategoricalDtype(STATES)),
    "pandas objects": NUMBERS.astype(object).set_index(np.arange(600)[::-1]),
    "pandas numbered": pd.DataFrame(ROWS),
    "pandas below 0": pd.DataFrame(by_column(ROWS.astype(int) - 1)),
    "polars lazy": pl.DataFrame(by_column(WORDS)).lazy(),
    "polars enum": pl.DataFrame(by_column(WORDS)).with_columns(pl.all().cast(pl.Enum(STATES))),
    "arrow": pa.table(by_column(ROWS)),
    "arrow dictionary": pa.table(
        {name: pa.array(one).dictionary_encode() for name, one in by_column(WORDS).items()}
    ),
}
GAPS = np.random.default_rng(8).random(ROWS.shape) < 0.1
WITH_GAPS = {
    "floats": np.where(GAPS, np.nan, ROWS),
    "minus one": np.where(GAPS, -1, ROWS),
    "masked": np.ma.array(ROWS, mask=GAPS),
    "objects": np.where(GAPS, None, WORDS),
    "pandas": TEXTS.mask(GAPS),
    "pandas nullable": NUMBERS.astype("Int64").mask(GAPS),
    "polars": pl.DataFrame(by_column(np.where(GAPS, None, WORDS)), schema=dict.fromkeys(NAMES, pl.String)),
    "arrow": pa.table({name: one.tolist() for name, one in by_column(np.where(GAPS, None, ROWS)).items()}),
}
HALVES = ROWS + np.where(np.arange(5) == 2, 0.5, 0)  # column 2 holds measurements


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_graph_and_comes_back_as_it_is(name):
    rows = FORMS[name]
    model = KGMI(random_state=1).fit(rows)
    assert np.array_equal(model.adjacency_matrix_, TRUTH.matrix_parent_child())
    assert model.score(rows) == pytest.approx(KGMI().fit(ROWS).score(ROWS))
    _, codes, codes_of = coded(rows)
    assert np.array_equal(codes_of(rows), codes)
    drawn = model.sample(40)
    assert np.array_equal(codes_of(drawn), model.learned_.model.sample(40, 1))
    if not isinstance(rows, np.ndarray | list):
        assert type(drawn) is (pl.DataFrame if isinstance(rows, pl.LazyFrame) else type(rows))
        assert [str(one) for one in getattr(drawn, "column_names", None) or drawn.columns] == list(model.parents_)


def test_values_come_back_with_the_type_they_had():
    def types(rows, **options):
        drawn = KGMI(random_state=7, **options).fit(rows).sample(30)
        found = drawn.schema.types if isinstance(drawn, pa.Table) else getattr(drawn, "dtypes", None)
        return {drawn.dtype} if found is None else {*found}

    assert types(FORMS["floats"]) == {np.dtype(np.int64)}
    assert types(ROWS > 0) == types((ROWS > 0).astype(object)) == types(NUMBERS > 0) == {np.dtype(bool)}
    for kind in (pd.CategoricalDtype([*STATES, "never"]), pd.CategoricalDtype(STATES[::-1], ordered=True)):
        assert types(TEXTS.astype(kind)) == {kind}
    for numbers in ([2, 0, 1, 7], [2.0, 0.0, 1.0, 7.0]):
        assert types(NUMBERS.astype(pd.CategoricalDtype(numbers))) == {pd.CategoricalDtype(numbers)}
    assert types(FORMS["polars enum"]) == {pl.Enum(STATES)}
    assert types(pl.DataFrame(by_column(WORDS)).cast(pl.Categorical)) == {pl.Categorical()}
    assert all(map(pa.types.is_dictionary, types(FORMS["arrow dictionary"])))
    few = TEXTS.assign(a=TEXTS["a"].replace("high", "low").astype("category"))  # other columns lend it a state
    assert not any(isinstance(kind, pd.CategoricalDtype) for kind in types(few, alphabet="shared"))
    mixed = TEXTS.assign(a=ROWS[:, 0].astype(int), b=ROWS[:, 1] > 0, d=ROWS[:, 3] + np.int64(5))
    drawn = KGMI(alphabet="own", random_state=1).fit(mixed).sample(50)
    assert drawn.dtypes.tolist() == mixed.dtypes.tolist()
    assert set(drawn["d"]) <= {5, 6, 7}


def test_names_are_kept_and_frames_can_be_cross_validated():
    for frame in (TEXTS, pl.DataFrame(TEXTS), pa.table(by_column(WORDS))):
        assert list(KGMI().fit(frame).feature_names_in_) == NAMES
        assert np.allclose(cross_val_score(KGMI(), frame, cv=3), cross_val_score(KGMI(), WORDS, cv=3))
    assert not hasattr(KGMI().fit(FORMS["pandas numbered"]), "feature_names_in_")
    with pytest.raises(ValueError, match="same order"):
        KGMI().fit(TEXTS).score(TEXTS[NAMES[::-1]])


def test_declared_states_that_are_numbers_are_names_and_others_are_positions():
    _, codes, _ = coded(10 * ROWS.astype(int), states=("0", "10", "20", "30"))
    assert np.array_equal(codes, ROWS)
    assert KGMI(states=[0, 10, 20]).fit(10 * ROWS.astype(int)).learned_.states == ("0", "10", "20")
    model = KGMI(states=STATES, random_state=1).fit(ROWS)
    assert model.score(WORDS) == model.score(ROWS)
    assert set(np.unique(model.sample(50))) == {0, 1, 2}


def test_states_that_the_fit_did_not_have_are_refused_by_cell():
    later = np.array([[0] * 5, [0, 0, 0, 7, 0]])
    for options in ({}, {"states": STATES}, {"alphabet": "own"}, {"missing": "pairwise"}, {"kernel": KERNEL}):
        model = KGMI(**options).fit(ROWS)
        with pytest.raises(CellError) as caught:
            model.score(later)
        assert (caught.value.column, caught.value.row, str(caught.value.value)) == ("x3", 1, "7")
    with pytest.raises(CellError):
        KGMI().fit(TEXTS).score(TEXTS.replace("high", "High"))
    model = KGMI().fit(FORMS["pandas below 0"])
    with pytest.warns(UserWarning, match="feature names"):  # later rows may have another form
        assert model.score(ROWS.astype(int) - 1) == model.score(FORMS["pandas below 0"])


@pytest.mark.parametrize(
    ("rows", "error", "word"),
    [
        (kgmi.table.Table(ROWS, tuple(NAMES), ("0", "1", "2")), DataError, "kgmi.learn"),
        ([[0, 1], [1]], DataError, "equally long"),
        (by_column(ROWS), DataError, "data frame"),
        (NUMBERS[:1], ValueError, "1 sample"),
        (NUMBERS[["a"]], ValueError, "1 feature"),
        (NUMBERS.set_axis(["a", "a", "c", "d", "e"], axis=1), DataError, "'a'"),
        (NUMBERS.set_axis(["a", 1, 2, 3, 4], axis=1), TypeError, "string names"),
        (ROWS[:, 0], ValueError, "Reshape"),
        ("rows.csv", ValueError, "2D"),
        (ROWS + 1j, ValueError, "Complex"),
        (NUMBERS.assign(d=None), DataError, "'d'"),
    ],
)
def test_bad_tables_are_refused(rows, error, word):
    with pytest.raises(error, match=word):
        KGMI().fit(rows)


@pytest.mark.parametrize("name", WITH_GAPS)
def test_missing_values_are_left_out_or_a_state_or_an_error(name):
    rows = WITH_GAPS[name]
    for missing in ("pairwise", "category"):
        _, codes, codes_of = coded(rows, missing=missing)
        assert np.array_equal(codes_of(rows), codes)
        assert np.array_equal(codes == (-1 if missing == "pairwise" else 3), GAPS)
    pairwise = KGMI(missing="pairwise").fit(rows)
    assert np.array_equal(pairwise.adjacency_matrix_, TRUTH.matrix_parent_child())
    category = KGMI(missing="category", random_state=2).fit(rows)
    assert category.learned_.states[-1] == "missing"
    assert np.isfinite([pairwise.score(rows), category.score(rows)]).all()
    assert np.array_equal(codes_of(category.sample(40)), category.learned_.model.sample(40, 2))
    if name != "minus one":  # there -1 is a state like others
        with pytest.raises(CellError) as caught:
            KGMI().fit(rows)
        assert GAPS[caught.value.row, "01234abcde".index(caught.value.column[-1]) % 5]


def test_a_missing_value_is_refused_where_the_fit_had_none():
    for options in ({}, {"missing": "category"}):
        with pytest.raises(CellError) as caught:
            KGMI(**options).fit(ROWS).score(np.where(np.arange(5) == 3, np.nan, ROWS[:2]))
        assert (caught.value.column, caught.value.row) == ("x3", 0)
    rows = pd.DataFrame({name: pd.Categorical(["None", "yes"] * 20) for name in "ab"})
    with pytest.raises(CellError):  # a gap is not the state None
        KGMI(missing="category", n_parents=1).fit(rows).score(rows.assign(a=[None, *rows["a"][1:]]))
    model = KGMI(missing="pairwise").fit(WITH_GAPS["floats"])
    assert model.score_samples(np.full((1, 5), np.nan)).tolist() == [0.0]  # a row may lack everything
    declared = KGMI(missing="category", states=[*STATES, "missing"]).fit(WORDS)
    assert np.isfinite(declared.partial_fit(WITH_GAPS["objects"]).score(WITH_GAPS["objects"]))


@pytest.mark.parametrize("form", [np.asarray, lambda rows: rows.astype(object), pd.DataFrame, pl.DataFrame])
def test_measurements_are_cut_at_quantiles(form):
    exact = ROWS + np.random.default_rng(4).uniform(0, 0.9, ROWS.shape)
    exact[:, 1] = ROWS[:, 1]
    rows = form(exact)
    _, codes, codes_of = coded(rows, bins=3)
    assert all(np.bincount(column).min() >= 198 for column in np.delete(codes, 1, axis=1).T)
    assert np.array_equal(codes[:, 1], ROWS[:, 1])
    assert np.array_equal(codes_of(rows), codes)
    with pytest.warns(DataConversionWarning, match="4 of 5 columns") as warned:
        model = KGMI(bins=3, random_state=1).fit(rows)
    assert [one.filename for one in warned] == [__file__]
    assert np.array_equal(codes_of(model.sample(40)), model.learned_.model.sample(40, 1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_bins_may_be_called_by_declared_states():
    for states in (STATES, ["2", "1", "0"]):
        model = KGMI(states=states, random_state=1).fit(ROWS + 0.5)
        assert model.learned_.states == tuple(states)
        _, codes, _ = coded(ROWS + 0.5, states=tuple(states))
        assert np.array_equal(codes, ROWS if states is STATES else 2 - ROWS)
        assert set(model.sample(50).ravel()) == {0.5, 1.5, 2.5}
        assert np.isfinite(model.score(model.sample(50)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_later_measurements_fall_into_the_same_bins():
    exact = pd.DataFrame(by_column(HALVES)).astype(dict.fromkeys("abde", int))
    model = KGMI().fit(exact)
    assert "up to 3 bins at quantiles, in 1 of 5 columns: c." in model.status_
    assert model.score(exact) == model.score(exact.assign(c=exact["c"] + 0.25))
    assert np.isfinite(model.score(NUMBERS))  # whole numbers are measurements too
    for wrong in ("high", np.inf):
        with pytest.raises(DataError, match="column 'c'"):
            model.score(exact.assign(c=wrong))


def test_measurements_can_be_refused():
    for rows in (HALVES, pd.DataFrame(HALVES)):
        with pytest.raises(CellError) as caught:
            KGMI(bins=None).fit(rows)
        assert (caught.value.column.strip("x"), caught.value.row) == ("2", 0)
    for options in ({"states": ["0", "1"]}, {"states": STATES[:2]}, {"kernel": kgmi.Kernel.random(2, 2, rng=1)}):
        with pytest.raises(DataError, match="3 bins"):
            KGMI(**options).fit(np.where(np.arange(5) == 2, HALVES, ROWS % 2))
    with pytest.raises(CellError):
        KGMI().fit(ROWS).score(HALVES)


@given(
    values=st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.5, 1.5]), min_size=2, max_size=60),
    n_bins=st.integers(2, 6),
)
def test_no_bin_is_empty_and_each_holds_its_centre(values, n_bins):
    array = np.array(values)
    bins = quantile_bins(array, n_bins)
    cut, centres = (bins.cut(cells_of_objects([*some]), "x").index for some in (values, bins.centres))
    assert len(bins.centres) == len(set(values)) if len(set(values)) <= n_bins else len(bins.centres) <= n_bins
    assert set(cut) == set(range(len(bins.centres)))
    assert np.array_equal(centres, np.arange(len(bins.centres)))
    assert set(bins.centres) <= set(values)
    assert (np.diff(cut[np.argsort(array, kind="stable")]) >= 0).all()


@given(
    rows=st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 5, -1, None])] * 3), min_size=6, max_size=12),
    missing=st.sampled_from(["pairwise", "category"]),
    alphabet=st.sampled_from(["auto", "shared", "own"]),
)
def test_later_rows_and_batches_are_read_as_the_first_were(rows, missing, alphabet):
    full = [*rows, (0, 1, 0), (1, 0, 1)]
    for form in (lambda cells: np.array(cells, dtype=object), lambda cells: np.array(cells, dtype=float)):
        coding, codes, codes_of = coded(form(full), missing=missing, alphabet=alphabet)
        assert np.array_equal(codes_of(form(full)), codes)
        assert np.array_equal(codes_of(form(full[:1])), codes[:1])
        again, parts, _ = coded(form(full[:2]), form(full[2:]), missing=missing, alphabet=alphabet)
        assert np.array_equal(parts, codes)
        assert again.empty.column_states == coding.empty.column_states
