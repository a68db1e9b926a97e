"""The sentences of ``Learned.status``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.ascent import Ascent
from kgmi.divergence import Divergence
from kgmi.kernel import Kernel
from kgmi.theory import information_gaps
from kgmi.types import Bools, ScoreTable

__all__ = ["cautions", "closest_call", "describe"]


def describe(ascent: Ascent, wanted: Bools, stop: float, names: Sequence[str], roots: Sequence[int]) -> str:
    """How the run ended."""
    heads, nodes = int(wanted.sum()), int(wanted.any(axis=0).sum())
    who = f"all {heads} heads of the {nodes} non-root nodes"
    if ascent.trace is None:
        sentence = f"Limit point of the ascent: {who} point at their best candidate."
        tied = int((ascent.attention.max(axis=-1)[wanted] < 1).sum())
        if tied:
            sentence += f" {_heads(tied)} tied between several candidates and share their attention."
    elif not heads:
        sentence = "No node depends on an earlier one, so there was nothing to train."
    else:
        spread = wanted & (ascent.stopped < 0)
        if not spread.any():
            sentence = (
                f"Converged after {ascent.epochs:,} epochs: {who} have more than {1 - stop:.3g} of their "
                "attention on one candidate."
            )
        else:
            head, child = np.argwhere(spread)[0]
            sentence = (
                f"Not converged: after {ascent.epochs:,} epochs {int(spread.sum())} of {heads} heads are still "
                f"spread out, the first being head {head + 1} of {names[child]}; use more epochs, a larger rate, "
                "or solver='limit'."
            )
    return f"{sentence} {_roots(names, roots)}"


def closest_call(scores: ScoreTable, wanted: Bools, names: Sequence[str]) -> list[str]:
    """The head whose choice was the narrowest, so that the reader knows where to doubt first."""
    margins = np.where(wanted, information_gaps(scores), np.inf)
    if not np.isfinite(margins).any():
        return []
    head, child = divmod(int(np.nanargmin(margins)), margins.shape[1])
    second, first = np.argsort(np.nan_to_num(scores[head, child], nan=-np.inf))[-2:]
    return [
        f"Closest call: head {head + 1} of {names[child]} prefers {names[first]} to {names[second]} "
        f"by {margins[head, child]:.2g}."
    ]


def cautions(kernel: Kernel | None, guide: str, divergence: Divergence, n_heads: int) -> list[str]:
    """What the reader has to know before trusting the graph."""
    found = []
    if guide == "plain" and n_heads > 1:
        found.append("Plain mutual information steers all heads alike, so they collapse onto one parent.")
    if guide == "plain" and kernel is None:
        found.append(
            "No kernel was given, so candidates were ranked by mutual information alone; "
            "an ancestor or sibling may stand in for a parent."
        )
    if guide != "plain" and kernel is not None and not kernel.has_distinct_marginals:
        found.append(
            "Some marginal kernels are equal (Assumption 1 fails), so their heads see the same scores and collapse."
        )
    if guide in ("stationary", "uniform") and divergence.slope_at_one <= 0:
        away = "no guidance" if divergence.slope_at_one == 0 else "guidance away from their kernels"
        found.append(
            f"The divergence '{divergence.name}' as written gives heads {away} (f'(1) = "
            f"{divergence.slope_at_one:g}); use '{divergence.name}-matched'."
        )
    return found


def _heads(count: int) -> str:
    return "One head is" if count == 1 else f"{count} heads are"


def _roots(names: Sequence[str], roots: Sequence[int]) -> str:
    shown = ", ".join(names[r] for r in roots[:8]) + (f" and {len(roots) - 8} more" if len(roots) > 8 else "")
    return f"{'Root' if len(roots) == 1 else 'Roots'}: {shown}."
