"""-1 as a state, and the sentence that says how to make it a gap."""

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi import learn

MINUS_ONE = np.random.default_rng(91).integers(-1, 2, (60, 3))


@pytest.mark.parametrize("form", ["csv", "pandas", "texts"])
def test_minus_one_as_a_state_is_named_with_what_makes_it_a_gap(form, tmp_path):
    cells = MINUS_ONE.copy()
    cells[:, 1] = abs(cells[:, 1])
    frame = pd.DataFrame(cells, columns=list("ABC"))
    gaps = frame.replace(-1, None)
    if form == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        gaps.to_csv(tmp_path / "gaps.csv", index=False)
        frame, gaps = (
            kgmi.read_table(tmp_path / "rows.csv"),
            kgmi.read_table(tmp_path / "gaps.csv", missing="pairwise"),
        )
    elif form == "texts":
        frame, gaps = frame.to_numpy().astype(str), gaps.to_numpy()
    told = "-1 is taken for a state in A, C. If it means that the value is missing, use missing='pairwise' and, in"
    assert told in learn(frame, names=list("ABC")).status
    followed = learn(gaps, names=list("ABC"), missing="pairwise")
    assert followed.states == ("0", "1")
    assert "taken for a state" not in followed.status
    assert "Missing: " in followed.status


@pytest.mark.parametrize("other", ["-2", "-10", "x"])
def test_minus_one_beside_other_states_that_are_no_codes_is_nothing_to_tell_of(other):
    cells = MINUS_ONE.astype(str).astype(object)
    cells[:9] = other
    assert "taken for a state" not in learn(cells).status


def test_minus_one_in_a_column_of_numbers_is_told_of_whatever_the_other_columns_hold():
    cells = MINUS_ONE.astype(str).astype(object)
    cells[:, 0] = np.where(MINUS_ONE[:, 0] < 0, "a", "b")
    for alphabet in ("shared", "own"):
        assert "-1 is taken for a state in X2, X3. If" in learn(cells, alphabet=alphabet).status
    assert "taken for a state" not in learn(MINUS_ONE, missing="pairwise").status
    cells[0, 1] = None
    assert "-1 is taken for a state in X2, X3. If" in learn(cells, missing="category").status
