"""What both halves of experiment 3 share: when training stops, and what the theorems say about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from kgmi.ascent import ascend
from kgmi.paper.experiment import Check, Numbers
from kgmi.paper.setting import RATE, child_columns, fit_line, heads_right, population_scores
from kgmi.process import Process
from kgmi.theory import asymptotic_epochs, column_epochs, information_gap, information_gaps, tau_star
from kgmi.types import ScoreTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["STRAIGHT", "TAU_LABEL", "Points", "bound_checks", "draw_line", "line_through", "shown_r2", "stopping"]

Points = list[Numbers]
STRAIGHT = 0.99  # R² from which points are called a line
_MOST_EPOCHS = 50_000_000
TAU_LABEL = "τ* (theorem 1: for the objective,\nno bound on this epoch)"


def stopping(process: Process, eps_attn: float, table: ScoreTable | None = None) -> Numbers:
    """Train on the population until every head of every non-root node has over 1 − ε_attn on one candidate."""
    dag = process.dag
    table = population_scores(process) if table is None else table
    wait_for = child_columns(dag, len(table))
    ascent = ascend(
        table, rate=RATE, epochs=_MOST_EPOCHS, stop=eps_attn, wait_for=wait_for, record_at=(), engine="compiled"
    )
    gaps, gap = information_gaps(table), information_gap(table, dag)
    sizes: Numbers = {"n_heads": len(table), "n_nodes": dag.n_nodes, "eps_attn": eps_attn, "rate": RATE}
    chosen = np.argwhere(wait_for & np.isfinite(gaps))  # a single candidate needs no training
    theorem_2 = max(column_epochs(child, gap=gaps[head, child], **sizes) for head, child in chosen)
    largest = float(np.nanmax(table))
    return {
        "n_nodes": dag.n_nodes,
        "gap": gap,
        "max_information": largest,
        "epochs": ascent.epochs,
        "stopped": bool((ascent.stopped >= 0)[wait_for].all()),
        "tau_star": tau_star(gap=gap, max_information=largest, **sizes),
        "theorem_2": theorem_2,
        "first_order": float(asymptotic_epochs(table, eps_attn=eps_attn, rate=RATE)[wait_for].max()),
        "heads_right": heads_right(table, dag),
    }


def line_through(points: Points, x: list[float], key: str = "epochs") -> Numbers:
    """The least-squares line of the stopping epochs over ``x``, as plain numbers."""
    return asdict(fit_line(np.array(x), np.array([point[key] for point in points], dtype=float)))


def shown_r2(value: float) -> str:
    """R² to four decimals, or to as many as it takes to tell it from 1."""
    digits = next((n for n in range(4, 10) if float(f"{value:.{n}f}") < 1), 4)
    return f"{value:.{digits}f}"


def bound_checks(points: Points, every: str) -> tuple[Check, Check]:
    """Whether the epochs of theorems 1 and 2 bound the measured ones; ``every`` says over what, "kernel" or "T"."""
    wanted = f"bound / measured ≥ 1 for every {every}"
    ratios = {key: [point[key] / point["epochs"] for point in points] for key in ("tau_star", "theorem_2")}
    measured = {
        key: f"bound / measured from {min(values):.3g} to {max(values):.3g} in {len(values)} runs"
        for key, values in ratios.items()
    }
    return (
        Check(
            "bound: τ* of theorem 1",
            "all heads have passed 1 − ε_attn by τ* of theorem 1, too (the theorem speaks of the objective, not of "
            f"this epoch): {wanted}",
            measured["tau_star"],
            min(ratios["tau_star"]) >= 1,
            source="kgmi",
        ),
        Check(
            "bound: theorem 2",
            f"all heads have passed 1 − ε_attn by the epoch of theorem 2: {wanted}",
            measured["theorem_2"],
            min(ratios["theorem_2"]) >= 1,
        ),
    )


def draw_line(ax: Axes, x: list[float], points: Points, line: Numbers, series: int, label: str) -> None:
    """The measured epochs as points, and the line through them."""
    from kgmi.plots.style import head_colour, head_line, head_marker

    colour = head_colour(series)
    ends = np.array([min(x), max(x)])
    ax.plot(x, [p["epochs"] for p in points], head_marker(series), color=colour, markersize=5, label=label)
    ax.plot(
        ends,
        line["slope"] * ends + line["intercept"],
        label=f"{line['slope']:.4g} x {line['intercept']:+,.0f}, R² = {shown_r2(line['r_squared'])}",
        color=colour,
        linestyle=head_line(series),
        linewidth=1.2,
    )
