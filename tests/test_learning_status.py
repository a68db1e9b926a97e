"""The sentences that say how a run ended and what to beware of, and the configuration kept with it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from kgmi import Dag, Divergence, Kernel, PairJoint, Process, Table, exact_joint, learn, sample

KERNEL = Kernel.paper()
POPULATION = exact_joint(Process(Dag.paper(), KERNEL))
COLLAPSE = "Plain mutual information steers all heads alike, so they collapse onto one parent."
NO_KERNEL = "No kernel was given, so candidates were ranked by mutual information alone"
EQUAL = "Some marginal kernels are equal (Assumption 1 fails)"


def test_converged():
    learned = learn(POPULATION, kernel=KERNEL)
    epochs = learned.stopped.max()
    assert learned.converged
    assert learned.status == (
        f"Converged after {epochs:,} epochs: all 16 heads of the 8 non-root nodes have more than 0.9 of the "
        "attention on one candidate. Roots: X1, X2. Closest call: head 2 of X6 prefers X5 to X4 by 0.002."
    )


def test_not_converged():
    learned = learn(POPULATION, kernel=KERNEL, epochs=500, names=tuple("ABCDEFGHIJ"))
    still = int((learned.stopped[:, 2:] < 0).sum())
    head, child = np.argwhere(learned.stopped[:, 2:] < 0)[0]
    assert not learned.converged
    assert 0 < still < 16
    assert learned.status.startswith(
        f"Not converged: after 500 epochs {still} of 16 heads are still spread out, the first being "
        f"head {head + 1} of {'CDEFGHIJ'[child]}; use more epochs, a larger rate, or the solver 'limit'. Roots: A"
    )


def test_the_limit_point():
    learned = learn(POPULATION, kernel=KERNEL, solver="limit")
    assert learned.converged
    assert learned.status.startswith(
        "Limit point of the ascent: all 16 heads of the 8 non-root nodes point at the best candidate. Roots: X1, "
    )


def test_without_a_stopping_rule_no_head_is_called_done():
    learned = learn(POPULATION, kernel=KERNEL, stop=0, epochs=100)
    least = np.floor(learned.attention[:, 2:].max(axis=-1).min() * 1e3) / 1e3
    assert not learned.converged
    assert learned.status.startswith(
        f"Ran for 100 epochs, as stop = 0 calls no head done; every head has {least:.3g} or more of its attention"
    )


@pytest.mark.parametrize("solver", ["ascent", "limit"])
def test_nothing_to_train(solver):
    rows = np.random.default_rng(0).integers(3, size=(400, 4))
    for guide, sentence in (("stationary", "Roots: X1, X2"), ("likelihood", "(roots: X1, X2, X3, X4).")):
        learned = learn(rows, kernel=KERNEL, guide=guide, solver=solver)
        assert learned.dag.n_edges == 0
        assert learned.status.startswith("All nodes are roots, so there was nothing to train. ")
        assert sentence in learned.status
        assert "Closest call" not in learned.status


def siblings():
    """Three children of a node that is left out, so that the third cannot tell the others apart; then its child."""
    kernel = Kernel([[0.9, 0.1], [0.2, 0.8]])
    whole = exact_joint(Process(Dag([(), (0,), (0,), (0,), (3,)]), kernel))
    return PairJoint(whole.joint[1:, 1:]), kernel


@pytest.mark.parametrize(("solver", "start"), [("ascent", "Ended after "), ("limit", "Limit point")])
def test_tied_heads_are_named_and_are_not_converged(solver, start):
    joint, kernel = siblings()
    learned = learn(joint, kernel=kernel, solver=solver)
    assert not learned.converged
    assert learned.status.startswith(start)
    assert "2 of 3 heads of the 3 non-root nodes" in learned.status
    assert (
        "One head (head 1 of X3) is tied between candidates of equal score, which no training can tell apart."
        in learned.status
    )
    assert "Closest call: head 1 of X4" in learned.status
    assert "Root: X1. Undecided, though not independent of the earlier nodes: X3." in learned.status
    assert learned.undecided == (2,)


def test_many_roots_are_not_all_listed():
    rows = np.random.default_rng(1).integers(2, size=(200, 11))
    assert "Roots: X1, X2, X3, X4, X5, X6, X7, X8 and 3 more." in learn(rows, guide="plain").status
    assert "(roots: X1, X2, X3, X4, X5, X6, X7, X8 and 3 more)" in learn(rows).status
    assert "Root: X1." in learn(exact_joint(Process(Dag.chain(3), Kernel([[0.9, 0.1], [0.2, 0.8]])))).status


def test_caution_about_plain_information():
    both, alone = learn(POPULATION, n_parents=2), learn(POPULATION)
    assert COLLAPSE in both.status
    assert NO_KERNEL in both.status
    assert COLLAPSE not in alone.status
    assert NO_KERNEL in alone.status
    known = learn(POPULATION, kernel=KERNEL, guide="plain")
    assert COLLAPSE in known.status
    assert NO_KERNEL not in known.status


def test_caution_about_equal_marginal_kernels():
    mendel = Kernel.mendelian(0.3)
    joint = exact_joint(Process(Dag([(), (), (0, 1), (0, 2)]), mendel))
    for guide in ("stationary", "uniform"):
        assert EQUAL in learn(joint, kernel=mendel, guide=guide, divergence="pearson", solver="limit").status
    assert EQUAL not in learn(joint, kernel=mendel, guide="plain").status
    assert EQUAL not in learn(POPULATION, kernel=KERNEL).status


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("hellinger", "gives heads no guidance (f'(1) = 0); use 'hellinger-matched'."),
        ("neyman", "gives heads guidance away from their kernels (f'(1) = -1); use 'neyman-matched'."),
    ],
)
def test_caution_about_divergences_that_do_not_guide(name, sentence):
    for guide in ("stationary", "uniform"):
        learned = learn(POPULATION, kernel=KERNEL, divergence=name, guide=guide, solver="limit")
        assert f"The divergence '{name}' as written {sentence}" in learned.status
    for quiet in ({"divergence": f"{name}-matched"}, {"divergence": name, "guide": "plain"}):
        assert "as written" not in learn(POPULATION, kernel=KERNEL, solver="limit", **quiet).status


def test_caution_about_a_users_own_divergence():
    own = Divergence.from_function(lambda x: (x - 1) ** 2, name="square", at_zero=1.0, slope_at_infinity=np.inf)
    status = learn(POPULATION, kernel=KERNEL, divergence=own, solver="limit").status
    assert "'square' as written gives heads no guidance (f'(1) = 0); use its matched()." in status
    assert "as written" not in learn(POPULATION, kernel=KERNEL, divergence=own.matched(), solver="limit").status


def test_caution_about_thin_data_and_names_of_states():
    rows = sample(Process(Dag.paper(5), KERNEL), 300, rng=1)
    table = Table(rows, tuple("abcde"), ("low", "mid", "high"))
    order = "The kernel's states 0..2 are taken to be low, mid, high, in this order."
    for guided, free in (("stationary", "plain"), ("likelihood", "likelihood")):
        known, alone = partial(learn, kernel=KERNEL, guide=guided), partial(learn, guide=free)
        assert "Never seen" not in known(rows).status
        assert "Never seen: states 3, 4." in alone(rows, n_states=5).status
        assert "scores are rough" not in known(rows).status
        assert (
            "X1 takes 3 states, so two such columns have 9 pairs of states for 40 rows" in alone(rows[:40]).status
        )
        assert order in known(table).status
        assert "taken to be" not in alone(table).status + known(rows).status


def test_the_configuration_holds_every_setting_as_plain_values():
    learned = learn(POPULATION, kernel=KERNEL, rate=np.float64(20), epochs=np.int64(60_000), roots=np.array([1, 0]))
    assert learned.configuration == {
        "n_rows": None,
        "n_states": 3,
        "n_heads": 2,
        "guide": "stationary",
        "divergence": "kl",
        "solver": "ascent",
        "rate": 20.0,
        "epochs": 60_000,
        "stop": 0.1,
        "smoothing": 1.0,
        "in_degree": "uniform",
        "roots": [0, 1],
        "root_level": 0.01,
        "kappa": 0.0,
        "labelled_form": "printed",
        "kernel_source": "known",
        "search": "auto",
        "list_length": 12,
        "penalty": "nml",
        "share": "auto",
        "error": 0.0,
        "starts": 6,
        "rounds": 50,
        "order": "given",
        "classes": None,
        "device": None,
    }
    assert {type(value) for value in learned.configuration.values()} == {type(None), int, str, float, list}


def test_the_report_comes_with_every_known_kernel():
    learned = learn(POPULATION, kernel=KERNEL)
    assert [a.holds for a in learned.assumptions.assumptions] == [True, True, False, False]
    assert learn(POPULATION).assumptions is None
    rows = sample(Process(Dag.paper(), KERNEL), 500, rng=np.random.default_rng(0))
    for guide in ("stationary", "contextual"):
        few, many = (learn(rows, kernel=KERNEL, guide=guide, smoothing=s, solver="limit") for s in (1, 1_000))
        first, second = few.assumptions, many.assumptions
        np.testing.assert_array_equal(first.marginal_distance, second.marginal_distance)  # of the data as they are
    assert learn(rows).assumptions is None  # a kernel that was learned from the rows proves nothing about them
