"""Scores where states or pairs of states never occur, and the errors of ``scores``."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import (
    DIVERGENCES,
    Dag,
    FiniteKernels,
    Kernel,
    KernelSampler,
    PairJoint,
    Process,
    count_pairs,
    exact_joint,
)
from kgmi import scores as score
from kgmi.errors import DivergenceError, KernelError, SettingError

NAMES = [name + form for name in DIVERGENCES for form in ("", "-matched")]
# lim r→0 f(r)/r: f(0) < 0 or x log x go down, f(0) > 0 go up, and x² − x has the slope −1.
AT_ZERO = dict.fromkeys(NAMES, np.inf) | {
    "kl": -np.inf,
    "kl-matched": -np.inf,
    "pearson": -1.0,
    "pearson-matched": -np.inf,
    "total-variation-matched": -np.inf,
}
FULL = Kernel([[0.6, 0.4], [0.3, 0.7]])


def two_nodes(pair):
    """Pair joint of two nodes from P(S_1 = s', S_0 = s)."""
    pair = np.asarray(pair, dtype=float)
    joint = np.zeros((2, 2, *pair.shape))
    joint[1, 0], joint[0, 1] = pair, pair.T
    joint[0, 0], joint[1, 1] = np.diag(pair.sum(axis=0)), np.diag(pair.sum(axis=1))
    return PairJoint(joint)


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_of_states_that_never_occurs_takes_the_limit_of_its_divergence(name):
    joint = two_nodes([[0.5, 0.0], [0.2, 0.3]])
    value = score(joint, FULL, name)[0, 1, 0]
    if np.isinf(AT_ZERO[name]):
        assert value == AT_ZERO[name]
    else:
        # Σ π(s'|s) P(s', s) / P(s') − 1 of docs/method.md
        expected = 0.6 * 0.5 / 0.5 + 0.4 * 0.2 / 0.5 + 0.7 * 0.3 / 0.5 - 1
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_that_the_kernel_forbids_adds_nothing(name):
    kernel = Kernel([[0.6, 0.4], [0.0, 1.0]])
    joint = two_nodes([[0.5, 0.0], [0.2, 0.3]])
    f = DIVERGENCES[name.removesuffix("-matched")]
    f = f if name == f.name else f.matched()
    cells = [(0.7 * 0.6, 0.5, 0.5 * 0.7), (0.7 * 0.4, 0.2, 0.5 * 0.7), (0.3 * 1.0, 0.3, 0.5 * 0.3)]
    expected = sum(w * q / p * float(f.f(np.array([p / q]))[0]) for w, p, q in cells)
    assert score(joint, kernel, name)[0, 1, 0] == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("guide", ["stationary", "plain"])
def test_a_state_that_never_occurs_adds_nothing(name, guide):
    pair = np.array([[0.4, 0.1], [0.2, 0.3]])
    small, padded = two_nodes(pair), two_nodes(np.pad(pair, (0, 1)))
    wide = Kernel(np.array([[0.5, 0.3, 0.2], [0.25, 0.6, 0.15], [0.1, 0.2, 0.7]]))
    found = score(padded, wide, name, guide)[0, 1, 0]
    if guide == "plain":
        assert found == pytest.approx(score(small, None, name, guide)[0, 1, 0])
    else:
        f = DIVERGENCES[name.removesuffix("-matched")]
        f = f if name == f.name else f.matched()
        p, q = pair.sum(axis=1), pair.sum(axis=0)
        ratio = pair / np.outer(p, q)
        weight = q * wide.marginal_kernels[0][:2, :2].T
        assert found == pytest.approx((weight * f.f(ratio) / ratio).sum())


@pytest.mark.parametrize("name", NAMES)
def test_smoothing_makes_every_score_finite(name):
    counts = count_pairs([[0, 0], [1, 1], [0, 0], [1, 1]], 2)
    if np.isinf(AT_ZERO[name]):
        assert np.isinf(score(counts, FULL, name)[0, 1, 0])
    assert np.isfinite(score(counts, FULL, name, smoothing=0.5)[0, 1, 0])
    by_hand = two_nodes([[2.125 / 4.5, 0.125 / 4.5], [0.125 / 4.5, 2.125 / 4.5]])
    expected = score(by_hand, FULL, name)[0, 1, 0]
    assert score(counts, FULL, name, smoothing=0.5)[0, 1, 0] == pytest.approx(expected)


JOINT = exact_joint(Process(Dag.paper(5), Kernel.paper()))
LAW = FiniteKernels([Kernel.paper(), Kernel.paper(0.05)])
MIXTURE = exact_joint(Process(Dag.paper(5), LAW))


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (SettingError, "no guide 'best'; choose one of stationary", (JOINT, Kernel.paper(), "kl", "best")),
        (DivergenceError, "no divergence 'lk'", (JOINT, Kernel.paper(), "lk")),
        (KernelError, "'stationary' needs the kernel", (JOINT,)),
        (KernelError, "'uniform' needs the kernel", (JOINT, None, "kl", "uniform")),
        (KernelError, "data have 3 states, the kernel 2", (JOINT, FULL)),
        (KernelError, "data have 3 states, the kernel 2", (MIXTURE, FiniteKernels([FULL, FULL]))),
        (KernelError, "finite kernel law that they came from", (MIXTURE, Kernel.paper())),
        (KernelError, "finite kernel law that they came from", (MIXTURE, FiniteKernels([Kernel.paper()]))),
        (KernelError, "finite kernel law that they came from", (MIXTURE, FiniteKernels(LAW.kernels, [0.1, 0.9]))),
        (KernelError, "finite kernel law that they came from", (MIXTURE,)),
        (KernelError, "pooled counts have lost", (JOINT, LAW)),
        (KernelError, "labelled_scores", (count_pairs([[0, 1], [1, 2]], 3), LAW)),
        (KernelError, "labelled_scores", (JOINT, KernelSampler(lambda rng: Kernel.paper(), 3, 2))),
    ],
)
def test_bad_arguments_have_clear_errors(error, match, arguments):
    with pytest.raises(error, match=match):
        score(*arguments)


@pytest.mark.parametrize("guide", ["stationary", "uniform"])
def test_a_wrong_number_of_heads_is_an_error(guide):
    with pytest.raises(SettingError, match="3 heads were asked for, but the kernel has 2"):
        score(JOINT, Kernel.paper(), guide=guide, n_heads=3)


@pytest.mark.parametrize("n_heads", [0, -1])
def test_there_must_be_a_head(n_heads):
    with pytest.raises(SettingError, match=f"at least 1, got {n_heads}"):
        score(JOINT, guide="plain", n_heads=n_heads)


@pytest.mark.parametrize("smoothing", [-1.0, np.nan, np.inf])
def test_smoothing_must_be_a_number_of_rows(smoothing):
    with pytest.raises(SettingError, match="pseudo-rows"):
        score(count_pairs([[0, 1], [1, 0]], 2), FULL, smoothing=smoothing)


def test_plain_information_of_a_random_kernel_needs_no_kernel():
    found = score(MIXTURE, None, "kl", "plain", n_heads=2)
    np.testing.assert_array_equal(found, score(MIXTURE, LAW, "kl", "plain"))
