"""KG-MI estimated from each minibatch of labelled sequences: batch size against steps and sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.guides.labelled import expected_labelled_scores
from kgmi.lab.experiments.shared import PAPER, LabSettings, numbers_of, shown_range, speed_of
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import setting
from kgmi.paper.shared import heads_right, population_scores
from kgmi.theory import information_gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_RIGHT = 0.99  # F1 from which the graph counts as found


@dataclass(frozen=True, kw_only=True)
class MinibatchSettings(LabSettings):
    """Settings of the minibatches."""

    unused = ("eps_attn", "rate", "batch", "steps")
    eta: float = setting(10.0, "Learning rate η of a batch of 256; other batches have it in proportion.", 1e-6, 1e6)
    batches: tuple[int, ...] = setting((64, 256, 1024, 4096), "Batch sizes, rising.", 1, 1_000_000)
    sequences: int = setting(1_000_000, "Sequences in all, for each batch size and seed.", 100, 1_000_000_000)
    seeds: int = setting(5, "Streams of sequences.", 1, 1_000)
    delta: float = setting(0.05, "δ of the lemma: chance that its bound fails.", 1e-9, 0.5)


def run(settings: MinibatchSettings, run: Run) -> Outcome:
    """Train with each batch size from the same number of sequences."""
    from kgmi.lab import Task, Training, train

    process, found = settings.process(), {}
    task = Task(process, "label", replicas=settings.seeds, device=settings.where())
    for number, batch in enumerate(settings.batches):
        run.tell(number / len(settings.batches), f"batch {batch:,}")
        rate = settings.eta * batch / 256  # so that a sequence has the same weight in all of them
        steps = max(settings.sequences // batch, 1)
        how = Training(steps=steps, batch=batch, rate=rate, alignment=False, rows=256)
        found[str(batch)] = numbers_of(train(task, "paper", "kgmi-labelled", "sgd", training=how, seed=run.seed))
    wanted, limit = (
        heads_right(one, process.dag)
        for one in (population_scores(process, "pearson"), expected_labelled_scores(process))
    )
    gap = information_gap(population_scores(process, "pearson"), process.dag)
    numbers: Numbers = {
        "found": found,
        "hoeffding": hoeffding(process.n_nodes, process.n_states, gap, settings.delta),
    }
    numbers |= {"gap": gap, "limit": limit, "wanted": wanted, "edges": process.dag.n_edges, "delta": settings.delta}
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), speed_of(*found.values()))


def hoeffding(n_nodes: int, n_states: int, gap: float, delta: float) -> float:
    """Sequences that the proof of the lemma asks for: Hoeffding's inequality with ε = Δ/4 and κ = ε/4.

    A term of the estimator lies in an interval of length S/κ, and all T² pairs have to be within ε/2.
    """
    error = gap / 4
    span = n_states / (error / 4)
    return float(span**2 * np.log(2 * n_nodes**2 / delta) / (2 * (error / 2) ** 2))


def first_right(one: Numbers) -> list[float]:
    """Sequences until the graph is found for good, by seed; infinite where it is not."""
    f1, steps = np.array(one["measures"]["f1"]), np.array(one["steps"])
    batch = one["about"]["training"]["batch"]
    found = []
    for column in f1.T:
        wrong = np.flatnonzero(column < _RIGHT)
        after = wrong[-1] + 1 if wrong.size else 0
        found.append(float(steps[after]) * batch if after < len(steps) else float("inf"))
    return found


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Whether training finds the graph, and from how many sequences."""
    needed = {batch: np.array(first_right(one)) for batch, one in numbers["found"].items()}
    done = {batch: f"{int(np.isfinite(values).sum())} of {len(values)}" for batch, values in needed.items()}
    finite = [values for values in needed.values() if np.isfinite(values).all()]
    middle = [float(np.median(values)) for values in finite]
    return (
        Check(
            "labelled minibatches find the graph",
            "with every batch size the heads end on the true parents",
            "seeds with the whole graph, by batch size: " + ", ".join(f"{b}: {d}" for b, d in done.items()),
            all(np.isfinite(values).all() for values in needed.values()),
        ),
        Check(
            "sequences count, not batches",
            "the number of sequences that is needed changes by less than a factor of 4 over the batch sizes",
            f"medians from {min(middle):,.0f} to {max(middle):,.0f} sequences"
            if middle
            else "no batch size finds it",
            bool(max(middle) < 4 * min(middle)) if middle else None,
            "kgmi",
        ),
        Check(
            "printed sample size",
            f"the sample size in the proof of the lemma (ε = Δ/4, κ = ε/4, δ = {numbers['delta']:g}) is enough",
            f"the proof asks for {numbers['hoeffding']:.1e} sequences (Δ = {numbers['gap']:.4f}); needed: "
            + (f"{max(middle):,.0f}" if middle else "more than were drawn"),
            bool(max(middle) <= numbers["hoeffding"]) if middle else None,
        ),
        Check(
            "limit of the estimator",
            "the printed estimator has the true parents as its best candidates in the limit of many sequences",
            f"{numbers['limit']} of {numbers['edges']} heads (χ²-KG-MI itself: {numbers['wanted']})",
            numbers["limit"] == numbers["edges"],
            "kgmi",
        ),
    )


def _table(numbers: Numbers) -> Numbers:
    rows = []
    for batch, one in numbers["found"].items():
        needed = np.array(first_right(one))
        shown = f"{np.median(needed):,.0f}" if np.isfinite(np.median(needed)) else "not found"
        f1 = shown_range(one["measures"]["f1"][-1], 2)
        rows.append([f"{int(batch):,}", f"{one['steps'][-1]:,}", shown, f1, f"{one['about']['seconds']:.1f}"])
    return table(
        "By batch size", ["batch", "steps", "sequences until found (median)", "F1 at the end", "seconds"], rows
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """F1 against steps and against sequences."""
    from kgmi.lab.drawing import draw_curve
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, tidy

    figure = new_figure(9.2, 3.6, gap=0.06)
    left, right = figure.subplots(1, 2, sharey=True)
    for series, (batch, one) in enumerate(numbers["found"].items()):
        steps = np.array(one["steps"][1:])
        f1 = np.array(one["measures"]["f1"][1:])
        draw_curve(left, steps, f1, f"batch {int(batch):,}", series)
        draw_curve(right, steps * int(batch), f1, f"batch {int(batch):,}", series)
    for ax, label in ((left, "step"), (right, "labelled sequences")):
        ax.set_xscale("log")
        tidy(ax, label, "F1 of the graph" if ax is left else "")
    left.legend(fontsize=FONT - 1, frameon=False, loc="upper left")
    return {"lab-minibatch": figure}


EXPERIMENT = Experiment(
    name="lab-minibatch",
    title="KG-MI from minibatches of labelled sequences",
    source=PAPER,
    claim="χ²-KG-MI can be estimated from labelled sequences; with N polynomial in 1/ε, log 1/δ, 1/κ and S the "
    "estimate is "
    "within ε, and training on it finds the parents.",
    settings=MinibatchSettings,
    quick={"batches": (256, 2048), "sequences": 500_000, "seeds": 2},
    run=run,
    draw=draw,
)
