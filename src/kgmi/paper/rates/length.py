"""Experiment 3, first half: the stopping epoch against the length T of the sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.rates.stopping import (
    STRAIGHT,
    TAU_LABEL,
    bound_checks,
    draw_line,
    line_through,
    shown_r2,
    stopping,
)
from kgmi.paper.setting import RATE, paper_process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

EPS_ATTN = 0.1


def _run(run: Run) -> Outcome:
    lengths = (10, 20, 30) if run.quick else tuple(range(10, 101, 10))
    series: dict[str, Numbers] = {}
    for number, size in enumerate((10, 5)):
        points = []
        for step, length in enumerate(lengths):
            run.tell((number + step / len(lengths)) / 2, f"T = {length}, copies of the {size}-node graph")
            points.append(stopping(paper_process(size, copies=length // size), EPS_ATTN))
        series[str(size)] = {
            "points": points,
            "line": line_through(points, [_with_log(length) for length in lengths]),
            "line_without_log": line_through(points, [float(length**2) for length in lengths]),
        }
    numbers = {"lengths": list(lengths), "series": series, "tables": [_table(lengths, series)]}
    configuration = {"eps_attn": EPS_ATTN, "rate": RATE, "p": 0, "lengths": list(lengths), "data": "population"}
    checks = _checks(series)
    return Outcome(configuration, numbers, checks, _why(series, checks))


def _why(series: dict[str, Numbers], checks: tuple[Check, ...]) -> str:
    """The reason for the verdict; what it says of lines is what the checks found."""
    held, main = {check.name: check.holds for check in checks}, series["10"]
    with_log, without = (shown_r2(main[key]["r_squared"]) for key in ("line", "line_without_log"))
    lie = "lie" if held["line in T² log T, 10-node copies"] else "do not lie"
    text = f"The stopping epochs {lie} on a line in T² log T (R² = {with_log}); in T² R² = {without}."
    if held["no logarithm"]:
        text += (
            " The line in T² is the closer one: the logarithm belongs to the bound, not to training. Attention a "
            "on the best of many candidates grows about as da/dt = (η/KT) Δ a², and so leaves its start 1/T in a "
            "time that goes as T²."
        )
    return text


def _with_log(length: int) -> float:
    return float(length**2 * np.log(length))


def _checks(series: dict[str, Numbers]) -> tuple[Check, ...]:
    checks = []
    for size, found in series.items():
        line, points = found["line"], found["points"]
        checks.append(
            Check(
                f"line in T² log T, {size}-node copies",
                f"the stopping epoch (ε_attn = {EPS_ATTN}) grows linearly in T² log T: R² ≥ {STRAIGHT}",
                f"R² = {shown_r2(line['r_squared'])}, slope {line['slope']:.3g} epochs, T = "
                f"{points[0]['n_nodes']} … {points[-1]['n_nodes']}",
                line["r_squared"] >= STRAIGHT,
            )
        )
    checks += bound_checks([point for found in series.values() for point in found["points"]], "T")
    with_log, without = (
        [found[key]["r_squared"] for found in series.values()] for key in ("line", "line_without_log")
    )
    checks.append(
        Check(
            "no logarithm",
            "the points lie closer to a line in T² than to one in T² log T",
            f"R² in T²: {', '.join(map(shown_r2, without))}; in T² log T: {', '.join(map(shown_r2, with_log))}",
            all(value > other for value, other in zip(without, with_log, strict=True)),
            source="kgmi",
        )
    )
    return tuple(checks)


def _table(lengths: tuple[int, ...], series: dict[str, Numbers]) -> Numbers:
    rows = []
    for k, length in enumerate(lengths):
        point, other = series["10"]["points"][k], series["5"]["points"][k]
        rows.append(
            [
                str(length),
                f"{point['epochs']:,}",
                f"{other['epochs']:,}",
                f"{point['tau_star']:,.0f}",
                f"{point['tau_star'] / point['epochs']:.1f}",
                f"{point['theorem_2']:,.0f}",
                f"{point['theorem_2'] / point['epochs']:.1f}",
            ]
        )
    return {
        "title": "Stopping epoch and bounds (bounds for copies of the 10-node graph)",
        "columns": ["T", "10-node copies", "5-node copies", "τ*", "τ* / measured", "theorem 2", "its ratio"],
        "rows": rows,
        "note": "τ* bounds the epoch at which the objective is near its best, not the one measured here.",
    }


def _draw(numbers: Numbers) -> dict[str, Figure]:
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, head_colour, log_scale, tidy

    lengths, series = numbers["lengths"], numbers["series"]
    figure = new_figure(9.2, 3.9, gap=0.08)
    left, right = figure.subplots(1, 2)
    x = [_with_log(length) for length in lengths]
    for number, (size, found) in enumerate(series.items()):
        draw_line(left, x, found["points"], found["line"], number, f"copies of the {size}-node graph")
    tidy(left, "T² log T", f"stopping epoch ($\\epsilon_{{attn}}$ = {EPS_ATTN})")
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.yaxis.set_major_formatter("{x:,.0f}")
    left.legend(fontsize=FONT - 1, frameon=False)
    points = series["10"]["points"]
    curves = (("measured", "epochs", "o-"), (TAU_LABEL, "tau_star", "s--"), ("theorem 2", "theorem_2", "^:"))
    for number, (label, key, mark) in enumerate(curves):
        right.plot(lengths, [p[key] for p in points], mark, color=head_colour(number), markersize=4, label=label)
    tidy(right, "length T (copies of the 10-node graph)", "epochs")
    right.set_xticks(lengths)
    log_scale(right.yaxis, np.array([[p[key] for p in points] for _, key, _ in curves]))
    right.yaxis.set_major_formatter("{x:,.0f}")
    right.legend(fontsize=FONT - 1, frameon=False)
    return {"rate-length": figure}


EXPERIMENT = Experiment(
    name="rate-length",
    title="Stopping epoch against T² log T",
    claim="The epoch at which all heads have concentrated (ε_attn = 0.1) grows linearly in T² log T.",
    run=_run,
    draw=_draw,
)
