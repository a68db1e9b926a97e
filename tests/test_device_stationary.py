"""The paper's KG-MI on a device: scores, roots, ascent and graph as on the CPU.

Scores and margins agree to 1e-12, which is rounding in double precision; graphs and stopped epochs are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.counts.torch import TorchCounts
from kgmi.divergence import DIVERGENCES, divergence_named
from kgmi.errors import SettingError
from kgmi.learning.searched import usual_rate
from kgmi.memory import within
from tests.device_drills import KERNEL, edges, fit_as_wide, paper_rows
from tests.test_device_counts import one_thread  # noqa: F401

pytestmark = pytest.mark.torch
TOLERANCE = 1e-12
PAPER = {"kernel": KERNEL, "guide": "stationary"}


@pytest.mark.parametrize("name", [f"{one}{form}" for one in DIVERGENCES for form in ("", "-matched")])
def test_scores_are_those_of_the_cpu(name):
    from kgmi.device.stationary import Guide

    rows, f = paper_rows(2, 400, 7201), divergence_named(name)
    there = TorchCounts(rows, (3,) * 20)
    found = Guide(there, KERNEL.marginal_kernels, f, 1.0).scores(0, 20).numpy()
    expected = kgmi.scores(kgmi.count_pairs(rows, 3), KERNEL, f, smoothing=1.0)
    known = ~np.isnan(expected)
    np.testing.assert_allclose(found[known], expected[known], atol=TOLERANCE, rtol=TOLERANCE)


def test_what_is_refused():
    own = kgmi.Divergence.from_function(lambda x: (x - 1) ** 2, name="own", at_zero=1.0, slope_at_infinity=np.inf)
    for options in ({"divergence": own}, {"smoothing": 0.0}):
        with pytest.raises(SettingError, match="device"):
            fit_as_wide(paper_rows(1, 100, 7202), **PAPER, **options)


@pytest.mark.parametrize(("n_copies", "seed"), [(1, 7203), (6, 7204)])
def test_the_graph_is_that_of_the_cpu(n_copies, seed):
    rows = paper_rows(n_copies, 2_000, seed)
    found = kgmi.learn(rows, device="cpu", **PAPER)
    wanted = np.ones(found.scores.shape[:2], dtype=bool)
    wanted[:, list(found.dag.roots)] = False
    expected = kgmi.learn(rows, rate=usual_rate(found.scores, wanted), **PAPER)
    assert found.dag == expected.dag
    assert (found.stopped == expected.stopped)[wanted].all()
    np.testing.assert_array_equal(found.scores, expected.scores)  # from the same counts


@pytest.mark.parametrize("in_degree", ["uniform", "mixed"])
@pytest.mark.parametrize("solver", ["ascent", "limit"])
def test_a_wide_fit_is_the_same_fit(in_degree, solver):
    rows = paper_rows(4, 2_000, 7206)
    rows[:, 13] = np.minimum(rows[:, 13], 1)  # a state that never occurs
    options = PAPER | {"in_degree": in_degree, "solver": solver}
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


def test_small_tiles_and_slow_columns_change_nothing():
    rows = paper_rows(8, 400, 7206)
    options = PAPER | {"stop": 0.02, "rate": 400.0}
    whole = fit_as_wide(rows, **options)
    with within(1_000_000):
        pieces = fit_as_wide(rows, **options)
        assert len([*TorchCounts(rows, (3,) * 80).pair_blocks()]) > 1
    assert whole.stopped.max() > 64  # some go on after the others
    assert (pieces.stopped == whole.stopped).all()
    assert (pieces.chosen == whole.chosen).all()
    np.testing.assert_allclose(pieces.chosen_attention, whole.chosen_attention, atol=1e-9)
    endless = fit_as_wide(rows, **options | {"stop": 0.0, "epochs": 70})
    assert (endless.stopped[endless.wanted] == -1).all()


def test_a_given_rate_is_used():
    rows, options = paper_rows(1, 2_000, 7207), PAPER | {"rate": 40.0}
    wide, usual = fit_as_wide(rows, **options), kgmi.learn(rows, **options)
    assert (wide.stopped == usual.stopped)[wide.wanted].all()
    assert not fit_as_wide(rows, epochs=3, **options).converged


def test_equal_columns_are_tied_and_independent_ones_have_no_parents():
    rows = paper_rows(1, 2_000, 7208)
    wide = fit_as_wide(np.column_stack([rows[:, 0], rows[:, 0], rows[:, 1:]]), **PAPER)
    assert "tied" in wide.status
    assert not wide.converged
    assert fit_as_wide(np.random.default_rng(7209).integers(0, 3, (500, 8)), **PAPER).dag.n_edges == 0
