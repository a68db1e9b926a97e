"""Every problem of the golden set is answered as it was when the set was written, in every mode.

``python -m tests.golden.write_golden`` writes the answers anew; that is right only where one is meant to change.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from .modes import MODES, solve
from .problems import PROBLEMS

GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
_MARKS = {"dask": pytest.mark.cluster, "device": pytest.mark.torch}
_CASES = [
    pytest.param(problem, mode, id=f"{problem.name}-{mode}", marks=_MARKS.get(mode, ()))
    for problem in PROBLEMS
    for mode in problem.modes
]


@pytest.mark.parametrize(("problem", "mode"), _CASES)
def test_the_answer_is_the_golden_one(problem, mode, tmp_path):
    with _one_thread(mode):
        answer = solve(problem, mode, tmp_path)
    golden = GOLDEN[problem.name]
    assert answer["counts"] == golden["counts"]
    assert answer["edges"] == golden["edges"]
    assert answer["score"] == pytest.approx(golden["score"], rel=1e-9)
    assert [one["children"] for one in answer["kernels"]] == [one["children"] for one in golden["kernels"]]
    for one, other in zip(answer["kernels"], golden["kernels"], strict=True):
        assert one["error"] == pytest.approx(other["error"], abs=1e-8)
        table = one["table"] if "kernel" in problem.options else _in_roles_of(other["table"], one["table"])
        np.testing.assert_allclose(table, other["table"], rtol=0, atol=1e-8)


def test_problems_and_answers_belong_together():
    names = [problem.name for problem in PROBLEMS]
    assert names == list(GOLDEN)
    assert {mode for problem in PROBLEMS for mode in problem.modes} == set(MODES)


def _in_roles_of(golden, table):
    """The learned kernel with its parents in the golden roles, which rounding decides."""
    *parents, child = range(np.ndim(table))
    every = [np.transpose(table, (*order, child)) for order in permutations(parents)]
    turned = [one for one in every if one.shape == np.shape(golden)]
    return min(turned, key=lambda one: np.abs(one - golden).max())


@contextmanager
def _one_thread(mode):
    """Small products of PyTorch on several threads are slower than on one."""
    if mode != "device":
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
