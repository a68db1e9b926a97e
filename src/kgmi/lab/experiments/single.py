"""One parent in context: the curves of Nichani et al. for a chain and random forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.graph import Dag
from kgmi.kernel import DirichletKernels
from kgmi.lab.experiments.shared import (
    NICHANI,
    LabSettings,
    at_end,
    numbers_of,
    random_forest,
    shown_range,
    speed_of,
    train_in_context,
)
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import setting
from kgmi.process import Process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 54
_CLOSE = 0.05  # nats above the construction that count as reaching it


@dataclass(frozen=True, kw_only=True)
class SingleSettings(LabSettings):
    """Settings of the task with one parent, as in the code of its authors."""

    unused = ("graph", "kernel", "p", "eps_attn", "eta", "seeds")
    states: int = setting(10, "Number of states V.", 2, 1_000)
    length: int = setting(20, "Number of tokens T, the last of which is asked about.", 4, 1_000)
    alpha: float = setting(0.1, "Concentration α of the Dirichlet law of the kernels.", 1e-3, 1e3)
    forests: int = setting(20, "Random forests, beside one chain.", 1, 1_000)
    steps: int = setting(16_384, "Training steps; the authors take 131,072.", 1, 10_000_000)
    batch: int = setting(1_024, "Sequences of a step.", 1, 1_000_000)
    rate: float = setting(4.0, "Learning rate of SGD, falling to zero; the authors take 1.", 1e-8, 1e6)


def run(settings: SingleSettings, run: Run) -> Outcome:
    """Train a two-layer disentangled transformer on every graph, side by side."""
    from kgmi.lab import Task, Training

    rng, n_nodes = run.rng(_KEY), settings.length - 1
    dags = [Dag.chain(n_nodes), *(random_forest(n_nodes, rng) for _ in range(settings.forests))]
    prior = DirichletKernels(settings.states, 1, settings.alpha)
    task = Task([Process(dag, prior) for dag in dags], "label", device=settings.where())
    how = Training(steps=settings.steps, batch=settings.batch, rate=settings.rate, schedule="cosine", rows=4_096)
    trained = train_in_context(task, how, run)
    numbers = numbers_of(trained)
    numbers |= {"graphs": [[list(ps) for ps in dag.parents] for dag in dags]}
    numbers["attention"] = np.round(trained.record.attention[:2], 4).tolist()
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), speed_of(numbers))


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Losses against the construction and Bayes, and the graphs."""
    loss, f1 = at_end(numbers, "loss"), at_end(numbers, "f1")
    levels = {name: np.array(values) for name, values in numbers["floor"].items()}
    gaps = loss - levels["construction"]
    chi2 = np.array(numbers["measures"]["align_chi2"], dtype=float)
    found = f1[1:] > 1 - 1e-9
    return (
        Check(
            "loss of the construction",
            f"the loss ends within {_CLOSE} nats of the constructed transformer that counts along the true parent",
            f"loss − construction {shown_range(gaps)} nats; loss − Bayes {shown_range(loss - levels['bayes'])}; "
            f"loss − Bayes at the start {shown_range(np.array(numbers['measures']['gap_bayes'][0], dtype=float))}",
            bool((gaps <= _CLOSE).all()),
        ),
        Check(
            "parents of the chain",
            "the first layer attends to the true parent: an induction head for the chain",
            f"F1 {f1[0]:.2f}, attention on the true parent {at_end(numbers, 'parents')[0]:.2f}",
            bool(f1[0] > 1 - 1e-9),
        ),
        Check(
            "parents of the forests",
            "the first layer encodes the graph for random forests: all parents in at least 19 of 20",
            f"all parents in {int(found.sum())} of {found.size} forests; F1 {shown_range(f1[1:], 2)}",
            bool(found.mean() >= 0.95),
        ),
        Check(
            "gradient is mutual information",
            "the gradient of the first layer is led by χ²-mutual information: its cosine exceeds 0.5 while "
            "attention forms",
            f"largest cosine over training, by graph: {shown_range(np.nanmax(chi2, axis=0), 2)}",
            bool((np.nanmax(chi2, axis=0) > 0.5).all()),
        ),
    )


def _table(numbers: Numbers) -> Numbers:
    loss, f1, parents = (at_end(numbers, name) for name in ("loss", "f1", "parents"))
    levels = numbers["floor"]
    rows = []
    for number, parents_of in enumerate(numbers["graphs"]):
        name = "chain" if number == 0 else f"forest {number} ({sum(map(len, parents_of))} edges)"
        values = (
            loss[number],
            levels["bayes"][number],
            levels["construction"][number],
            parents[number],
            f1[number],
        )
        rows.append([name, *(f"{value:.3f}" for value in values)])
    columns = ["graph", "loss", "Bayes", "construction", "attention on parents", "F1"]
    return table("At the end of training", columns, rows, "Losses in nats for each predicted token.")


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Loss over time beside the levels, the direction of the gradient, and two first layers."""
    from kgmi.lab.drawing import draw_curve, draw_level, draw_maps
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, tidy

    figure = new_figure(11.5, 6.4, gap=0.06, below=0.06)
    grid = figure.subplots(2, 2)
    steps, measures = numbers["steps"], numbers["measures"]
    draw_curve(grid[0, 0], steps, measures["loss"], "transformer", 0)
    draw_level(grid[0, 0], numbers["floor"]["bayes"], "Bayes predictor", 1)
    draw_level(grid[0, 0], numbers["floor"]["construction"], "construction (counts)", 2)
    for series, (name, label) in enumerate((("parents", "attention on true parents"), ("f1", "F1 of the graph"))):
        draw_curve(grid[0, 1], steps, measures[name], label, series)
    draw_curve(grid[0, 1], steps, measures["align_chi2"], "cosine of the gradient with χ²-MI", 2)
    for ax, label in ((grid[0, 0], "loss (nats)"), (grid[0, 1], "share, cosine")):
        tidy(ax, "step", label)
        ax.legend(fontsize=FONT - 1, frameon=False)
    for number, name in enumerate(("chain", "forest 1")):
        attention = np.array(numbers["attention"][number])
        draw_maps(figure, [grid[1, number]], attention, Dag(numbers["graphs"][number]), [f"first layer: {name}"])
    return {"lab-single": figure}


EXPERIMENT = Experiment(
    name="lab-single",
    title="One parent, in context",
    source=NICHANI,
    claim="A two-layer disentangled transformer trained by SGD on sequences whose kernel has to be inferred in "
    "context puts "
    "the latent graph into its first layer, because the gradient is led by χ²-mutual information, and counts "
    "transitions "
    "along it in the second.",
    settings=SingleSettings,
    quick={"states": 4, "length": 10, "forests": 2, "steps": 5_000, "batch": 128, "rate": 1.0},
    run=run,
    draw=draw,
)
