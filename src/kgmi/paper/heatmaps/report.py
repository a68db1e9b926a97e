"""Trained attention maps in words: checks, and the reason for the verdict."""

from __future__ import annotations

import numpy as np

from kgmi.graph import Dag
from kgmi.paper.experiment import Check, Numbers
from kgmi.paper.heatmaps.sequences import SURE, size_text
from kgmi.paper.heatmaps.training import STOP

__all__ = ["checks_of", "why_of"]


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claims, and ours."""
    return (*_paper_checks(numbers), *_our_checks(numbers))


def _paper_checks(numbers: Numbers) -> tuple[Check, ...]:
    maps, n_edges = numbers["maps"], Dag.paper(10).n_edges
    largest = numbers["labels"]["grid"][-1]

    def told(found: Numbers) -> str:
        return (
            f"{found['edges']} of {n_edges} edges, {found['besides']} besides, {found['right']} heads on their own "
            f"parent, after {found['epochs']:,} epochs"
        )

    apart = {"KL": maps["kl"]["distance"], "χ²": maps["printed"]["distance"]}
    return (
        Check(
            "KL-KG-MI, population",
            "Trained on KL-KG-MI, head 1 attends to the first parent of every child and head 2 to the second.",
            told(maps["kl"]),
            maps["kl"]["right"] == n_edges,
        ),
        Check(
            "χ²-KG-MI, estimated",
            f"The same with χ²-KG-MI estimated from labelled sequences (printed form, {largest:,} sequences, the "
            "most that were drawn; the paper does not say how many it took).",
            told(maps["printed"]),
            maps["printed"]["right"] == n_edges,
        ),
        Check(
            "attention equals the adjacency matrix",
            f"At every child the attention is that of the adjacency matrix, up to ε_attn = {STOP:g}, where "
            "training stops.",
            "largest difference " + ", ".join(f"{name} {value:.5f}" for name, value in apart.items()),
            max(apart.values()) <= STOP,
        ),
    )


def _our_checks(numbers: Numbers) -> tuple[Check, ...]:
    labels, found, kernels = numbers["labels"], numbers["bias"], numbers["kernels"]
    n_heads = Dag.paper(10).n_edges
    printed, factorised = (labels["needed"][form] or np.inf for form in ("printed", "factorised"))
    margin = {name: min(values) for name, values in found["margins"].items()}
    return (
        Check(
            "labelled sequences needed",
            "With one kernel for all sequences, the factorised form needs fewer of them than the printed one.",
            f"all {n_heads} heads right in {SURE:.0%} of {labels['streams']} streams: printed form "
            f"{size_text(labels, 'printed')} sequences, factorised form {size_text(labels, 'factorised')}",
            factorised < printed,
            "kgmi",
        ),
        Check(
            "bias of the uniform co-parents",
            "The uniform co-parents of the labels bias the scores, but move no best candidate on this kernel.",
            f"scores move by up to {found['steps']['uniform']['largest']:.4f}; the smallest margin goes from "
            f"{margin['stationary']:.4f} to {margin['uniform']:.4f}, and to {margin['expected']:.4f} with the "
            "frequencies of the sequence itself in the denominator; "
            f"{found['right']['uniform']} and {found['right']['expected']} of {n_heads} heads right",
            found["steps"]["uniform"]["largest"] > 0 and found["right"]["uniform"] == n_heads,
            "kgmi",
        ),
        Check(
            "bias on other kernels",
            "Over random p, of the graphs that χ²-KG-MI has right, the bias loses no more than one in ten.",
            f"all heads right, of {kernels['kernels']} kernels: χ²-KG-MI {kernels['right']['stationary']}; "
            + "; ".join(
                f"{what} {kernels['right'][name]} ({kernels['lost'][name]} lost, {kernels['gained'][name]} gained)"
                for name, what in (("uniform", "uniform co-parents"), ("expected", "expected estimate"))
            ),
            max(kernels["lost"].values()) <= 0.1 * kernels["right"]["stationary"],
            "kgmi",
        ),
    )


def why_of(numbers: Numbers) -> str:
    """The reason for the verdict."""
    maps, labels = numbers["maps"], numbers["labels"]
    return (
        f"Trained on KL-KG-MI of the population, {maps['kl']['right']} of 16 heads attend to their own parent; "
        f"trained on χ²-KG-MI from {labels['grid'][-1]:,} labelled sequences, {maps['printed']['right']}. For all "
        f"heads in {SURE:.0%} of the streams the printed estimator needs {size_text(labels, 'printed')} sequences, "
        f"the factorised form {size_text(labels, 'factorised')}."
    )
