"""The law of rows says what it takes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi.errors import DataError
from tests.estimator_rows import NAMES, ROWS, WORDS, by_column

TABLE = kgmi.Table(ROWS, tuple(NAMES), ("0", "1", "2"))
ADVICE = re.escape("of a kgmi.Table that has the states learned from, pass table.codes")


@pytest.mark.parametrize(
    ("rows", "what"),
    [(TABLE, "Table"), (pd.DataFrame(by_column(WORDS)), "DataFrame"), (WORDS, "ndarray"), (ROWS + 0.5, "float64")],
    ids=["table", "frame", "texts", "floats"],
)
def test_what_is_not_codes_is_refused_with_what_to_pass(rows, what):
    model = kgmi.learn(TABLE).model
    with pytest.raises(DataError, match=rf"takes whole-number codes .*{what}.*{ADVICE}"):
        model.log_likelihood(rows)


def test_what_the_message_says_is_right_whatever_the_order():
    tiers = [["e"], ["d"], ["c"], ["b"], ["a"]]
    learned = kgmi.learn(TABLE, tiers=tiers)
    assert learned.order == (4, 3, 2, 1, 0)
    model = kgmi.KGMI(tiers=tiers).fit(pd.DataFrame(by_column(ROWS)))
    found = learned.model.log_likelihood(TABLE.codes)
    assert np.allclose(found, model.score_samples(pd.DataFrame(by_column(ROWS))))


def test_no_rows_have_no_likelihoods():
    assert kgmi.learn(TABLE).model.log_likelihood(np.empty((0, 5), dtype=int)).shape == (0,)
