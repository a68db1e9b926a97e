"""Theorem 3: with KL the best candidate of head ℓ is the ℓ-th parent, where the parents follow M_π."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import DIVERGENCES, Dag, Kernel, Process, ascend, decode, exact_joint, learn, limit, scores

from .strategies import kernels


@settings(max_examples=100, deadline=None)
@given(kernels(max_parents=3))
def test_theorem_3_the_best_candidate_of_a_head_is_its_parent_on_chains(kernel):
    dag = Dag.chain(kernel.n_parents + 3, kernel.n_parents)
    joint = exact_joint(Process(dag, kernel))
    table = scores(joint, kernel)
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents):
            assert np.nanargmax(table[head, child]) == parent
            # Its proof: what a candidate lacks is the divergence of the joint it should have from the one it has.
            should = (kernel.marginal[:, None] * kernel.marginal_kernels[head]).T.ravel()
            for j in range(child):
                lacks = DIVERGENCES["kl"].between(should, joint.joint[child, j].ravel())
                assert table[head, child, parent] - table[head, child, j] == pytest.approx(lacks, abs=1e-10)


def test_theorem_3_finds_all_sixteen_edges_of_the_paper_by_ascent_and_by_limit():
    table = scores(exact_joint(Process(Dag.paper(), Kernel.paper())), Kernel.paper())
    ascent = ascend(table, rate=10.0, stop=0.1, wait_for=np.tile(np.arange(10) > 1, (2, 1)))
    assert (ascent.stopped[:, 2:] > 0).all()
    for attention in (ascent.attention, limit(table).attention):
        assert decode(attention) == Dag.paper()
        assert decode(attention).n_edges == 16


def test_theorem_3_does_not_hold_on_every_graph():
    """Population scores, no sampling error; M_π is not the law of the parents here (docs/method.md)."""
    rng = np.random.default_rng(0)
    right = 0
    for _ in range(40):
        kernel = Kernel.paper(rng.uniform(-0.1, 0.1, size=9))
        learned = learn(exact_joint(Process(Dag.paper(), kernel)), kernel=kernel, solver="limit")
        right += learned.dag == Dag.paper()
        assert not learned.assumptions.holds
    assert 20 < right < 40
