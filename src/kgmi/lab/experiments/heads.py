"""A real decoder on the paper's graph: whether heads split over the parents or collapse, and what KG-MI changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.errors import SettingError
from kgmi.lab.experiments.shared import PAPER, LabSettings, numbers_of, speed_of
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_WAYS = {
    "plain": "next-token loss",
    "first": "KG-MI first",
    "beside": "KG-MI beside",
    "mi": "plain MI beside",
}


@dataclass(frozen=True, kw_only=True)
class HeadsSettings(LabSettings):
    """Settings of the decoder on the paper's graph."""

    layers: tuple[int, ...] = setting((1, 2), "Numbers of layers.", 1, 8)
    heads: tuple[int, ...] = setting((1, 2, 3, 4), "Numbers of heads of a layer.", 1, 16)
    width: int = setting(48, "Features of a position: a multiple of every number of heads.", 2, 4_096)
    steps: int = setting(2_000, "Training steps.", 1, 10_000_000)
    warm: int = setting(300, "Steps on KG-MI alone before the next-token loss.", 1, 10_000_000)
    weight: float = setting(10.0, "Weight of KG-MI or MI beside the next-token loss.", 0, 1e6)
    rate: float = setting(2e-3, "Learning rate of Adam.", 1e-8, 1e6)

    def validate(self) -> None:
        """Check that every number of heads divides the width."""
        super().validate()
        wrong = [heads for heads in self.heads if self.width % heads]
        if wrong:
            raise SettingError(f"width {self.width} must be a multiple of the number of heads, {wrong[0]}")


def run(settings: HeadsSettings, run: Run) -> Outcome:
    """Train every size in every way."""
    from kgmi.lab import Task

    task = Task(settings.process(), replicas=settings.seeds, device=settings.where())
    sizes = [(layers, heads) for layers in settings.layers for heads in settings.heads]
    cells = []
    for number, (layers, heads) in enumerate(sizes):
        for place, way in enumerate(_WAYS):
            run.tell((number + place / len(_WAYS)) / len(sizes), f"{layers} layers, {heads} heads, {_WAYS[way]}")
            cells.append(_cell(settings, task, layers, heads, way, run.seed))
    process = settings.process()
    numbers: Numbers = {
        "cells": cells,
        "parents": [list(ps) for ps in process.dag.parents],
        "seeds": settings.seeds,
    }
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), speed_of(*(cell["run"] for cell in cells)))


def _cell(settings: HeadsSettings, task: Any, layers: int, heads: int, way: str, seed: int) -> Numbers:
    """Train one size in one way; what the heads of all layers ended on, by seed."""
    from kgmi.lab import CrossEntropy, Decoder, Information, Training, WeightedSum, train
    from kgmi.lab.measures import child_outcomes, head_overlap, parent_attention

    def model(task: Any) -> Any:
        return Decoder(task.n_states, task.length, n_layers=layers, n_heads=heads, width=settings.width)

    how = Training(
        steps=settings.steps, batch=settings.batch, rate=settings.rate, schedule="cosine", looks=10, alignment=False
    )
    start = None
    if way == "first":
        warm = Training(steps=settings.warm, batch=settings.batch, rate=settings.rate, looks=1, alignment=False)
        start = train(task, model, Information(task, heads), "adam", training=warm, seed=seed)
    goal: Any = CrossEntropy()
    if way in ("beside", "mi"):
        guide = "plain" if way == "mi" else "stationary"
        goal = WeightedSum({CrossEntropy(): 1.0, Information(task, heads, guide=guide): settings.weight})
    trained = train(task, model, goal, "adam", training=how, seed=seed, start=start)
    dag = task.processes[0].dag
    loss, maps = trained.evaluate()
    first = maps[0]
    named = [child_outcomes(np.concatenate(layer_maps), dag) for layer_maps in zip(*maps, strict=True)]
    outcomes = [child_outcomes(one, dag) for one in first]
    return {
        "layers": layers,
        "heads": heads,
        "way": way,
        "run": {"about": numbers_of(trained)["about"]},
        "gap": (loss - np.array(trained.record.floor["bayes"])).tolist(),
        "outcomes": outcomes,
        "any_layer": [one["split"] for one in named],
        "overlap": [None if heads == 1 else head_overlap(one, dag) for one in first],
        "on_parents": [float(parent_attention(one, dag).mean()) for one in first],
        "attention": np.round(first[0], 4).tolist(),
    }


def _of(numbers: Numbers, way: str, least: int = 2) -> list[Numbers]:
    return [cell for cell in numbers["cells"] if cell["way"] == way and cell["heads"] >= least]


def _share(cells: list[Numbers], kind: str) -> float:
    """Share of the nodes with two parents that ended in this way, over cells and seeds."""
    outcomes = [outcome for cell in cells for outcome in cell["outcomes"]]
    return float(sum(o[kind] for o in outcomes) / max(sum(sum(o.values()) for o in outcomes), 1))


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Splits and collapses of models with two or more heads."""
    split, collapsed = ({way: _share(_of(numbers, way), kind) for way in _WAYS} for kind in ("split", "collapsed"))
    gaps = {way: np.mean([cell["gap"] for cell in _of(numbers, way)]) for way in _WAYS}
    one = [cell for cell in numbers["cells"] if cell["heads"] == 1 and cell["way"] == "plain"]
    alone = f"{np.mean([cell['gap'] for cell in one]):.4f}" if one else "not run"
    return (
        Check(
            "plain mutual information collapses",
            "with plain mutual information beside the loss, most nodes have all heads on one candidate",
            f"collapsed {collapsed['mi']:.1%}, split {split['mi']:.1%}",
            collapsed["mi"] > 0.5,
        ),
        Check(
            "KG-MI prevents collapse",
            "with KG-MI beside the loss, hardly any node (under 5 %) has all heads on one candidate",
            f"collapsed {collapsed['beside']:.1%} with KG-MI beside and {collapsed['first']:.1%} with KG-MI first",
            collapsed["beside"] < 0.05,
        ),
        Check(
            "next-token loss alone collapses",
            "trained on the next-token loss alone, most nodes have all heads on one and the same candidate",
            f"collapsed {collapsed['plain']:.1%}, split {split['plain']:.1%}",
            collapsed["plain"] > 0.5,
            "kgmi",
        ),
        Check(
            "KG-MI first",
            "a start from KG-MI alone leaves more nodes split than random weights do",
            f"split {split['first']:.1%} against {split['plain']:.1%}",
            split["first"] > split["plain"],
            "kgmi",
        ),
        Check(
            "prediction",
            "a split is not needed to predict: the next-token loss alone comes within 0.01 nats of the Bayes "
            "predictor",
            f"loss − Bayes: {', '.join(f'{_WAYS[way]} {gap:.4f}' for way, gap in gaps.items())}; one head {alone}",
            bool(gaps["plain"] < 0.01),
            "kgmi",
        ),
    )


def _table(numbers: Numbers) -> Numbers:
    rows = []
    for cell in numbers["cells"]:
        total = sum(sum(outcome.values()) for outcome in cell["outcomes"])
        kinds = [sum(outcome[kind] for outcome in cell["outcomes"]) for kind in ("split", "collapsed", "other")]
        overlap = [value for value in cell["overlap"] if value is not None]
        rows.append(
            [
                *(str(cell["layers"]), str(cell["heads"]), _WAYS[cell["way"]], *map(str, kinds)),
                *(f"{sum(cell['any_layer'])} of {total}", f"{np.mean(cell['on_parents']):.2f}"),
                *(f"{np.mean(overlap):.2f}" if overlap else "–", f"{np.mean(cell['gap']):.4f}"),
            ]
        )
    columns = ["layers", "heads", "trained on", "split", "collapsed", "other", "split, any layer"]
    return table(
        f"Nodes with two parents, summed over {numbers['seeds']} seeds",
        [*columns, "attention on parents", "overlap", "loss − Bayes"],
        rows,
        "Split: each parent is the most attended candidate of some head of the first layer. Collapsed: all its "
        "heads have "
        "one and the same most attended candidate.",
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Shares of split and collapsed nodes by size and way, and two attention maps."""
    from kgmi.graph import Dag
    from kgmi.lab.drawing import draw_maps
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, head_colour, tidy

    sizes = sorted({(cell["layers"], cell["heads"]) for cell in numbers["cells"] if cell["heads"] > 1})
    figure = new_figure(12.0, 7.0, gap=0.05, below=0.06)
    grid = figure.add_gridspec(2, 12)
    for panel, kind in enumerate(("split", "collapsed")):
        ax = figure.add_subplot(grid[0, 6 * panel : 6 * panel + 6])
        for series, (way, label) in enumerate(_WAYS.items()):
            cells = {(cell["layers"], cell["heads"]): cell for cell in _of(numbers, way)}
            places = np.arange(len(sizes)) + 0.2 * series - 0.3
            ax.bar(places, [_share([cells[s]], kind) for s in sizes], 0.18, color=head_colour(series), label=label)
        ax.set_xticks(range(len(sizes)), [f"{layers} × {heads}" for layers, heads in sizes])
        ax.set_ylim(0, 1)
        tidy(ax, "layers × heads", f"share of nodes {kind}")
        ax.legend(fontsize=FONT - 1, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    shown = [next(c for c in _of(numbers, way) if c["heads"] == 2) for way in ("plain", "beside") if sizes]
    if shown and any(size[1] == 2 for size in sizes):
        maps = np.concatenate([np.array(cell["attention"]) for cell in shown])
        titles = [f"{_WAYS[cell['way']]}: head {head + 1}" for cell in shown for head in range(2)]
        axes = [figure.add_subplot(grid[1, 3 * k : 3 * k + 3]) for k in range(4)]
        draw_maps(figure, axes, maps, Dag(numbers["parents"]), titles)
    return {"lab-heads": figure}


EXPERIMENT = Experiment(
    name="lab-heads",
    title="Heads of a real decoder: split or collapse",
    source=PAPER,
    claim="Trained on plain mutual information several heads learn one and the same parent (head collapse); KG-MI "
    "makes every head learn a parent of its own. Here both are added to the next-token loss of a decoder.",
    settings=HeadsSettings,
    quick={"layers": (1,), "heads": (1, 2), "seeds": 2, "steps": 300, "warm": 60, "batch": 64, "width": 24},
    run=run,
    draw=draw,
)
