"""Rows that come in batches: the first may be too few to learn from, and many are kept as counts."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kgmi
from kgmi import KGMI
from kgmi.errors import SettingError, TooFewRowsError
from kgmi.estimator import estimator as module
from tests.estimator_rows import KERNEL, ROWS, STATES, WORDS, by_column

GAPPY = np.where(np.arange(600)[:, None] < [0, 0, 30, 0, 0], np.nan, ROWS)
CONSTANT = ROWS[np.argsort(ROWS[:, 3] != 1, kind="stable")]
FRAME = pd.DataFrame(by_column(WORDS))
EMPTY = FRAME.where(FRAME.index.to_numpy()[:, None] >= [0, 0, 30, 0, 0], None)
MEASURED = np.random.default_rng(611).normal(size=ROWS.shape) + np.where(np.arange(5) > 1, ROWS, 0)
OWN = FRAME.assign(a=lambda frame: frame["a"] == "low")
# All rows, where the batches end, and the options.
BATCHES = {
    "one row at a time": (ROWS[:20], list(range(1, 20)), {"states": range(3)}),
    "a constant column": (CONSTANT, [30, 60], {}),
    "an empty column": (GAPPY, [10, 30], {"missing": "pairwise"}),
    "an empty column, gaps a state": (GAPPY, [10, 30], {"missing": "category"}),
    "a frame with an empty column": (EMPTY, [10, 30], {"missing": "pairwise", "states": STATES}),
    "polars": (pl.DataFrame(EMPTY), [10, 30], {"missing": "pairwise"}),
    "arrow": (pa.table(GAPPY.T.tolist(), names=list("abcde")), [10, 30], {"missing": "category"}),
    "categories": (FRAME.astype(pd.CategoricalDtype(STATES)), [1, 2], {}),
    "own alphabets": (ROWS, [1, 2], {"alphabet": "own"}),
    "in the end counts": (ROWS, [90, 400, 401], {"share": "node", "penalty": "bic"}),
    "counts with a known kernel": (ROWS, [90, 400], {"n_parents": None, "kernel": KERNEL}),
    "counts for the paper's guide": (ROWS, [90, 400], {"kernel": KERNEL, "guide": "stationary"}),
    "counts of own alphabets": (OWN, [90, 400], {"alphabet": "own", "order": "learn", "n_parents": 9}),
    "counts with tiers": (FRAME, [90, 400], {"tiers": [["b", "d"], ["a"], ["c", "e"]], "states": STATES}),
    "counts with a state of gaps": (np.tile(GAPPY[::-1], (3, 1)), [900, 1000], {"missing": "category"}),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_give_what_one_fit_on_all_rows_gives(name, monkeypatch):
    rows, ends, options = BATCHES[name]
    parts, whole = KGMI(**options), KGMI(**options).fit(rows)
    monkeypatch.setattr(module, "MOST_BYTES", 500 if "counts" in name else 64_000_000)
    for start, end in zip([0, *ends], [*ends, len(rows)], strict=True):
        assert parts.partial_fit(rows[start:end]) is parts
    if "counts" not in name:
        assert parts.learned_.fingerprint == whole.learned_.fingerprint
        assert parts.status_ == whole.status_
    assert parts.learned_.configuration["n_rows"] == len(rows)
    assert parts.parents_ == whole.parents_
    assert np.allclose(parts.attention_, whole.attention_, atol=1e-9)
    assert np.allclose(parts.scores_, whole.scores_, atol=1e-8, equal_nan=True)
    assert [one.counts.tolist() for one in parts.kernels_] == [one.counts.tolist() for one in whole.kernels_]
    assert parts.score(rows) == pytest.approx(whole.score(rows), abs=1e-12)


def test_what_needs_the_rows_says_that_they_are_gone(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 500)
    model = KGMI(share="node").fit(ROWS[:300]).partial_fit(ROWS[300:])
    names = [f"x{column}" for column in range(5)]
    assert model.learned_.certificate.method == "counted"
    assert model.certificates_ == {node.name: node for node in kgmi.certify(ROWS, share="node", names=names).nodes}
    with pytest.raises(SettingError, match="3 parents"):
        model.set_params(n_parents=3).partial_fit(ROWS[:1])
    assert model.learned_.configuration["n_rows"] == 600  # a refused batch changes nothing
    copy = pickle.loads(pickle.dumps(model.set_params(n_parents=2)))  # noqa: S301
    assert copy.partial_fit(ROWS[:50]).parents_ == model.partial_fit(ROWS[:50]).parents_
    model.fit(ROWS).set_params(n_parents=3).partial_fit(ROWS[:50])  # fit begins anew, with rows
    gaps = KGMI(missing="pairwise").fit(GAPPY[:300]).partial_fit(GAPPY[300:])  # rows with gaps are kept
    assert gaps.learned_.fingerprint == KGMI(missing="pairwise").fit(GAPPY).learned_.fingerprint


def test_beyond_64_megabytes_memory_does_not_grow():
    rows = np.tile(ROWS, (12_000, 1)).astype(np.int8)  # 36 MB
    model = KGMI(states=range(3), kernel=KERNEL, guide="stationary").partial_fit(rows).partial_fit(rows)
    before = len(pickle.dumps(model))
    assert before < 1_000_000
    assert len(pickle.dumps(model.partial_fit(ROWS))) == pytest.approx(before, abs=1000)
    assert model.learned_.configuration["n_rows"] == 14_400_600


def test_the_first_rows_decide_on_the_bins():
    model = KGMI(bins=3).partial_fit(MEASURED[:1])
    with pytest.warns(UserWarning, match="Measurements"):
        model.partial_fit(MEASURED[1:200])
    assert np.isin(model.partial_fit(MEASURED[200:]).sample(300, random_state=1), MEASURED[:200]).all()


def test_until_then_the_estimator_says_what_it_has_and_what_it_lacks():
    first = ROWS[:1].copy()
    model = KGMI(states=range(3)).partial_fit(first)
    first[:] = 0  # what is kept is not the caller's array
    for use in (model.sample, lambda: model.score(ROWS), lambda: model.parents_):
        with pytest.raises(NotFittedError, match="1 row "):
            use()
    assert not hasattr(model, "learned_")
    assert model.n_features_in_ == 5
    assert not hasattr(clone(model), "n_features_in_")
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    for one in (copy, model):
        assert one.partial_fit(ROWS[1:]).learned_.fingerprint == KGMI().fit(ROWS).learned_.fingerprint
    with pytest.raises(TooFewRowsError):
        KGMI().partial_fit(ROWS[:1]).fit(CONSTANT[:30])


NO_ROWS = ROWS[:0]
REFUSED = {  # options, first rows, further rows
    "a column less": ({}, ROWS[:1], ROWS[1:3, :4]),
    "no state": ({"states": range(3)}, ROWS[:1], ROWS[1:3] + 3),
    "no state in a frame": ({"states": STATES}, FRAME[:1], FRAME[1:2].assign(d="odd")),
    "no state beside gaps": ({"states": STATES, "missing": "pairwise"}, NO_ROWS, EMPTY[:9].assign(d="odd")),
    "a missing value": ({}, ROWS[:1], GAPPY[1:9]),
    "other columns": ({"states": STATES}, FRAME[:1], FRAME[["a", "b"]]),
    "bad states": ({"states": "abc"}, NO_ROWS, ROWS[:1]),
    "bad bins": ({"bins": 1}, NO_ROWS, ROWS[:1]),
    "a bad guide": ({"guide": "best"}, NO_ROWS, ROWS),
    "a new state": ({}, ROWS[:300] % 2, ROWS[:2] + 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_further_rows_can_mend_is_refused_and_changes_nothing(name):
    options, first, rows = REFUSED[name]
    model = KGMI(**options)
    if len(first):
        model.partial_fit(first)
    before = pickle.dumps(model)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        model.partial_fit(rows)
    assert not isinstance(caught.value, TooFewRowsError)
    assert not len(first) or pickle.dumps(model) == before


def test_rows_that_join_others_are_read_in_the_same_way():
    model = KGMI().fit(ROWS[:200])
    for name, changed in {"states": range(4), "missing": "pairwise", "alphabet": "own", "bins": 7}.items():
        with pytest.raises(SettingError, match=name):
            deepcopy(model).set_params(**{name: changed}).partial_fit(ROWS[200:])
