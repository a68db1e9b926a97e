"""Trainings on KG-MI whose attention is shown as heat maps: from the population and from labelled sequences."""

from __future__ import annotations

import numpy as np

from kgmi.ascent import ascend
from kgmi.guides.labelled import labelled_scores
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import RATE, child_columns, edges_found, heads_right, paper_process, population_scores
from kgmi.statistics import LabelledMoments
from kgmi.types import ScoreTable

__all__ = ["EPOCHS", "FACTORISED", "STOP", "train", "trained_maps"]

STOP = 0.1
EPOCHS = 50_000
FACTORISED = 10_000  # sequences behind the heat map of the factorised form: the size of the paper's data sets


def trained_maps(kept: dict[int, LabelledMoments], largest: int) -> dict[str, Numbers]:
    """The three trainings that are shown."""
    tables = {
        "kl": ("KL-KG-MI, population", population_scores(paper_process())),
        "printed": (
            f"χ²-KG-MI, estimated: {largest:,}\nlabelled sequences, printed form",
            labelled_scores(kept[largest], "printed"),
        ),
        "factorised": (
            f"χ²-KG-MI, estimated: {FACTORISED:,}\nlabelled sequences, factorised form",
            labelled_scores(kept[FACTORISED], "factorised"),
        ),
    }
    return {name: {"title": title, **train(table)} for name, (title, table) in tables.items()}


def train(table: ScoreTable) -> Numbers:
    """Gradient ascent, and how far it ends from the 0/1 matrix of each head's parents."""
    dag = paper_process().dag
    columns = child_columns(dag, len(table))
    ascent = ascend(table, rate=RATE, epochs=EPOCHS, stop=STOP, wait_for=columns)
    wanted = np.zeros(table.shape)
    for child, parents in enumerate(dag.parents):
        wanted[range(len(parents)), child, parents] = 1.0
    found, besides = edges_found(ascent.attention, dag)
    return {
        "attention": ascent.attention.tolist(),
        "right": heads_right(ascent.attention, dag),
        "edges": found,
        "besides": besides,
        "distance": float(np.abs(ascent.attention - wanted)[columns].max()),
        "epochs": ascent.epochs,
    }
