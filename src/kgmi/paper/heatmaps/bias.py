"""What biases the labelled χ² estimator of appendix B: uniform co-parents, and the sequence's own frequencies."""

from __future__ import annotations

import numpy as np

from kgmi.graph import Dag
from kgmi.guides.labelled import expected_labelled_scores
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.experiment import Numbers
from kgmi.paper.heatmaps.sequences import KAPPA
from kgmi.paper.setting import child_columns, heads_right, paper_process, population_scores, rivals
from kgmi.process import Process
from kgmi.types import Floats, ScoreTable

__all__ = ["STEPS", "bias", "bias_table", "margins", "over_kernels", "tables_of"]

STEPS = {
    "uniform": ("uniform co-parents", "stationary", "uniform"),
    "own": ("frequencies of the sequence itself", "uniform", "expected"),
    "both": ("both together", "stationary", "expected"),
}
"""What each step of the bias is, and between which tables it lies."""


def tables_of(process: Process) -> dict[str, ScoreTable]:
    """χ²-KG-MI of the population, the same with uniform co-parents, and what the labelled estimator expects."""
    return {
        "stationary": population_scores(process, "pearson"),
        "uniform": population_scores(process, "pearson", "uniform"),
        "expected": expected_labelled_scores(process, KAPPA),
    }


def margins(table: ScoreTable, dag: Dag) -> Floats:
    """Score of the true parent minus the best other candidate, child by child, head by head; > 0 is right."""
    return np.array([parent - other for _, _, parent, other in rivals(table, dag)])


def bias(process: Process) -> Numbers:
    """Where the estimator differs from χ²-KG-MI: the uniform co-parents, then the frequencies of the sequence.

    The first step changes the kernel that guides, the second puts the state frequencies of the short sequence
    itself where P_i(s') belongs. ``scores`` lists the candidates of all children, head by head, ``is_parent``
    whether each is the parent of its head.
    """
    dag, tables = process.dag, tables_of(process)
    cells = np.argwhere(child_columns(dag, 2)[:, :, None] & ~np.isnan(tables["stationary"]))
    flat = {name: np.array([table[tuple(cell)] for cell in cells]) for name, table in tables.items()}
    kept = {name: margins(table, dag) for name, table in tables.items()}
    return {
        "scores": {name: values.tolist() for name, values in flat.items()},
        "is_parent": [int(j) == dag.parents[i][head] for head, i, j in cells],
        "margins": {name: values.tolist() for name, values in kept.items()},
        "right": {name: heads_right(table, dag) for name, table in tables.items()},
        "steps": {
            step: {
                "mean": float((flat[after] - flat[before]).mean()),
                "largest": float(np.abs(flat[after] - flat[before]).max()),
                "margin_largest": float(np.abs(kept[after] - kept[before]).max()),
            }
            for step, (_, before, after) in STEPS.items()
        },
    }


def over_kernels(n_kernels: int, rng: np.random.Generator) -> Numbers:
    """Number of random settings of p in which each of the three tables has every head right.

    ``lost`` counts those that χ²-KG-MI of the population has right and the biased table has not, ``gained`` those
    that only the biased table has right.
    """
    seen: dict[str, list[bool]] = {"stationary": [], "uniform": [], "expected": []}
    for _ in range(n_kernels):
        process = paper_process(p=random_tunables(rng))
        for name, table in tables_of(process).items():
            seen[name].append(heads_right(table, process.dag) == process.dag.n_edges)
    right = {name: np.array(values) for name, values in seen.items()}
    base, biased = right["stationary"], {name: right[name] for name in ("uniform", "expected")}
    return {
        "kernels": n_kernels,
        "right": {name: int(values.sum()) for name, values in right.items()},
        "lost": {name: int((base & ~values).sum()) for name, values in biased.items()},
        "gained": {name: int((~base & values).sum()) for name, values in biased.items()},
    }


def bias_table(found: Numbers, kernels: Numbers) -> Numbers:
    """The bias as a table for the report."""
    n_heads = sum(found["is_parent"])
    rows = [["none (χ²-KG-MI, population)", "0", "0", "0", *_kept(found, kernels, "stationary")]]
    for step, (what, _, after) in STEPS.items():
        size = found["steps"][step]
        moved = [f"{size[name]:.4f}" for name in ("mean", "largest", "margin_largest")]
        rows.append([what, *moved, *(_kept(found, kernels, after) if step != "own" else ("",) * 5)])
    return {
        "title": "Bias of the labelled estimator, in exact expectation",
        "columns": [
            *("bias", "mean", "largest", "largest change of a margin", "smallest margin left"),
            *(f"heads right (of {n_heads})", f"random kernels with all heads right (of {kernels['kernels']})"),
            *("of these gained by the bias", "lost by the bias"),
        ],
        "rows": rows,
        "note": "A margin is the score of the head's parent minus the best other candidate: only margins matter to "
        "training, and a bias that all candidates of a child share does not change them. Gained and lost: against "
        "χ²-KG-MI without bias, kernel by kernel.",
    }


def _kept(found: Numbers, kernels: Numbers, name: str) -> tuple[str, ...]:
    moved = [str(kernels[way].get(name, 0)) for way in ("gained", "lost")]
    return f"{min(found['margins'][name]):.4f}", str(found["right"][name]), str(kernels["right"][name]), *moved
