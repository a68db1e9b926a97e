"""The sentences of ``Learned.status``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.ascent import Ascent
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.kernel import AnyKernel, Kernel
from kgmi.theory import information_gaps
from kgmi.types import Bools, ScoreTable

__all__ = ["cautions", "closest_call", "describe"]


def describe(
    ascent: Ascent, wanted: Bools, tied: Bools, stop: float, names: Sequence[str], roots: Sequence[int]
) -> str:
    """How the run ended.

    ``wanted`` and ``tied`` are [head, child]: the heads of the non-root nodes, and those whose best candidates
    have equal scores.
    """
    heads, nodes, ties = int(wanted.sum()), int(wanted.any(axis=0).sum()), wanted & tied
    who = f"{heads - int(ties.sum())} of {heads} heads" if ties.any() else f"all {heads} heads"
    who += f" of the {nodes} non-root nodes"
    slow = wanted & ~tied & (ascent.stopped < 0)
    if not heads:
        sentence = "No node depends on an earlier one, so there was nothing to train."
    elif ascent.trace is None:
        sentence = f"Limit point of the ascent: {who} point at their best candidate."
    elif stop == 0:
        least = ascent.attention.max(axis=-1)[wanted].min()
        sentence = (
            f"Ran for {ascent.epochs:,} epochs, as stop = 0 calls no head done; every head has {least:.3g} "
            "or more of its attention on one candidate."
        )
    elif slow.any():
        sentence = (
            f"Not converged: after {ascent.epochs:,} epochs {int(slow.sum())} of {heads} heads are still spread "
            f"out, the first being {_first(slow, names)}; use more epochs, a larger rate, or solver='limit'."
        )
    else:
        sentence = (
            f"{'Ended' if ties.any() else 'Converged'} after {ascent.epochs:,} epochs: {who} have more than "
            f"{1 - stop:.3g} of their attention on one candidate."
        )
    return " ".join([sentence, *_ties(ties, names), _roots(names, roots)])


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


def cautions(kernel: AnyKernel | None, guide: str, divergence: Divergence, n_heads: int) -> list[str]:
    """What the reader has to know before trusting the graph."""
    found = []
    if guide == "plain" and n_heads > 1:
        found.append("Plain mutual information steers all heads alike, so they collapse onto one parent.")
    if guide == "plain" and kernel is None:
        found.append(
            "No kernel was given, so candidates were ranked by mutual information alone; "
            "an ancestor or sibling may stand in for a parent."
        )
    if guide != "plain" and isinstance(kernel, Kernel) and not kernel.has_distinct_marginals:
        found.append(
            "Some marginal kernels are equal (Assumption 1 fails), so their heads see the same scores and collapse."
        )
    slope = round(divergence.slope_at_one, 6)  # a user's f has its slope from differences
    if guide in ("stationary", "uniform") and slope <= 0:
        away = "no guidance" if slope == 0 else "guidance away from their kernels"
        better = f"'{divergence.name}-matched'" if divergence.name in DIVERGENCES else "its matched()"
        found.append(
            f"The divergence '{divergence.name}' as written gives heads {away} (f'(1) = {slope:g}); use {better}."
        )
    return found


def _first(columns: Bools, names: Sequence[str]) -> str:
    head, child = np.argwhere(columns)[0]
    return f"head {head + 1} of {names[child]}"


def _ties(ties: Bools, names: Sequence[str]) -> list[str]:
    if not (count := int(ties.sum())):
        return []
    who = (
        f"One head ({_first(ties, names)}) is" if count == 1 else f"{count} heads (first {_first(ties, names)}) are"
    )
    return [f"{who} tied between candidates of equal score, which no training can tell apart."]


def _roots(names: Sequence[str], roots: Sequence[int]) -> str:
    shown = ", ".join(names[r] for r in roots[:8]) + (f" and {len(roots) - 8} more" if len(roots) > 8 else "")
    return f"{'Root' if len(roots) == 1 else 'Roots'}: {shown}."
