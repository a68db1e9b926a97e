"""Algorithm 1 by automatic differentiation: the trained layer is the theory's ascent, epoch by epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.attention import ascend
from kgmi.lab.experiments.shared import PAPER, LabSettings
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.settings import divergences_of, setting
from kgmi.paper.shared import heads_right, look_of, population_scores
from kgmi.theory import column_epochs, information_gaps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_SAME = 1e-10


@dataclass(frozen=True, kw_only=True)
class AscentSettings(LabSettings):
    """Settings of algorithm 1."""

    unused = ("batch", "rate", "seeds")
    steps: int = setting(5_000, "Epochs.", 10, 1_000_000)
    divergences: tuple[str, ...] = setting(("kl", "pearson"), "Divergences f.")


def run(settings: AscentSettings, run: Run) -> Outcome:
    """Train the layer with PyTorch and climb with NumPy, and compare every epoch."""
    from kgmi.lab import Training, train

    process, found = settings.process(), {}
    how = Training(steps=settings.steps, looks=settings.steps, rate=settings.eta, alignment=False)
    for number, (name, divergence) in enumerate(divergences_of(settings.divergences).items()):
        run.tell(number / len(settings.divergences), name)
        table = population_scores(process, divergence)
        trained = train(process, training=how, divergence=divergence, device=settings.where()).record
        every = list(range(1, settings.steps))
        climb = ascend(table, rate=settings.eta, epochs=settings.steps, stop=0, record_at=every).trace
        assert climb is not None
        assert climb.attention is not None
        top = trained.history.max(axis=-1)  # [epoch, head, child]
        children = [child for child, parents in enumerate(process.dag.parents) if parents and child > 1]
        passed = (top[:, :, children] > 1 - settings.eps_attn).all(axis=(1, 2))
        gaps = information_gaps(table)
        sizes: Numbers = {"n_heads": len(table), "n_nodes": process.n_nodes}
        sizes |= {"eps_attn": settings.eps_attn, "rate": settings.eta}
        bound = max(column_epochs(i, gap=gaps[h, i], **sizes) for h in range(len(table)) for i in children)
        gap = climb.best_objective - climb.objective
        found[name] = {
            "attention": float(np.abs(trained.history - climb.attention).max()),
            "objective": float(np.abs(trained.measures["loss"][:, 0] + climb.objective).max()),
            "stop": int(passed.argmax()) if passed.any() else None,
            "bound": float(bound),
            "right": heads_right(trained.attention[0], process.dag),
            "epochs": climb.epochs[1::25].tolist(),
            "theory": gap[1::25].tolist(),
            "trained": (climb.best_objective + trained.measures["loss"][1::25, 0]).tolist(),
        }
    numbers: Numbers = {"found": found, "steps": settings.steps, "edges": process.dag.n_edges}
    numbers["eps_attn"] = settings.eps_attn
    return Outcome(numbers, checks_of(numbers))


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Equality, theorem 3 and theorem 2."""
    checks = []
    for name, one in numbers["found"].items():
        checks += [
            Check(
                f"equal to ascend, {name}",
                f"gradient descent on the layer gives the attention and objective of kgmi.ascend to {_SAME:g} at "
                "every "
                f"one of {numbers['steps']:,} epochs",
                f"largest difference {one['attention']:.1e} of attention and {one['objective']:.1e} of the "
                "objective",
                max(one["attention"], one["objective"]) <= _SAME,
                "kgmi",
            ),
            Check(
                f"own parents, {name}",
                "every head ends on its own parent",
                f"{one['right']} of {numbers['edges']} heads",
                one["right"] == numbers["edges"],
            ),
            Check(
                f"theorem 2, {name}",
                f"all heads pass 1 − ε_attn ({numbers['eps_attn']:g}) by the epoch of theorem 2",
                f"epoch {one['stop']:,}, bound {one['bound']:,.0f}"
                if one["stop"]
                else f"not within {numbers['steps']:,} epochs; bound {one['bound']:,.0f}",
                one["stop"] <= one["bound"] if one["stop"] else None,
            ),
        ]
    return tuple(checks)


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Suboptimality of the trained layer over that of the theory."""
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, tidy

    figure = new_figure(6.4, 3.8)
    ax = figure.subplots()
    for series, (name, one) in enumerate(numbers["found"].items()):
        look = look_of(series)
        ax.plot(one["epochs"], one["theory"], **look | {"marker": ""}, label=f"{name}: ascend")
        ax.plot(one["epochs"][::8], one["trained"][::8], **look | {"linestyle": "none"}, label=f"{name}: trained")
    ax.set_yscale("log")
    tidy(ax, "epoch", "L* − L")
    ax.legend(fontsize=FONT - 1, frameon=False)
    return {"lab-ascent": figure}


EXPERIMENT = Experiment(
    name="lab-ascent",
    title="Algorithm 1, really trained",
    source=PAPER,
    claim="Gradient ascent on the K-head layer (algorithm 1) follows the objective to its maximum, and by the "
    "epochs of "
    "theorem 2 every head has its attention on one parent of its own.",
    settings=AscentSettings,
    quick={"steps": 1_000, "eta": 100.0},
    run=run,
    draw=draw,
)
