"""Certificates while the rows come in."""

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi import Certifier, Dag, Kernel, Process, certify, sample
from kgmi.errors import DataError, SettingError

FIVE = Process(Dag.paper(5), Kernel.paper())
ROWS = sample(FIVE, 1_500, rng=110)
LEARNED = {"n_parents": 2, "n_states": 3, "share": "shared"}


def fed(certifier, rows, size):
    while certifier.n_rows < len(rows) and not certifier.update(rows[certifier.n_rows :][:size]):
        pass
    return certifier


@pytest.mark.parametrize("options", [{"kernel": FIVE.kernel}, LEARNED], ids=["known", "learned"])
def test_batches_say_the_same_as_the_table(options):
    certifier = fed(Certifier(alpha=1e-9, **options), ROWS[:330], 110)
    assert certifier.n_rows == 330
    whole = certify(ROWS[:330], alpha=1e-9, **options)
    for one, other in zip(certifier.certificate.nodes, whole.nodes, strict=True):
        assert one.log_e == pytest.approx(other.log_e)
        assert one.parents == other.parents
        assert one.certified == other.certified


def test_reading_stops_when_all_is_certain():
    known = fed(Certifier(kernel=FIVE.kernel), ROWS, 50)
    assert known.is_complete
    assert known.certificate.is_complete
    assert 50 < known.n_rows < 600
    assert known.learned.dag.parents == FIVE.dag.parents
    learned = fed(Certifier(roots=[0, 1], **LEARNED), ROWS, 250)
    assert learned.is_complete
    assert known.n_rows < learned.n_rows < 1_500
    assert len(learned.certificate.certified) == 5


def test_an_empty_graph_is_not_the_end():
    certifier = Certifier(**LEARNED)
    for start in range(0, 90, 30):
        assert not certifier.update(np.random.default_rng(start).integers(0, 3, (30, 4)))
    assert certifier.certificate.is_complete  # no node with parents is left open, and yet
    assert not certifier.is_complete


LATE = np.where(np.arange(5) == 4, -1, ROWS)  # no value in the last column
GAPPY = np.where(np.arange(5) == np.arange(60)[:, None] % 5, -1, ROWS[:60])  # no complete row
SOME_GAPS = np.where((np.arange(5) == 4) & (np.arange(1_500)[:, None] % 3 == 0), -1, ROWS)


@pytest.mark.parametrize(
    ("missing", "waits", "batches", "n_rows", "n_left_out"),
    [
        ("error", True, [np.zeros((5, 5), dtype=int), ROWS[60:100]], 45, 0),
        ("pairwise", True, [GAPPY, ROWS[60:100]], 40, 60),
        ("pairwise", True, [LATE[:60], ROWS[60:200], np.full((3, 5), -1)], 140, 63),
        ("pairwise", False, [SOME_GAPS[:150], SOME_GAPS[150:300]], 200, 100),
    ],
    ids=["too few rows", "no complete row", "a column without values", "gaps"],
)
def test_rows_wait_until_something_can_be_learned_and_gaps_are_counted(missing, waits, batches, n_rows, n_left_out):
    certifier = Certifier(missing=missing, **LEARNED)
    assert not certifier.update(batches[0])
    assert (certifier.certificate is None) is waits
    assert certifier.n_rows == len(batches[0])
    for batch in batches[1:]:
        certifier.update(batch)
    assert (certifier.certificate.n_rows, certifier.certificate.n_left_out) == (n_rows, n_left_out)


@pytest.mark.parametrize(
    "made",
    [
        lambda rows: [[None if code < 0 else int(code) for code in row] for row in rows],
        lambda rows: np.ma.masked_less(rows, 0),
        lambda rows: pd.DataFrame(np.where(rows < 0, np.nan, rows), columns=list("abcde")),
        lambda rows: kgmi.Table(rows, tuple("abcde"), ("0", "1", "2")),
    ],
    ids=["lists", "masked", "frame", "table"],
)
def test_a_column_may_be_without_values_in_a_batch_of_any_kind(made):
    certifier = Certifier(kernel=FIVE.kernel, missing="pairwise")
    for rows in (LATE[:60], ROWS[60:200]):
        certifier.update(made(rows))
    assert (certifier.certificate.n_rows, certifier.certificate.n_left_out) == (140, 60)


def test_rows_that_are_refused_are_not_kept():
    certifier = Certifier(kernel=FIVE.kernel, forbidden=[("a", "b")])
    for _ in range(2):
        with pytest.raises(SettingError):
            certifier.update(ROWS[:60])  # there is no column a here
        assert certifier.n_rows == 0
    certifier.update(pd.DataFrame(ROWS[:60], columns=list("abcde")))
    assert certifier.certificate.n_rows == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "states beforehand"),
        ({"n_states": 3, "alphabet": "own"}, "all columns"),
        ({"n_states": 3, "windows": 4}, "windows"),
        ({"n_states": 3, "order": "learn"}, "order of the columns"),
        ({"n_states": 3, "missing": "category"}, "left out"),
        ({"n_states": 3, "alpha": 0}, "between 0 and 1"),
        ({"n_states": 3, "patience": "long"}, "patience"),
        ({"n_states": 3, "patience": float("nan")}, "patience"),
        ({"n_states": 3, "n_parent": 2}, "no option n_parent"),
        ({"n_states": 3, "guide": "plain"}, "guide='likelihood'"),
    ],
)
def test_what_does_not_go_in_batches_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        Certifier(**options)


def test_other_columns_are_refused():
    numbered, named = Certifier(kernel=FIVE.kernel), Certifier(kernel=FIVE.kernel)
    frame = pd.DataFrame(ROWS[:60], columns=list("abcde"))
    numbered.update(ROWS[:60])
    named.update(frame)
    table = kgmi.Table(ROWS[60:90], tuple("abcde"), ("0", "1", "2"))
    for certifier, rows, says in (
        (numbered, ROWS[60:90, :4], "4 columns, those before 5"),
        (numbered, table, "other columns"),
        (named, frame[list("bacde")], "another order: b, a, c, d, e"),
    ):
        with pytest.raises(DataError, match=says):
            certifier.update(rows)
    named.update(ROWS[60:90])  # without names, by their places
    assert named.n_rows == 90


def test_nodes_that_were_not_looked_at_are_not_done_with():
    certifier = Certifier(patience=0.0, **LEARNED)
    assert not any(certifier.update(ROWS[start : start + 200]) for start in range(0, 800, 200))
    assert certifier.certificate.unseen == ("X2", "X3", "X4", "X5")
