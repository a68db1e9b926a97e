"""States that often stand for missing values (-1, -9, a dot, a dash): the status of a fit names them."""

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi import learn

CELLS = np.random.default_rng(92).integers(0, 3, (90, 3))
CELLS[:, 0] %= 2  # column A never has the marker


def told(learned):
    """What the status says about states that may be missing values."""
    return " ".join(part for part in learned.status.split(". ") if "taken for" in part)


@pytest.mark.parametrize(
    ("marker", "others", "says"),
    [
        ("-1", "01", "-1 is taken for a state in B, C"),
        ("-9", "12", "-9 is taken for a state in B, C"),
        ("-9", ["AA", "AG"], "-9 is taken for a state in B, C"),
        (".", ["0/0", "0/1"], "'.' is taken for a state in B, C"),
        ("-", "AC", "'-' is taken for a state in B, C"),
        *(("-", ["+", "A"], ""), (".", ["x", ":"], ""), ("-9", ["-8", "3"], "")),
        *(("-1", "ab", ""), ("-1", ["-2", "0"], "")),
    ],
)
def test_markers_are_named_in_tables_streams_and_counts(marker, others, says, tmp_path):
    frame = pd.DataFrame(np.array([*others, marker], dtype=object)[CELLS], columns=list("ABC"))
    frame.to_csv(path := tmp_path / "rows.csv", index=False)
    for source in (frame, kgmi.stream(path), kgmi.count(path, n_parents=1)):
        assert told(learn(source, n_parents=1)) == says


def test_a_column_of_numbers_is_looked_at_by_itself():
    cells = (CELLS - 1).astype(str).astype(object)
    cells[:, 0] = np.where(CELLS[:, 0] > 0, "a", "b")
    for alphabet in ("shared", "own"):
        assert told(learn(cells, alphabet=alphabet)).startswith("-1 is taken for a state in X2, X3")
    cells[0, 1] = None
    assert told(learn(cells, missing="category")).startswith("-1 is taken for a state in X2, X3")


def test_what_the_sentence_advises_makes_missing_values():
    cells = np.where(CELLS == 2, -1, CELLS)
    for gaps in (cells, pd.DataFrame(cells).replace(-1, None)):
        learned = learn(gaps, missing="pairwise")
        assert (told(learned), learned.states) == ("", ("0", "1"))
        assert "Missing: " in learned.status
