"""Every statement of the ledger tried: trials against bounds, and the counter-examples computed again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, setting
from kgmi.paper.trials import (
    Points,
    gradient_trials,
    law_trials,
    processes,
    root_trials,
    score_trials,
    trained,
    training_trials,
)
from kgmi.plots.style import FONT, INK, head_colour, head_marker, log_scale, tidy
from kgmi.theory import LEDGER, Statement, count_verdicts
from kgmi.theory.examples import recompute

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 8
_PANELS = (
    (
        "theorem-1",
        "theorem 1",
        r"$\max(I_{\max}\,\varepsilon_{attn},\,\varepsilon)$; repaired: $(n/T)\,D\,\varepsilon_{attn}$",
        "loss",
    ),
    ("theorem-2-non-root", "theorem 2, nodes with parents", r"$\varepsilon_{attn}$", "1 − attention on the best"),
    ("theorem-2-root", "theorem 2, roots", "bound of theorem 2", "|attn − 1/(i−1)|"),
    ("theorem-3", "theorem 3", "score of the parent", "best other score"),
    ("lemma-b6", "lemma B.6", r"$\sqrt{\mu\mu}\,\lambda^d$", r"|$P_{ij}$ − $\mu\mu$|"),
    ("corollary-b8", "corollary B.8", r"$\mu L S/(T\gamma)$", r"E ($\hat\mu$ − $\mu$)²"),
    ("lemma-d2", "lemma D.2", "difference of gradients", "lower bound of the lemma"),
    ("lemma-d3", "lemma D.3", "bound of the lemma", "difference of gradients"),
)
_GROUPS = ("printed", "condition", "repaired")
_LINEAR = "theorem-3"  # scores may be negative


@dataclass(frozen=True, kw_only=True)
class TheoremSettings(Settings):
    """Settings of the trials, which draw graphs and kernels of their own."""

    unused: ClassVar[tuple[str, ...]] = ("graph", "kernel", "p", "eps_attn")
    eps_attns: tuple[float, ...] = setting((0.3, 0.1, 0.01, 0.001), "ε_attn of theorems 1 and 2.", 1e-6, 0.99)
    root_eps_attns: tuple[float, ...] = setting((0.3, 0.1, 0.02), "ε_attn of theorem 2 at roots.", 1e-6, 0.99)
    root_errors: tuple[float, ...] = setting(
        (0.001, 0.01, 0.06, 0.24), "ε of theorem 2 at roots, as shares of Δ below a quarter.", 0, 0.2499
    )
    most_epochs: int = setting(100_000, "Epochs of a run; longer ones are run at a larger rate.", 100, 10_000_000)
    graphs: int = setting(20, "Random trees, order-2 chains and graphs, each.", 1, 10_000)


def run(settings: TheoremSettings, run: Run) -> Outcome:
    """Try every statement."""
    points: Points = {}
    for name, group, process in processes(run.rng(_KEY, 0), settings.graphs):
        _add(points, law_trials(name, group, process))
        _add(points, score_trials(name, group, process))
    cases = trained(run.rng(_KEY, 1), settings.graphs)
    rng = run.rng(_KEY, 2)
    for number, case in enumerate(cases):
        run.tell(0.1 + 0.9 * number / len(cases), f"theorems 1 and 2, {case.name}")
        _add(points, gradient_trials(case, rng))
        for eps_attn in settings.eps_attns:
            _add(points, training_trials(case, eps_attn, settings.eta, settings.most_epochs, rng))
        for eps_attn in settings.root_eps_attns:
            for share in settings.root_errors:
                _add(points, root_trials(case, eps_attn, share, settings.eta, settings.most_epochs, rng))
    examples = {one.name: list(recompute(one.name)) for each in LEDGER for one in each.examples}
    numbers: Numbers = {"points": points, "examples": examples}
    checks = tuple(check for each in LEDGER for check in checks_of(each, numbers))
    counts, defined = count_verdicts(), sum(not one.is_claim for one in LEDGER)
    remark = (
        f"Of {len(LEDGER)} statements {counts['holds']} hold ({defined} of them definitions and descriptions), "
        f"{counts['holds where']} hold where a condition is met that the paper does not state, and "
        f"{counts['fails']} fail as printed, each with a counter-example."
    )
    return Outcome(numbers, checks, (_overview(numbers),), remark)


def _add(points: Points, found: Points) -> None:
    for key, some in found.items():
        points.setdefault(key, []).extend(some)


def checks_of(one: Statement, numbers: Numbers) -> list[Check]:
    """The statement as printed, and its repaired form where there are trials of it."""
    points = numbers["points"].get(one.key, [])
    groups = {group: [p for p in points if p["group"] == group] for group in _GROUPS}
    held = {group: all(p["within"] for p in some) for group, some in groups.items()}
    texts = [_counted(group, some) for group, some in groups.items() if some and group != "repaired"]
    broken = []
    for example in one.examples:
        measured, bound = numbers["examples"][example.name]
        broken.append(measured > bound + 1e-12)
        figures = f": {measured:.4g} > {bound:.4g}" if example.shown else ""
        sentence = example.text[0].upper() + example.text[1:]
        texts.append(sentence + (figures if broken[-1] else ": not confirmed"))
    if not texts:
        texts.append("by " + ", ".join(one.tried))
    if one.verdict == "holds":
        holds: bool | None = held["printed"] and not any(broken)
    elif one.verdict == "holds where":
        holds = held["condition"]
        texts.insert(0, f"holds where {one.where}")
    else:
        holds = None if one.verdict == "cannot be tested" else not (any(broken) or not held["printed"])
    found = [
        Check(f"{one.number}: {one.title}", one.says, ". ".join(text.rstrip(".") for text in texts) + ".", holds)
    ]
    if groups["repaired"]:
        name = f"{one.number}, repaired"
        found.append(
            Check(name, one.repair, _counted("repaired", groups["repaired"]) + ".", held["repaired"], "kgmi")
        )
    return found


def _counted(group: str, points: list[Numbers]) -> str:
    where = {"printed": "as printed", "condition": "under this condition", "repaired": "repaired"}[group]
    within = sum(p["within"] for p in points)
    return f"{where}, within the bound in {within:,} of {len(points):,} cases"


def _overview(numbers: Numbers) -> Numbers:
    rows = []
    for one in LEDGER:
        points = numbers["points"].get(one.key, [])
        cells = []
        for groups in (("printed",), ("condition", "repaired")):
            some = [p for p in points if p["group"] in groups]
            cells.append(f"{sum(p['within'] for p in some):,} of {len(some):,}" if some else "–")
        rows.append([one.number, one.title, one.verdict, *cells])
    columns = ["number", "statement", "verdict", "within, as printed", "within, under the condition or repaired"]
    return table(
        "Every statement", columns, rows, "Proofs, repairs and conditions: docs/ledger.md, kgmi.theory.LEDGER."
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Bounds across, measurements up; what lies above the diagonal exceeds its bound."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(10.5, 10), layout=ConstrainedLayoutEngine(wspace=0.06, hspace=0.06))
    panels = figure.subplots(3, 3).ravel()
    for ax, (key, title, x_label, y_label) in zip(panels, _PANELS, strict=False):
        _panel(ax, numbers["points"][key], logarithmic=key != _LINEAR)
        tidy(ax, x_label, y_label)
        ax.set_title(title, fontsize=FONT + 1, loc="left")
    panels[-1].set_axis_off()
    panels[-1].scatter([], [], color=head_colour(0), s=30, label="within the bound")
    panels[-1].scatter([], [], color=head_colour(1), s=30, label="exceeds the bound")
    panels[-1].plot([], [], color=INK, linewidth=0.8, linestyle="--", label="measured = bound")
    panels[-1].legend(loc="center", frameon=False, fontsize=FONT + 1)
    return {"theorems": figure}


def _panel(ax: Axes, points: list[Numbers], logarithmic: bool) -> None:
    """A scatter with its diagonal; each group has a marker, and what exceeds its bound the second colour."""
    from matplotlib.ticker import LogFormatterMathtext

    seen = [p for p in points if not logarithmic or (p["bound"] > 0 and p["measured"] > 0)]
    groups = [group for group in _GROUPS if any(p["group"] == group for p in points)]
    for within in (True, False):  # what exceeds lies on top
        for group in groups:
            some = [p for p in seen if p["group"] == group and p["within"] == within]
            look: dict[str, Any] = {"marker": head_marker(_GROUPS.index(group)), "s": 15, "linewidths": 0}
            look |= {"color": head_colour(0 if within else 1), "alpha": 0.55 if within else 0.9}
            ax.scatter([p["bound"] for p in some], [p["measured"] for p in some], **look)
    both = np.array([[p["bound"], p["measured"]] for p in seen])
    for axis, values in ((ax.xaxis, both[:, 0]), (ax.yaxis, both[:, 1])):
        if logarithmic:
            log_scale(axis, values)
            if values.max() / values.min() > 300:
                axis.set_major_formatter(LogFormatterMathtext())
    low, high = float(both.min()), float(both.max())
    ax.autoscale(False)
    ax.plot([low, high], [low, high], color=INK, linewidth=0.8, linestyle="--")
    if len(groups) > 1:
        for group in groups:
            ax.scatter([], [], color=INK, marker=head_marker(_GROUPS.index(group)), s=15, label=group)
        place = "lower right" if logarithmic else "lower left"
        ax.legend(loc=place, frameon=False, fontsize=FONT - 1, handletextpad=0.1, borderaxespad=0.2)


EXPERIMENT = Experiment(
    name="theorems",
    title="Every statement of the paper, tried",
    claim="Assumptions, definitions, algorithm, theorems, lemmas and named claims, by the paper's own numbering.",
    settings=TheoremSettings,
    quick={"graphs": 1, "most_epochs": 5_000},
    run=run,
    draw=draw,
)
