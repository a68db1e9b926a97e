"""Calibration and power as lines of tables, plain values for JSON, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.bench.certificates.nulls import Calibration
from kgmi.bench.certificates.power import Power
from kgmi.bench.graphs.setting import Setting
from kgmi.plots.canvas import new_figure
from kgmi.plots.style import head_colour, head_line, head_marker, legend_above, log_scale, tidy
from kgmi.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "calibration_columns",
    "calibration_lines",
    "plain_values",
    "power_columns",
    "power_figure",
    "power_lines",
]

_SPOKEN = {
    "known": "kernel known",
    "sequential": "kernel learned, sequential",
    "split": "kernel learned, split",
}


def calibration_columns(alphas: Sequence[float]) -> list[str]:
    """What stands above the lines."""
    levels = [f"α = {alpha:g}" for alpha in alphas]
    return [
        "kernel",
        "null nodes",
        *(f"refuted at {a}" for a in levels),
        "fits",
        *(f"false at {a}" for a in levels),
    ]


def calibration_lines(found: Sequence[Calibration], alphas: Sequence[float]) -> list[list[str]]:
    """One line for every way to certify."""
    return [
        [
            _SPOKEN[one.kind],
            f"{len(one.largest):,}",
            *(f"{one.share(alpha):.4f}" for alpha in alphas),
            f"{one.n_fits:,}",
            *(f"{one.n_false[alpha] / one.n_fits:.4f}" for alpha in alphas),
        ]
        for one in found
    ]


def power_columns(found: Sequence[Power]) -> list[str]:
    """What stands above the lines."""
    return ["rows", *(_SPOKEN[one.kind] for one in found)]


def power_lines(found: Sequence[Power]) -> list[list[str]]:
    """One line for every number of rows: the mean share of nodes that are certified."""
    return [
        [f"{size:,}", *(f"{one.shares[:, place].mean():.3f}" for one in found)]
        for place, size in enumerate(found[0].rows)
    ]


def plain_values(
    setting: Setting,
    alphas: Sequence[float],
    seeds: Sequence[int],
    calibrations: Sequence[Calibration],
    powers: Sequence[Power],
) -> dict[str, Any]:
    """Everything for JSON."""
    return {
        "kgmi": __version__,
        "graph": setting.graph,
        "kernel": setting.kernel,
        "seeds": list(seeds),
        "calibration": [
            {
                "kind": one.kind,
                "null_nodes": len(one.largest),
                "refuted": {f"{alpha:g}": one.share(alpha) for alpha in alphas},
                "fits": one.n_fits,
                "false": {f"{alpha:g}": one.n_false[alpha] for alpha in alphas},
                "largest_log_e": float(np.max(one.largest)),
            }
            for one in calibrations
        ],
        "power": [
            {
                "kind": one.kind,
                "rows": list(one.rows),
                "samples": len(one.shares),
                "share": one.shares.mean(axis=0).tolist(),
                "false": list(one.n_false),
            }
            for one in powers
        ],
    }


def power_figure(found: Sequence[Power], alpha: float) -> Figure:
    """Share of certified nodes against rows, one line for every way to certify; the bars are standard errors."""
    figure = new_figure(6.0, 3.6)
    ax = figure.add_subplot()
    lines = []
    for number, one in enumerate(found):
        mean = one.shares.mean(axis=0)
        spread = one.shares.std(axis=0) / np.sqrt(len(one.shares))
        look: dict[str, Any] = {"color": head_colour(number), "linestyle": head_line(number), "linewidth": 1.4}
        lines += ax.plot(one.rows, mean, marker=head_marker(number), markersize=4, label=_SPOKEN[one.kind], **look)
        ax.fill_between(one.rows, mean - spread, mean + spread, color=head_colour(number), alpha=0.15, linewidth=0)
    tidy(ax, "rows", f"share of nodes certified, α = {alpha:g}")
    log_scale(ax.xaxis, np.array(found[0].rows, dtype=np.float64))
    ax.set_ylim(-0.02, 1.02)
    legend_above(ax, lines)
    return figure
