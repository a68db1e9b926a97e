"""What a result says where the known kernel does not fit, and what a told rate of errors costs."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.errors import SettingError

MENDEL = Kernel.mendelian()


def pedigree(seed, n_nodes=16, n_rows=250):
    return sample(Process(Dag.random(n_nodes, 2, rng=seed), MENDEL), n_rows, rng=seed)


def test_a_kernel_that_does_not_fit_is_named_with_the_nodes():
    rng = np.random.default_rng(7801)
    first, second = rng.integers(0, 3, (2, 2_000))
    child = np.where(rng.random(2_000) < 0.05, rng.integers(0, 3, 2_000), (first + second) % 3)
    learned = learn(np.stack([first, second, child], axis=1), kernel=Kernel.paper())
    assert "The known kernel does not fit X3: parents with a kernel of their own would" in learned.status
    assert "(in_degree='mixed')" in learned.status


def test_a_parent_that_is_not_in_the_table():
    rows = pedigree(7802)
    dag = Dag.random(16, 2, rng=7802)
    lost = max(range(16), key=lambda node: sum(node in ps for ps in dag.parents))
    learned = learn(np.delete(rows, lost, axis=1), kernel=MENDEL, error=0.01)
    assert "The known kernel does not fit" in learned.status


@pytest.mark.parametrize("n_rows", [50, 250])
def test_a_kernel_that_fits_is_not_blamed(n_rows):
    for seed in range(7803, 7808):
        assert "does not fit" not in learn(pedigree(seed, n_rows=n_rows), kernel=MENDEL).status


def test_errors_that_are_told_count_for_kernels_of_each_node_too():
    rows = pedigree(7810)
    scores = [learn(rows, n_parents=2, share="node", error=error).fit.score for error in (0, 0.05, 0.4)]
    assert scores[0] > scores[1] > scores[2]
    learned = learn(rows, n_parents=2, error=0.4)
    assert learned.fit.shared
    assert "A share 0.4 of readings is taken to be random." in learn(rows, share="node", error=0.4).status


@pytest.mark.parametrize("told", [{"roots": [0]}, {"required": [(0, 1)]}])
def test_what_the_known_kernel_cannot_do_is_refused(told):
    rows = sample(Process(Dag.paper(), Kernel.paper()), 300, rng=7811)
    with pytest.raises(SettingError, match=r"X2 .* known kernel takes 2 parents; allow fewer"):
        learn(rows, kernel=Kernel.paper(), **told)
    found = learn(rows, kernel=Kernel.paper(), in_degree="mixed", **told)
    assert found.parents["X2"] == ("X1",)
    assert "inf nats" not in found.status


def test_the_last_changes_of_single_nodes_do_not_unsettle_the_search():
    for seed in range(7812, 7832):
        learned = learn(sample(Process(Dag.paper(), Kernel.paper()), 60, rng=seed), n_parents=2, n_states=3)
        assert learned.fit.rounds > 0 or not learned.dag.edges  # no round finds more than the empty graph
        assert "Re-guided for 0 rounds" not in learned.status
        assert "Re-guided for 0 rounds" not in learned.status
        if learned.fit.shared and learned.fit.shared_score < learned.fit.node_score:
            assert "describes the data better" not in learned.status
