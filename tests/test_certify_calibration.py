"""False certificates are as rare as promised, and a bet that peeks at the rows is caught."""

import json

import numpy as np
import pytest

from kgmi.bench.certificates import calibrate, measure_power
from kgmi.bench.certificates.report import (
    calibration_columns,
    calibration_lines,
    plain_values,
    power_columns,
    power_figure,
    power_lines,
)
from kgmi.bench.graphs import Setting
from kgmi.certify import run
from kgmi.certify.timeline import Timeline
from kgmi.counts.bits import RowCounts
from kgmi.errors import SettingError
from tests.commands import expect_refused, run_kgmi

SMALL = Setting("paper5", "paper", 1)
LEVELS = (0.05, 0.01)


@pytest.mark.parametrize("kind", ["known", "sequential", "split"])
def test_true_parents_are_refuted_no_more_often_than_promised(kind):
    (found,) = calibrate(SMALL, n_nodes=60, n_rows=120, alphas=LEVELS, seed=150, kinds=(kind,))
    assert len(found.largest) == 60
    for alpha in LEVELS:
        assert found.share(alpha) <= alpha
        assert found.n_false[alpha] <= alpha * found.n_fits + 1


def test_a_bet_that_has_seen_the_rows_is_caught(monkeypatch):
    # Kernels from all rows, sharp as they are, instead of earlier ones; without the price of betting on all sets.
    honest = calibrate(SMALL, n_nodes=40, n_rows=100, alphas=LEVELS, seed=151, kinds=("sequential",))[0]

    def peeking(self, codes):
        timeline = Timeline(self.problem)
        timeline.learn(codes)
        return iter([(RowCounts(codes, self.problem.counts.sizes), timeline.snapshot())])

    monkeypatch.setattr(run.Stream, "pieces", peeking)
    peeked = calibrate(SMALL, n_nodes=40, n_rows=100, alphas=LEVELS, seed=151, kinds=("sequential",))[0]
    assert np.median(peeked.largest) > np.median(honest.largest) + 1


def test_power_grows_with_the_rows_and_with_what_is_known():
    found = measure_power(
        Setting("paper5", "paper", 2), rows=(100, 600), seeds=(152,), alpha=0.05, kinds=("known", "sequential")
    )
    known, learned = (one.shares.mean(axis=0) for one in found)
    assert known[0] >= learned[0]
    assert learned[1] >= learned[0]
    assert known[1] > 0.9
    assert found[0].enough(0.9) == 600 or known[0] >= 0.9
    assert found[1].enough(1.1) is None
    assert [len(line) for line in power_lines(found)] == [3, 3]
    assert power_columns(found)[0] == "rows"
    assert len(power_figure(found, 0.05).axes[0].lines) == 2


def test_the_report_and_its_plain_values():
    found = calibrate(SMALL, n_nodes=6, n_rows=40, alphas=LEVELS, seed=153, kinds=("known",))
    lines = calibration_lines(found, LEVELS)
    assert [len(line) for line in lines] == [len(calibration_columns(LEVELS))]
    content = json.loads(json.dumps(plain_values(SMALL, LEVELS, (153,), found, [])))
    assert content["calibration"][0]["null_nodes"] == 6
    with pytest.raises(SettingError, match="no way 'guess'"):
        calibrate(SMALL, n_nodes=6, n_rows=40, alphas=LEVELS, seed=153, kinds=("guess",))
    with pytest.raises(SettingError, match="needs null nodes"):
        calibrate(SMALL, n_nodes=0, n_rows=40, alphas=LEVELS, seed=153, kinds=("known",))


def test_the_command(tmp_path):
    small = ["--graph", "paper5", "--nodes", "6", "--null-rows", "60", "--kernels", "1", "--seeds", "154"]
    code, out, err = run_kgmi(
        "bench", "certificates", *small, "--rows", "50,100", "--ways", "known", "--out", str(tmp_path)
    )
    assert code == 0, err
    assert "refuted at α = 0.05" in out
    assert "False certificates" in out
    content = json.loads((tmp_path / "certificates.json").read_text(encoding="utf-8"))
    assert content["power"][0]["rows"] == [50, 100]
    assert (tmp_path / "certificates.png").stat().st_size > 1_000
    code, out, _ = run_kgmi("bench", "certificates", *small, "--ways", "known", "--kernels", "0", "--json")
    assert json.loads(out)["power"] == []
    expect_refused(2, "bench", "certificates", "--alpha", "2", says=["--alpha"])
    expect_refused(2, "bench", "certificates", "--seeds", "a", says=["--seeds"])
    expect_refused(2, "bench", "certificates", "--nodes", "0", "--kernels", "0", says=["not both 0"])
