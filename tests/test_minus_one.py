"""-1, -9, a dot or a dash as a state, and the sentence that says how to make it a gap."""

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


def in_all_ways(frame, tmp_path):
    """What is said of a table in memory, of a file that is read in pieces, and of counts."""
    frame.to_csv(tmp_path / "rows.csv", index=False)
    counts = kgmi.count(tmp_path / "rows.csv", n_parents=1)
    found = [learn(source, n_parents=1) for source in (frame, kgmi.stream(tmp_path / "rows.csv"), counts)]
    assert len({one.states for one in found}) == 1
    return [" ".join(s for s in one.status.split(". ") if "taken for" in s) for one in found]


@pytest.mark.parametrize(
    ("text", "others", "told"),
    [
        ("-1", "01", "-1 is taken for a state in B, C"),
        ("-9", "12", "-9 is taken for a state in B, C"),
        ("-9", ["AA", "AG"], "-9 is taken for a state in B, C"),
        (".", ["0/0", "0/1"], "'.' is taken for a state in B, C"),
        ("-", "AC", "'-' is taken for a state in B, C"),
        ("-", ["+", "A"], ""),
        (".", ["x", ":"], ""),
        ("-9", ["-8", "3"], ""),
        ("-1", "ab", ""),
    ],
)
def test_states_that_often_stand_for_gaps_are_told_of_in_tables_streams_and_counts(text, others, told, tmp_path):
    cells = np.array([*others, text], dtype=object)[np.random.default_rng(92).integers(0, 3, (90, 3))]
    cells[:, 0] = np.where(cells[:, 0] == text, others[0], cells[:, 0])
    assert in_all_ways(pd.DataFrame(cells, columns=list("ABC")), tmp_path) == [told] * 3
