"""Checks on training curves: do they converge, in which order, and how do they end."""

from __future__ import annotations

import numpy as np

from kgmi.paper.divergences.curves import LABELS, shown_epochs
from kgmi.paper.experiment import Check, Numbers

__all__ = ["curve_checks", "order_check", "speed_sentence"]

_CONVERGED = 0.02  # share of the first suboptimality below which training has converged


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
        "late in training L* − L = Σ (1 − 1/n)/(η t) over the columns (n candidates each), whatever f, kernel and "
        "Δ: within 20 % at the end",
        "measured / predicted: " + ", ".join(f"{LABELS[one['divergence']]} {one['tail']:.3f}" for one in curves),
        all(abs(value - 1) < 0.2 for value in tails),
        source="kgmi",
    )
    clocks = (("epochs_to_tenth", "L* − L falls to a tenth"), ("stopping_epoch", "all heads pass 0.9"))
    return (converges, *(order_check(curves, key, what) for key, what in clocks), tail)


def speed_sentence(curves: list[Numbers]) -> str:
    """What the checks on speed found, for the verdict."""
    converges, tenth, stop, tail = curve_checks(curves)
    return (
        f"Training {'converges' if converges.holds else 'does not converge within the run'}. The order of Δ "
        f"{'is' if tenth.holds else 'is not'} the order in which the suboptimality falls, and "
        f"{'is' if stop.holds else 'is not'} the order in which the last head concentrates."
        + (" Δ decides when the fall begins; late in training all curves are one." if tail.holds else "")
    )


def order_check(curves: list[Numbers], key: str, what: str) -> Check:
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
