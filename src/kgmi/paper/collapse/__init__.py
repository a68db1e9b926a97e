"""Experiment 1: with plain mutual information the heads collapse onto one parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.graph import Dag
from kgmi.paper.collapse.measure import DIVERGENCES, EPOCHS, GUIDES, ROWS, STOP, from_rows, measure
from kgmi.paper.collapse.report import checks_of, table_of, why_of
from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.maps import grid_of_maps
from kgmi.paper.setting import RATE, paper_process, population_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 1  # of the random numbers of this experiment


def run(run: Run) -> Outcome:
    """Train on plain mutual information and on KG-MI, from the population and from rows."""
    process = paper_process()
    n_sets = 2 if run.quick else 20
    population: Numbers = {}
    maps: Numbers = {}
    for guide in GUIDES:
        for name in DIVERGENCES:
            found, attention = measure(population_scores(process, name, guide), process.dag)
            population[f"{guide} {name}"] = found
            maps[f"{guide} {name}"] = attention.tolist()
    run.tell(0.2, "population")
    sampled: dict[str, list[Numbers]] = {key: [] for key in population}
    for number in range(n_sets):
        for key, found in from_rows(process, run.rng(_KEY, number)).items():
            sampled[key].append(found)
        run.tell(0.2 + 0.8 * (number + 1) / n_sets, "rows")
    return Outcome(
        configuration={"rate": RATE, "stop": STOP, "epochs": EPOCHS, "rows": ROWS, "data_sets": n_sets, "p": 0.0},
        numbers={
            "population": population,
            "rows": sampled,
            "maps": {key: maps[key] for key in maps if key.startswith("plain")},
            "tables": [table_of(population, sampled, process.dag)],
        },
        checks=checks_of(population, sampled, process.dag),
        why=why_of(population, process.dag),
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Heat maps of both heads for KL-MI and χ²-MI."""
    panels = [
        [(f"{shown}-MI, head {head + 1}", np.array(numbers["maps"][f"plain {name}"][head])) for head in range(2)]
        for name, shown in DIVERGENCES.items()
    ]
    return {"collapse": grid_of_maps(panels, Dag.paper(10))}


EXPERIMENT = Experiment(
    name="collapse",
    title="Head collapse with plain mutual information",
    claim="Trained on KL-MI or χ²-MI in place of KG-MI, both heads learn one and the same parent of every child.",
    run=run,
    draw=draw,
)
