"""What parameters cost: the normaliser of NML against its definition, and the other penalties by name."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.errors import SettingError
from kgmi.penalty import PENALTIES, Penalty, log_choices, penalty_named, regret
from kgmi.score import kernel_price
from kgmi.search import solve

from . import plain_guides
from .search_drills import problem_for, rows_observed


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_regret_is_the_sum_over_all_samples(n_states):
    sizes = np.arange(1, 13)
    expected = [plain_guides.regret(int(n), n_states) for n in sizes]
    np.testing.assert_allclose(regret(sizes, n_states), expected, rtol=1e-10)


def test_regret_of_many_states_does_not_overflow():
    cases = np.array([0.0, 1, 1e3, 1e5, 1e9])
    logs = [np.array([regret(cases, size) for size in sizes]) for sizes in (range(1, 2_000), range(2, 2_001))]
    steps = logs[1] - logs[0]
    assert np.isfinite(steps).all()
    assert (steps[:, 0] == 0).all()
    np.testing.assert_allclose(logs[1][:, 1], np.log(range(2, 2_001)), atol=2e-5)  # of one case, all states alike
    assert (np.diff(steps[:, 1:], axis=0) <= 1e-3).all()  # each further state costs less


def test_regret_of_two_states_is_right_on_both_sides_of_the_switch():
    for n in (299, 300, 301, 500, 1000):
        logs = [
            math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            + sum(c * math.log(c / n) for c in (k, n - k) if c)
            for k in range(n + 1)
        ]  # fmt: skip
        assert regret(np.array(n), 2) == pytest.approx(math.log(sum(map(math.exp, logs))), abs=1e-5)


@pytest.mark.parametrize("n_states", [2, 3, 4, 8])
def test_regret_has_no_jump_at_the_switch(n_states):
    steps = np.diff(regret(np.arange(280, 321), n_states))
    assert (steps > 0).all()
    assert np.abs(np.diff(steps)).max() < 1e-4 * n_states  # as smooth there as elsewhere


@pytest.mark.parametrize("n_states", [2, 3, 4, 6])
def test_bic_is_the_limit_of_nml(n_states):
    """The difference settles at the constant of the asymptotic expansion, log(√π / Γ(S/2)) − (S − 1)/2 log 2."""
    n = np.array([1e8, 1e10])
    bic = 0.5 * (n_states - 1) * np.log(n)
    constant = 0.5 * math.log(math.pi) - math.lgamma(n_states / 2) - 0.5 * (n_states - 1) * math.log(2)
    np.testing.assert_allclose(regret(n, n_states) - bic, constant, atol=1e-3)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 2000), st.floats(0, 2000), st.integers(2, 6))
def test_regret_grows_with_cases_and_states(n, more, n_states):
    here, there = regret(np.array([n, n + more]), n_states)
    assert -1e-12 <= here <= there + 1e-5
    assert regret(np.array([n]), n_states + 1)[0] >= here


def test_the_price_of_a_kernel_is_that_of_child_and_parents_less_that_of_the_parents():
    """Two states of the child, two configurations, 12 cases, all of which occur."""
    counts = np.array([[9, 1], [1, 1]])
    nml = plain_guides.regret(12, 4) - plain_guides.regret(12, 2)
    nml += 2 * math.log(12) * (math.log(4) * (4 / 12) ** 2 - math.log(2) * (2 / 12) ** 2)  # occurring / cases
    expected = {"none": 0, "aic": 2, "bic": math.log(12), "nml": nml}
    problem = problem_for(rows_observed(np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], counts.ravel(), axis=0), 2))
    for name, one in PENALTIES.items():
        priced = replace(problem, penalty=one)
        assert kernel_price(priced, counts, 2, 2) == pytest.approx(expected[name])
        assert code_price(one, 12, (4, 2), (4, 2)) == pytest.approx(expected[name])
        assert one.code(0.0, 0, 4, 0) == kernel_price(priced, 0 * counts, 2, 2) == 0


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(PENALTIES)), st.integers(1, 500), st.integers(1, 60), st.floats(0, 1), st.floats(0, 1)
)
def test_what_is_described_is_no_worse_than_equally_likely_states_and_their_extra_price(
    name, cases, possible, occurs, fits
):
    n_occurring = max(1, round(occurs * min(possible, cases)))
    fit = -fits * cases * math.log(n_occurring)
    found = PENALTIES[name].code(fit, cases, possible, n_occurring)
    assert found <= fit + 1e-9
    if name != "nml":
        assert found == fit - PENALTIES[name].cost(float(cases), float(possible))
        return
    alike = possible * -math.expm1(-cases / possible)
    n_paid = max(round(possible * min(n_occurring / alike, 1.0) ** 0.25), 1)
    extra = 2 * math.log(cases) * math.log(possible)
    paid = fit - float(PENALTIES[name].cost(np.array(float(cases)), np.array(n_paid)))
    paid -= extra * (n_occurring / cases) ** 2
    least = -cases * math.log(possible) - extra
    assert found == pytest.approx(max(paid, least), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("skew", [False, True])
@pytest.mark.parametrize(("n_states", "n_rows"), [(10, 60), (10, 200), (5, 60), (3, 100)])
def test_independent_columns_with_more_joint_states_than_rows_have_no_edges(n_states, n_rows, skew):
    rng = np.random.default_rng([77, n_states, n_rows, skew])
    laws = rng.dirichlet(np.full(n_states, 3.0), 8) if skew else np.full((8, n_states), 1 / n_states)
    rows = np.stack([rng.choice(n_states, n_rows, p=law) for law in laws], axis=1)
    assert learn(rows, n_parents=2, n_states=n_states).dag.edges == ()


def code_price(penalty, cases, possible, occurring):
    """The price of a kernel that leaves nothing to chance, of so many joint states, and of the parents' alone."""
    described = [float(penalty.code(0.0, cases, *sizes)) for sizes in zip(possible, occurring, strict=True)]
    return described[1] - described[0]


@pytest.mark.parametrize("occurring", [(4, 2), (5, 4), (12, 4)])
def test_a_price_grows_with_the_states_that_occur(occurring):
    """Under NML alone: joint states that hardly ever occur are hardly parameters."""
    for name, one in PENALTIES.items():
        price, whole = code_price(one, 100, (12, 4), occurring), code_price(one, 100, (12, 4), (12, 4))
        assert price < whole if name == "nml" and occurring != (12, 4) else price == whole


@pytest.mark.parametrize("name", ["nml", "bic", "aic", "none"])
def test_penalties_go_by_name(name):
    assert penalty_named(name) is PENALTIES[name]
    assert penalty_named(name).name == name
    assert penalty_named(PENALTIES[name]) is PENALTIES[name]


def test_a_number_is_nats_per_free_parameter():
    own = penalty_named(2.5)
    assert isinstance(own, Penalty)
    assert own.name == "2.5"
    assert own.cost(50, 12) == 11 * 2.5
    assert code_price(own, 50, (12, 3), (12, 3)) == 9 * 2.5
    assert code_price(penalty_named(0), 50, (12, 3), (12, 3)) == 0


@pytest.mark.parametrize("bad", ["bci", "", -1.0, math.nan, math.inf])
def test_other_penalties_are_refused(bad):
    with pytest.raises(SettingError, match="penalty"):
        penalty_named(bad)


@pytest.mark.parametrize("n_candidates", [0, 1, 5, 40])
def test_choices_are_counted(n_candidates):
    for n_parents in range(n_candidates + 1):
        expected = plain_guides.log_binomial(n_candidates, n_parents)
        assert log_choices(n_candidates, n_parents) == pytest.approx(expected, abs=1e-9)
    assert log_choices(n_candidates, n_candidates + 1) == math.inf


@pytest.mark.parametrize("name", ["nml", "bic", "aic"])
@pytest.mark.parametrize("share", ["auto", "node"])
def test_states_that_never_occur_cost_nothing(name, share):
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 100, rng=7901)
    found = [solve(problem_for(rows_observed(rows, n), share=share, penalty=name)) for n in (3, 5)]
    assert found[0].score.total == pytest.approx(found[1].score.total)
    assert [{*one} for one in found[0].parents] == [{*one} for one in found[1].parents]


@pytest.mark.parametrize("n_states", [2, 3, 5])
def test_regrets_that_are_looked_up_are_those_that_are_computed(n_states):
    counts = np.array([[0.0, 1.0, 2.0], [299.0, 301.0, 99_999.0]])
    between = regret(counts + 1e-9, n_states)  # no whole numbers: nothing to look up
    np.testing.assert_allclose(regret(counts, n_states)[counts > 0], between[counts > 0], rtol=1e-9)
    assert regret(counts, n_states)[0, 0] == 0
    assert regret(np.array([2.0, 250_000.0]), n_states)[0] == pytest.approx(regret(np.array(2.0), n_states))
