"""What survives of the theorems in a real decoder: steps against the length T and against the information gap Δ."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import SettingError
from kgmi.kernel import Kernel
from kgmi.lab.experiments.shared import PAPER, LabSettings, numbers_of, speed_of
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import setting
from kgmi.paper.shared import fit_line, look_of, population_scores
from kgmi.process import Process
from kgmi.specs import read_graph
from kgmi.theory import information_gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]


@dataclass(frozen=True, kw_only=True)
class RatesSettings(LabSettings):
    """Settings of the rates."""

    graph: str = setting("paper5", "Meta-graph, of which copies are made.")
    copies: tuple[int, ...] = setting((1, 2, 4, 8), "Numbers of copies, rising.", 1, 200)
    mixes: tuple[float, ...] = setting(
        (0.3, 0.4, 0.5, 0.6, 0.7), "Shares of the kernel, the rest is uniform; rising.", 0.01, 1
    )
    steps: int = setting(6_000, "Most training steps.", 10, 10_000_000)
    looks: int = setting(100, "How often the loss is looked at.", 10, 10_000)
    seeds: int = setting(5, "Replicas with their own initial weights and sequences.", 1, 1_000)

    def validate(self) -> None:
        """Read graph and kernel; a line needs three points."""
        super().validate()
        if len(self.copies) < 2 or len(self.mixes) < 2:
            raise SettingError("copies and mixes need at least two values each, or there is no line through them")


def run(settings: RatesSettings, run: Run) -> Outcome:
    """Train a decoder for every length, and for every mixture of the kernel with the uniform law."""
    base = settings.one_kernel().table
    kernels = {mix: Kernel(mix * base + (1 - mix) / base.shape[-1]) for mix in settings.mixes}
    points: Numbers = {"length": [], "gap": []}
    runs = []
    for number, copies in enumerate(settings.copies):
        run.tell(0.6 * number / len(settings.copies), f"{copies} copies")
        process = Process(read_graph(settings.graph, copies), settings.one_kernel())
        found = _train(settings, [process] * settings.seeds, run.seed)
        runs.append(found)
        points["length"].append({"x": process.n_nodes, "steps": halfway(found)})
    run.tell(0.6, "information gaps")
    processes = [Process(read_graph(settings.graph), kernel) for kernel in kernels.values()]
    found = _train(settings, [one for one in processes for _ in range(settings.seeds)], run.seed)
    runs.append(found)
    steps = halfway(found)
    for number, process in enumerate(processes):
        gap = information_gap(population_scores(process), process.dag)
        points["gap"].append({"x": gap, "steps": steps[number * settings.seeds : (number + 1) * settings.seeds]})
    numbers: Numbers = {"points": points, "most": settings.steps, "runs": [{"about": one["about"]} for one in runs]}
    return Outcome(numbers, checks_of(numbers), (_table(numbers),), speed_of(*runs))


def _train(settings: RatesSettings, processes: list[Process], seed: int) -> Numbers:
    from kgmi.lab import Decoder, Task, Training, train

    task = Task(processes, device=settings.where())
    how = Training(
        steps=settings.steps,
        batch=settings.batch,
        rate=settings.rate,
        looks=settings.looks,
        alignment=False,
        rows=4_096,
    )
    heads = task.n_parents
    trained = train(
        task,
        lambda task: Decoder(task.n_states, task.length, n_layers=1, n_heads=heads, width=16 * heads),
        "next-token",
        "adam",
        training=how,
        seed=seed,
    )
    return numbers_of(trained)


def halfway(found: Numbers) -> list[int | None]:
    """Step at which half of the way from the best single parent to the Bayes predictor is done, by replica."""
    to_bayes, to_one = (np.array(found["measures"][name]) for name in ("gap_bayes", "gap_one_parent"))
    done = to_bayes < -to_one  # nearer to Bayes than to one parent
    return [int(found["steps"][column.argmax()]) if column.any() else None for column in done.T]


def slope(points: list[Numbers]) -> tuple[float, int]:
    """Slope of log steps against log x over the points that all replicas reached, and how many these are."""
    known = [(point["x"], np.mean(point["steps"])) for point in points if None not in point["steps"]]
    if len(known) < 2:
        return float("nan"), len(known)
    x, y = np.log(np.array(known)).T
    return float(fit_line(x.tolist(), y.tolist())["slope"]), len(known)


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """Exponents in T and in Δ."""
    (in_length, n_lengths), (in_gap, n_gaps) = (slope(numbers["points"][key]) for key in ("length", "gap"))
    return (
        Check(
            "steps against T",
            "the number of steps grows about as T² (exponent 1.5 to 2.5), as in theorem 1",
            f"exponent {in_length:.2f} over {n_lengths} of {len(numbers['points']['length'])} lengths"
            if n_lengths > 1
            else f"half of the way was done for {n_lengths} lengths only",
            bool(1.5 <= in_length <= 2.5) if n_lengths > 1 else None,
        ),
        Check(
            "steps against Δ",
            "the number of steps grows about as 1/Δ (exponent −1.5 to −0.5), as in theorem 1",
            f"exponent {in_gap:.2f} over {n_gaps} of {len(numbers['points']['gap'])} kernels"
            if n_gaps > 1
            else f"half of the way was done for {n_gaps} kernels only",
            bool(-1.5 <= in_gap <= -0.5) if n_gaps > 1 else None,
        ),
        Check(
            "longer and fainter takes longer",
            "more steps are needed for every longer sequence and for every smaller gap",
            "; ".join(
                f"{key}: {', '.join(_shown(p) for p in points)}" for key, points in numbers["points"].items()
            ),
            all(_rises(points, key == "gap") for key, points in numbers["points"].items()),
            "kgmi",
        ),
    )


def _shown(point: Numbers) -> str:
    return "not reached" if None in point["steps"] else f"{np.mean(point['steps']):,.0f}"


def _rises(points: list[Numbers], falls: bool) -> bool:
    means = [np.inf if None in point["steps"] else float(np.mean(point["steps"])) for point in points]
    pairs = itertools.pairwise(means)
    return all(a >= b if falls else a <= b for a, b in pairs)


def _table(numbers: Numbers) -> Numbers:
    rows = [
        [
            f"T = {p['x']}" if key == "length" else f"Δ = {p['x']:.4f}",
            _shown(p),
            ", ".join(str(s) for s in p["steps"]),
        ]
        for key, points in numbers["points"].items()
        for p in points
    ]
    note = f"Half of the way from the best single parent to the Bayes predictor; at most {numbers['most']:,} steps."
    return table("Steps until the second parent is used", ["case", "mean steps", "by seed"], rows, note)


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Steps against T and against 1/Δ, on log scales."""
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, log_scale, tidy

    figure = new_figure(9.0, 3.6, gap=0.06)
    axes = figure.subplots(1, 2)
    for series, (ax, (key, points)) in enumerate(zip(axes, numbers["points"].items(), strict=True)):
        known = [(point["x"], s) for point in points for s in point["steps"] if s is not None]
        if known:
            x, y = np.array(known, dtype=float).T
            ax.plot(x if key == "length" else 1 / x, y, **look_of(series) | {"linestyle": "none"}, label="replicas")
            log_scale(ax.xaxis, x if key == "length" else 1 / x)
            log_scale(ax.yaxis, y)
        found, n_points = slope(points)
        label = f"exponent {found if key == 'length' else -found:.2f}" if n_points > 1 else "too few points"
        ax.set_title(label, fontsize=FONT + 1)
        tidy(ax, "length T" if key == "length" else "1/Δ", "steps until the second parent is used")
    return {"lab-rates": figure}


EXPERIMENT = Experiment(
    name="lab-rates",
    title="Rates of the theorems in a real decoder",
    source=PAPER,
    claim="The number of epochs grows as T² log T in the length and as 1/Δ in the information gap (theorem 1, for "
    "its layer "
    "and objective).",
    settings=RatesSettings,
    quick={"copies": (1, 2), "mixes": (0.4, 0.7), "steps": 400, "looks": 80, "batch": 64, "seeds": 2},
    run=run,
    draw=draw,
)
