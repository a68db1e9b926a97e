"""The estimator passes all of scikit-learn's own checks, on states and on measurements."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import pytest
from sklearn.utils import estimator_checks as checks

from kgmi import KGMI


class Measured(KGMI):
    """Says that it takes measurements, so that all checks come with floats."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


KINDS = [kind(**how) for kind in (KGMI, Measured) for how in ({}, {"missing": "pairwise"}, {"alphabet": "own"})]
CHECKS = [
    pair
    for estimator in [*KINDS, KGMI(missing="category")]
    for pair in checks.estimator_checks_generator(estimator)
    if "array_api" not in pair[1].func.__name__  # needs a process of its own, see below
]
FURTHER = ["dataframe_column_names_consistency", "estimators_partial_fit_n_features", "get_feature_names_out_error"]
CHECKS += [
    (kind(), partial(getattr(checks, f"check_{name}"), "KGMI")) for kind in (KGMI, Measured) for name in FURTHER
]


@pytest.mark.filterwarnings("ignore:Measurements:sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda one: getattr(one, "func", type(one)).__name__)
def test_scikit_learn_has_nothing_to_complain_of(estimator, check):
    assert check(estimator) is None


def test_check_estimator_passes_with_the_array_api_on_and_no_check_left_out():
    code = """
import warnings
from sklearn.utils.estimator_checks import check_estimator
from kgmi import KGMI
warnings.simplefilter("error")
results = [one["status"] for one in check_estimator(KGMI())]
assert len(results) > 35 and {*results} == {"passed"}, results
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"})
