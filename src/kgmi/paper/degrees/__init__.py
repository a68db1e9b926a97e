"""Experiment 6 (appendix A): two heads on a graph with in-degrees 0, 1 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.graph import Dag
from kgmi.paper.degrees.course import EPOCHS, SPREAD, STOP, over_kernels
from kgmi.paper.degrees.report import checks_of, why_of
from kgmi.paper.degrees.shown import shown_settings
from kgmi.paper.degrees.tables import kernels_table, nodes_table, recovered_table
from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.maps import draw_recovered, grid_of_maps
from kgmi.paper.setting import RATE
from kgmi.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 6  # of the random numbers of this experiment


def run(run: Run) -> Outcome:
    """Train at p = 0 and at a p where the pattern shows, and look for the pattern over random p."""
    n_kernels = 20 if run.quick else 1_000
    settings = shown_settings()
    kernels = over_kernels(n_kernels, run.rng(_KEY), lambda share: run.tell(share, "random kernels"))
    numbers: Numbers = {"settings": settings, "kernels": kernels}
    tables = [nodes_table(settings), recovered_table(settings), kernels_table(kernels)]
    return Outcome(
        configuration={
            **{"rate": RATE, "stop": STOP, "spread": SPREAD, "epochs": EPOCHS, "kernels": n_kernels},
            "p": {name: setting["p"] for name, setting in settings.items()},
        },
        numbers={**numbers, "tables": tables},
        checks=checks_of(settings, kernels),
        why=why_of(settings, kernels),
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Heat maps of both heads, and the recovered graphs, at p = 0 and at the p with the pattern."""
    dag, settings = Dag.paper_mixed(), numbers["settings"].values()
    panels = [
        [(f"{setting['title']}\nhead {head + 1}", np.array(setting["attention"][head])) for setting in settings]
        for head in range(2)
    ]
    graphs = new_figure(7.0, 9.0, 0.06, 0.04)
    for ax, setting in zip(graphs.subplots(3, 1), settings, strict=True):
        draw_recovered(ax, Dag(setting["parents"]), dag, setting["title"])
    return {"degrees": grid_of_maps(panels, dag, above=SPREAD), "degrees-graphs": graphs}


EXPERIMENT = Experiment(
    name="degrees",
    title="Non-uniform in-degrees (appendix A)",
    claim="Where a node has one parent, both heads share it (nodes 3 and 9) or one of them stays diffuse (node 7); "
    "the true parents are read off the heads that concentrate.",
    run=run,
    draw=draw,
)
