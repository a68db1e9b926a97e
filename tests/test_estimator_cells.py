"""Cells that are missing, or measurements, on their way into the estimator and out of it again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from kgmi import KGMI
from kgmi.data.bins import quantile_bins
from kgmi.errors import DataError
from kgmi.estimator.intake import take_cells
from kgmi.estimator.reading import read_first
from tests.estimator_rows import NAMES, ROWS, STATES, TRUTH, WORDS, by_column

GAPS = np.random.default_rng(8).random(ROWS.shape) < 0.1
WITH_GAPS = {
    "floats": np.where(GAPS, np.nan, ROWS),
    "minus one": np.where(GAPS, -1, ROWS),
    "masked": np.ma.array(ROWS, mask=GAPS),
    "objects": np.where(GAPS, None, WORDS),
    "question marks": np.where(GAPS, "?", WORDS),
    "pandas": pd.DataFrame(by_column(WORDS)).mask(GAPS),
    "pandas nullable": pd.DataFrame(by_column(ROWS)).astype("Int64").mask(GAPS),
    "polars": pl.DataFrame(by_column(np.where(GAPS, None, WORDS)), schema=dict.fromkeys(NAMES, pl.String)),
    "arrow": pa.table(
        {name: pa.array(values.tolist()) for name, values in by_column(np.where(GAPS, None, ROWS)).items()}
    ),
}


@pytest.mark.parametrize("rows", [*WITH_GAPS.values()], ids=[*WITH_GAPS])
def test_missing_values_are_left_out_or_a_state_or_an_error(rows):
    pairwise = KGMI(missing="pairwise").fit(rows)
    assert np.array_equal(pairwise._kept < 0, GAPS)
    assert np.array_equal(pairwise.adjacency_matrix_, TRUTH.matrix_parent_child())
    category = KGMI(missing="category", random_state=2).fit(rows)
    assert category.learned_.states[-1] == "missing"
    for model in (pairwise, category):
        assert np.array_equal(model._reader.codes(take_cells(model, rows, reset=False)), model._kept)
        assert np.isfinite(model.score(rows))
    again = category._reader.codes(take_cells(category, category.sample(40), reset=False))
    assert np.array_equal(again, category.learned_.model.sample(40, 2))
    if rows is not WITH_GAPS["minus one"]:  # there -1 is a state like others
        with pytest.raises(DataError, match=r"column '.*missing"):
            KGMI().fit(rows)


def test_a_single_row_may_lack_everything():
    model = KGMI(missing="pairwise").fit(WITH_GAPS["floats"])
    assert model.score_samples(np.full((1, 5), np.nan)).tolist() == [0.0]
    alone = model.score_samples([[np.nan, np.nan, 1, np.nan, np.nan]])
    share = (model._kept[:, 2] == 1).sum() / (model._kept[:, 2] >= 0).sum()
    assert np.exp(alone) == pytest.approx(share, abs=0.01)


def test_a_gap_that_was_not_there_in_fit_is_refused_by_cell():
    gap = np.where(np.arange(5) == 3, np.nan, ROWS[:2])
    with pytest.raises(DataError, match=r"row 0, column 'x3': the value is missing\. .*missing='pairwise'"):
        KGMI().fit(ROWS).score(gap)
    with pytest.raises(DataError, match="row 0, column 'x3': the value is missing, and in fit none was"):
        KGMI(missing="category").fit(ROWS).score(gap)
    declared = KGMI(missing="category", states=[*STATES, "missing"]).fit(WORDS)
    assert np.isfinite(declared.partial_fit(WITH_GAPS["objects"]).score(WITH_GAPS["objects"]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("form", [np.asarray, lambda rows: rows.astype(object), pd.DataFrame, pl.DataFrame])
def test_measurements_are_cut_at_quantiles(form):
    rng = np.random.default_rng(4)
    exact = ROWS + rng.uniform(0, 0.9, ROWS.shape)
    exact[:, 1] = ROWS[:, 1]
    model = KGMI(bins=3, random_state=1).fit(form(exact))
    for number in (0, 2, 3, 4):
        counts = np.bincount(model._kept[:, number])
        assert counts.size == 3
        assert counts.min() >= 198
    assert np.array_equal(model._kept[:, 1], ROWS[:, 1])
    assert np.isfinite(model.score(form(exact)))
    drawn = model.sample(40)
    again = model._reader.codes(take_cells(model, drawn, reset=False))
    assert np.array_equal(again, model.learned_.model.sample(40, 1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_bins_may_be_called_by_declared_states():
    exact = ROWS + 0.5
    for states in (STATES, ["2", "1", "0"]):
        model = KGMI(states=states, random_state=1).fit(exact)
        assert model.learned_.states == tuple(states)
        assert np.array_equal(model._reader.codes(take_cells(model, exact, reset=False)), model._kept)
        assert np.array_equal(model._kept, ROWS if states is STATES else 2 - ROWS)
        assert set(model.sample(50).ravel()) == {0.5, 1.5, 2.5}
        assert model.score(model.sample(50)) == model.score_samples(model.sample(50)).mean()


def test_a_warning_and_the_status_name_the_measurements():
    exact = pd.DataFrame(by_column(ROWS)).assign(c=ROWS[:, 2] + 0.5)
    with pytest.warns(
        DataConversionWarning, match="1 column of measurements was cut into up to 3 bins at quantiles: c"
    ):
        model = KGMI().fit(exact)
    assert model.status_.startswith("1 column of measurements was cut into up to 3 bins at quantiles: c.")
    assert np.array_equal(model._kept, ROWS)
    assert model.score(exact) == model.score(exact.assign(c=exact["c"] + 0.25))
    assert np.isfinite(model.score(pd.DataFrame(by_column(ROWS))))  # whole numbers, which are measurements too
    with pytest.raises(DataError, match="column 'c' held measurements in fit and holds other things now"):
        model.score(exact.assign(c="high"))
    with pytest.raises(DataError, match="row 0, column 'c' is inf"):
        model.score(exact.assign(c=np.inf))


def test_measurements_can_be_refused():
    with pytest.raises(DataError, match=r"row 0, column 'x2'.*whole numbers"):
        KGMI(bins=None).fit(ROWS + 0.5 * (np.arange(5) == 2))
    with pytest.raises(DataError, match=r"row 0, column 'c'.*bin it"):
        KGMI(bins=None).fit(pd.DataFrame(by_column(ROWS)).assign(c=ROWS[:, 2] + 0.5))
    with pytest.raises(DataError, match="column 'x2' holds measurements, and its bins 0, 1, 2 are not among"):
        KGMI(states=["0", "1"]).fit(np.where(np.arange(5) == 2, ROWS + 0.5, ROWS % 2))
    with pytest.raises(DataError, match=r"row 0, column 'x2' is 0\.5"):
        KGMI().fit(ROWS).score(np.where(np.arange(5) == 2, 0.5, ROWS))


@given(
    values=st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.5, 1.5]), min_size=2, max_size=60),
    n_bins=st.integers(2, 6),
)
def test_no_bin_is_empty_and_each_holds_its_centre(values, n_bins):
    array = np.array(values)
    bins = quantile_bins(array, n_bins, "column 'x'")
    cut = bins.cut(array, "column 'x'").astype(int)
    assert len(bins.centres) <= n_bins
    assert len(bins.centres) == len(set(values)) or len(set(values)) > n_bins
    assert set(cut) == set(range(len(bins.centres)))
    assert np.array_equal(bins.cut(np.array(bins.centres), "column 'x'"), np.arange(len(bins.centres)))
    assert set(bins.centres) <= set(values)
    order = np.argsort(array, kind="stable")
    assert (np.diff(cut[order]) >= 0).all()


@given(
    rows=st.lists(
        st.lists(st.sampled_from([0, 1, 2, 5, -1, None]), min_size=3, max_size=3), min_size=6, max_size=12
    ),
    missing=st.sampled_from(["pairwise", "category"]),
    alphabet=st.sampled_from(["shared", "own"]),
)
def test_later_rows_are_read_as_the_first_were(rows, missing, alphabet):
    full = [*rows, [0, 1, 0], [1, 0, 1]]
    for form in (lambda cells: np.array(cells, dtype=object), lambda cells: np.array(cells, dtype=float)):
        model = KGMI()
        cells = take_cells(model, form(full), reset=True)
        reader, codes = read_first(cells, states=None, n_states=None, missing=missing, alphabet=alphabet, bins=4)
        assert np.array_equal(reader.codes(cells), codes)
        part = take_cells(model, form(full[:1]), reset=False)
        assert np.array_equal(reader.codes(part), codes[:1])
