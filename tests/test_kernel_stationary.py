import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag, Kernel, Process, exact_joint
from kgmi.errors import KernelError
from kgmi.kernel import stationary

from . import brute
from . import strategies as own


def slow(rate):
    """Leaves state 0 at ``rate`` and state 1 three times as fast, so the law is 3/4, 1/4 at any rate."""
    return np.array([[1 - rate, rate], [3 * rate, 1 - 3 * rate]])


def copy_last(step, n_parents):
    """Order-K kernel that looks at its last parent only."""
    return np.broadcast_to(step, (len(step),) * (n_parents + 1)).copy()


@settings(max_examples=40, deadline=None)
@given(own.kernels(max_parents=3))
def test_the_stationary_law_solves_the_lifted_chain(kernel):
    assert np.allclose(kernel.stationary, brute.stationary(kernel.table), rtol=0, atol=1e-9)
    assert kernel.stationary.sum() == pytest.approx(1)
    assert kernel.stationary_residual < 1e-13
    for axis in range(kernel.n_parents):
        others = tuple(a for a in range(kernel.n_parents) if a != axis)
        assert np.allclose(kernel.stationary.sum(axis=others), kernel.marginal)


def test_one_parent_by_hand():
    assert np.allclose(Kernel([[0.9, 0.1], [0.2, 0.8]]).stationary, [2 / 3, 1 / 3])


def test_a_hundred_thousand_tuples_work():
    kernel = Kernel.random(10, 5, rng=np.random.default_rng(0))
    law = kernel.stationary
    assert law.shape == (10,) * 5
    assert kernel.stationary_residual < 1e-13
    moved = np.einsum("abcde,abcdef->bcdef", law, kernel.table)
    assert np.abs(moved - law).sum() < 1e-12


def test_a_periodic_kernel_has_its_law():
    # Every second step is state 0; power iteration alone would swing for ever.
    kernel = Kernel([[0, 0.3, 0.7], [1, 0, 0], [1, 0, 0]])
    assert np.allclose(kernel.stationary, [0.5, 0.15, 0.35], rtol=0, atol=1e-14)
    lifted = Kernel(copy_last(kernel.table, 2))
    assert np.allclose(lifted.marginal, [0.5, 0.15, 0.35], rtol=0, atol=1e-14)


@pytest.mark.parametrize("rate", [1e-4, 1e-6, 1e-9])
def test_a_kernel_that_hardly_moves_has_its_law(rate):
    assert np.allclose(Kernel(slow(rate)).marginal, [0.75, 0.25], rtol=0, atol=1e-6)
    assert np.allclose(Kernel(copy_last(slow(rate), 3)).marginal, [0.75, 0.25], rtol=0, atol=1e-6)


def test_a_large_kernel_that_hardly_moves_is_an_error_not_a_guess(monkeypatch):
    monkeypatch.setattr(stationary, "_solve", lambda table, kept, start: start)  # as if it could not be solved
    assert np.allclose(Kernel(slow(0.1)).marginal, [0.75, 0.25], rtol=0, atol=1e-9)
    with pytest.raises(KernelError, match=r"mixes too slowly.*Kernel\(table, parent_law=…\)"):
        _ = Kernel(slow(1e-10)).stationary


def test_several_closed_classes_are_an_error_with_advice():
    with pytest.raises(KernelError, match=r"not unique.* 2 closed classes.*Kernel\(table, parent_law=…\)"):
        _ = Kernel(np.eye(2)).stationary
    mendel = Kernel(Kernel.mendelian().table)
    with pytest.raises(KernelError, match="2 closed classes"):
        _ = mendel.stationary
    assert stationary.closed_classes(np.eye(4))[0] == 4


def test_zeros_with_one_closed_class_are_fine():
    drift = Kernel([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])
    assert drift.stationary.tolist() == [0, 0, 1]
    swing = Kernel(
        [[0, 0.3, 0.7, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0, 0, 0.5]]
    )  # periodic, once state 3 is left
    assert swing.stationary.tolist() == pytest.approx([0.5, 0.15, 0.35, 0])
    assert swing.stationary[3] == 0


def test_a_given_parent_law_is_used_as_it_is():
    law = np.array([[0.3, 0.2], [0.2, 0.3]])
    kernel = Kernel(np.full((2, 2, 2), 0.5), parent_law=law)
    assert np.array_equal(kernel.stationary, law)
    assert np.isnan(kernel.stationary_residual)
    assert np.allclose(kernel.marginal, [0.5, 0.5])
    law[0, 0] = 9
    assert kernel.stationary[0, 0] == 0.3
    with pytest.raises(ValueError, match="read-only"):
        kernel.stationary[0, 0] = 0
    assert np.allclose(kernel.marginalise(1).stationary, [0.5, 0.5])


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ([0.5, 0.5], r"parent_law must have shape \(2, 2\), one axis per parent, got \(2,\)"),
        ([[0.5, 0.5], [0.5, 0.5]], "its entries sum to 2"),
        ([[-0.5, 0.5], [0.5, 0.5]], r"probability -0\.5 for parent states \(0, 0\)"),
        ([[0.25, 0.25], [0.25, np.nan]], r"probability nan for parent states \(1, 1\)"),
        ([[0.25, 0.25], [0.25, np.inf]], "sum to inf"),
        ([[0.1, 0.4], [0.1, 0.4]], "every parent the same marginal law"),
        ([["a", "b"], ["c", "d"]], "must be a table of numbers"),
    ],
)
def test_a_bad_parent_law_is_named(law, message):
    with pytest.raises(KernelError, match=message):
        Kernel(np.full((2, 2, 2), 0.5), parent_law=law)


def test_rows_that_are_off_by_rounding_do_not_add_up_along_a_long_graph():
    step = np.full((3, 3), 0.333333333)
    law = np.full(3, 0.333333333)
    for kernel in (Kernel(step), Kernel(step, parent_law=law)):
        joint = exact_joint(Process(Dag.chain(200), kernel)).joint
        assert np.allclose(joint.sum(axis=(2, 3)), 1, rtol=0, atol=1e-12)


def sticky(n_states, n_parents, moves):
    """Keeps its last state but for a chance ``moves`` of a random one."""
    table = moves * np.random.default_rng(0).dirichlet(np.ones(n_states), size=(n_states,) * n_parents)
    past = np.indices((n_states,) * n_parents)
    table[(*past, past[-1])] += 1 - moves
    return Kernel(table)


@pytest.mark.parametrize(("n_states", "n_parents", "moves"), [(8, 4, 1e-3), (27, 2, 1e-5), (4, 5, 1e-4)])
def test_large_kernels_that_mix_slowly_have_their_law(n_states, n_parents, moves):
    kernel = sticky(n_states, n_parents, moves)
    step = stationary.lifted_step(kernel.stationary, kernel.table)
    assert kernel.stationary_residual < 1e-13
    assert np.abs(step - kernel.stationary).sum() < 1e-13
    assert np.all(kernel.marginal > 1e-3)
