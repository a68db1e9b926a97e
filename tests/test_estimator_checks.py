"""The estimator passes all of scikit-learn's own checks, on states and on measurements, with no exceptions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimators_partial_fit_n_features,
    check_get_feature_names_out_error,
    estimator_checks_generator,
)

from kgmi import KGMI

MEASURED = "ignore:.*columns? of measurements:sklearn.exceptions.DataConversionWarning"


class Measured(KGMI):
    """As it would be if it said that it takes measurements: then all checks come with floats."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


KINDS = [
    KGMI(),
    KGMI(missing="pairwise"),
    KGMI(missing="category"),
    KGMI(alphabet="own"),
    Measured(),
    Measured(missing="pairwise"),
    Measured(alphabet="own"),
]


def here(checks):
    """Those that can run in this process; the array API must be switched on before SciPy is loaded."""
    return [(estimator, check) for estimator, check in checks if "array_api" not in check.func.__name__]


def name_of(value):
    return repr(value) if isinstance(value, KGMI) else value.func.__name__


@pytest.mark.filterwarnings(MEASURED)
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for kind in KINDS for pair in here(estimator_checks_generator(kind))],
    ids=name_of,
)
def test_scikit_learn_has_nothing_to_complain_of(estimator, check):
    assert check(estimator) is None


def test_nothing_but_the_array_api_is_left_out_above():
    every = list(estimator_checks_generator(KGMI()))
    assert len(every) - len(here(every)) <= 1
    assert len(every) > 35


def test_check_estimator_passes_with_the_array_api_on_and_no_check_left_out():
    code = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
from kgmi import KGMI
warnings.simplefilter("error")
print(json.dumps([[one["check_name"], one["status"]] for one in check_estimator(KGMI(), on_fail=None)]))
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    results = json.loads(done.stdout)
    assert len(results) > 35
    assert [one for one in results if one[1] != "passed"] == []


@pytest.mark.filterwarnings(MEASURED)
@pytest.mark.parametrize("estimator", [KGMI(), Measured()], ids=repr)
@pytest.mark.parametrize(
    "check",
    [
        check_dataframe_column_names_consistency,
        check_estimators_partial_fit_n_features,
        check_get_feature_names_out_error,
    ],
)
def test_checks_that_scikit_learn_keeps_for_itself_pass_too(estimator, check):
    assert check("KGMI", estimator) is None
