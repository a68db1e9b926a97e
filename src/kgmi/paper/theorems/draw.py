"""Figure of the experiment on the theorems: measured against bound, one panel per statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.paper.experiment import Numbers
from kgmi.plots.style import FONT, INK, head_colour, head_marker, log_scale, tidy
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["draw"]

_LOSS = (r"bound: max($I_{\max}\,\varepsilon_{attn}$, $\varepsilon$)", "L* − L")
_PANELS = (
    ("theorem 1", r"theorem 1, after $\tau$* epochs", *_LOSS),
    ("theorem 1, longer", "theorem 1, epochs of theorem 2", *_LOSS),
    ("theorem 2", "theorem 2, nodes with parents", r"bound: $\varepsilon_{attn}$", "1 − attention on the best"),
    ("theorem 2, roots", "theorem 2, roots", "bound of theorem 2", "|attn − 1/(i−1)|"),
    ("theorem 3", "theorem 3", "bound: score of the parent", "best other score"),
    ("decay", "decay of correlation", r"bound: $\lambda^d$", r"|$P_{ij}$ − $\mu\mu$| / $\sqrt{\mu\mu}$"),
    ("length", "effective length", r"bound: L / (T (1 − $\lambda$))", r"1 / $T_{eff}$"),
    ("concentration", "concentration of frequencies", r"bound: $\mu$ / $T_{eff}$", r"E ($\hat\mu$ − $\mu$)²"),
)
_LINEAR = "theorem 3"  # scores may be negative
_DECADES = 2.5  # a log scale longer than this has powers of ten for labels


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Bounds across, measurements up; what lies above the diagonal passes its bound."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(10.5, 10), layout=ConstrainedLayoutEngine(wspace=0.06, hspace=0.06))
    panels = figure.subplots(3, 3).ravel()
    for ax, (part, title, x_label, y_label) in zip(panels, _PANELS, strict=False):
        _panel(ax, numbers["points"][part], logarithmic=part != _LINEAR)
        tidy(ax, x_label, y_label)
        ax.set_title(title, fontsize=FONT + 1, loc="left")
    _explain(panels[-1])
    return {"theorems": figure}


def _panel(ax: Axes, points: list[Numbers], logarithmic: bool) -> None:
    """A scatter with its diagonal; each group has a marker, and what passes its bound the second colour."""
    seen = [p for p in points if not logarithmic or (p["bound"] > 0 and p["measured"] > 0)]
    groups = list(dict.fromkeys(p["group"] for p in points))
    for within in (True, False):  # what passes lies on top
        for number, group in enumerate(groups):
            some = [p for p in seen if p["group"] == group and p["within"] == within]
            look: dict[str, Any] = {"marker": head_marker(number), "s": 15, "linewidths": 0}
            look |= {"color": head_colour(0 if within else 1), "alpha": 0.55 if within else 0.9}
            ax.scatter([p["bound"] for p in some], [p["measured"] for p in some], **look)
    both = np.array([[p["bound"], p["measured"]] for p in seen])
    if logarithmic:
        _log(ax.xaxis, both[:, 0])
        _log(ax.yaxis, both[:, 1])
    low, high = float(both.min()), float(both.max())
    ax.autoscale(False)
    ax.plot([low, high], [low, high], color=INK, linewidth=0.8, linestyle="--")
    if len(groups) > 1:
        for number, group in enumerate(groups):
            ax.scatter([], [], color=INK, marker=head_marker(number), s=15, label=group)
        place = "lower right" if logarithmic else "lower left"
        ax.legend(loc=place, frameon=False, fontsize=FONT - 1, handletextpad=0.1, borderaxespad=0.2)


def _log(axis: Axis, values: Floats) -> None:
    from matplotlib.ticker import LogFormatterMathtext

    log_scale(axis, values)
    if values.max() / values.min() > 10**_DECADES:
        axis.set_major_formatter(LogFormatterMathtext())


def _explain(ax: Axes) -> None:
    """The last place of the grid says what the colours mean."""
    ax.set_axis_off()
    ax.scatter([], [], color=head_colour(0), s=30, label="within the bound")
    ax.scatter([], [], color=head_colour(1), s=30, label="passes the bound")
    ax.plot([], [], color=INK, linewidth=0.8, linestyle="--", label="measured = bound")
    ax.legend(loc="center", frameon=False, fontsize=FONT + 1)
