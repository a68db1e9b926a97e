"""Parents the wrong way round are turned, where the kernel fits better afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag, Process, sample
from kgmi.search.alternate import pools_of, state_of
from kgmi.search.roles import reorient

from .search_drills import observations, paper_kernel, plan_for, rows_observed
from .strategies import seeds


@settings(max_examples=30, deadline=None)
@given(observed=observations(min_nodes=4, max_nodes=6, max_states=3, same_sizes=True, weighted=False), seed=seeds)
def test_the_same_parents_and_never_a_lower_score(observed, seed):
    rng = np.random.default_rng(seed)
    parents = tuple(tuple(rng.permutation(i)[: rng.integers(0, 4)].tolist()) for i in range(observed.n_nodes))
    plan = plan_for(observed, 3)
    state = state_of(plan, parents, pools_of(plan, parents))
    found = reorient(plan, state)
    assert found.score >= state.score
    assert [set(ps) for ps in found.parents] == [set(ps) for ps in parents]


@pytest.mark.parametrize("turned", [(), (3,), (4, 7), (2, 5, 9)])
def test_families_the_wrong_way_round_are_turned(turned):
    rng = np.random.default_rng(7901)
    dag = Dag.paper(10)
    plan = plan_for(rows_observed(sample(Process(dag, paper_kernel(rng)), 1000, rng=rng)))
    right = state_of(plan, dag.parents, pools_of(plan, dag.parents))
    parents = tuple(ps[::-1] if child in turned else ps for child, ps in enumerate(dag.parents))
    found = reorient(plan, state_of(plan, parents, pools_of(plan, parents)))
    assert found.parents == dag.parents
    assert found.score == pytest.approx(right.score)
