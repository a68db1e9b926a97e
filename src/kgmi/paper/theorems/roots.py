"""Theorem 2 for roots: how far their attention strays from uniform when the scores are estimated."""

from __future__ import annotations

import numpy as np

from kgmi.ascent import ascend
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.paper.setting import RATE
from kgmi.paper.theorems.cases import Case, Points, case_of, point
from kgmi.paper.theorems.training import whole
from kgmi.theory import root_bound
from kgmi.types import Floats, ScoreTable

__all__ = ["ROOT_EPS", "ROOT_SHARES", "root_cases", "root_points"]

ROOT_EPS = (0.3, 0.1, 0.02)  # ε_attn
ROOT_SHARES = (0.001, 0.01, 0.06, 0.24)  # ε in Δ, below the quarter that the theorem allows
_FREE = 1e-9  # scores below this are 0 but for rounding


def root_cases(quick: bool) -> list[Case]:
    """Copies, whose later roots have many candidates: drawn alone (K = 1) or by twos (K = 2)."""
    step = Kernel([[0.9, 0.1], [0.2, 0.8]])
    cases = [
        case_of("2 chains of 2", Dag.chain(2).copies(2), step),
        case_of("paper's graph, 2 × 5 nodes", Dag.paper(5).copies(2), Kernel.paper()),
        case_of("25 chains of 2", Dag.chain(2).copies(25), step),
    ]
    if quick:
        return cases
    return [
        *cases,
        case_of("5 chains of 3", Dag.chain(3).copies(5), step),
        case_of("paper's graph, 2 × 10 nodes", Dag.paper().copies(2), Kernel.paper()),
    ]


def root_points(case: Case, eps_attn: float, share: float, rng: np.random.Generator, most: int) -> Points:
    """The last root drawn alone and, where there is one, the last drawn together with an earlier node."""
    roots = [root for root in case.process.dag.roots if root > 1]
    free = [root for root in roots if np.abs(case.table[:, root, :root]).max() <= _FREE]
    tied = [root for root in roots if root not in free]
    error = share * case.gap
    points = []
    for root in free[-1:] + tied[-1:]:
        bound = root_bound(root, gap=case.gap, estimation_error=error, eps_attn=eps_attn)
        group = "together" if root in tied else "small bound" if bound <= 1 / root else "large bound"
        for worst in (False, True):
            way = "one candidate up, all others down" if worst else "at random"
            text = f"{case.name}, node {root + 1}, ε_attn = {eps_attn:g}, ε = {share:g} Δ {way}"
            column = case.table[:, root, :root] + _errors((case.n_heads, root), error, worst, rng)
            points.append(point(text, group, _strays(case, root, column, eps_attn, most), bound))
    return points


def _errors(shape: tuple[int, int], error: float, worst: bool, rng: np.random.Generator) -> Floats:
    if not worst:
        return rng.uniform(-error, error, shape)
    errors = np.full(shape, -error)
    errors[:, rng.integers(shape[1])] = error
    return errors


def _strays(case: Case, root: int, column: Floats, eps_attn: float, most: int) -> float:
    """|attn − 1/(i − 1)| after as many epochs as a non-root with the gap Δ would need; largest over heads."""
    epochs = case.epochs(root, eps_attn)
    haste = max(1.0, epochs / most)
    table: ScoreTable = np.full(case.table.shape, np.nan)  # columns are independent, so this one can be alone
    table[:, root, :root] = column
    ascent = ascend(table, rate=RATE * haste, epochs=whole(epochs / haste), stop=0, record_at=[], engine="compiled")
    return float(np.abs(ascent.attention[:, root, :root] - 1 / root).max())
