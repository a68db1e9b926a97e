"""Training is the paper's ascent where it should be, repeatable, and goes on or refuses where it must."""

import json

import numpy as np
import pytest
import torch

import kgmi
from kgmi import Dag, Kernel, Process
from kgmi.errors import RecordError, SettingError
from kgmi.kernel import DirichletKernels
from kgmi.lab import (
    MODELS,
    OBJECTIVES,
    CrossEntropy,
    Decoder,
    Information,
    Output,
    Record,
    Task,
    Training,
    WeightedSum,
    train,
)

from .laws import PROCESSES

pytestmark = pytest.mark.lab

FIVE = Process(Dag.paper(5), Kernel.paper())
RANDOM = Process(Dag.random(8, 2, rng=4, mixed=True), Kernel.random(3, 2, rng=4, concentration=2.0))
QUICK = Training(steps=3, batch=16, rows=16)
INFORMATION = ("kgmi", "kgmi-rows", "kgmi-minibatch", "kgmi-labelled", "mi")
FITTING = {
    "paper": INFORMATION,
    "paper-full": INFORMATION,
    "paper-readout": ("kgmi", "kgmi-rows", "kgmi-minibatch", "mi", "next-token"),
    "disentangled": (*INFORMATION, "next-token", "last-token", "label"),
    "decoder": (*INFORMATION, "next-token", "last-token", "label", "masked-token"),
}


def small_decoder(task):
    return Decoder(task.n_states, task.length, width=16)


def same(one, other):
    """Two records hold the same numbers."""
    assert one.measures.keys() == other.measures.keys()
    for name in one.measures:
        assert np.array_equal(one.measures[name], other.measures[name], equal_nan=True)
    for name in ("steps", "by_head", "attention", "history"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("divergence", ["kl", "pearson", "hellinger-matched"])
@pytest.mark.parametrize("process", [PROCESSES["paper"], RANDOM], ids=["paper", "random"])
def test_gradient_descent_of_the_papers_layer_is_the_ascent(process, divergence):
    table = kgmi.scores(kgmi.exact_joint(process), process.kernel, divergence, n_heads=2)
    training = Training(steps=300, looks=300, alignment=False)
    record = train(process, divergence=divergence, training=training).record
    wanted = kgmi.ascend(table, rate=10.0, epochs=300, stop=0, record_at=range(1, 300))
    assert record.steps.tolist() == wanted.trace.epochs.tolist() == list(range(301))
    assert np.abs(record.history - wanted.trace.attention).max() < 1e-10
    assert np.allclose(record.attention[0], wanted.attention, atol=1e-10)
    assert np.allclose(-record.measures["loss"][:, 0], wanted.trace.objective, atol=1e-10)


def test_replicas_are_trained_as_if_they_were_alone():
    processes = [FIVE, Process(Dag.random(5, 2, rng=3), Kernel.paper(0.05))]
    training = Training(steps=40, looks=40)
    both = train(Task(processes), training=training).record
    for number, process in enumerate(processes):
        alone = train(process, training=training).record
        assert np.allclose(both.attention[number], alone.attention[0], atol=1e-12)
        for name, values in alone.measures.items():
            assert np.allclose(both.measures[name][:, number], values[:, 0], atol=1e-9, equal_nan=True)


@pytest.mark.parametrize(("model", "objective"), [("paper", "kgmi-minibatch"), (small_decoder, "next-token")])
def test_a_seed_gives_one_record(model, objective):
    before = torch.get_rng_state()
    one, other, third = (
        train(Task(FIVE, replicas=2), model, objective, "adam", training=QUICK, seed=seed).record
        for seed in (1, 1, 2)
    )
    assert torch.equal(before, torch.get_rng_state())
    same(one, other)
    assert not np.array_equal(one.measures["loss"], third.measures["loss"])


@pytest.mark.parametrize("schedule", ["constant", "cosine", "warmup-cosine"])
@pytest.mark.parametrize(("optimiser", "rate"), [("sgd", 0.3), ("momentum", 0.05), ("adam", 0.01)])
def test_optimisers_lower_the_loss(optimiser, rate, schedule):
    process = Process(Dag.chain(6), Kernel([[0.9, 0.1], [0.2, 0.8]]))
    training = Training(steps=60, batch=32, rows=128, rate=rate, schedule=schedule, looks=2, alignment=False)
    record = train(process, small_decoder, "next-token", optimiser, training=training).record
    gap = record.measures["gap_bayes"][:, 0]
    assert gap[-1] < 0.6 * gap[0]
    assert np.allclose(record.measures["loss"][:, 0] - gap, record.floor["bayes"])


def test_the_schedules_begin_and_end_where_they_say():
    factors = {
        name: [Training(steps=100, schedule=name).factor(k) for k in range(100)]
        for name in ("cosine", "warmup-cosine")
    }
    assert factors["cosine"][0] == 1
    assert factors["cosine"][50] == pytest.approx(0.5)
    assert factors["cosine"][99] < 1e-3
    warm = factors["warmup-cosine"]
    assert warm[:10] == pytest.approx(np.arange(1, 11) / 10)
    assert max(warm) == 1
    assert warm[99] < 1e-3


def test_every_model_and_objective_is_tried():
    assert set(FITTING) == set(MODELS)
    assert {objective for fitting in FITTING.values() for objective in fitting} == set(OBJECTIVES)


@pytest.mark.parametrize(("model", "objective"), [(model, one) for model, fits in FITTING.items() for one in fits])
def test_every_model_runs_with_every_fitting_objective(model, objective):
    record = train(FIVE, model, objective, "adam", training=QUICK).record
    assert record.steps.tolist() == [0, 1, 2, 3]
    assert record.measures["loss"].shape == (4, 1)
    assert np.isfinite(record.measures["loss"]).all()
    assert record.attention.shape == (1, 2, 5, 5)
    assert record.history.shape == (4, 2, 5, 5)
    assert record.attention.sum(axis=-1).max() <= 1 + 1e-6
    assert not np.array_equal(record.measures["loss"][0], record.measures["loss"][-1])
    assert {"parents", "f1", "overlap", "align_chi2", "align_kgmi"} <= set(record.measures)


@pytest.mark.parametrize("predicts", ["next", "last", "label"])
def test_a_kernel_can_be_learned_in_context(predicts):
    task = Task(Process(Dag.chain(8), DirichletKernels(2, 1, 0.5)), predicts, replicas=2)
    record = train(task, "disentangled", CrossEntropy(soft=True), "adam", training=QUICK).record
    assert np.isfinite(record.measures["loss"]).all()
    assert np.isfinite(record.floor["bayes"]).all()


def test_the_model_may_have_three_heads():
    process = Process(Dag.chain(6, 3), Kernel.random(2, 3, rng=0))
    assert train(process, "decoder", "next-token", "adam", training=QUICK).record.attention.shape == (1, 3, 6, 6)


def test_training_goes_on_from_a_start():
    whole = train(FIVE, training=Training(steps=20))
    half = train(FIVE, training=Training(steps=10))
    ended = train(FIVE, training=Training(steps=10), start=half)
    assert np.array_equal(ended.record.history[0], half.record.attention[0])
    assert np.allclose(ended.record.attention, whole.record.attention, atol=1e-12)


def test_a_start_is_left_as_it_was():
    start = train(FIVE, training=QUICK)
    before = start.weights["weights"].clone()
    train(FIVE, training=QUICK, start=start)
    assert torch.equal(before, start.weights["weights"])


def test_a_start_of_other_sizes_is_refused():
    start = train(FIVE, training=QUICK)
    for process, model in ((PROCESSES["paper"], "paper"), (FIVE, "paper-full"), (Task(FIVE, replicas=2), "paper")):
        with pytest.raises(SettingError, match="start"):
            train(process, model, start=start)


def test_a_record_is_saved_and_loaded(tmp_path):
    record = train(Task(FIVE, replicas=2), "paper", training=QUICK).record
    assert np.isnan(record.measures["gap_bayes"]).all()
    record.save(tmp_path / "record.json")
    found = Record.load(tmp_path / "record.json")
    same(record, found)
    assert found.about == record.about
    assert all(np.array_equal(found.floor[name], record.floor[name], equal_nan=True) for name in record.floor)


BAD = [
    "cut",
    "other",
    "version",
    "missing",
    "list",
    *(pytest.param(one) for one in ("ragged", "word", "nowhere")),
]


@pytest.mark.parametrize("damage", BAD)
def test_a_damaged_record_is_refused(damage, tmp_path):
    path = tmp_path / "record.json"
    train(FIVE, training=QUICK).record.save(path)
    content = json.loads(path.read_text())
    changed = {
        "other": {"rows": []},
        "version": content | {"version": 2},
        "missing": {name: value for name, value in content.items() if name != "attention"},
        "list": [1],
        "ragged": content | {"by_head": [[[1.0]], [[1.0, 2.0]]]},
        "word": content | {"attention": "much"},
    }
    path.write_text(path.read_text()[:-30] if damage == "cut" else json.dumps(changed.get(damage)))
    with pytest.raises(RecordError):
        Record.load(path if damage != "nowhere" else tmp_path / "none.json")


class Average(torch.nn.Module):
    """A model by the protocol: learned scores of lags, and a table from the attended states to the next one."""

    shift, position_only = 1, False

    def __init__(self, task):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(1, task.length, task.length))
        self.table = torch.nn.Parameter(torch.eye(task.n_states))

    def forward(self, tokens):
        scores = self.bias.expand(len(tokens), -1, -1, -1)
        attention = torch.softmax(scores.masked_fill(torch.ones_like(self.bias).triu(1) > 0, -1e9), dim=-1)
        states = torch.nn.functional.one_hot(tokens, len(self.table)).to(self.table)
        return Output(attention[:, 0] @ states @ self.table, (attention,), (scores,))


class Brier:
    """An objective by the protocol: the squared distance of the prediction from the target."""

    def __call__(self, output, batch):
        error = (output.logits.softmax(-1) - batch.law.to(output.logits)).square().sum(-1).mean(1)
        return (error * batch.weight.to(error)).sum(-1)


class Spread:
    """An objective that looks at the attention only: its sum of squares."""

    needs_rows = False

    def __call__(self, output, batch):
        return output.attention[0].mean(1).square().sum((1, 2, 3))


def test_a_model_and_an_objective_of_ones_own():
    task = Task(Process(Dag.chain(6), Kernel([[0.9, 0.1], [0.2, 0.8]])), replicas=2)
    training = Training(steps=60, batch=64, rows=64, rate=0.05)
    trained = train(task, Average, Brier(), "adam", training=training)
    assert (trained.record.measures["loss"][-1] < 0.95 * trained.record.measures["loss"][0]).all()
    assert (trained.record.measures["parents"][-1] > trained.record.measures["parents"][0] + 0.1).all()
    assert trained.record.about["model"] == "Average"
    assert trained.record.about["objective"] == "Brier"


def test_an_objective_of_the_attention_alone():
    record = train(FIVE, lambda task: MODELS["paper"](task), Spread(), "gd", training=QUICK).record
    uniform = 2 * (1 + 1 / 2 + 1 / 3 + 1 / 4)  # the least sum of squares, from which nothing moves
    assert np.allclose(record.measures["loss"], uniform)


def test_a_weighted_sum_is_the_sum_of_its_parts():
    task = Task(FIVE)
    parts = Information(task, 2), Information(task, 2, divergence="pearson", guide="plain")
    training = Training(steps=1, alignment=False)
    alone = [train(task, objective=one, training=training).record.measures["loss"][0] for one in parts]
    both = train(task, objective=WeightedSum(dict(zip(parts, (2.0, 3.0), strict=True))), training=training).record
    assert np.allclose(both.measures["loss"][0], 2 * alone[0] + 3 * alone[1])


def test_the_labelled_loss_is_that_of_the_papers_estimator():
    training = Training(steps=1, batch=16, rows=100_000)
    record = train(FIVE, objective="kgmi-labelled", training=training).record
    wanted = kgmi.attention.objective(kgmi.expected_labelled_scores(FIVE), record.history[0])
    assert -record.measures["loss"][0, 0] == pytest.approx(wanted, abs=0.003)


def test_evaluation_gives_the_loss_and_the_attention_of_every_layer():
    trained = train(Task(FIVE, "label", replicas=2), "disentangled", "label", training=QUICK)
    loss, maps = trained.evaluate(rows=50)
    assert loss.shape == (2,)
    assert [one.shape for one in maps] == [(2, 2, 5, 5)]
    other = Task([Process(FIVE.dag, Kernel.paper(p)) for p in (0.0, 0.05)], "label")
    assert (trained.evaluate(other, rows=50)[0] > 0).all()


def test_progress_is_told_after_every_look():
    calls = []
    train(FIVE, training=Training(steps=9, looks=3), progress=lambda *told: calls.append(told))
    assert [(step, steps) for step, steps, _ in calls] == [(1, 9), (4, 9), (9, 9)]
    assert calls[0][2].steps.tolist() == [0, 1]
    assert calls[-1][2].steps.tolist() == [0, 1, 4, 9]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"model": "papers"}, "model"),
        ({"objective": "kl"}, "objective"),
        ({"optimiser": "lion"}, "optimiser"),
        ({"model": "paper", "objective": "next-token"}, "predicts"),
    ],
)
def test_names_that_do_not_exist_or_fit_are_refused(given, word):
    with pytest.raises(SettingError, match=word):
        train(FIVE, training=QUICK, **given)


@pytest.mark.parametrize(
    "given",
    [
        {"steps": -1},
        {"steps": 1.5},
        {"batch": 0},
        {"looks": 0},
        {"rows": 0},
        {"rate": 0.0},
        {"rate": np.inf},
        {"schedule": "linear"},
    ],
)
def test_settings_that_make_no_sense_are_refused(given):
    with pytest.raises(SettingError, match=next(iter(given))):
        Training(**given)


def test_sources_that_do_not_fit_the_task_are_refused():
    random = Task(Process(Dag.paper(5), DirichletKernels(3, 2)))
    for task, source in ((Task(FIVE), "labelled"), (random, "rows"), (random, "minibatch"), (Task(FIVE), "guess")):
        with pytest.raises(SettingError):
            Information(task, 2, source=source)


def test_no_steps_leave_the_model_as_it_was():
    trained = train(FIVE, training=Training(steps=0))
    assert trained.record.steps.tolist() == [0]
    assert not trained.weights["weights"].any()


def test_an_objective_that_predicts_something_else_is_refused():
    with pytest.raises(SettingError, match="label"):
        train(Task(PROCESSES["paper"]), "decoder", "label", "adam", training=Training(steps=1))
