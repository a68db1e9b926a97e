"""Checks on training curves: do they converge, in which order, and how do they end."""

from __future__ import annotations

import numpy as np

from kgmi.paper.divergences.curves import LABELS, shown_epochs
from kgmi.paper.experiment import Check, Numbers

__all__ = ["TAIL", "curve_checks", "order_checks", "order_words", "speed_sentence"]

_CONVERGED = 0.02  # share of the first suboptimality below which training has converged
TAIL = 0.2  # how far, as a share, the end of a curve may be from the common tail


def curve_checks(curves: list[Numbers]) -> tuple[Check, ...]:
    """Whether training converges, and whether a larger gap Δ goes with faster training, by two clocks."""
    left = {LABELS[one["divergence"]]: one["suboptimality"][-1] / one["suboptimality"][0] for one in curves}
    rising = [one for one in curves if np.diff(one["suboptimality"]).max() > 1e-12]
    converges = Check(
        "training converges",
        f"L* − L falls at every epoch that was kept, to under {_CONVERGED:.0%} of its start within the run",
        "left at the end: " + ", ".join(f"{name} {share:.2%}" for name, share in left.items()),
        max(left.values()) < _CONVERGED and not rising,
    )
    tails = [one["tail"] for one in curves]
    tail = Check(
        "one tail for all",
        "on this kernel, whatever f, late in training L* − L = Σ (1 − 1/n)/(η t) over the columns (n candidates "
        f"each): within {TAIL:.0%} at the end",
        "measured / predicted: " + ", ".join(f"{LABELS[one['divergence']]} {one['tail']:.3f}" for one in curves),
        all(abs(value - 1) < TAIL for value in tails),
        source="kgmi",
    )
    return (converges, *order_checks(curves), tail)


def speed_sentence(curves: list[Numbers]) -> str:
    """What the checks on speed found, for the verdict."""
    converges, tenth, stop, tail = curve_checks(curves)
    return (
        f"Training {'converges' if converges.holds else 'does not converge within the run'}. "
        f"The order of Δ {order_words(tenth, stop)}."
        + (" Late in training all curves are one." if tail.holds else "")
    )


def order_words(tenth: Check, stop: Check) -> str:
    """Whether the order of Δ is that of each of the two clocks, after the words «the order of Δ»."""
    first = f"{'is' if tenth.holds else 'is not'} the order in which the suboptimality falls to a tenth"
    second = f"{'is' if stop.holds else 'is not'} that in which the last head concentrates"
    return f"{first}, {'and' if tenth.holds == stop.holds else 'but'} {second}"


def order_checks(curves: list[Numbers]) -> tuple[Check, Check]:
    """Whether a larger gap Δ goes with faster training: by the fall of L* − L, and by the last head."""
    return (
        _order_check(curves, "epochs_to_tenth", "L* − L falls to a tenth"),
        _order_check(curves, "stopping_epoch", "all heads pass 0.9"),
    )


def _order_check(curves: list[Numbers], key: str, what: str) -> Check:
    """Whether the order of Δ is the order of the epochs ``key``."""
    by_gap = sorted(curves, key=lambda one: -one["gap"])
    by_speed = sorted(curves, key=lambda one: one[key] or np.inf)
    times = ", ".join(f"{LABELS[one['divergence']]} {shown_epochs(one[key])}" for one in by_speed)
    gaps = ", ".join(f"{LABELS[one['divergence']]} {one['gap']:.3g}" for one in by_gap)
    return Check(
        f"larger Δ, faster: {what}",
        f"the larger the gap Δ of a divergence, the fewer epochs until {what}",
        f"by Δ: {gaps}; by epochs: {times}",
        [one["divergence"] for one in by_gap] == [one["divergence"] for one in by_speed],
    )
