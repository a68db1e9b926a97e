"""Attention maps: trained on KG-MI, attention equals the adjacency matrix, from the population and from labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.attention import ascend
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.guides.labelled import LabelledForm, LabelledMoments, count_labelled, labelled_scores
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, setting
from kgmi.paper.shared import (
    child_columns,
    edges_found,
    heads_right,
    look_of,
    node_names,
    paper_maps,
    population_scores,
    wilson,
)
from kgmi.plots import draw_two_heads
from kgmi.plots.canvas import new_figure
from kgmi.plots.style import FONT, INK, head_colour, legend_above, log_scale, tidy
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.types import ScoreTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 2
_CHUNK = 20_000  # sequences at a time
_SURE = 0.95  # share of streams that must be exact
_FORMS: tuple[LabelledForm, ...] = ("printed", "factorised", "reweighted")


@dataclass(frozen=True, kw_only=True)
class HeatmapSettings(Settings):
    """Settings of the attention maps."""

    sequences: tuple[int, ...] = setting(
        tuple(625 * 2**k for k in range(12)), "Numbers of labelled sequences, rising.", 10, 100_000_000
    )
    streams: int = setting(20, "Independent streams of labelled sequences.", 1, 10_000)
    few: int = setting(10_000, "Sequences behind the maps of the other two forms.", 10, 100_000_000)
    kappa: float = setting(0.0, "κ of the labelled estimator.", 0, 100)
    epochs: int = setting(50_000, "Most epochs.", 1, 10_000_000)

    def validate(self) -> None:
        """Read graph and kernel; the numbers of sequences must rise, and not end below ``few``."""
        super().validate()
        if list(self.sequences) != sorted({*self.sequences}) or self.few > self.sequences[-1]:
            raise SettingError("sequences must rise from number to number, the last at least few")


def run(settings: HeatmapSettings, run: Run) -> Outcome:
    """Train on the population and on labelled sequences, and count the sequences that are needed."""
    process = settings.process()
    grid = sorted({*settings.sequences, settings.few})
    right: dict[LabelledForm, list[list[int]]] = {form: [] for form in _FORMS}
    kept: dict[int, LabelledMoments] = {}
    for number in range(settings.streams):
        rng = run.rng(_KEY, 0, number)
        found: dict[LabelledForm, list[int]] = {form: [] for form in _FORMS}
        for size, moments in _stream(process, grid, rng, settings.kappa):
            if size in settings.sequences:
                for form in _FORMS:
                    found[form].append(heads_right(labelled_scores(moments, form), process.dag))
            if number == 0 and size in (settings.few, grid[-1]):
                kept[size] = moments
        for form in _FORMS:
            right[form].append(found[form])
        run.tell(0.9 * (number + 1) / settings.streams, "labelled sequences")
    numbers: Numbers = {
        "parents": [list(parents) for parents in process.dag.parents],
        "eps_attn": settings.eps_attn,
        "maps": _maps(process, kept, settings),
        "labels": _summary(right, settings, process.dag.n_edges),
    }
    return Outcome(numbers, checks_of(numbers), (_needs_table(numbers["labels"]),))


# Labelled sequences


def _stream(
    process: Process, grid: Sequence[int], rng: np.random.Generator, kappa: float
) -> Sequence[tuple[int, LabelledMoments]]:
    """Sums over ever more sequences of one stream, at each size of the grid: sums are additive."""
    sums: list[tuple[int, LabelledMoments]] = []
    total: LabelledMoments | None = None
    for size in grid:
        while (done := 0 if total is None else total.n_rows) < size:
            rows = sample(process, min(_CHUNK, size - done), rng=rng, labelled=True)
            part = count_labelled(rows, process.n_states, kappa)
            total = part if total is None else total + part
        assert total is not None  # sizes are positive
        sums.append((size, total))
    return sums


def needed(grid: Sequence[int], share: Sequence[float]) -> int | None:
    """Smallest size at which, and at all larger ones, at least 95 % of the streams are exact; None if none is."""
    sizes = []
    for size, exact in zip(reversed(grid), reversed(share), strict=True):
        if exact < _SURE:
            break
        sizes.append(size)
    return sizes[-1] if sizes else None


def _summary(right: dict[LabelledForm, list[list[int]]], settings: HeatmapSettings, n_heads: int) -> Numbers:
    """Shares of streams in which all heads are right, and the sizes needed. A head is right in the limit."""
    exact = {form: (np.array(right[form]) == n_heads).sum(axis=0).tolist() for form in _FORMS}
    share = {form: [count / settings.streams for count in exact[form]] for form in _FORMS}
    return {
        "grid": list(settings.sequences),
        "streams": settings.streams,
        "exact": exact,
        "share": share,
        "right": {form: np.array(right[form]).mean(axis=0).tolist() for form in _FORMS},
        "needed": {form: needed(settings.sequences, share[form]) for form in _FORMS},
    }


def _size_text(labels: Numbers, form: str) -> str:
    size = labels["needed"][form]
    return f"more than {labels['grid'][-1]:,}" if size is None else f"{size:,}"


def _needs_table(labels: Numbers) -> Numbers:
    rows = [
        [
            f"{size:,}",
            *(t for f in _FORMS for t in (f"{labels['share'][f][k]:.0%}", f"{labels['right'][f][k]:.1f}")),
        ]
        for k, size in enumerate(labels["grid"])
    ]
    needs = ", ".join(f"{form} {_size_text(labels, form)}" for form in _FORMS)
    return table(
        "Labelled sequences and heads that are right",
        [
            "labelled sequences",
            *(t for form in _FORMS for t in (f"{form}: streams with all heads right", "mean heads right")),
        ],
        rows,
        f"Independent streams: {labels['streams']}. Needed for all heads in at least {_SURE:.0%} of the streams, "
        f"at this size of the grid and all larger ones: {needs}. A head is right when its best candidate, the "
        "limit of training, is its parent.",
    )


# Trained maps


def _maps(process: Process, kept: dict[int, LabelledMoments], settings: HeatmapSettings) -> dict[str, Numbers]:
    largest = max(kept)
    shown = {
        "kl": ("KL-KG-MI, population", population_scores(process)),
        "printed": (
            f"χ²-KG-MI, printed estimate,\n{largest:,} labelled sequences",
            labelled_scores(kept[largest], "printed"),
        ),
    }
    for form in _FORMS[1:]:
        title = f"χ²-KG-MI, {form} estimate,\n{settings.few:,} labelled sequences"
        shown[form] = (title, labelled_scores(kept[settings.few], form))
    return {
        name: {"title": title, **train(scored, process.dag, settings)} for name, (title, scored) in shown.items()
    }


def train(scored: ScoreTable, dag: Dag, settings: HeatmapSettings) -> Numbers:
    """Gradient ascent, and how far it ends from the 0/1 matrix of each head's parents."""
    columns = child_columns(dag, len(scored))
    ascent = ascend(scored, rate=settings.eta, epochs=settings.epochs, stop=settings.eps_attn, wait_for=columns)
    wanted = np.zeros(scored.shape)
    for child, parents in enumerate(dag.parents):
        wanted[range(len(parents)), child, parents] = 1.0
    found, wrong = edges_found(ascent.attention, dag)
    return {
        "attention": ascent.attention.tolist(),
        "right": heads_right(ascent.attention, dag),
        "edges": found,
        "wrong": wrong,
        "distance": float(np.abs(ascent.attention - wanted)[columns].max()),
        "epochs": ascent.epochs,
    }


# Claims


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claims, and ours."""
    maps, labels = numbers["maps"], numbers["labels"]
    n_edges = Dag(numbers["parents"]).n_edges

    def seen(one: Numbers) -> str:
        return (
            f"{one['edges']} of {n_edges} edges, {one['wrong']} wrong, {one['right']} heads on their own parent, "
            f"after {one['epochs']:,} epochs"
        )

    apart = {"KL": maps["kl"]["distance"], "χ²": maps["printed"]["distance"]}
    need = {form: labels["needed"][form] or np.inf for form in _FORMS}
    return (
        Check(
            "KL-KG-MI, population",
            "Trained on KL-KG-MI, head 1 attends to the first parent of every child and head 2 to the second.",
            seen(maps["kl"]),
            maps["kl"]["right"] == n_edges,
        ),
        Check(
            "χ²-KG-MI, estimated",
            f"The same with χ²-KG-MI estimated from labelled sequences (printed form, {labels['grid'][-1]:,} "
            "sequences, the most that were drawn; the paper does not say how many it took).",
            seen(maps["printed"]),
            maps["printed"]["right"] == n_edges,
        ),
        Check(
            "attention equals the adjacency matrix",
            "At every child the attention is that of the adjacency matrix, up to ε_attn = "
            f"{numbers['eps_attn']:g}, where training stops.",
            "largest difference " + ", ".join(f"{name} {value:.5f}" for name, value in apart.items()),
            max(apart.values()) <= numbers["eps_attn"],
        ),
        Check(
            "labelled sequences needed",
            "With one kernel for all sequences, the factorised and the reweighted form need fewer than the printed "
            "one.",
            f"all {n_edges} heads right in {_SURE:.0%} of {labels['streams']} streams: "
            + ", ".join(f"{form} {_size_text(labels, form)}" for form in _FORMS),
            max(need["factorised"], need["reweighted"]) < need["printed"],
            "kgmi",
        ),
    )


# Figures


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Attention in the paper's form; the two heads apart; and how many sequences the labelled estimator needs."""
    dag, maps = Dag(numbers["parents"]), numbers["maps"]
    heads = {name: np.array(found["attention"]) for name, found in maps.items()}
    paper = [("DAG", None), ("KL (population)", heads["kl"]), ("χ² (estimate)", heads["printed"])]
    labels = new_figure(5.5, 4.2)
    _draw_needed(labels.subplots(), numbers["labels"])
    return {"heatmaps": paper_maps([paper], dag), "heatmaps-heads": _draw_heads(maps), "labels": labels}


def _draw_heads(maps: Numbers) -> Figure:
    figure = new_figure(12.0, 3.5, 0.06, 0.04)
    axes = figure.subplots(1, len(maps))
    for ax, found in zip(axes, maps.values(), strict=True):
        attention = np.array(found["attention"])
        image = draw_two_heads(ax, attention, node_names(attention.shape[1]))
        if image.colorbar is not None:  # one for all stands beside the last
            image.colorbar.remove()
        ax.tick_params(axis="x", labelrotation=0)
        ax.set_xlabel("child (columns of roots: not read)", fontsize=FONT)
        ax.set_title(found["title"], fontsize=FONT, pad=20)
    bar = figure.colorbar(image, ax=list(axes), shrink=0.8, pad=0.02, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["head 2: 1", "0.5", "0", "0.5", "head 1: 1"], fontsize=FONT)
    bar.set_label("attention of head 1 minus head 2", fontsize=FONT)
    return figure


def _draw_needed(ax: Axes, labels: Numbers) -> None:
    """Share of streams with every head right, with 95 % intervals, against the number of labelled sequences."""
    grid = np.array(labels["grid"], dtype=float)
    lines = []
    for place, form in enumerate(_FORMS):
        label = f"{form} form: needs {_size_text(labels, form)}"
        lines += ax.plot(grid, labels["share"][form], markersize=4, label=label, **look_of(place))
        ends = np.array([wilson(count, labels["streams"]) for count in labels["exact"][form]])
        if labels["streams"] > 1:
            ax.fill_between(grid, ends[:, 0], ends[:, 1], color=head_colour(place), alpha=0.15, linewidth=0)
    ax.axhline(_SURE, color=INK, linewidth=0.6)
    tidy(ax, "labelled sequences", f"share of {labels['streams']} streams with all heads right")
    log_scale(ax.xaxis, grid)
    ax.xaxis.set_major_formatter(lambda size, _: f"{size / 1e6:g} M" if size >= 1e6 else f"{size / 1e3:g} k")
    ax.set_ylim(-0.04, 1.04)
    legend_above(ax, lines, 1)


EXPERIMENT = Experiment(
    name="heatmaps",
    title="Attention maps trained on KG-MI",
    claim="Trained on KL-KG-MI, or on χ²-KG-MI estimated with labels, the attention equals the adjacency matrix.",
    settings=HeatmapSettings,
    quick={"sequences": [2_500, 10_000, 40_000, 160_000, 640_000], "streams": 1},
    run=run,
    draw=draw,
)
