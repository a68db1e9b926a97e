"""Two parents in context: the task of Nichani et al. with two heads in the first layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.graph import Dag
from kgmi.kernel import DirichletKernels
from kgmi.lab.experiments.shared import NICHANI, LabSettings, at_end, numbers_of, shown_range, speed_of
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.settings import setting
from kgmi.process import Process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_CLOSE = 0.05
_MOST = 0.9  # share of the nodes whose heads have to be split


@dataclass(frozen=True, kw_only=True)
class TwoSettings(LabSettings):
    """Settings of the task with two parents, as in the code of its authors."""

    unused = ("graph", "kernel", "p", "eps_attn", "eta")
    states: int = setting(5, "Number of states V.", 2, 1_000)
    length: int = setting(32, "Number of tokens T; the next one is predicted.", 4, 1_000)
    alpha: float = setting(0.1, "Concentration α of the Dirichlet law of the kernels.", 1e-3, 1e3)
    heads: tuple[int, ...] = setting((2, 1), "Heads of each layer.", 1, 64)
    steps: int = setting(16_384, "Training steps; the authors take 65,536.", 1, 10_000_000)
    batch: int = setting(1_024, "Sequences of a step.", 1, 1_000_000)
    rate: float = setting(1e-2, "Learning rate of AdamW, which falls to zero along a cosine.", 1e-8, 1e6)
    seeds: int = setting(3, "Replicas with their own initial weights and sequences.", 1, 1_000)


def run(settings: TwoSettings, run: Run) -> Outcome:
    """Train the same transformer with one and with two heads in the first layer."""
    from kgmi.lab import Task, Training, train
    from kgmi.lab.measures import child_outcomes

    dag = Dag([(), (), *(((i - 1) // 2, i - 1) for i in range(2, settings.length + 1))])
    process = Process(dag, DirichletKernels(settings.states, 2, settings.alpha))
    task = Task(process, "last", replicas=settings.seeds, uniform_roots=True, device=settings.where())
    how = Training(
        steps=settings.steps,
        batch=settings.batch,
        rate=settings.rate,
        schedule="cosine",
        weight_decay=1e-4,
        alignment=False,
    )
    found = {}
    for number, heads in enumerate((settings.heads, (1, *settings.heads[1:]))):
        run.tell(number / 2, f"heads {list(heads)}")
        trained = train(
            task,
            partial(_model, heads=heads),
            "last-token",
            "adam",
            training=how,
            seed=run.seed,
        )
        seen = dag.restrict(settings.length)  # the last token is predicted, so that no query stands at it
        found["heads " + str(list(heads))] = numbers_of(trained) | {
            "outcomes": [child_outcomes(one[:, :-1, :-1], seen) for one in trained.record.attention],
            "attention": np.round(trained.record.attention[0, :, :-1, :-1], 4).tolist(),
        }
    numbers: Numbers = {"found": found, "parents": [list(ps) for ps in seen.parents]}
    return Outcome(numbers, checks_of(numbers), remark=speed_of(*found.values()))


def _model(task: Any, heads: tuple[int, ...]) -> Any:
    from kgmi.lab import DisentangledTransformer

    return DisentangledTransformer(task.n_states, task.length, heads, init=1e-4)


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Losses and heads, with two heads and with one."""
    two, one = numbers["found"].values()
    (name, single), levels = numbers["found"], two["floor"]
    loss, alone = at_end(two, "loss"), at_end(one, "loss")
    total = sum(two["outcomes"][0].values())
    split = [outcome["split"] for outcome in two["outcomes"]]
    return (
        Check(
            "loss of the construction",
            f"with two heads the loss ends within {_CLOSE} nats of the constructed transformer that counts pairs "
            "of parents",
            f"loss − construction {shown_range(loss - np.array(levels['construction']))}, loss − Bayes "
            f"{shown_range(loss - np.array(levels['bayes']))}",
            bool((loss - np.array(levels["construction"]) <= _CLOSE).all()),
        ),
        Check(
            "two parents are used",
            "with two heads the loss ends below that of the best predictor that counts along one parent",
            f"loss {shown_range(loss)}, one parent {shown_range(levels['one_parent'])}",
            bool((loss < np.array(levels["one_parent"])).all()),
        ),
        Check(
            "heads split",
            f"the two heads attend to different parents: for at least {_MOST:.0%} of the nodes each parent has "
            "its head",
            f"split for {shown_range(split, 1)} of {total} nodes ({name}), collapsed for "
            f"{shown_range([o['collapsed'] for o in two['outcomes']], 1)}",
            min(split) >= _MOST * total,
        ),
        Check(
            "one head is not enough",
            f"one head in the first layer ends above two ({single} against {name})",
            f"loss {shown_range(alone)} against {shown_range(loss)}",
            bool(alone.min() > loss.max()),
        ),
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Losses over time, and the two heads."""
    from kgmi.lab.drawing import draw_curve, draw_level, draw_maps
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, tidy

    figure = new_figure(13.0, 4.2, gap=0.05)
    axes = figure.subplots(1, 3)
    for series, (name, one) in enumerate(numbers["found"].items()):
        draw_curve(axes[0], one["steps"], one["measures"]["loss"], name, series)
    first = next(iter(numbers["found"].values()))
    for series, (name, label) in enumerate(
        (("bayes", "Bayes predictor"), ("construction", "construction (counts)"), ("one_parent", "one parent")), 2
    ):
        draw_level(axes[0], first["floor"][name], label, series)
    tidy(axes[0], "step", "loss (nats)")
    axes[0].legend(fontsize=FONT - 1, frameon=False)
    draw_maps(figure, list(axes[1:]), np.array(first["attention"]), Dag(numbers["parents"]))
    return {"lab-two": figure}


EXPERIMENT = Experiment(
    name="lab-two",
    title="Two parents, in context",
    source=NICHANI,
    claim="With as many heads in the first layer as a node has parents, each head learns one of the parents, and "
    "the second "
    "layer counts what followed the same pair.",
    settings=TwoSettings,
    quick={"states": 3, "length": 12, "steps": 3_000, "batch": 128, "seeds": 2},
    run=run,
    draw=draw,
)
