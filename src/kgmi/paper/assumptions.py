"""Theorem 3 in exact arithmetic: how often its conclusion is true where the parents do not follow M_π."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kgmi.divergence import Divergence
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, divergences_of, setting
from kgmi.paper.shared import heads_right, look_of, wilson
from kgmi.plots.canvas import new_figure
from kgmi.plots.style import FONT, INK, head_colour, tidy
from kgmi.process import Process
from kgmi.theory import check_process

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 7
_EXACT = 1e-9  # distances up to here are 0 but for rounding
_EDGES = (_EXACT, 0.05, 0.1, 0.15, 0.2, 0.3, 1.0)  # of the bins of distance; the first bin is distance 0
_CONTROL = "order-2 chains, random kernels"
_CLAIM = "The best candidate of head ℓ is p(i)^ℓ, for every head and every node with parents (theorem 3)"


@dataclass(frozen=True, kw_only=True)
class AssumptionSettings(Settings):
    """Settings of theorem 3 over random processes; heads are taken in their limit."""

    unused: ClassVar[tuple[str, ...]] = ("eta", "eps_attn")
    divergences: tuple[str, ...] = setting(
        ("kl", "pearson", "hellinger", "hellinger-matched", "neyman", "neyman-matched"), "f; KL is the theorem's."
    )
    graphs: int = setting(500, "Graphs per family.", 5, 100_000)

    def validate(self) -> None:
        """Read graph, kernel and divergences."""
        super().validate()
        divergences_of(self.divergences)


def _families(settings: AssumptionSettings) -> dict[str, Callable[[np.random.Generator], Process]]:
    """All have K = 2; 10 nodes and 3 states where the label says nothing else."""
    dag = settings.process().dag
    own = "paper's graph" if settings.graph == "paper" else settings.graph

    def graphs(n_nodes: int, n_states: int) -> Callable[[np.random.Generator], Process]:
        return lambda rng: Process(Dag.random(n_nodes, 2, rng=rng), Kernel.random(n_states, 2, rng=rng))

    return {
        _CONTROL: lambda rng: Process(Dag.chain(10, 2), Kernel.random(3, 2, rng=rng)),
        f"{own}, random p": lambda rng: Process(dag, Kernel.paper(random_tunables(rng))),
        f"{own}, random kernels": lambda rng: Process(dag, Kernel.random(3, 2, rng=rng)),
        "random graphs, random kernels": graphs(10, 3),
        "random graphs, 2 states": graphs(10, 2),
        "random graphs, 4 states": graphs(10, 4),
        "random graphs, 20 nodes": graphs(20, 3),
    }


def run(settings: AssumptionSettings, run: Run) -> Outcome:
    """Draw every family, and count which heads choose their parents."""
    divergences = divergences_of(settings.divergences)
    families: dict[str, Numbers] = {}
    wanted = _families(settings)
    for number, (label, draw_one) in enumerate(wanted.items()):
        run.tell(number / len(wanted), label)
        rng = run.rng(_KEY, number)
        families[label] = _summary([measure(draw_one(rng), divergences) for _ in range(settings.graphs)])
    own = measure(settings.process(), divergences)
    numbers: Numbers = {"own": own, "families": families, "divergences": list(settings.divergences)}
    return Outcome(numbers, checks_of(numbers), (_table(numbers),))


def measure(process: Process, divergences: dict[str, Divergence]) -> Numbers:
    """What the heads choose from population scores, and how far the parents of every child are from M_π.

    For the first divergence: ``right`` and ``distance`` of every head of every child, and ``children``, what the
    heads of each child do together. ``counts`` has the number of heads that are right, by divergence.
    """
    dag, joint = process.dag, exact_joint(process)
    away = check_process(process).parent_distance
    tables = {name: scores(joint, process.kernel, f) for name, f in divergences.items()}
    first = next(iter(tables.values()))
    chosen = np.where(np.isnan(first), -np.inf, first).argmax(axis=-1)
    right, distance, children = [], [], []
    for child, parents in enumerate(dag.parents):
        choice = chosen[: len(parents), child].tolist()
        right += [best == parent for best, parent in zip(choice, parents, strict=True)]
        distance += [float(away[child])] * len(parents)
        children += [pair_kind(choice, parents)] if parents else []
    counts = {name: heads_right(one, dag) for name, one in tables.items()}
    return {"right": right, "distance": distance, "children": children, "counts": counts}


def pair_kind(choice: list[int], parents: tuple[int, ...]) -> str:
    """What the heads of a child do together, from what each of them chooses."""
    if tuple(choice) == parents:
        return "right"
    if not set(choice) <= set(parents):
        return "a head on no parent"
    return "heads swapped" if len(set(choice)) == len(parents) else "heads on one parent"


def share(hits: int, n: int) -> Numbers:
    """A share with its 95 % interval."""
    low, high = wilson(hits, n)
    return {"hits": hits, "n": n, "share": hits / n if n else 0.0, "low": low, "high": high}


def _summary(seen: Sequence[Numbers]) -> Numbers:
    """Counts over a family, as plain numbers."""
    right = np.array([value for one in seen for value in one["right"]])
    distance = np.array([value for one in seen for value in one["distance"]])
    off = distance > _EXACT
    split = float(np.median(distance[off])) if off.any() else 0.0  # each family at its own median
    bins = []
    for low, high in zip((-1.0, *_EDGES[:-1]), _EDGES, strict=True):
        inside = (distance > low) & (distance <= high)
        if inside.any():
            bins.append({"distance": float(distance[inside].mean()), **_where(right, inside)})
    return {
        "heads": share(int(right.sum()), len(right)),
        "graphs": {
            name: share(sum(one["counts"][name] == len(one["right"]) for one in seen), len(seen))
            for name in seen[0]["counts"]
        },
        "near": _where(right, off & (distance <= split)),
        "far": _where(right, off & (distance > split)),
        "distance": float(distance.max()),
        "bins": bins,
        "children": dict(Counter(kind for one in seen for kind in one["children"])),
    }


def _where(right: np.ndarray, mask: np.ndarray) -> Numbers:
    return share(int(right[mask].sum()), int(mask.sum()))


def _text(found: Numbers) -> str:
    """A share as people read it."""
    ends = f"95 % interval {100 * found['low']:.1f}–{100 * found['high']:.1f} %"
    return f"{found['hits']:,} of {found['n']:,} ({100 * found['share']:.1f} %, {ends})"


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claim on its own kernel and in every family, then what we find about the distance from M_π."""
    own, families, first = numbers["own"], numbers["families"], numbers["divergences"][0]
    checks = [
        Check(
            "the graph and kernel of the settings",
            f"{_CLAIM}; by default on the paper's 10-node graph with all p = 0.",
            f"{own['counts'][first]} of {len(own['right'])} heads are right; the parents of a node are up to "
            f"{max(own['distance']):.3f} (total variation) from M_π.",
            all(own["right"]),
        )
    ]
    for label, family in families.items():
        graphs = family["graphs"][first]
        measured = f"Graphs with every head right: {_text(graphs)}; heads right: {_text(family['heads'])}."
        checks.append(Check(label, f"{_CLAIM}: {label}.", measured, graphs["hits"] == graphs["n"]))
    others = [family for label, family in families.items() if label != _CONTROL]
    near, far = (
        share(sum(f[part]["hits"] for f in others), sum(f[part]["n"] for f in others)) for part in ("near", "far")
    )
    checks.append(
        Check(
            "the share right falls with distance",
            "Where the parents of the child do not follow M_π, the half of the heads with the larger distance is "
            "right less often: over all families the 95 % intervals do not meet.",
            f"Nearer half: {_text(near)}; farther half: {_text(far)}.",
            far["high"] < near["low"],
            "kgmi",
        )
    )
    return tuple(checks)


def _table(numbers: Numbers) -> Numbers:
    kinds = ("heads swapped", "heads on one parent", "a head on no parent")
    rows = []
    for label, family in numbers["families"].items():
        n = sum(family["children"].values())
        cells = [f"{100 * family['graphs'][name]['share']:.1f} %" for name in numbers["divergences"]]
        cells += [f"{100 * family['heads']['share']:.1f} %", f"{family['distance']:.3f}"]
        rows.append([label, *cells, *(f"{100 * family['children'].get(kind, 0) / n:.1f} %" for kind in kinds)])
    graphs = [f"graphs all right, {name}" for name in numbers["divergences"]]
    return table(
        "How often the conclusion of theorem 3 is true (population)",
        ["family", *graphs, "heads right", "largest distance", *(f"children with {kind}" for kind in kinds)],
        rows,
        "Heads and children: with the first divergence. Swapped heads still name the right set of parents. "
        "Distance: total variation of the joint law of a child's parents from M_π. Theorem 3 is stated for KL; "
        "the matched forms f + (f''(1) − f'(1))(x − 1) are ours.",
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Share of heads that are right against distance, and graphs with every head right per family."""
    figure = new_figure(11.5, 4.6, 0.04)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    for number, (label, family) in enumerate(numbers["families"].items()):
        _draw_bins(left, number, label, family["bins"])
    tidy(left, r"distance of the child's parents from $M_\pi$ (total variation)", "heads right, %")
    left.set_ylim(0, 103)
    left.legend(frameon=False, fontsize=FONT - 1, loc="lower left")
    found = [family["graphs"][numbers["divergences"][0]] for family in numbers["families"].values()]
    rows, shares = np.arange(len(found)), 100 * np.array([one["share"] for one in found])
    ends = 100 * np.array([[one[end] for one in found] for end in ("low", "high")])
    right.barh(rows, shares, color=[head_colour(number) for number in range(len(found))], height=0.6, alpha=0.85)
    right.errorbar(shares, rows, xerr=np.abs(ends - shares), fmt="none", ecolor=INK, elinewidth=1, capsize=3)
    for row, end, one in zip(rows, ends[1], found, strict=True):
        right.text(end + 1.5, row, f"{one['hits']} of {one['n']}", va="center", color=INK, fontsize=FONT)
    tidy(right, "graphs with every head right, %", "")
    right.set_xlim(0, 130)
    right.set_xticks(range(0, 101, 20))
    right.set_yticks(rows, labels=list(numbers["families"]), fontsize=FONT)
    right.set_ylim(len(found) - 0.45, -0.55)  # the chains at the top
    return {"assumptions": figure}


def _draw_bins(ax: Axes, number: int, label: str, bins: list[Numbers]) -> None:
    shares = 100 * np.array([one["share"] for one in bins])
    low, high = (100 * np.array([one[end] for one in bins]) for end in ("low", "high"))
    spread = np.abs(np.array([shares - low, high - shares]))  # rounding may leave −0
    look = look_of(number) | {"linestyle": "-", "linewidth": 1, "markersize": 5}
    ax.errorbar(
        [one["distance"] for one in bins], shares, yerr=spread, elinewidth=0.9, capsize=2, label=label, **look
    )


EXPERIMENT = Experiment(
    name="assumptions",
    title="How often the conclusion of theorem 3 is true",
    claim="Theorem 3: with KL, the best candidate of head ℓ at node i is its ℓ-th parent p(i)^ℓ.",
    settings=AssumptionSettings,
    quick={"graphs": 10},
    run=run,
    draw=draw,
)
