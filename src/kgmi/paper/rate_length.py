"""Convergence rate, first half: the stopping epoch against the length T of the sequence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kgmi.counts.bits import count_pairs
from kgmi.errors import SettingError
from kgmi.guides import scores
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, setting
from kgmi.paper.shared import STRAIGHT, TAU_LABEL, TIGHT, bound_checks, draw_line, fit_line, shown_r2, stopping
from kgmi.process import Process
from kgmi.sampling import sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 31


@dataclass(frozen=True, kw_only=True)
class LengthSettings(Settings):
    """Settings of the stopping epoch against T."""

    graph: str = setting("paper", "First meta-graph, of which copies are made.")
    second_graph: str = setting("paper5", "Second meta-graph.")
    lengths: tuple[int, ...] = setting(tuple(range(10, 101, 10)), "Lengths T: multiples of both graphs.", 2, 2_000)
    rows: int = setting(0, "Rows from which KL-KG-MI is estimated; 0: the population.", 0, 10_000_000)
    data_sets: int = setting(1, "Data sets, where there are rows.", 1, 1_000)

    def validate(self) -> None:
        """Read graphs and kernel; the lengths must be multiples of both graphs, and three at least."""
        if len(self.lengths) < 3:
            raise SettingError("lengths needs at least three lengths T, or there is no line through them")
        for graph in (self.graph, self.second_graph):
            size = replace(self, graph=graph).process().n_nodes
            for length in self.lengths:
                if length % size:
                    raise SettingError(
                        f"length T = {length} is not a multiple of the {size} nodes of the graph {graph}"
                    )


def run(settings: LengthSettings, run: Run) -> Outcome:
    """Train copies of both graphs at every length."""
    series: dict[str, Numbers] = {}
    for number, graph in enumerate((settings.graph, settings.second_graph)):
        one = replace(settings, graph=graph)
        size, points = one.process().n_nodes, []
        for step, length in enumerate(settings.lengths):
            run.tell((number + step / len(settings.lengths)) / 2, f"T = {length}, copies of {size} nodes")
            points.append(_point(one.process(length // size), settings, run, number, step))
        epochs = [point["epochs"] for point in points]
        series[f"{size}-node copies"] = {
            "points": points,
            "line": fit_line([_with_log(length) for length in settings.lengths], epochs),
            "line_without_log": fit_line([float(length**2) for length in settings.lengths], epochs),
        }
    numbers = {"lengths": list(settings.lengths), "series": series, "eps_attn": settings.eps_attn}
    remark = (
        "Attention a on the best of many candidates grows about as da/dt = (η/KT) Δ a², and so leaves its start "
        "1/T in a time that goes as T²: the logarithm belongs to the bound, not to training."
    )
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), remark)


def _point(process: Process, settings: LengthSettings, run: Run, number: int, step: int) -> Numbers:
    """The stopping epoch of the population, or the mean over data sets with its range."""
    if not settings.rows:
        return stopping(process, settings.eps_attn, settings.eta)
    found = []
    for data_set in range(settings.data_sets):
        rows = sample(process, settings.rows, rng=run.rng(_KEY, number, step, data_set))
        estimate = scores(count_pairs(rows, process.n_states), process.kernel, "kl")
        found.append(stopping(process, settings.eps_attn, settings.eta, estimate))
    epochs = [one["epochs"] for one in found]
    return {**found[0], "epochs": float(np.mean(epochs)), "low": min(epochs), "high": max(epochs)}


def _with_log(length: int) -> float:
    return float(length**2 * np.log(length))


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Lines, bounds, and whether the bound is tight."""
    series, lengths = numbers["series"], numbers["lengths"]
    checks = [
        Check(
            f"line in T² log T, {size}",
            f"the stopping epoch (ε_attn = {numbers['eps_attn']:g}) grows linearly in T² log T: R² ≥ {STRAIGHT}",
            f"R² = {shown_r2(found['line']['r_squared'])}, slope {found['line']['slope']:.3g} epochs, T = "
            f"{lengths[0]} … {lengths[-1]}",
            found["line"]["r_squared"] >= STRAIGHT,
        )
        for size, found in series.items()
    ]
    checks += bound_checks([point for found in series.values() for point in found["points"]], "T")
    points = next(iter(series.values()))["points"]
    ratio = [point["tau_star"] / point["epochs"] for point in points]
    plain, with_log = (
        [point["epochs"] / scale(t) for point, t in zip(points, lengths, strict=True)]
        for scale in (lambda t: t**2, _with_log)
    )
    checks.append(
        Check(
            "tight in T",
            f"the bound of theorem 1 is tight in T: τ* / measured changes by less than a factor of {TIGHT:g} over "
            "the grid",
            f"τ* / measured from {ratio[0]:.1f} at T = {lengths[0]} to {ratio[-1]:.1f} at T = {lengths[-1]}; over "
            f"the second half of the grid epochs / T² change by {_change(plain):+.0%}, epochs / (T² log T) by "
            f"{_change(with_log):+.0%}",
            max(ratio) < TIGHT * min(ratio),
        )
    )
    logs, squares = ([one[key]["r_squared"] for one in series.values()] for key in ("line", "line_without_log"))
    checks.append(
        Check(
            "no logarithm",
            "the points lie closer to a line in T² than to one in T² log T",
            f"R² in T²: {', '.join(map(shown_r2, squares))}; in T² log T: {', '.join(map(shown_r2, logs))}",
            all(value > other for value, other in zip(squares, logs, strict=True)),
            "kgmi",
        )
    )
    return tuple(checks)


def _change(values: list[float]) -> float:
    return values[-1] / values[len(values) // 2] - 1


def _table(numbers: Numbers) -> Numbers:
    (name, main), (other_name, other) = numbers["series"].items()
    rows = []
    for length, point, second in zip(numbers["lengths"], main["points"], other["points"], strict=True):
        bounds = [
            t
            for key in ("tau_star", "theorem_2")
            for t in (f"{point[key]:,.0f}", f"{point[key] / point['epochs']:.1f}")
        ]
        rows.append([str(length), f"{point['epochs']:,.0f}", f"{second['epochs']:,.0f}", *bounds])
    return table(
        f"Stopping epoch and bounds (bounds for {name})",
        ["T", name, other_name, "τ*", "τ* / measured", "theorem 2", "theorem 2 / measured"],
        rows,
        "τ* bounds the epoch at which the objective is near its best, not the one measured here.",
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """The lines in T² log T, and the measured epochs beside the bounds."""
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, head_colour, log_scale, tidy

    lengths, series = numbers["lengths"], numbers["series"]
    figure = new_figure(9.2, 3.9, gap=0.08)
    left, right = figure.subplots(1, 2)
    x = [_with_log(length) for length in lengths]
    for number, (name, found) in enumerate(series.items()):
        draw_line(left, x, found["points"], found["line"], number, name)
    tidy(left, "T² log T", f"stopping epoch ($\\epsilon_{{attn}}$ = {numbers['eps_attn']:g})")
    name, main = next(iter(series.items()))
    curves = (("measured", "epochs", "o-"), (TAU_LABEL, "tau_star", "s--"), ("theorem 2", "theorem_2", "^:"))
    for number, (label, key, mark) in enumerate(curves):
        values = [point[key] for point in main["points"]]
        right.plot(lengths, values, mark, color=head_colour(number), markersize=4, label=label)
    tidy(right, f"length T ({name})", "epochs")
    right.set_xticks(lengths)
    log_scale(right.yaxis, np.array([[p[key] for p in main["points"]] for _, key, _ in curves]))
    left.xaxis.set_major_formatter("{x:,.0f}")
    for ax in (left, right):
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.legend(fontsize=FONT - 1, frameon=False)
    return {"rate-length": figure}


EXPERIMENT = Experiment(
    name="rate-length",
    title="Stopping epoch against T² log T",
    claim="The epoch at which all heads have concentrated (ε_attn = 0.1) grows linearly in T² log T, which matches "
    "the bound of theorem 1: it is tight in T.",
    settings=LengthSettings,
    quick={"lengths": [10, 20, 30]},
    run=run,
    draw=draw,
)
