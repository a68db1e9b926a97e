"""Rows that come in batches, of which the first may be too few or too lopsided to learn from."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from kgmi import KGMI
from kgmi.errors import DataError, SettingError, TooFewRowsError
from tests.estimator_rows import NAMES, ROWS, STATES, WORDS, by_column

GAPPY = ROWS.astype(float)
GAPPY[:30, 2] = np.nan
CONSTANT = ROWS[np.argsort(ROWS[:, 3] != 1, kind="stable")]  # column d is 1 in the first batch
WORD_FRAME = pd.DataFrame(by_column(WORDS))
EMPTY_FIRST = WORD_FRAME.astype(object)
EMPTY_FIRST.loc[:29, "c"] = None
DECLARED = {"states": range(3)}
# All rows, where the batches end, and the options.
BATCHES = {
    "one row": (ROWS, [1], DECLARED),
    "one row at a time": (ROWS[:40], list(range(1, 40)), DECLARED),
    "one row, states not declared": (ROWS, [1], {}),
    "a constant column": (CONSTANT, [30, 60], DECLARED),
    "a constant column, states not declared": (CONSTANT, [30, 60], {}),
    "an empty column": (GAPPY, [10, 30], {"missing": "pairwise", **DECLARED}),
    "an empty column, states not declared": (GAPPY, [10, 30], {"missing": "pairwise"}),
    "an empty column, gaps a state": (GAPPY, [10, 30], {"missing": "category"}),
    "texts": (WORDS, [1, 2], {"states": STATES}),
    "a frame": (WORD_FRAME, [1, 4], {"states": STATES}),
    "a frame with an empty column": (EMPTY_FIRST, [10, 30], {"missing": "pairwise", "states": STATES}),
    "categories": (WORD_FRAME.astype(pd.CategoricalDtype(STATES)), [1, 2], {}),
    "own alphabets": (ROWS, [1, 2], {"alphabet": "own"}),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_give_what_one_fit_on_all_rows_gives(name):
    rows, ends, options = BATCHES[name]
    parts, whole = KGMI(**options), KGMI(**options).fit(rows)
    for start, end in zip([0, *ends], [*ends, len(rows)], strict=True):
        assert parts.partial_fit(rows[start:end]) is parts
    assert parts.learned_.fingerprint == whole.learned_.fingerprint
    assert parts.parents_ == whole.parents_
    assert parts.status_ == whole.status_
    assert np.allclose(parts.attention_, whole.attention_, atol=1e-9)
    assert parts.score(rows) == whole.score(rows)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_a_column_without_values_has_no_type_yet(make):
    first, second = ({name: values[part].tolist() for name, values in by_column(ROWS).items()} for part in HALVES)
    first["c"] = [None] * 20
    whole = KGMI(missing="pairwise").fit(make({name: first[name] + second[name] for name in NAMES}))
    for frames in ((first, second), (second, first)):
        model = KGMI(missing="pairwise")
        for one in frames:
            model.partial_fit(make({name: values[:1] for name, values in one.items()}))
            model.partial_fit(make({name: values[1:] for name, values in one.items()}))
        assert model.parents_ == whole.parents_
        assert model.learned_.configuration["n_rows"] == 600


HALVES = (slice(0, 20), slice(20, 600))


def test_until_then_the_estimator_says_what_it_has_and_what_it_lacks():
    model = KGMI(states=STATES)
    model.partial_fit(WORD_FRAME[:1])
    message = r"KGMI instance is not fitted yet: 1 row came so far.*\(1 row is fewer than the 3 states"
    uses = (model.sample, model.get_feature_names_out, lambda: model.score(WORD_FRAME), lambda: model.parents_)
    for use in uses:
        with pytest.raises(NotFittedError, match=message):
            use()
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not hasattr(model, "parents_")
    assert not hasattr(model, "learned_")
    assert model.n_features_in_ == 5
    assert list(model.feature_names_in_) == NAMES
    model.partial_fit(WORD_FRAME[1:2])
    with pytest.raises(NotFittedError, match=r"2 rows came so far"):
        model.sample()
    assert not hasattr(clone(model), "n_features_in_")
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert copy.partial_fit(WORD_FRAME[2:]).parents_ == model.partial_fit(WORD_FRAME[2:]).parents_
    check_is_fitted(model)


def test_what_is_kept_is_not_the_users_array():
    first = ROWS[:1].copy()
    model = KGMI(**DECLARED).partial_fit(first)
    first[:] = 0
    assert model.partial_fit(ROWS[1:]).learned_.fingerprint == KGMI().fit(ROWS).learned_.fingerprint


@pytest.mark.parametrize(
    ("options", "first", "rows", "message"),
    [
        (DECLARED, ROWS[:1], ROWS[1:3, :4], "4 features, but KGMI is expecting 5"),
        (DECLARED, ROWS[:1], ROWS[1:3] + 3, "outside the alphabet"),
        (DECLARED, None, ROWS[:1] + 3, "outside the alphabet"),
        ({"states": STATES}, WORD_FRAME[:1], WORD_FRAME[1:2].assign(d="odd"), "'odd' is not among the states"),
        (
            {"states": STATES, "missing": "pairwise"},
            None,
            EMPTY_FIRST[:9].assign(d="odd"),
            "column 'd': 'odd' is not among the states",
        ),
        ({}, None, GAPPY[:9], "column 'x2' has no value in any row"),
        ({}, ROWS[:1], GAPPY[1:9], "is missing"),
        ({"states": STATES}, WORD_FRAME[:1], WORD_FRAME[["a", "b"]], "feature names should match"),
        ({"states": STATES}, WORD_FRAME[:1], pl.DataFrame(WORD_FRAME), "a data frame of pandas .* one of polars"),
        ({}, WORDS[:1], WORD_FRAME, "came as an array .* these come as a data frame: give all of them in one form"),
        ({"states": "abc"}, None, ROWS[:1], "states must be a list"),
        ({"bins": 1}, None, ROWS[:1], "bins must be"),
    ],
)
@pytest.mark.filterwarnings("ignore:X (does not have|has) .*feature names:UserWarning")
def test_what_no_further_rows_can_mend_is_refused_at_once_and_taken_by_nobody(options, first, rows, message):
    model = KGMI(**options)
    if first is not None:
        model.partial_fit(first)
    before = model._waiting
    with pytest.raises(ValueError, match=message) as caught:
        model.partial_fit(rows)
    assert not isinstance(caught.value, TooFewRowsError)
    assert model._waiting is before


def test_an_array_after_a_frame_is_refused_while_rows_are_kept():
    model = KGMI(states=STATES).partial_fit(WORD_FRAME[:1])
    with pytest.warns(UserWarning, match="valid feature names"), pytest.raises(DataError, match="in one form"):
        model.partial_fit(WORDS[1:])


def test_types_that_do_not_go_together_are_named():
    first, second = pl.DataFrame(by_column(ROWS[:1])), pl.DataFrame(by_column(WORDS))
    with pytest.raises(DataError, match=r"column 'a' was of type Int8 .* and is of type String now; give"):
        KGMI().partial_fit(first).partial_fit(second)
    wider = pl.DataFrame(by_column(ROWS[1:].astype(float)))
    assert KGMI().partial_fit(first).partial_fit(wider).parents_ == KGMI().fit(by_frame(ROWS)).parents_


def by_frame(rows):
    return pl.DataFrame(by_column(rows))


def test_fit_begins_anew_and_still_refuses_too_few_rows():
    model = KGMI().partial_fit(ROWS[:1])
    with pytest.raises(TooFewRowsError, match="'x3' is constant"):
        model.fit(CONSTANT[:30])
    assert model._waiting is None
    assert model.fit(ROWS[:, :3]).n_features_in_ == 3
    with pytest.raises(SettingError):
        KGMI(guide="best").partial_fit(ROWS)


def test_measurements_are_named_once_when_they_are_cut():
    measured = ROWS + np.random.default_rng(4410).normal(scale=0.1, size=ROWS.shape)
    model = KGMI()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(measured[:1])
    with pytest.warns(DataConversionWarning, match="5 columns of measurements") as told:
        model.partial_fit(measured[1:])
    assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(measured[:9])


@pytest.mark.parametrize(
    ("options", "changed", "says"),
    [
        ({}, {"missing": "category"}, "missing was 'error' .* now it is 'category'"),
        ({}, {"alphabet": "own"}, "alphabet was 'auto'"),
        ({"states": [0, 1, 2]}, {"states": [1, 0, 2]}, r"states was \[0, 1, 2\] .* now it is \[1, 0, 2\]"),
        ({}, {"states": ["0", "1", "2"]}, "states was None"),
        ({}, {"bins": 7}, "bins was 4"),
    ],
)
def test_further_rows_are_read_as_the_first(options, changed, says):
    model = KGMI(**options).fit(ROWS[:200])
    with pytest.raises(SettingError, match=says):
        model.set_params(**changed).partial_fit(ROWS[200:400])
    assert model.learned_.configuration["n_rows"] == 200
    model.set_params(**{name: KGMI(**options).get_params()[name] for name in changed}).partial_fit(ROWS[200:400])
    assert model.learned_.configuration["n_rows"] == 400
