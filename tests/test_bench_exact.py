"""Methods on exact laws, and what is reported of them."""

from __future__ import annotations

import json

import pytest

from kgmi import Dag, learn
from kgmi.bench.exact import METHODS, ExactMethod, try_methods
from kgmi.bench.exact.report import outcome_lines, plain_values, trouble_lines
from kgmi.bench.graphs import Setting
from kgmi.errors import DataError

SMALL = Setting("paper5", "paper", 2)


def test_every_method_learns_a_small_graph_from_its_exact_law():
    steps = []
    outcomes = try_methods([SMALL], seed=2, tell=lambda done, total: steps.append((done, total)))
    assert [outcome.method for outcome in outcomes] == list(METHODS)
    assert steps == [(number, 14) for number in range(14)]
    for outcome in outcomes:
        assert outcome.trouble == {}
        assert outcome.right == (True, True), outcome.method.key
        assert outcome.f1 == (1.0, 1.0)
        assert min(outcome.seconds) > 0
        learned = outcome.method.kernel == "learned"
        assert [shared is not None for shared in outcome.shared] == [learned] * 2


def test_a_random_graph_by_joint_search():
    setting = Setting("random:7,2", "paper", 3)
    joint = [method for method in METHODS if method.key in ("joint", "joint-roots")]
    assert [outcome.right for outcome in try_methods([setting], 2, joint)] == [(True,) * 3] * 2


def _one_edge(process):
    learned = learn(process, kernel=process.kernel, roots=(0, 1), solver="limit")
    if process.kernel == SMALL.draw(1)[1].kernel:
        raise DataError("this fit fails on purpose")
    object.__setattr__(learned, "dag", Dag.from_edges([(0, 2)], 5))
    return learned


def test_what_goes_wrong_is_counted_and_said():
    method = ExactMethod("drill", "known", "known", "one edge, or none at all", _one_edge)
    outcomes = try_methods([SMALL], 1, [method])
    assert outcomes[0].right == (False, False)
    assert outcomes[0].f1 == (pytest.approx(2 / 7), 0.0)
    assert outcome_lines(outcomes)[0][:7] == [
        "paper5",
        "one edge, or none at all",
        "known",
        "known",
        "0 of 2",
        f"{1 / 7:.4f}",
        "–",
    ]
    assert trouble_lines(outcomes) == ["drill on paper5 graph 1: this fit fails on purpose"]
    content = json.loads(json.dumps(plain_values(outcomes, 1)))
    assert content["seed"] == 1
    values = content["outcomes"][0]
    assert (values["n"], values["n_right"], values["wrong"]) == (2, 0, [0, 1])
    assert values["trouble"] == {"1": "this fit fails on purpose"}
    assert values["shared"] == [None, None]


def test_how_often_one_kernel_was_learned_is_said():
    learned = [method for method in METHODS if method.key == "likelihood"]
    outcomes = try_methods([SMALL], 1, learned)
    n_shared = sum(outcomes[0].shared)
    assert outcome_lines(outcomes)[0][6] == f"{n_shared} of 2"
