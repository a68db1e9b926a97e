"""Which divergences recover the graph, as written and matched: what the paper does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kgmi.divergence import DIVERGENCES
from kgmi.exact import exact_joint
from kgmi.guides import scores
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.divergences.curves import LABELS
from kgmi.paper.experiment import Check, Numbers, Run
from kgmi.paper.setting import heads_right, paper_process

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_recovery", "recovered_by_each", "recovery_checks", "recovery_table"]

_FORMS = ("", "-matched")


def recovered_by_each(run: Run, n_kernels: int) -> list[Numbers]:
    """Heads right on the base kernel, and graphs right over random ones, for every divergence in both forms."""
    names = [name + form for name in DIVERGENCES for form in _FORMS]
    base = _heads(0.0, names)
    graphs = dict.fromkeys(names, 0)
    rng = run.rng(4)
    for number in range(n_kernels):
        run.tell(0.5 + number / n_kernels / 2, "which divergences recover the graph")
        for name, right in _heads(random_tunables(rng), names).items():
            graphs[name] += right == 16
    return [
        {
            "divergence": name,
            **{
                key + form.replace("-", "_"): values[name + form]
                for form in _FORMS
                for key, values in (("heads", base), ("graphs", graphs))
            },
        }
        for name in DIVERGENCES
    ]


def _heads(p: list[float] | float, names: list[str]) -> dict[str, int]:
    process = paper_process(p=p)
    joint = exact_joint(process)
    return {name: heads_right(scores(joint, process.kernel, name), process.dag) for name in names}


def recovery_checks(recovered: list[Numbers], names: tuple[str, ...], n_kernels: int) -> tuple[Check, ...]:
    """One check for each of ``names`` as written, and one for the matched forms of all."""
    by_name = {one["divergence"]: one for one in recovered}
    checks = []
    for name in names:
        one = by_name[name]
        checks.append(
            Check(
                f"{LABELS[name]} recovers the graph",
                f"heads guided by {LABELS[name]} as written each find their own parent on the base kernel",
                f"{one['heads']} of 16 heads as written, {one['heads_matched']} matched; exact graphs over "
                f"{n_kernels} random kernels: {one['graphs']} as written, {one['graphs_matched']} matched",
                one["heads"] == 16,
                source="kgmi",
            )
        )
    poor = [one for one in recovered if one["heads"] < 16]
    checks.append(
        Check(
            "matching mends it",
            "every divergence that fails as written finds all 16 in its matched form on the base kernel",
            ", ".join(f"{LABELS[one['divergence']]} {one['heads']} → {one['heads_matched']}" for one in poor)
            or "none fails",
            all(one["heads_matched"] == 16 for one in poor),
            source="kgmi",
        )
    )
    return tuple(checks)


def recovery_table(recovered: list[Numbers], n_kernels: int) -> Numbers:
    """Heads and graphs recovered, divergence by divergence."""
    return {
        "title": f"Which divergences recover the graph: base kernel, and {n_kernels} random kernels (population)",
        "columns": ["divergence", "heads of 16", "matched", f"exact graphs of {n_kernels}", "matched"],
        "rows": [
            [
                LABELS[one["divergence"]],
                *(str(one[key]) for key in ("heads", "heads_matched", "graphs", "graphs_matched")),
            ]
            for one in recovered
        ],
        "note": "The matched form of f is f + (f''(1) − f'(1))(x − 1): the same divergence, another guide.",
    }


def draw_recovery(recovered: list[Numbers], n_kernels: int) -> Figure:
    """Share of random kernels whose graph is recovered, as written and matched."""
    from kgmi.plots.canvas import new_figure
    from kgmi.plots.style import FONT, head_colour, tidy

    figure = new_figure(7.5, 3.6)
    ax = figure.subplots()
    at = np.arange(len(recovered))
    for shift, key, label, colour in (
        (-0.2, "graphs", "as written", head_colour(1)),
        (0.2, "graphs_matched", "matched", head_colour(0)),
    ):
        shares = [100 * one[key] / n_kernels for one in recovered]
        bars = ax.bar(at + shift, shares, width=0.38, color=colour, label=label, hatch="//" if shift < 0 else None)
        ax.bar_label(bars, fmt="%.0f", fontsize=FONT - 1)
    tidy(ax, "", f"% of {n_kernels} random kernels\nwhose graph is recovered")
    ax.set_xticks(at, [LABELS[one["divergence"]].replace(" ", "\n", 1) for one in recovered], fontsize=FONT)
    ax.set_ylim(0, 108)
    ax.grid(visible=False, axis="x")
    ax.legend(fontsize=FONT, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure
