"""Training with three divergences at T = 100."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from kgmi.paper.divergences import FormSettings, curve, curve_checks, curve_table, draw_curves, extreme_checks
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.settings import setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_SHOWN = ("kl", "hellinger", "pearson")
_OTHER = "(sqrt(x)-1)**2"  # the other usual form of Hellinger


@dataclass(frozen=True, kw_only=True)
class LongSettings(FormSettings):
    """Settings of the training with three divergences."""

    unused: ClassVar[tuple[str, ...]] = ("neyman",)
    epochs: int = setting(1_000_000, "Epochs of a training.", 100, 100_000_000)
    copies: int = setting(10, "Copies of the graph; T = 100 with ten of the paper's.", 1, 200)


def run(settings: LongSettings, run: Run) -> Outcome:
    """Train copies of the graph with each divergence."""
    process = settings.process(settings.copies)
    curves: dict[str, Numbers] = {}
    for number, (name, f) in enumerate(settings.forms(*_SHOWN).items()):
        run.tell(number / len(_SHOWN), f"training with {name} at T = {process.n_nodes}")
        curves[name] = curve(process, f, settings)
    other = {**curves, "hellinger": curve(process, _OTHER, settings)}
    n_edges, kl = process.dag.n_edges, curves["kl"]
    found = (
        *curve_checks(curves),
        *extreme_checks(curves),
        Check(
            "KL finds the graph",
            "trained with KL-KG-MI, all heads end on their own parents (theorem 3, here at T = 100)",
            f"{kl['heads_right']} of {n_edges} heads, {kl['edges']} of {n_edges} edges",
            kl["heads_right"] == n_edges,
            "kgmi",
        ),
        *(
            replace(check, name=f"{check.name}, Hellinger {_OTHER}", source="kgmi")
            for check in extreme_checks(other)
        ),
    )
    where = f"T = {process.n_nodes}"
    checks = tuple(replace(check, measured=f"{where}: {check.measured}") for check in found)
    shown = {**curves, _OTHER: other["hellinger"]}
    numbers: Numbers = {"curves": curves, "n_nodes": process.n_nodes, "n_edges": n_edges}
    title = f"Three divergences, {where} ({settings.copies} copies of the graph)"
    remark = f"The paper does not give the form of Hellinger; here it is {settings.hellinger}."
    return Outcome(numbers, checks, (curve_table(shown, n_edges, title),), remark)


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Training curves."""
    return {"long": draw_curves(numbers["curves"], f"T = {numbers['n_nodes']}, population, p of the settings")}


EXPERIMENT = Experiment(
    name="long",
    title="Training with three divergences (in the paper T = 100)",
    claim="At T = 100, too, the larger the gap Δ, the faster: χ² has the largest Δ and converges fastest, KL the "
    "smallest and converges slowest.",
    settings=LongSettings,
    quick={"copies": 2, "epochs": 200_000},
    run=run,
    draw=draw,
)
