"""The paper's KG-MI on a device: scores, roots, ascent and graph as on the CPU.

Scores and margins agree to 1e-12, which is rounding in double precision; graphs and stopped epochs are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.device.place import open_device
from kgmi.device.rows import DeviceRows
from kgmi.divergence import DIVERGENCES, divergence_named
from kgmi.errors import SettingError
from kgmi.learning.searched import usual_rate
from tests.device_drills import KERNEL, edges, fit_as_wide, paper_rows
from tests.test_device_counts import one_thread  # noqa: F401

pytestmark = pytest.mark.torch
TOLERANCE = 1e-12


@pytest.mark.parametrize("name", [f"{one}{form}" for one in DIVERGENCES for form in ("", "-matched")])
def test_scores_are_those_of_the_cpu(name):
    from kgmi.device.information import Guide

    rows, f = paper_rows(2, 400, 7201), divergence_named(name)
    there = DeviceRows(rows, 3, open_device("cpu"))
    found = Guide(there, KERNEL.marginal_kernels, f, 1.0).scores(0, 20).numpy()
    expected = kgmi.scores(kgmi.count_pairs(rows, 3), KERNEL, f, smoothing=1.0)
    known = ~np.isnan(expected)
    np.testing.assert_allclose(found[known], expected[known], atol=TOLERANCE, rtol=TOLERANCE)


def test_a_divergence_of_ones_own_is_refused():
    own = kgmi.Divergence.from_function(lambda x: (x - 1) ** 2, name="own", at_zero=1.0, slope_at_infinity=np.inf)
    with pytest.raises(SettingError, match="'own' is not there on a device"):
        fit_as_wide(paper_rows(1, 100, 7202), kernel=KERNEL, guide="stationary", divergence=own)


@pytest.mark.parametrize("seed", [7203, 7204, 7205])
@pytest.mark.parametrize("n_copies", [1, 6])
def test_the_graph_is_that_of_the_cpu(n_copies, seed):
    rows = paper_rows(n_copies, 2_000, seed)
    found = kgmi.learn(rows, kernel=KERNEL, guide="stationary", device="cpu")
    wanted = np.ones(found.scores.shape[:2], dtype=bool)
    wanted[:, list(found.dag.roots)] = False
    expected = kgmi.learn(rows, kernel=KERNEL, guide="stationary", rate=usual_rate(found.scores, wanted))
    assert found.dag == expected.dag
    assert (found.stopped == expected.stopped)[wanted].all()
    np.testing.assert_array_equal(found.scores, expected.scores)  # from the same counts


@pytest.mark.parametrize("in_degree", ["uniform", "mixed"])
@pytest.mark.parametrize("solver", ["ascent", "limit"])
def test_a_wide_fit_is_the_same_fit(in_degree, solver):
    rows = paper_rows(4, 2_000, 7206)
    options = {"kernel": KERNEL, "guide": "stationary", "in_degree": in_degree, "solver": solver}
    wide, usual = fit_as_wide(rows, **options), kgmi.learn(rows, device="cpu", **options)
    assert edges(wide) == edges(usual)
    on = wide.wanted
    assert (on == ~np.isin(np.arange(40), usual.dag.roots)).all()
    assert wide.converged == usual.converged
    assert (wide.stopped == usual.stopped)[on].all()
    assert (wide.chosen == np.nan_to_num(usual.scores, nan=-np.inf).argmax(-1))[on].all()
    finite = on & np.isfinite(usual.margins)
    np.testing.assert_allclose(wide.margins[finite], usual.margins[finite], atol=TOLERANCE)
    np.testing.assert_allclose(wide.chosen_attention[on], usual.attention.max(-1)[on], atol=1e-9)
    assert wide.configuration["device"] == "cpu"
    assert {"transfer", "roots", "scores"} <= set(wide.seconds)


@pytest.mark.parametrize("most_later", [1, 2**28])
def test_small_tiles_and_slow_columns_change_nothing(monkeypatch, most_later):
    from kgmi.device import counter, stationary

    rows = paper_rows(4, 2_000, 7206)
    options = {"kernel": KERNEL, "guide": "stationary", "stop": 0.02, "rate": 200.0}
    whole = fit_as_wide(rows, **options)
    monkeypatch.setitem(counter.TILE_ROWS, "cpu", 20)
    monkeypatch.setattr(stationary, "_MOST_LATER", most_later)
    pieces = fit_as_wide(rows, **options)
    assert whole.stopped.max() > 64  # some go on after the others
    assert (pieces.stopped == whole.stopped).all()
    assert (pieces.chosen == whole.chosen).all()
    np.testing.assert_allclose(pieces.chosen_attention, whole.chosen_attention, atol=1e-9)
    endless = fit_as_wide(rows, **options | {"stop": 0.0, "epochs": 70})
    assert (endless.stopped[endless.wanted] == -1).all()
    assert "heads for 70 epochs, as stop = 0 calls no head done." in endless.status


def test_a_given_rate_is_used():
    rows = paper_rows(1, 2_000, 7207)
    options = {"kernel": KERNEL, "guide": "stationary", "rate": 40.0}
    wide, usual = fit_as_wide(rows, **options), kgmi.learn(rows, **options)
    assert (wide.stopped == usual.stopped)[wide.wanted].all()
    few = fit_as_wide(rows, epochs=3, **options)
    assert not few.converged
    assert "Not converged" in few.status


def test_equal_columns_are_tied_and_said_so():
    rows = paper_rows(1, 2_000, 7208)
    doubled = np.column_stack([rows[:, 0], rows[:, 0], rows[:, 1:]])
    wide = fit_as_wide(doubled, kernel=KERNEL, guide="stationary")
    assert "tied between candidates of equal score" in wide.status
    assert not wide.converged


def test_no_dependence_no_parents():
    rows = np.random.default_rng(7209).integers(0, 3, (500, 8))
    wide = fit_as_wide(rows, kernel=KERNEL, guide="stationary")
    assert wide.dag.n_edges == 0
    assert wide.status.startswith("All nodes are roots")


def test_states_that_never_occur():
    rows = paper_rows(2, 500, 7210)
    rows[:, 3] = np.minimum(rows[:, 3], 1)
    wide = fit_as_wide(rows, kernel=KERNEL, guide="stationary")
    usual = kgmi.learn(rows, kernel=KERNEL, guide="stationary", device="cpu")
    assert edges(wide) == edges(usual)


def test_a_wide_fit_needs_smoothing():
    with pytest.raises(SettingError, match="smoothing > 0"):
        fit_as_wide(paper_rows(1, 100, 7211), kernel=KERNEL, guide="stationary", smoothing=0.0)
