"""The paper's own condition ε < Δ/4, with a bound on the estimation error ε that is proven, not guessed.

All pair joints are within η of the truth in total, by the inequality of Weissman and a union over pairs; a cell is
then off by η/2 at most, and so is the information that the kernel guides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log

import numpy as np

from kgmi.divergence import divergence_named
from kgmi.graph import Dag
from kgmi.guides.stationary import candidate_pairs, guided_information
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.theory import information_gap
from kgmi.types import Bools, Floats

__all__ = ["PaperCondition", "information_error", "paper_condition"]

_MOST_ROWS = 10**15


@dataclass(frozen=True)
class PaperCondition:
    """ε < Δ/4, under which the paper's theorems promise that training finds the parents.

    Attributes
    ----------
    gap
        Δ as estimated: the smallest lead of a parent over the next candidate, in nats of KG-MI (KL).
    error
        ε: with probability at least 1 − α no estimated KG-MI is further from the truth. Infinite where a cell of a
        pair may be empty in truth, for all that these rows say.
    holds
        Whether ε < Δ/4 is certain: the true gap is Δ − 2ε at least, so that 6 ε < Δ is enough.
    rows_needed
        About how many rows would make it certain; infinite where Δ is not positive.
    """

    gap: float
    error: float
    holds: bool
    rows_needed: float

    @property
    def sentence(self) -> str:
        """The condition in words."""
        error = f"ε ≤ {self.error:.3g}" if isfinite(self.error) else "no bound on ε yet"
        holds = "holds" if self.holds else "is not certain"
        told = f"The paper's condition ε < Δ/4 {holds}: Δ = {self.gap:.3g}, {error}"
        if self.holds:
            return f"{told}."
        if not isfinite(self.rows_needed):
            return f"{told}; with such a gap no number of rows would make it so."
        return f"{told}; it would take about {self.rows_needed:,.0f} rows."


def paper_condition(
    joint: PairJoint, kernel: Kernel, dag: Dag, n_rows: int, alpha: float, allowed: Bools | None = None
) -> PaperCondition:
    """The condition for a graph found from rows with a known kernel, for KL; see :func:`kgmi.scores`."""
    kernels = kernel.marginal_kernels
    scores = guided_information(joint, kernels, divergence_named("kl"), allowed)
    gap = information_gap(scores, dag)
    error = information_error(joint, kernels, n_rows, alpha, allowed)
    enough = float("inf")
    if gap > 0:
        low, high = 1, _MOST_ROWS
        while low < high:
            middle = (low + high) // 2
            met = 6 * information_error(joint, kernels, middle, alpha, allowed) < gap
            low, high = (low, middle) if met else (middle + 1, high)
        enough = float(low) if low < _MOST_ROWS else float("inf")
    return PaperCondition(float(gap), error, bool(6 * error < gap), enough)


def information_error(
    joint: PairJoint, kernels: Floats, n_rows: int, alpha: float, allowed: Bools | None = None
) -> float:
    """ε such that with probability ≥ 1 − α every KG-MI (KL) from ``n_rows`` rows is within ε of the truth.

    The logarithm of a cell p̂ that is off by η/2 at most is off by −log(1 − η/2p̂) at most; and what is averaged
    with the candidate's law, off by η in total, moves by η/2 times its range.
    """
    children, candidates = candidate_pairs(joint.n_nodes) if allowed is None else np.nonzero(allowed)
    n_cells = joint.n_states**2
    spread = np.sqrt(2 / n_rows * (n_cells * log(2) + log(len(children) / alpha)))
    together = joint.joint[children, candidates]  # [pair, s', s]
    own, other = joint.marginal[children][:, :, None], joint.marginal[candidates][:, None, :]
    if min(together.min(), own.min(), other.min()) <= spread / 2:
        return float("inf")
    logs = np.log(together / (own * other))
    off = -np.log1p(-spread / 2 / together) - np.log1p(-spread / 2 / own) - np.log1p(-spread / 2 / other)
    mean_log = np.einsum("lst,pts->lps", kernels, logs)
    mean_off = np.einsum("lst,pts->lps", kernels, off)
    moved = spread / 2 * (np.ptp(mean_log, axis=-1) + np.ptp(mean_off, axis=-1))
    return float((moved + (mean_off * other[:, 0]).sum(axis=-1)).max())
