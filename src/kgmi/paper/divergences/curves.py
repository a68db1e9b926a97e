"""Training curves of several divergences side by side: what both halves of experiment 4 share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.ascent import ascend
from kgmi.divergence import Divergence
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import RATE, child_columns, edges_found, heads_right, population_scores
from kgmi.process import Process
from kgmi.theory import information_gap
from kgmi.types import Bools, Floats, Ints, ScoreTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LABELS", "curve", "curve_table", "draw_curves", "shown_epochs"]

LABELS = {
    "kl": "KL",
    "pearson": "Pearson χ²",
    "neyman": "Neyman χ²",
    "hellinger": "Hellinger",
    "reverse-kl": "reverse KL",
    "jensen-shannon": "Jensen–Shannon",
    "total-variation": "total variation",
    "pearson-centred": "Pearson as (x − 1)²",
    "neyman-centred": "Neyman as (x − 1)²/x",
    "hellinger-root": "Hellinger as 2(1 − √x)",
}
_EPS_ATTN = 0.1
_SHARE = 0.1  # a curve is timed by when it has lost all but this share of its first suboptimality


def curve(process: Process, divergence: str | Divergence, epochs: int) -> Numbers:
    """Suboptimality L* − L along gradient ascent on the population, and what the heads end on."""
    table = population_scores(process, divergence)
    keep = np.unique(np.geomspace(1, epochs, 240).astype(int))
    ascent = ascend(table, rate=RATE, epochs=epochs, stop=0.0, record_at=keep.tolist(), engine="compiled")
    trace = ascent.trace
    assert trace is not None
    rest = trace.best_objective - trace.objective
    fallen = np.flatnonzero(rest <= _SHARE * rest[0])
    found, extra = edges_found(ascent.attention, process.dag)
    stopped = ascend(
        table,
        rate=RATE,
        epochs=epochs,
        stop=_EPS_ATTN,
        wait_for=child_columns(process.dag, len(table)),
        record_at=(),
        engine="compiled",
    )
    done = (stopped.stopped >= 0)[child_columns(process.dag, len(table))].all()
    return {
        "divergence": divergence if isinstance(divergence, str) else divergence.name,
        "epochs": trace.epochs.tolist(),
        "suboptimality": rest.tolist(),
        "gap": information_gap(table, process.dag),
        "max_information": float(np.nanmax(table)),
        # Between two kept epochs, which lie about 4 % apart, on log scales.
        "epochs_to_tenth": _crossing(trace.epochs, rest, int(fallen[0]), _SHARE * rest[0]) if len(fallen) else None,
        "stopping_epoch": stopped.epochs if done else None,
        "tail": float(rest[-1] * RATE * trace.epochs[-1] / _tail_columns(table)),
        "heads_right": heads_right(table, process.dag),
        "edges_found": found,
        "edges_besides": extra,
    }


def _tail_columns(table: ScoreTable) -> float:
    """Σ (1 − 1/n) over the columns that have something to learn, n being the number of their candidates."""
    moving: Bools = np.asarray(~np.isnan(table).all(axis=-1))
    moving[moving] = np.nanmax(table[moving], axis=-1) - np.nanmin(table[moving], axis=-1) > 1e-12
    return float((1 - 1 / (~np.isnan(table)).sum(axis=-1)[moving]).sum())


def _crossing(epochs: Ints, rest: Floats, first: int, level: float) -> float:
    if first == 0 or epochs[first - 1] == 0:
        return float(epochs[first])
    share = np.log(rest[first - 1] / level) / np.log(rest[first - 1] / rest[first])
    return float(np.exp(np.log(epochs[first - 1]) + share * np.log(epochs[first] / epochs[first - 1])))


def shown_epochs(value: float | None) -> str:
    """A number of epochs, or a dash where the run was too short."""
    return "—" if value is None else f"{value:,.0f}"


def curve_table(curves: list[Numbers], n_edges: int, title: str) -> Numbers:
    """Gap, speed and what was recovered, divergence by divergence."""
    return {
        "title": title,
        "columns": [
            "divergence",
            "Δ",
            "largest score",
            "epochs to a tenth",
            "epochs till all heads pass 0.9",
            "heads on their parent",
            "edges",
            "besides",
        ],
        "rows": [
            [
                LABELS[one["divergence"]],
                f"{one['gap']:.3g}",
                f"{one['max_information']:.3g}",
                shown_epochs(one["epochs_to_tenth"]),
                shown_epochs(one["stopping_epoch"]),
                f"{one['heads_right']} of {n_edges}",
                f"{one['edges_found']} of {n_edges}",
                str(one["edges_besides"]),
            ]
            for one in curves
        ],
    }


def draw_curves(curves: list[Numbers], title: str) -> Figure:
    """Suboptimality per epoch on log scales: as it is, and as a share of its start."""
    from matplotlib.ticker import LogFormatterSciNotation

    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, head_colour, head_line, log_scale, tidy

    figure = new_figure(9.2, 3.9, gap=0.08)
    panels = figure.subplots(1, 2)
    for ax, relative in zip(panels, (False, True), strict=True):
        seen = []
        for number, one in enumerate(curves):
            y = np.array(one["suboptimality"][1:])
            y = np.where(y > 1e-15, y, np.nan) / (one["suboptimality"][0] if relative else 1.0)
            label = f"{LABELS[one['divergence']]}: Δ = {one['gap']:.2g}"
            ax.plot(one["epochs"][1:], y, color=head_colour(number), linestyle=head_line(number), label=label)
            seen += [np.nanmin(y), np.nanmax(y)]
        tidy(ax, "epoch", "share of the first suboptimality" if relative else "suboptimality L* − L")
        log_scale(ax.yaxis, np.array(seen))
        log_scale(ax.xaxis, np.array([1.0, curves[0]["epochs"][-1]]))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(LogFormatterSciNotation())
    panels[0].legend(fontsize=FONT - 1, frameon=False, loc="lower left")
    figure.suptitle(title, fontsize=FONT + 2)
    return figure
