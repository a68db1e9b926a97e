"""Experiment 4, second half: training with three divergences at T = 100."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kgmi.paper.divergences.curves import LABELS, curve, curve_table, draw_curves
from kgmi.paper.divergences.speed import curve_checks, speed_sentence
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.setting import RATE, paper_process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_SHOWN = ("kl", "hellinger", "pearson")


def _run(run: Run) -> Outcome:
    copies, epochs = (2, 200_000) if run.quick else (10, 1_000_000)
    process = paper_process(copies=copies)
    curves = []
    for number, name in enumerate(_SHOWN):
        run.tell(number / len(_SHOWN), f"training with {LABELS[name]} at T = {process.n_nodes}")
        curves.append(curve(process, name, epochs))
    n_edges = process.dag.n_edges
    where = f"T = {process.n_nodes}"  # fewer than the paper's 100 in a quick run
    title = f"Three divergences as written, base kernel, {where} ({copies} copies of the 10-node graph)"
    numbers: Numbers = {
        "curves": curves,
        "n_nodes": process.n_nodes,
        "n_edges": n_edges,
        "tables": [curve_table(curves, n_edges, title)],
    }
    kl = curves[0]
    checks = (
        *curve_checks(curves),
        Check(
            "KL finds the graph",
            "trained with KL-KG-MI, all heads end on their own parents",
            f"{kl['heads_right']} of {n_edges} heads, {kl['edges_found']} of {n_edges} edges",
            kl["heads_right"] == n_edges,
        ),
    )
    why = (
        f"Run at {where}. {speed_sentence(curves)} Of {n_edges} heads, "
        + ", ".join(f"{one['heads_right']} with {LABELS[one['divergence']]}" for one in curves)
        + " end on their own parents."
    )
    configuration: Numbers = {"rate": RATE, "epochs": epochs, "p": 0, "copies": copies, "n_nodes": process.n_nodes}
    configuration["data"] = "population"
    told = tuple(replace(check, measured=f"{where}: {check.measured}") for check in checks)
    return Outcome(configuration, numbers, told, why)


def _draw(numbers: Numbers) -> dict[str, Figure]:
    return {"long": draw_curves(numbers["curves"], f"T = {numbers['n_nodes']}, population, base kernel")}


EXPERIMENT = Experiment(
    name="long",
    title="Training with three divergences, T = 100",
    claim="At T = 100, too, training converges, and the larger the gap Δ, the faster.",
    run=_run,
    draw=_draw,
)
