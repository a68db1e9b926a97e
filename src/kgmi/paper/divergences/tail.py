"""The common tail of all training curves, on random kernels."""

from __future__ import annotations

from kgmi.kernel.tunables import random_tunables
from kgmi.paper.divergences.curves import LABELS, curve
from kgmi.paper.divergences.speed import TAIL
from kgmi.paper.experiment import Check, Numbers, Run
from kgmi.paper.setting import paper_process

__all__ = ["tail_check", "tails_over_kernels"]

_KEY = 44  # of these random kernels
_MOST = 0.95  # share of the curves that must end on the common tail


def tails_over_kernels(run: Run, names: tuple[str, ...], n_kernels: int, epochs: int) -> list[Numbers]:
    """L* − L at the end of training over Σ (1 − 1/n)/(η t), for every divergence on random kernels."""
    rng, found = run.rng(_KEY), []
    for number in range(n_kernels):
        run.tell(0.4 + 0.1 * number / n_kernels, "the tail on random kernels")
        process = paper_process(p=random_tunables(rng))
        found.append({name: curve(process, name, epochs)["tail"] for name in names})
    return found


def tail_check(tails: list[Numbers], epochs: int) -> Check:
    """Whether the tail is also that of other kernels."""
    pairs = [(value, LABELS[name]) for one in tails for name, value in one.items()]
    near = sum(abs(value - 1) < TAIL for value, _ in pairs)
    (low, low_name), (high, high_name) = min(pairs), max(pairs)
    return Check(
        "one tail on random kernels",
        f"over random p, too, L* − L after {epochs:,} epochs is within {TAIL:.0%} of Σ (1 − 1/n)/(η t), in "
        f"at least {_MOST:.0%} of the trainings",
        f"{near} of {len(pairs)} trainings ({len(tails)} kernels, {len(tails[0])} divergences); measured / "
        f"predicted from {low:.3f} ({low_name}) to {high:.3f} ({high_name})",
        near >= _MOST * len(pairs),
        source="kgmi",
    )
