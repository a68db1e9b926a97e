"""What the experiments share: population scores, heads that are right, lines, training, and drawings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.attention import ascend, decode
from kgmi.divergence import Divergence
from kgmi.errors import SettingError
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.paper.experiment import Check, Numbers
from kgmi.plots.canvas import new_figure, shared_colour_bar
from kgmi.plots.style import FONT, head_colour, head_line, head_marker
from kgmi.process import Process
from kgmi.theory import asymptotic_epochs, column_epochs, information_gap, information_gaps, tau_star
from kgmi.types import Attention, Bools, Floats, ScoreTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "STRAIGHT",
    "TAU_LABEL",
    "TIGHT",
    "bound_checks",
    "child_columns",
    "draw_line",
    "edges_found",
    "fit_line",
    "heads_right",
    "look_of",
    "node_names",
    "one_head",
    "paper_maps",
    "population_scores",
    "rivals",
    "shown_r2",
    "stopping",
    "wilson",
]

STRAIGHT = 0.99  # R² from which points are called a line
TIGHT = 2.0  # factor within which a ratio of bound to measurement is called constant
TAU_LABEL = "τ* (theorem 1: for the objective,\nno bound on this epoch)"
_MOST_EPOCHS = 50_000_000
_Z = 1.959964  # of a 95 % interval
_SIDE = 2.9  # inches of a heat map with its labels


# Scores and heads


def population_scores(
    process: Process, divergence: str | Divergence = "kl", guide: str = "stationary"
) -> ScoreTable:
    """Score table of the exact pair laws: no sampling error at all."""
    return scores(exact_joint(process), process.kernel, divergence, guide, n_heads=process.kernel.n_parents)


def child_columns(dag: Dag, n_heads: int) -> Bools:
    """[head, child]: True for the columns of nodes that have parents."""
    return np.broadcast_to(np.array([bool(parents) for parents in dag.parents]), (n_heads, dag.n_nodes))


def heads_right(table: ScoreTable | Attention, dag: Dag) -> int:
    """Number of (head ℓ, child i) whose best candidate is p(i)^ℓ, the conclusion of theorem 3."""
    best = np.where(np.isnan(table), -np.inf, table).argmax(axis=-1)
    return sum(int(best[head, i] == parent) for i, ps in enumerate(dag.parents) for head, parent in enumerate(ps))


def rivals(table: ScoreTable, dag: Dag) -> list[tuple[int, int, float, float]]:
    """(head, child, score of p(i)^ℓ, best score of any other candidate) where there is another candidate."""
    found = []
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents if child > 1 else ()):
            column = table[head, child, :child]
            found.append((head, child, float(column[parent]), float(np.delete(column, parent).max())))
    return found


def edges_found(attention: Attention, dag: Dag) -> tuple[int, int]:
    """Edges of ``dag`` that the heads name, and further edges that they name; the roots are taken as known."""
    found, true = set(decode(attention, roots=dag.roots).edges), set(dag.edges)
    return len(found & true), len(found - true)


# Stopping epochs and lines through them


def stopping(process: Process, eps_attn: float, eta: float, table: ScoreTable | None = None) -> Numbers:
    """Train until every head of every non-root node has over 1 − ε_attn on one candidate, beside the bounds."""
    dag = process.dag
    table = population_scores(process) if table is None else table
    wait_for = child_columns(dag, len(table))
    gaps, gap = information_gaps(table), information_gap(table, dag)
    if not gap > 0:
        raise SettingError(
            "the information gap Δ of this graph and kernel is 0: the best candidate of some head is tied, as with "
            "a kernel that is symmetric in its parents (assumption 1)"
        )
    ascent = ascend(table, rate=eta, epochs=_MOST_EPOCHS, stop=eps_attn, wait_for=wait_for, record_at=())
    sizes: Numbers = {"n_heads": len(table), "n_nodes": dag.n_nodes, "eps_attn": eps_attn, "rate": eta}
    chosen = np.argwhere(wait_for & np.isfinite(gaps) & (gaps > 0))  # a single candidate needs no training
    largest = float(np.nanmax(table))
    return {
        "n_nodes": dag.n_nodes,
        "gap": gap,
        "max_information": largest,
        "epochs": ascent.epochs,
        "tau_star": tau_star(gap=gap, max_information=largest, **sizes),
        "theorem_2": max(column_epochs(child, gap=gaps[head, child], **sizes) for head, child in chosen),
        "first_order": float(asymptotic_epochs(table, eps_attn=eps_attn, rate=eta)[wait_for].max()),
        "heads_right": heads_right(table, dag),
    }


def bound_checks(points: Sequence[Numbers], every: str) -> tuple[Check, Check]:
    """Whether the epochs of theorems 1 and 2 bound the measured ones; ``every`` says over what: "kernel" or "T"."""
    wanted = f"bound / measured ≥ 1 for every {every}"
    ratios = {key: [point[key] / point["epochs"] for point in points] for key in ("tau_star", "theorem_2")}
    measured = {
        key: f"bound / measured from {min(values):.3g} to {max(values):.3g} in {len(values)} runs"
        for key, values in ratios.items()
    }
    return (
        Check(
            "bound: τ* of theorem 1",
            "all heads have passed 1 − ε_attn by τ* of theorem 1, too (the theorem is about the objective, not "
            f"about this epoch): {wanted}",
            measured["tau_star"],
            min(ratios["tau_star"]) >= 1,
            "kgmi",
        ),
        Check(
            "bound: theorem 2",
            f"all heads have passed 1 − ε_attn by the epoch of theorem 2: {wanted}",
            measured["theorem_2"],
            min(ratios["theorem_2"]) >= 1,
        ),
    )


def fit_line(x: Sequence[float], y: Sequence[float]) -> Numbers:
    """Least squares y ≈ slope · x + intercept, and the share R² of the variance of y that it explains."""
    across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    slope, intercept = np.polyfit(across, up, 1)
    rest = up - (slope * across + intercept)
    return {
        "slope": float(slope),
        "intercept": float(intercept),
        "r_squared": float(1 - rest.var() / up.var()) if up.var() > 0 else 1.0,
    }


def shown_r2(value: float) -> str:
    """R² to four decimals, or to as many as it takes to tell it from 1."""
    digits = next((n for n in range(4, 10) if float(f"{value:.{n}f}") < 1), 4)
    return f"{value:.{digits}f}"


def draw_line(
    ax: Axes, x: Sequence[float], points: Sequence[Numbers], line: Numbers, series: int, label: str
) -> None:
    """The measured epochs as points, their spread where it is known, and the line through them."""
    look = look_of(series)
    points_look = look | {"linestyle": "none", "markersize": 5 + 3 * series, "markerfacecolor": "none"}
    ends = np.array([min(x), max(x)])
    ax.plot(x, [p["epochs"] for p in points], **points_look, label=label)
    if any("low" in point for point in points):
        low, high = ([p[key] for p in points] for key in ("low", "high"))
        ax.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0, label="all data sets")
    text = f"{line['slope']:.4g} x {line['intercept']:+,.0f}, R² = {shown_r2(line['r_squared'])}"
    ax.plot(ends, line["slope"] * ends + line["intercept"], **look | {"marker": "", "linewidth": 1.2}, label=text)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """95 % interval of a share of ``n`` cases, by Wilson's formula; the whole range where there is no case."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = hits / n, _Z**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * np.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    return max(float(centre - half), 0.0), min(float(centre + half), 1.0)


# Drawings


def look_of(series: int) -> dict[str, Any]:
    """Colour, line and marker of a series."""
    return {"color": head_colour(series), "linestyle": head_line(series), "marker": head_marker(series)}


def node_names(n_nodes: int) -> list[str]:
    """Names of nodes, which the paper numbers from 1."""
    return [str(node + 1) for node in range(n_nodes)]


def paper_maps(panels: Sequence[Sequence[tuple[str, Attention | None]]], dag: Dag) -> Figure:
    """Rows of maps in the paper's form: the graph, and the sum of two heads with the maximum of head 2 negated.

    A panel with one head alone has zeros for the other; ``None`` is the graph itself, as attention of 1 on each
    parent. Values beyond ±1 (both heads on one candidate) have the colour of ±1.
    """
    from matplotlib.colors import LinearSegmentedColormap

    from kgmi.plots.cells import draw_cells

    colours = LinearSegmentedColormap.from_list("two heads", [head_colour(1), "#FFFFFF", head_colour(0)])
    width = max(map(len, panels))
    figure = new_figure(_SIDE * width + 1.0, (_SIDE + 0.3) * len(panels) + 0.3, 0.06, 0.04)
    axes = figure.subplots(len(panels), width, squeeze=False)
    for row, line in zip(axes, panels, strict=True):
        for ax, (title, attention) in zip(row, line, strict=True):
            heads = _graph_as_attention(dag) if attention is None else attention
            image = draw_cells(ax, _negated_sum(heads), node_names(dag.n_nodes), colours, (-1.0, 1.0))
            ax.set_title(title, fontsize=FONT + 1)
            ax.tick_params(axis="x", labelrotation=0)
    shared_colour_bar(figure, image, list(axes.ravel()), "sum of the heads,\nmaximum of head 2 negated")
    return figure


def one_head(attention: Attention, head: int) -> Attention:
    """Attention of one of two heads, with zeros for the other."""
    alone = np.zeros((2, *attention.shape[1:]))
    alone[head] = attention[head]
    return alone


def _graph_as_attention(dag: Dag) -> Attention:
    heads = np.zeros((2, dag.n_nodes, dag.n_nodes))
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents[:2]):
            heads[head, child, parent] = 1.0
    return heads


def _negated_sum(attention: Attention) -> Floats:
    """[child, candidate]: the sum of two heads, with the sign changed where head 2 has its maximum."""
    total = attention.sum(axis=0)
    children = np.flatnonzero(attention[1].max(axis=-1) > 0)
    best = attention[1, children].argmax(axis=-1)
    total[children, best] *= -1
    return np.asarray(total)
