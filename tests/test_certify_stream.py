"""Certificates while the rows come in."""

import numpy as np
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


def test_rows_wait_until_something_can_be_learned():
    certifier = Certifier(**LEARNED)
    assert not certifier.update(np.zeros((5, 5), dtype=int))
    assert certifier.certificate is None
    assert certifier.n_rows == 5
    certifier.update(ROWS[:40])
    assert certifier.certificate.n_rows == 45


def test_rows_with_gaps_are_counted_apart():
    certifier = Certifier(kernel=FIVE.kernel, missing="pairwise")
    rows = ROWS[:300].copy()
    rows[::3, 4] = -1
    certifier.update(rows[:150])
    certifier.update(rows[150:])
    assert (certifier.certificate.n_rows, certifier.certificate.n_left_out) == (200, 100)
    none = Certifier(missing="pairwise", **LEARNED)
    with pytest.raises(DataError, match="no row is complete so far"):
        none.update(np.where(np.arange(5) == np.arange(60)[:, None] % 5, -1, ROWS[:60]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "need their states beforehand"),
        ({"n_states": 3, "alphabet": "own"}, "the same for all columns"),
        ({"n_states": 3, "windows": 4}, "windows does not go with rows in batches"),
        ({"n_states": 3, "order": "learn"}, "give the order of the columns"),
        ({"n_states": 3, "missing": "category"}, "left out"),
        ({"n_states": 3, "alpha": 0}, "between 0 and 1"),
    ],
)
def test_what_does_not_go_in_batches_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        Certifier(**options)


def test_other_columns_are_refused():
    certifier = Certifier(kernel=FIVE.kernel)
    certifier.update(ROWS[:60])
    with pytest.raises(DataError, match="4 columns, those before 5"):
        certifier.update(ROWS[60:90, :4])
    table = kgmi.Table(ROWS[60:90], ("a", "b", "c", "d", "e"), ("0", "1", "2"))
    with pytest.raises(DataError, match="other columns than those before: a, b"):
        certifier.update(table)
