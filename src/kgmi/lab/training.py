"""``train``: a model on a task, with measures on the way."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from kgmi.divergence import Divergence
from kgmi.errors import RecordError, SettingError
from kgmi.files import atomic_write
from kgmi.graph import Dag
from kgmi.lab.floors import Floor, bayes
from kgmi.lab.measures import alignment, edge_f1, head_overlap, parent_attention
from kgmi.lab.models import Decoder, DisentangledTransformer, Output, PaperLayer
from kgmi.lab.objectives import CrossEntropy, Information, Objective, exact_scores, in_kgmi_axes, of_children
from kgmi.lab.tasks import Batch, Predicts, Task, seeded
from kgmi.process import Process
from kgmi.types import Attention, Floats, Ints

__all__ = ["MODELS", "OBJECTIVES", "Model", "Record", "Trained", "Training", "plain", "train"]

Optimiser: TypeAlias = Literal["gd", "sgd", "momentum", "adam"]
Schedule: TypeAlias = Literal["constant", "cosine", "warmup-cosine"]
_RATES: dict[Optimiser, float] = {"gd": 10.0, "sgd": 1.0, "momentum": 0.1, "adam": 1e-3}
_POOL_TOKENS = 4_000_000  # tokens that are drawn at once, for several steps
_HISTORY_NUMBERS = 5_000_000  # attention of the first replica is kept at every look where it is no larger
FORMAT = "kgmi-lab-record"


class Model(Protocol):
    """What ``train`` needs of a model, besides being a ``torch.nn.Module``.

    ``shift`` is 1 where query i predicts token i + 1, and 0 where it predicts token i itself. ``position_only`` is
    True where attention does not depend on the tokens.
    """

    shift: int
    position_only: bool

    def __call__(self, tokens: Tensor) -> Output:
        """Return logits and attention of tokens [row, position]."""
        ...


MODELS: dict[str, Callable[[Task], nn.Module]] = {
    "paper": lambda task: PaperLayer(task.n_states, task.length, task.n_parents),
    "paper-full": lambda task: PaperLayer(task.n_states, task.length, task.n_parents, full=True),
    "paper-readout": lambda task: PaperLayer(task.n_states, task.length, task.n_parents, readout=True, init=0.01),
    "disentangled": lambda task: DisentangledTransformer(
        task.n_states, task.length, (task.n_parents, 1), init=1e-4, last_only=task.predicts in ("label", "last")
    ),
    "decoder": lambda task: Decoder(
        task.n_states,
        task.length,
        n_heads=task.n_parents,
        width=32 * task.n_parents,
        causal=task.predicts != "masked",
    ),
}
"""Models by name, each made for a task."""

OBJECTIVES: dict[str, tuple[Predicts, Callable[..., Objective]]] = {
    "kgmi": ("next", Information),
    "kgmi-rows": ("next", lambda *args, **more: Information(*args, **more, source="rows")),
    "kgmi-minibatch": ("next", lambda *args, **more: Information(*args, **more, source="minibatch")),
    "kgmi-labelled": ("label", lambda *args, **more: Information(*args, **more, source="labelled")),
    "mi": ("next", lambda *args, **more: Information(*args, **more, guide="plain")),
    "next-token": ("next", lambda *args, **more: CrossEntropy()),
    "last-token": ("last", lambda *args, **more: CrossEntropy(soft=True)),
    "label": ("label", lambda *args, **more: CrossEntropy(soft=True)),
    "masked-token": ("masked", lambda *args, **more: CrossEntropy()),
}
"""Objectives by name: what the task predicts, and how the objective is made."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How to train.

    Attributes
    ----------
    steps, batch
        Number of steps, and sequences of each step and replica.
    rate
        Learning rate; by default 10 (the paper's η) for gd, 1 for sgd, 0.1 for momentum, 0.001 for adam.
    schedule
        ``constant``, ``cosine`` to zero, or ``warmup-cosine`` with a tenth of the steps of warm-up.
    weight_decay
        Of AdamW or SGD.
    looks
        How often the measures are taken: at every step, or at steps evenly spaced on a square-root scale.
    rows
        Sequences on which they are taken.
    alignment
        Measure the direction of the gradient against χ²-MI and KG-MI of the exact law.
    dtype
        ``float64`` or ``float32``; by default double precision for gd only.
    """

    steps: int = 1_000
    batch: int = 256
    rate: float | None = None
    schedule: Schedule = "constant"
    weight_decay: float = 0.0
    looks: int = 40
    rows: int = 2_048
    alignment: bool = True
    dtype: Literal["float32", "float64"] | None = None

    def __post_init__(self) -> None:
        for name, low in (("steps", 0), ("batch", 1), ("looks", 1), ("rows", 1)):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < low:
                raise SettingError(f"{name} must be a whole number of at least {low}, got {getattr(self, name)!r}")
        if self.schedule not in get_args(Schedule):
            raise SettingError(f"schedule must be one of {', '.join(get_args(Schedule))}, got {self.schedule!r}")
        if self.dtype not in (None, "float32", "float64"):
            raise SettingError(f"dtype must be float32 or float64, got {self.dtype!r}")
        if not 0 <= self.weight_decay < np.inf:
            raise SettingError(f"weight_decay must not be negative, got {self.weight_decay}")
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise SettingError(f"the learning rate must be positive, got {self.rate}")

    def look_at(self) -> list[int]:
        """Steps after which the measures are taken, from 0 to the last."""
        if self.looks >= self.steps:
            return list(range(self.steps + 1))
        return sorted({round(self.steps * (k / self.looks) ** 2) for k in range(self.looks + 1)})

    def factor(self, step: int) -> float:
        """Share of the learning rate at a step."""
        if self.schedule == "constant":
            return 1.0
        warm = max(self.steps // 10, 1) if self.schedule == "warmup-cosine" else 0
        if step < warm:
            return (step + 1) / warm
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(self.steps - warm, 1)))


@dataclass(frozen=True, eq=False)
class Record:
    """What was measured while a model was trained.

    Attributes
    ----------
    steps
        Steps at which the measures were taken.
    measures
        [look, replica] by name: ``loss``; ``parents``, the attention on the true parents; ``f1`` of the edges that
        the heads name; ``overlap`` of the heads; ``gap_bayes`` and ``gap_one_parent``, the loss minus that of these
        predictors; ``align_chi2`` and ``align_kgmi``, the cosine of the gradient with that of χ²-MI and KG-MI.
    by_head
        [look, replica, head]: attention on the true parents of each head.
    attention
        [replica, head, child, candidate] of the first layer at the end.
    history
        [look, head, child, candidate] of the first replica; empty where that is too large.
    floor
        ``bayes``, ``one_parent`` and ``construction``, each by replica; NaN where not known.
    about
        Model, objective, optimiser, settings, seconds and tokens per second.
    """

    steps: Ints
    measures: dict[str, Floats]
    by_head: Floats
    attention: Attention
    history: Floats
    floor: dict[str, Floats]
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | Path) -> None:
        """Write the record as JSON, whole or not at all."""
        content = {"format": FORMAT, "version": 1} | {
            name: plain(value) for name, value in vars(self).items() if not name.startswith("_")
        }
        with atomic_write(Path(path), "lab record") as stream:
            stream.write(json.dumps(content, allow_nan=False).encode())

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read a record that :meth:`save` wrote."""
        try:
            content = json.loads(Path(path).read_bytes())
            if content.pop("format") != FORMAT or content.pop("version") != 1:
                raise RecordError(f"{path} is a record of another version of kgmi: train again")
            measures, floor = (
                {key: _array(one) for key, one in content[name].items()} for name in ("measures", "floor")
            )
            by_head, attention, history = (_array(content[name]) for name in ("by_head", "attention", "history"))
            steps = np.array(content["steps"], dtype=np.int64)
            return cls(steps, measures, by_head, attention, history, floor, content["about"])
        except FileNotFoundError:
            raise RecordError(f"there is no record {path}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError(f"{path} is not a record of kgmi.lab ({error}): train again") from None


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model with its task and record; ``weights`` are stacked over the replicas."""

    model: nn.Module
    weights: dict[str, Tensor]
    buffers: dict[str, Tensor]
    task: Task
    record: Record

    def evaluate(self, task: Task | None = None, rng: int = 1, rows: int = 4_096) -> tuple[Floats, list[Attention]]:
        """Measure cross-entropy [replica] and attention [replica, head, child, candidate] of every layer.

        ``task`` may have other kernels than the one trained on, or the same by default; its sizes must be the same.
        """
        task = self.task if task is None else task
        if task.n_replicas != self.task.n_replicas:
            raise SettingError(f"the task has {task.n_replicas} replicas, the model {self.task.n_replicas}")
        run = _Run(task, self.model, self.weights, self.buffers)
        batch = task.sample(rng, rows)
        with torch.no_grad():
            raw = run.apply(batch)
            output = run.in_axes(raw, batch)
            predicts = output.logits.shape[-1] > 0
            loss = CrossEntropy()(output, batch) if predicts else torch.full((task.n_replicas,), torch.nan)
            maps = [one for one in raw.attention if one.shape[-2] == one.shape[-1]]
            return _numbers(loss), [_numbers(run.of_children(one).mean(1)) for one in maps]

    def __repr__(self) -> str:
        last = {name: float(values[-1].mean()) for name, values in self.record.measures.items()}
        shown = ", ".join(f"{name}={value:.4g}" for name, value in last.items() if np.isfinite(value))
        return f"Trained({self.record.about['model']}, steps={self.record.steps[-1]:,}, {shown})"


Progress: TypeAlias = Callable[[int, int, Record], None]


def train(
    process: Process | Task,
    model: str | Callable[[Task], nn.Module] = "paper",
    objective: str | Objective = "kgmi",
    optimiser: Optimiser = "gd",
    *,
    training: Training | None = None,
    divergence: str | Divergence = "kl",
    seed: int = 0,
    device: str = "cpu",
    start: Trained | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a model by gradient descent on sequences of a process.

    Parameters
    ----------
    process
        A process, or a :class:`Task` with replicas, which are trained side by side.
    model
        A name in :data:`MODELS`, or a function that makes a module for a task; see :class:`Model`.
    objective
        A name in :data:`OBJECTIVES`, or an :class:`Objective`.
    optimiser
        ``gd`` (algorithm 1 of the paper: gradient ascent with a constant rate), ``sgd``, ``momentum`` or ``adam``.
    training
        Steps, batch, rate, schedule and measures.
    divergence
        Of the KG-MI and MI objectives.
    seed, device
        Seed of weights and sequences, and where to train: ``cpu`` or ``cuda``.
    start
        Begin with the weights of this trained model, which must have the same sizes.
    progress
        Called after every look as ``progress(step, steps, record)``.

    Examples
    --------
    >>> process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    >>> trained = kgmi.lab.train(process, training=kgmi.lab.Training(steps=2_000))  # doctest: +SKIP
    """
    if optimiser not in _RATES:
        raise SettingError(f"optimiser must be one of {', '.join(_RATES)}, got {optimiser!r}")
    training = training or Training()
    dtype = getattr(torch, training.dtype or ("float64" if optimiser == "gd" else "float32"))
    name = objective if isinstance(objective, str) else type(objective).__name__
    if isinstance(objective, str) and objective not in OBJECTIVES:
        raise SettingError(f"there is no objective {objective!r}; choose one of {', '.join(OBJECTIVES)}")
    predicts = OBJECTIVES[name][0] if isinstance(objective, str) else "next"
    task = process if isinstance(process, Task) else Task(process, predicts, device=device)
    with seeded(seed, task.device):
        base, params, buffers = _weights(model, task, dtype, start)
        run = _Run(task, base, params, buffers)
        if isinstance(objective, str):
            n_heads = run.forward(task.sample(None, 1)).attention[0].shape[2]
            goal: Objective = OBJECTIVES[objective][1](task, n_heads, divergence=divergence, seed=seed)
            if isinstance(goal, CrossEntropy) and predicts != task.predicts:
                raise SettingError(f"{objective} needs a task that predicts {predicts!r}, not {task.predicts!r}")
        else:
            goal = objective
        shown = model if isinstance(model, str) else type(base).__name__
        about: dict[str, Any] = {"model": shown, "objective": name, "optimiser": optimiser, "seed": seed}
        about |= {"training": dict(vars(training)), "device": str(task.device)}
        watch = _Watch(run, goal, training, seed, about)
        optimise = _optimiser(optimiser, params, training)
        watch.look(0)
        batches = _batches(run, goal, training)
        differentiate = _differentiate(run, goal, next(batches))
        begin, measuring = time.perf_counter(), 0.0
        looks = set(training.look_at())
        for step in range(training.steps):
            for group in optimise.param_groups:
                group["lr"] = group["initial_lr"] * training.factor(step)
            differentiate(next(batches))
            optimise.step()
            if step + 1 in looks:
                paused = _now(task)
                watch.look(step + 1)
                if progress is not None:
                    progress(step + 1, training.steps, watch.record())
                measuring += _now(task) - paused
        seconds = _now(task) - begin - measuring
    speed = training.steps * training.batch * task.n_replicas * task.length / max(seconds, 1e-9)
    record = watch.record()
    about |= {"seconds": seconds, "tokens_per_second": speed if watch.needs_rows else None}
    weights = {key: value.detach() for key, value in params.items()}
    return Trained(base, weights, buffers, task, replace(record, about=about))


class _Run:
    """A model with stacked weights on a task."""

    def __init__(self, task: Task, base: nn.Module, params: dict[str, Tensor], buffers: dict[str, Tensor]) -> None:
        self.task, self.base, self.params, self._buffers = task, base, params, buffers
        self.shift = 0 if task.predicts == "masked" else int(base.shift)
        self.attention_shift = 0 if task.in_context else self.shift

        def one(params: dict[str, Tensor], buffers: dict[str, Tensor], tokens: Tensor) -> Output:
            return functional_call(base, (params, buffers), (tokens,))  # type: ignore[no-any-return]

        self._vmapped = vmap(one)

    def apply(self, batch: Batch) -> Output:
        """The output as the model gives it, with an axis for replicas."""
        return self._vmapped(self.params, self._buffers, batch.tokens)  # type: ignore[no-any-return]

    def forward(self, batch: Batch) -> Output:
        """The output in kgmi's axes."""
        return self.in_axes(self.apply(batch), batch)

    def in_axes(self, output: Output, batch: Batch) -> Output:
        """Logits at their targets, attention of the first layer at [child, candidate]."""
        return in_kgmi_axes(output, batch, self.task.n_nodes, self.shift, self.attention_shift)

    def of_children(self, values: Tensor) -> Tensor:
        """[…, query, key] as […, child, candidate]."""
        return of_children(values, self.task.n_nodes, self.attention_shift)


class _Watch:
    """Takes the measures."""

    def __init__(self, run: _Run, goal: Objective, training: Training, seed: int, about: dict[str, Any]) -> None:
        self._run, self._goal, self._about = run, goal, about
        task = run.task
        self.needs_rows = getattr(goal, "needs_rows", True) or not run.base.position_only
        soft = not getattr(goal, "needs_labels", False)
        self._batch = task.sample(seed + 1, training.rows if self.needs_rows else 1, soft=soft)
        self._predicts = run.forward(self._batch).logits.shape[-1] > 0
        nothing = np.full(task.n_replicas, np.nan)
        floor = bayes(task, seed + 1, training.rows) if self._predicts else Floor(nothing, nothing, nothing, False)
        self._floor = {name: getattr(floor, name) for name in ("bayes", "one_parent", "construction")}
        self._tables: dict[str, Floats] = {}
        if training.alignment:
            kinds = {"align_chi2": ("pearson", "plain"), "align_kgmi": ("kl", "stationary")}
            for name, (divergence, guide) in kinds.items():
                self._tables[name] = np.stack([exact_scores(one, divergence, guide) for one in task.processes])
        self._dags = [_watched(process.dag, task) for process in task.processes]
        self._steps: list[int] = []
        self._looks: list[dict[str, Any]] = []

    def look(self, step: int) -> None:
        """Take the measures now."""
        dags = self._dags
        output = self._run.forward(self._batch)
        loss = self._goal(output, self._batch)
        attention = _numbers(output.attention[0].mean(1))
        entropy = CrossEntropy()(output, self._batch) if self._predicts else loss
        by_head = np.array([parent_attention(one, dag) for one, dag in zip(attention, dags, strict=True)])
        found = {
            "loss": _numbers(loss),
            "parents": by_head.mean(axis=1),
            "f1": np.array([edge_f1(one, dag) for one, dag in zip(attention, dags, strict=True)]),
            "overlap": np.array([head_overlap(one, dag) for one, dag in zip(attention, dags, strict=True)]),
            "gap_bayes": _numbers(entropy) - self._floor["bayes"],
            "gap_one_parent": _numbers(entropy) - self._floor["one_parent"],
        }
        if self._tables:
            change = -torch.autograd.grad(loss.sum(), output.scores[0])[0].sum(1)
            gradient = _numbers(self._run.of_children(change))
            heads = np.arange(attention.shape[1]) % self._run.task.n_parents
            for name, table in self._tables.items():
                found[name] = alignment(gradient, attention, table[:, heads], dags)
        self._steps.append(step)
        self._looks.append(found | {"by_head": by_head, "history": attention[0]})
        self._attention = attention

    def record(self) -> Record:
        """All measures so far."""
        stacked = {name: np.array([look[name] for look in self._looks]) for name in self._looks[0]}
        by_head, history = stacked.pop("by_head"), stacked.pop("history")
        kept = history if history.size <= _HISTORY_NUMBERS else history[:0]
        return Record(np.array(self._steps), stacked, by_head, self._attention, kept, self._floor, self._about)


def _watched(dag: Dag, task: Task) -> Dag:
    """The graph with parents for the nodes whose attention is trained."""
    if task.predicts != "last":
        return dag
    last = task.n_nodes - 1  # in context its parents are matched with those of the others, which are trained
    return Dag([ps if (child < last) == task.in_context else () for child, ps in enumerate(dag.parents)])


def _weights(
    model: str | Callable[[Task], nn.Module], task: Task, dtype: torch.dtype, start: Trained | None
) -> tuple[nn.Module, dict[str, Tensor], dict[str, Tensor]]:
    """A module for its form, and weights and buffers stacked over the replicas."""
    if isinstance(model, str) and model not in MODELS:
        raise SettingError(f"there is no model {model!r}; choose one of {', '.join(MODELS)}")
    make = MODELS[model] if isinstance(model, str) else model
    modules = [make(task).to(task.device, dtype) for _ in range(task.n_replicas)]
    if (
        getattr(modules[0], "readout", False) is True
        and not modules[0].shift
        and task.predicts in ("label", "last")
    ):
        raise SettingError("a layer with shift 0 has no query for the token after its input; use another model")
    params, buffers = stack_module_state(modules)
    if start is not None:
        sizes = {name: tuple(value.shape) for name, value in params.items()}
        if sizes != {name: tuple(value.shape) for name, value in start.weights.items()}:
            raise SettingError("start has other weights than this model; give the same model, task and replicas")
        params = {name: start.weights[name].clone().to(value).requires_grad_() for name, value in params.items()}
    return modules[0], params, buffers


def _optimiser(name: Optimiser, params: dict[str, Tensor], training: Training) -> torch.optim.Optimizer:
    rate = _RATES[name] if training.rate is None else training.rate
    groups = [{"params": list(params.values()), "initial_lr": rate}]
    if name == "adam":
        return torch.optim.AdamW(groups, lr=rate, weight_decay=training.weight_decay)
    momentum = 0.9 if name == "momentum" else 0.0
    return torch.optim.SGD(groups, lr=rate, momentum=momentum, weight_decay=training.weight_decay)


def _differentiate(run: _Run, goal: Objective, batch: Batch) -> Callable[[Batch], None]:
    """A function that writes the gradient of a batch into the weights; on a GPU one CUDA graph, where possible."""

    def plain_step(batch: Batch) -> None:
        for value in run.params.values():
            value.grad = None
        goal(run.forward(batch), batch).sum().backward()

    if run.task.device.type != "cuda" or not getattr(goal, "capturable", False):
        return plain_step
    static = Batch(*(part.clone() for part in batch))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # as PyTorch asks: a few steps beside, before the capture
        for _ in range(3):
            plain_step(static)
    torch.cuda.current_stream().wait_stream(side)
    for value in run.params.values():
        value.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        goal(run.forward(static), static).sum().backward()

    def replay(batch: Batch) -> None:
        for old, new in zip(static, batch, strict=True):
            old.copy_(new)
        graph.replay()

    return replay


def _batches(run: _Run, goal: Objective, training: Training) -> Iterator[Batch]:
    """Batches without end; several are drawn at once."""
    task, soft = run.task, getattr(goal, "soft", False)
    if not getattr(goal, "needs_rows", True) and run.base.position_only:
        one = task.sample(None, 1)
        while True:  # neither the objective nor the attention depends on the tokens
            yield one
    tokens = task.n_replicas * training.batch * task.length
    pool = int(np.clip(_POOL_TOKENS // tokens, 1, max(training.steps, 1)))
    while True:
        many = task.sample(None, training.batch * pool, soft=soft)
        parts = (part.split(training.batch, dim=1) for part in (many.tokens, many.child, many.law))
        for tokens, child, law in zip(*parts, strict=True):
            yield Batch(tokens, child, law, many.weight)


def _now(task: Task) -> float:
    if task.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def _numbers(values: Tensor) -> Floats:
    return np.asarray(values.detach().double().cpu())


def plain(value: Any) -> Any:
    """Turn arrays into lists for JSON; NaN becomes null."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _array(value: Any) -> Floats:
    return np.array(value, dtype=np.float64)
