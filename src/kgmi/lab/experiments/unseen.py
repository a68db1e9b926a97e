"""Kernels that were not seen in training: how many kernels it takes until a transformer infers them in context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.kernel import DirichletKernels
from kgmi.lab.experiments.shared import (
    NICHANI,
    LabSettings,
    at_end,
    numbers_of,
    random_forest,
    speed_of,
    train_in_context,
)
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import setting
from kgmi.process import Process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 57
_CLOSE = 0.05


@dataclass(frozen=True, kw_only=True)
class UnseenSettings(LabSettings):
    """Settings of kernels not seen in training."""

    unused = ("graph", "kernel", "p", "eps_attn", "eta")
    states: int = setting(5, "Number of states.", 2, 1_000)
    length: int = setting(20, "Number of tokens, the last of which is asked about.", 4, 1_000)
    alpha: float = setting(0.2, "Concentration of the Dirichlet law of the training kernels.", 1e-3, 1e3)
    other: float = setting(1.0, "Concentration of another law, of which no kernel is trained on.", 1e-3, 1e3)
    kernels: tuple[int, ...] = setting(
        (1, 4, 16, 64, 256, 4096), "Numbers of training kernels, rising.", 1, 100_000
    )
    steps: int = setting(16_384, "Training steps.", 1, 10_000_000)
    rate: float = setting(1.0, "Learning rate of SGD, which falls to zero along a cosine.", 1e-8, 1e6)
    seeds: int = setting(3, "Forests and sets of kernels for each number.", 1, 1_000)


def run(settings: UnseenSettings, run: Run) -> Outcome:
    """Train one transformer for each number of kernels, side by side, and test all of them on new kernels."""
    from kgmi.lab import Task, Training, bayes

    rng = run.rng(_KEY)
    dags = [random_forest(settings.length - 1, rng) for _ in range(settings.seeds)]
    prior = DirichletKernels(settings.states, 1, settings.alpha)
    cases = [(number, dag) for number in settings.kernels for dag in dags]
    task = Task([Process(dag, prior.finite(n, rng)) for n, dag in cases], "label", device=settings.where())
    how = Training(
        steps=settings.steps, batch=settings.batch, rate=settings.rate, schedule="cosine", alignment=False, looks=20
    )
    trained = train_in_context(task, how, run)
    losses = {"seen": trained.evaluate()[0]}
    levels = {"seen": trained.record.floor["bayes"]}
    for name, law in (("new", prior), ("other", DirichletKernels(settings.states, 1, settings.other))):
        test = Task([Process(dag, law) for _, dag in cases], "label", device=settings.where())
        floor = bayes(test)
        losses[name], levels[name] = trained.evaluate(test)[0], floor.bayes
        levels[f"{name} construction"] = floor.construction
    numbers = numbers_of(trained) | {"kernels": [number for number, _ in cases]}
    numbers |= {
        "losses": {k: v.tolist() for k, v in losses.items()},
        "levels": {k: v.tolist() for k, v in levels.items()},
    }
    numbers["laws"] = [settings.alpha, settings.other]
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), speed_of(numbers))


def by_number(numbers: Numbers, name: str, level: str) -> dict[int, float]:
    """Mean loss on kernels of a kind above a level, by the number of training kernels."""
    gap = np.array(numbers["losses"][name]) - np.array(numbers["levels"][level])
    counts = np.array(numbers["kernels"])
    return {int(number): float(gap[counts == number].mean()) for number in sorted(set(numbers["kernels"]))}


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """New kernels of the same law and of another."""
    new, other = (by_number(numbers, name, f"{name} construction") for name in ("new", "other"))
    most, few = max(new), min(new)
    f1 = at_end(numbers, "f1")
    graph = {n: float(f1[np.array(numbers["kernels"]) == n].mean()) for n in new}
    return (
        Check(
            "new kernels of the same law",
            f"a transformer that was trained on many kernels is as good on new ones: within {_CLOSE} nats of the "
            "construction",
            f"loss − construction with {most:,} kernels: {new[most]:.3f}; with {few}: {new[few]:.3f}",
            bool(new[most] <= _CLOSE),
        ),
        Check(
            "another law",
            f"the same for kernels of another law (α = {numbers['laws'][1]:g}, trained with "
            f"{numbers['laws'][0]:g})",
            f"loss − construction with {most:,} kernels: {other[most]:.3f}",
            bool(other[most] <= _CLOSE),
        ),
        Check(
            "few kernels are learned by heart",
            "with the fewest kernels the loss on new ones is worse by more than 0.2 nats, and the graph is not "
            "found",
            f"{few} kernel(s): loss on new ones {new[few] - new[most]:+.3f} nats against {most:,}; F1 of the "
            "graph by number: " + ", ".join(f"{n}: {value:.2f}" for n, value in graph.items()),
            bool(new[few] - new[most] > 0.2 and graph[few] < 0.9),
            "kgmi",
        ),
    )


def _table(numbers: Numbers) -> Numbers:
    kinds = [
        ("seen", "seen"),
        ("new", "new"),
        ("new", "new construction"),
        ("other", "other"),
        ("other", "other construction"),
    ]
    columns = [by_number(numbers, *kind) for kind in kinds]
    rows = [[f"{n:,}", *(f"{column[n]:.3f}" for column in columns)] for n in columns[0]]
    heads = ["seen − Bayes", "new − Bayes", "new − construction", "other law − Bayes", "other law − construction"]
    return table("Loss in nats by the number of training kernels", ["kernels", *heads], rows)


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Loss above the construction against the number of training kernels."""
    from kgmi.paper.shared import look_of
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, tidy

    figure = new_figure(6.4, 3.8)
    ax = figure.subplots()
    kinds = (
        ("seen", "seen", "seen in training"),
        ("new", "new", "new, same law"),
        ("other", "other", "new, another law"),
    )
    for series, (name, level, label) in enumerate(kinds):
        gaps = by_number(numbers, name, level)
        ax.plot(list(gaps), list(gaps.values()), **look_of(series), label=label)
    ax.set_xscale("log")
    ax.axhline(0, color="#888888", linewidth=0.8)
    tidy(ax, "kernels in training", "loss − Bayes (nats)")
    ax.legend(fontsize=FONT - 1, frameon=False)
    return {"lab-unseen": figure}


EXPERIMENT = Experiment(
    name="lab-unseen",
    title="Kernels not seen in training",
    source=NICHANI,
    claim="A trained transformer has learned the graph, not the kernels: it is as good on kernels that it has "
    "never seen, "
    "of the same law or of another.",
    settings=UnseenSettings,
    quick={"states": 3, "length": 10, "kernels": (1, 64), "steps": 4_000, "batch": 64, "seeds": 2},
    run=run,
    draw=draw,
)
