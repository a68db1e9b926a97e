"""Rows beyond 64 MB: the estimator keeps counts of them, and learns what it would from the rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi import KGMI, Counts
from kgmi.errors import SettingError
from kgmi.estimator import kept
from tests.estimator_rows import KERNEL, ROWS, STATES, WORDS, by_column

MEASURED = np.random.default_rng(611).normal(size=ROWS.shape)
MEASURED[:, 2:] += MEASURED[:, :3]
GAPPY = np.where(np.random.default_rng(612).random(ROWS.shape) < 0.1, np.nan, ROWS)
OWN = pd.DataFrame(by_column(WORDS)).assign(a=lambda frame: frame["a"] == "low")
# Rows, and options of the estimator.
CASES = {
    "a learned kernel": (ROWS, {}),
    "one for each node": (ROWS, {"share": "node", "penalty": "bic"}),
    "one parent": (ROWS, {"n_parents": 1}),
    "more parents than columns": (ROWS, {"n_parents": 9}),
    "a known kernel": (ROWS, {"n_parents": None, "kernel": KERNEL}),
    "the contextual guide": (ROWS, {"kernel": KERNEL, "guide": "contextual"}),
    "the paper's guide": (ROWS, {"kernel": KERNEL, "guide": "stationary"}),
    "a frame of words": (pd.DataFrame(by_column(WORDS)), {"states": STATES, "forbidden": [("a", "e")]}),
    "own alphabets": (OWN, {"alphabet": "own", "order": "learn"}),
    "tiers that move columns": (pd.DataFrame(by_column(WORDS)), {"tiers": [["b", "d"], ["a"], ["c", "e"]]}),
    "gaps as a state": (np.tile(GAPPY, (3, 1)), {"missing": "category"}),
    "measurements": (MEASURED, {"bins": 3}),
}


@pytest.fixture
def little(monkeypatch):
    """Codes are kept up to 500 bytes, so that the second batch is already counted."""
    monkeypatch.setattr(kept, "MOST_BYTES", 500)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*measurements were cut")
def test_counts_give_what_one_fit_on_all_rows_gives(name, little):
    rows, options = CASES[name]
    first = 200 if name == "measurements" else 90
    whole = KGMI(**options).fit(rows)
    if name == "measurements":  # the first rows decide on the bins
        whole = KGMI(**options).fit(rows[:first])
        codes = whole._reader.codes(kept_cells(whole, rows))
        whole._learn(whole._reader, codes)
    parts = KGMI(**options)
    for start, end in ((0, first), (first, 400), (400, 401), (401, len(rows))):
        parts.partial_fit(rows[start:end])
    assert isinstance(parts._kept, Counts)
    assert parts._kept.n_rows == parts.learned_.configuration["n_rows"] == len(rows)
    assert parts.parents_ == whole.parents_
    assert np.allclose(parts.scores_, whole.scores_, atol=1e-8, equal_nan=True)
    assert np.allclose(parts.attention_, whole.attention_, atol=1e-9)
    assert [one.table.tolist() for one in parts.kernels_] == [one.table.tolist() for one in whole.kernels_]
    assert [one.counts.tolist() for one in parts.kernels_] == [one.counts.tolist() for one in whole.kernels_]
    assert parts.learned_.fit is None or parts.learned_.fit.score == pytest.approx(whole.learned_.fit.score)
    assert parts.score(rows) == pytest.approx(whole.score(rows), abs=1e-12)
    assert parts.get_params() == whole.get_params()


def kept_cells(model, rows):
    from kgmi.estimator.intake import take_cells

    return take_cells(model, rows, reset=False)


def test_what_needs_the_rows_says_that_they_are_gone(little):
    model = KGMI(share="node").fit(ROWS[:300])
    assert set(model.certificates_) == {"x0", "x1", "x2", "x3", "x4"}
    model.partial_fit(ROWS[300:])
    names = [f"x{column}" for column in range(ROWS.shape[1])]
    assert model.learned_.certificate.method == "counted"
    assert model.certificates_ == {node.name: node for node in kgmi.certify(ROWS, share="node", names=names).nodes}
    with pytest.raises(SettingError, match=r"3 parents need the rows again: .* up to 2 parents .*; fit anew"):
        model.set_params(n_parents=3).partial_fit(ROWS[:1])
    assert model.learned_.configuration["n_rows"] == 600  # a refused batch changes nothing
    assert [check.name for check in model.checks_ if check.p_value is not None]
    copy = pickle.loads(pickle.dumps(model.set_params(n_parents=2)))  # noqa: S301
    assert copy.partial_fit(ROWS[:50]).parents_ == model.partial_fit(ROWS[:50]).parents_
    assert set(model.fit(ROWS).certificates_) == {"x0", "x1", "x2", "x3", "x4"}  # fit begins anew


def test_rows_are_kept_where_counts_cannot_stand_in(little, monkeypatch):
    whole = KGMI(missing="pairwise").fit(GAPPY)
    parts = KGMI(missing="pairwise").fit(GAPPY[:300]).partial_fit(GAPPY[300:])
    assert parts._kept.shape == (600, 5)
    assert parts.parents_ == whole.parents_
    monkeypatch.setattr("kgmi.counting.part.MOST_BYTES", 100)
    assert KGMI().fit(ROWS[:300]).partial_fit(ROWS[300:])._kept.shape == (600, 5)


def test_beyond_64_megabytes_memory_does_not_grow():
    process = kgmi.Process(kgmi.Dag.random(16, 2, rng=np.random.default_rng(613)), kgmi.Kernel.paper())
    rows = kgmi.sample(process, 2_200_000, rng=614).astype(np.int8)
    model = KGMI(states=range(3), kernel=process.kernel, guide="stationary").partial_fit(rows)
    assert model._kept.nbytes == 35_200_000
    model.partial_fit(rows)
    sizes = set()
    for _ in range(3):
        counts = model.partial_fit(rows[:1000])._kept
        sizes.add(counts.tally.cells.nbytes + counts.first.nbytes)
    assert sizes == {560 * 27 * 8 + 20_000 * 16}
    assert counts.n_rows == model.learned_.configuration["n_rows"] == 4_403_000
    expected = np.array([[(rows[:, k] == s).sum() for s in range(3)] for k in range(16)])
    some = np.array([[(rows[:1000, k] == s).sum() for s in range(3)] for k in range(16)])
    assert [counts.tally.family((k,)).tolist() for k in range(16)] == (2 * expected + 3 * some).tolist()
