"""Resampled edges, and the paper's condition with a bound on its error."""

import numpy as np
import pytest

import kgmi
from kgmi import Dag, Kernel, Process, bootstrap, exact_joint, learn, sample
from kgmi.certify.concentration import PaperCondition, information_error, paper_condition
from kgmi.errors import SettingError
from kgmi.guides import scores

FIVE = Process(Dag.paper(5), Kernel.paper())
LEARNED = {"n_parents": 2, "share": "shared"}


def test_clear_edges_are_found_in_every_resample_and_noise_in_some():
    learned = learn(sample(FIVE, 1_000, rng=120), **LEARNED)
    shares = learned.bootstrap(100, rng=7)
    assert all(shares[f"X{a + 1}", f"X{b + 1}"] == 1.0 for a, b in FIVE.dag.edges)
    assert shares == learned.bootstrap(100, rng=7)
    few = bootstrap(sample(FIVE, 100, rng=121), 100, **LEARNED)
    assert few
    assert any(0 < share < 0.9 for share in few.values())
    assert list(few.values()) == sorted(few.values(), reverse=True)


@pytest.mark.parametrize("options", [{"share": "node"}, {"kernel": FIVE.kernel}], ids=["node", "known"])
def test_kernels_of_their_own_and_known_ones(options):
    shares = bootstrap(sample(FIVE, 1_000, rng=122), 50, **({"n_parents": 2} | options))
    assert shares["X4", "X5"] == 1.0
    assert shares["X1", "X3"] == 1.0


def test_parents_compete_as_in_the_search():
    # Two copies of a parent: each is chosen in about half of the resamples.
    rng = np.random.default_rng(123)
    first = rng.integers(0, 2, 300)
    copy = np.where(rng.random(300) < 0.02, 1 - first, first)
    child = np.where(rng.random(300) < 0.2, 1 - first, first)
    noise = rng.random(300) < 0.01
    rows = np.column_stack([first, copy, np.where(noise, copy, child)])
    shares = bootstrap(rows, 200, n_parents=1, share="shared")
    total = shares.get(("X1", "X3"), 0.0) + shares.get(("X2", "X3"), 0.0)
    assert total == pytest.approx(1.0)


def test_gaps_and_symmetric_kernels():
    process = Process(Dag.random(8, 2, rng=124), Kernel.mendelian())
    rows = sample(process, 400, rng=125)
    rows[::9, 3] = -1
    shares = bootstrap(rows, 20, n_parents=2, n_states=3, share="shared", missing="pairwise")
    found = {(int(a[1:]) - 1, int(b[1:]) - 1) for (a, b), share in shares.items() if share > 0.8}
    assert len(found & {*process.dag.edges}) >= 0.8 * len(process.dag.edges)


def test_the_bootstrap_refuses_what_it_cannot_do():
    learned = learn(sample(FIVE, 200, rng=126), kernel=FIVE.kernel, guide="stationary")
    with pytest.raises(SettingError, match="learn with that guide"):
        learned.bootstrap()
    searched = learn(sample(FIVE, 200, rng=126), kernel=FIVE.kernel)
    with pytest.raises(SettingError, match="at least one replicate"):
        searched.bootstrap(0)


def test_the_bound_on_the_error_of_the_information_holds():
    truth = exact_joint(FIVE)
    exact = scores(truth, FIVE.kernel, "kl", "stationary")
    for seed in range(130, 140):
        joint = kgmi.count_pairs(sample(FIVE, 20_000, rng=seed), 3).pair_joint(0.0)
        bound = information_error(joint, FIVE.kernel.marginal_kernels, 20_000, 0.05)
        off = np.nanmax(np.abs(scores(joint, FIVE.kernel, "kl", "stationary") - exact))
        assert off < bound
        assert bound < 1.0


def test_the_condition_of_the_paper_needs_very_many_rows():
    joint = kgmi.count_pairs(sample(FIVE, 5_000, rng=141), 3).pair_joint(0.0)
    found = paper_condition(joint, FIVE.kernel, FIVE.dag, 5_000, 0.05)
    assert not found.holds
    assert found.gap > 0
    assert 1e5 < found.rows_needed < 1e13
    many = paper_condition(joint, FIVE.kernel, FIVE.dag, int(found.rows_needed), 0.05)
    assert many.holds
    assert 6 * many.error < many.gap
    assert not paper_condition(joint, FIVE.kernel, FIVE.dag, int(found.rows_needed * 0.9), 0.05).holds
    assert "holds: Δ" in many.sentence
    assert "rows." in found.sentence


def test_the_condition_in_words():
    assert "no bound on ε yet" in PaperCondition(0.1, np.inf, False, 1e6).sentence
    assert "no number of rows" in PaperCondition(0.0, 0.1, False, np.inf).sentence
