"""Theorems 1 and 2: how well trained the heads are after the epochs that the theorems ask for."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from kgmi.ascent import ascend
from kgmi.attention import best_objective, objective
from kgmi.paper.setting import RATE
from kgmi.paper.theorems.cases import Case, Points, point
from kgmi.theory import information_gaps, suboptimality_bound
from kgmi.types import Attention, ScoreTable

__all__ = ["NOISES", "Noise", "disturbed", "train", "whole"]


@dataclass(frozen=True)
class Noise:
    """Estimation error ε as a share of Δ, below the quarter that the theorems allow; at random or at its worst."""

    share: float
    worst: bool = False

    def __str__(self) -> str:
        return f"ε = {self.share:g} Δ{', at its worst' if self.worst else ''}" if self.share else "exact scores"


NOISES = (Noise(0.0), Noise(0.1), Noise(0.24), Noise(0.24, worst=True))


def disturbed(table: ScoreTable, error: float, worst: bool, rng: np.random.Generator) -> ScoreTable:
    """Scores off by at most ``error``: uniformly, or the best candidate down and all others up."""
    if not worst:
        return np.asarray(table + rng.uniform(-error, error, table.shape))
    known = np.where(np.isnan(table), -np.inf, table)
    best = known == known.max(axis=-1, keepdims=True)
    return np.asarray(table + np.where(best, -error, error))


def whole(epochs: float) -> int:
    """The first whole epoch at or after ``epochs``."""
    return ceil(epochs - 1e-6)


def train(case: Case, eps_attn: float, noise: Noise, rng: np.random.Generator, most: int) -> dict[str, Points]:
    """One estimate, trained for τ* epochs (theorem 1) and for each column's own epochs (theorem 2).

    The heads are trained on disturbed scores and judged by the true ones. The rate is the paper's, or larger
    where a run would take over ``most`` epochs: all of the theorems' epochs are in proportion to 1/η.
    """
    error = noise.share * case.gap
    estimate = disturbed(case.table, error, noise.worst, rng)
    bound = suboptimality_bound(max_information=case.top, eps_attn=eps_attn, estimation_error=error)
    text = f"{case.name}, ε_attn = {eps_attn:g}, {noise}"
    strength = "I_max ≥ 1" if case.top >= 1 else "I_max < 1"
    (after,) = _attention_after(estimate, [case.tau(eps_attn)], most)
    gaps = _own_gaps(case)
    epochs = [case.epochs(child, eps_attn, gap) for (_, child), gap in gaps.items()]
    *own, last = _attention_after(estimate, [*epochs, case.epochs(case.n_nodes - 1, eps_attn)], most)
    best = np.where(np.isnan(case.table), -np.inf, case.table).argmax(axis=-1)
    missing = max(1 - seen[(*column, best[column])] for column, seen in zip(gaps, own, strict=True))
    return {
        "theorem 1": [point(text, strength, _loss(case.table, after), bound)],
        "theorem 1, longer": [point(text, "all", _loss(case.table, last), bound)],
        "theorem 2": [point(text, "all", float(missing), eps_attn)],
    }


def _own_gaps(case: Case) -> dict[tuple[int, int], float]:
    """Δ^ℓ(i) of every column (ℓ, i) of a node with parents that has more than one candidate."""
    gaps = information_gaps(case.table)
    children = [child for child, parents in enumerate(case.process.dag.parents) if parents and child > 1]
    return {(head, child): float(gaps[head, child]) for child in children for head in range(case.n_heads)}


def _attention_after(table: ScoreTable, epochs: list[float], most: int) -> list[Attention]:
    """Attention after each of ``epochs`` (at the paper's rate), in one run."""
    haste = max(1.0, max(epochs) / most)
    wanted = [whole(e / haste) for e in epochs]
    # Many runs of many epochs: it pays to compile from the start.
    trace = ascend(
        table, rate=RATE * haste, epochs=max(wanted), stop=0, record_at=sorted(set(wanted)), engine="compiled"
    ).trace
    assert trace is not None  # only the limit point has none
    assert trace.attention is not None  # a few dozen small tables
    seen = dict(zip(trace.epochs.tolist(), trace.attention, strict=True))
    return [seen[epoch] for epoch in wanted]


def _loss(table: ScoreTable, attention: Attention) -> float:
    """L* − L; rounding may leave a little below 0."""
    return max(best_objective(table) - objective(table, attention), 0.0)
