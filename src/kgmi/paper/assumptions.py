"""Theorem 3 in exact arithmetic: how often its conclusion is true where the parents do not follow M_π."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, divergences_of, setting
from kgmi.paper.shared import heads_right, look_of, wilson
from kgmi.plots.style import FONT, INK, head_colour, tidy
from kgmi.process import Process
from kgmi.theory import check_process

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 7
_EXACT = 1e-9  # distances up to here are 0 but for rounding
_EDGES = (_EXACT, 0.05, 0.1, 0.15, 0.2, 0.3, 1.0)
_FEW = 10  # fewer cases than this are no point of the figure: their interval is too wide
_CONTROL = "chains"
_KINDS = ("right", "other parent", "other ancestor", "no ancestor")
"""What a head may choose: its own parent, the node's other parent, or a node that is no parent at all."""
_HEADS = {
    "right": "right",
    "swapped": "heads swapped: the set of parents is right",
    "collapsed": "heads collapsed: both on one parent",
    "astray": "at least one head on a node that is no parent",
}
"""What the heads of a child do together."""
_CLAIM = "The best candidate of head ℓ is p(i)^ℓ, for every head and every node with parents (theorem 3)"


@dataclass(frozen=True, kw_only=True)
class AssumptionSettings(Settings):
    """Settings of theorem 3 over random processes. Rate and ε_attn are not used: heads are in their limit."""

    divergences: tuple[str, ...] = setting(
        ("kl", "pearson", "hellinger-matched"), "Divergences f; KL is the theorem's."
    )
    graphs: int = setting(500, "Graphs per family; families of a variation have three fifths of it.", 5, 100_000)


@dataclass(frozen=True)
class _Family:
    label: str
    draw: Callable[[np.random.Generator], Process]
    share: float = 1.0  # of the graphs


def _random(n_nodes: int, n_states: int) -> Callable[[np.random.Generator], Process]:
    return lambda rng: Process(Dag.random(n_nodes, 2, rng=rng), Kernel.random(n_states, 2, rng=rng))


def _families(settings: AssumptionSettings) -> dict[str, _Family]:
    """All have K = 2; 10 nodes and 3 states where the label says nothing else."""
    dag = settings.process().dag
    own = "paper's graph" if settings.graph == "paper" else settings.graph
    return {
        _CONTROL: _Family(
            "order-2 chains, random kernels",
            lambda rng: Process(Dag.chain(10, 2), Kernel.random(3, 2, rng=rng)),
            0.6,
        ),
        "p": _Family(f"{own}, random p", lambda rng: Process(dag, Kernel.paper(random_tunables(rng)))),
        "kernels": _Family(f"{own}, random kernels", lambda rng: Process(dag, Kernel.random(3, 2, rng=rng))),
        "graphs": _Family("random graphs, random kernels", _random(10, 3)),
        "two-states": _Family("random graphs, 2 states", _random(10, 2), 0.6),
        "four-states": _Family("random graphs, 4 states", _random(10, 4), 0.6),
        "twenty-nodes": _Family("random graphs, 20 nodes", _random(20, 3), 0.6),
    }


def run(settings: AssumptionSettings, run: Run) -> Outcome:
    """Draw every family, and count which heads choose their parents."""
    divergences = divergences_of(settings.divergences)
    families: dict[str, Numbers] = {}
    wanted = _families(settings)
    for number, (name, family) in enumerate(wanted.items()):
        run.tell(number / len(wanted), family.label)
        rng = run.rng(_KEY, number)
        seen = [measure(family.draw(rng), divergences) for _ in range(round(settings.graphs * family.share))]
        families[name] = {"label": family.label, **_summary(seen, settings.divergences)}
    own = measure(settings.process(), divergences)
    base = {
        "right": own["right"][settings.divergences[0]],
        "columns": len(own["columns"]),
        "distance": own["distance"],
    }
    numbers: Numbers = {"base": base, "families": families, "divergences": list(settings.divergences)}
    tables = (_overview(families), _by_distance(families), _errors(families), _by_divergence(numbers))
    return Outcome(numbers, checks_of(numbers), _why(numbers), tables)


# One process


def measure(process: Process, divergences: dict[str, Any]) -> Numbers:
    """What the heads choose from population scores, and how far the parents of every child are from M_π.

    ``columns`` has (distance, kind, by how much the choice beats the parent) for every head of every child, for the
    first divergence; ``children`` what the heads of each child do together; ``right`` the heads that are right, by
    divergence.
    """
    dag, joint = process.dag, exact_joint(process)
    distance = check_process(process).parent_distance
    ancestors = _ancestors(dag)
    tables = {name: scores(joint, process.kernel, f) for name, f in divergences.items()}
    first = next(iter(tables.values()))
    chosen = np.where(np.isnan(first), -np.inf, first).argmax(axis=-1)
    columns, children, edges = [], [], 0
    for child, parents in enumerate(dag.parents):
        if not parents:
            continue
        choice = chosen[: len(parents), child].tolist()
        children.append(pair_kind(choice, parents))
        edges += len(set(choice) & set(parents))
        for head, (best, parent) in enumerate(zip(choice, parents, strict=True)):
            excess = float(first[head, child, best] - first[head, child, parent])
            columns.append((float(distance[child]), _kind(best, parent, parents, ancestors[child]), excess))
    return {
        "columns": columns,
        "children": children,
        "edges": edges,
        "right": {name: heads_right(one, dag) for name, one in tables.items()},
        "distance": max(away for away, _, _ in columns),
    }


def pair_kind(choice: list[int], parents: tuple[int, ...]) -> str:
    """What the heads of a child do together, from what each of them chooses."""
    if tuple(choice) == parents:
        return "right"
    if not set(choice) <= set(parents):
        return "astray"
    return "swapped" if len(set(choice)) == len(parents) else "collapsed"


def _kind(best: int, parent: int, parents: tuple[int, ...], ancestors: set[int]) -> str:
    right, other, ancestor, rest = _KINDS
    return right if best == parent else other if best in parents else ancestor if best in ancestors else rest


def _ancestors(dag: Dag) -> list[set[int]]:
    """All ancestors of every node; parents come before children, so one pass does it."""
    found: list[set[int]] = []
    for parents in dag.parents:
        found.append(set(parents).union(*(found[p] for p in parents)))
    return found


# Families


def share(hits: int, n: int) -> Numbers:
    """A share with its 95 % interval."""
    low, high = wilson(hits, n)
    return {"hits": hits, "n": n, "share": hits / n if n else 0.0, "low": low, "high": high}


def _total(shares: Sequence[Numbers]) -> Numbers:
    return share(sum(s["hits"] for s in shares), sum(s["n"] for s in shares))


def _where(right: np.ndarray, mask: np.ndarray) -> Numbers:
    return share(int(right[mask].sum()), int(mask.sum()))


def _summary(seen: Sequence[Numbers], divergences: Sequence[str]) -> Numbers:
    """Counts over a family, as plain numbers."""
    columns = [column for one in seen for column in one["columns"]]
    distance = np.array([away for away, _, _ in columns])
    right = np.array([kind == _KINDS[0] for _, kind, _ in columns])
    excess = [over for _, kind, over in columns if kind != _KINDS[0]]
    kinds = Counter(kind for _, kind, _ in columns)
    heads = Counter(kind for one in seen for kind in one["children"])
    whole = {name: np.array([one["right"][name] == len(one["columns"]) for one in seen]) for name in divergences}
    first = whole[divergences[0]]
    off = distance > _EXACT
    # A family has its own split, or one with short distances and poor heads would turn a pooled comparison.
    split = float(np.median(distance[off])) if off.any() else 0.0
    return {
        "graphs": share(int(first.sum()), len(seen)),
        "columns": share(int(right.sum()), len(columns)),
        "edges": share(sum(one["edges"] for one in seen), len(columns)),
        "near": _where(right, off & (distance <= split)),
        "far": _where(right, off & (distance > split)),
        "distance": {"median": float(np.median(distance)), "largest": float(distance.max())},
        "bins": _binned(distance, right),
        "graph_bins": _binned(np.array([one["distance"] for one in seen]), first),
        "kinds": {kind: kinds[kind] for kind in _KINDS},
        "children": {kind: heads[kind] for kind in _HEADS},
        "excess": float(np.median(excess)) if excess else 0.0,
        "divergences": {
            name: {
                "graphs": share(int(whole[name].sum()), len(seen)),
                "columns": share(sum(one["right"][name] for one in seen), len(columns)),
            }
            for name in divergences
        },
    }


def _binned(distance: np.ndarray, right: np.ndarray) -> list[Numbers]:
    """Shares by distance; the first bin is distance 0. Empty bins are left out."""
    bins = []
    for low, high in zip((-1.0, *_EDGES[:-1]), _EDGES, strict=True):
        inside = (distance > low) & (distance <= high)
        if inside.any():
            middle = 0.0 if high == _EXACT else float(distance[inside].mean())
            ends = {"from": low if low > _EXACT else 0.0, "to": high if high > _EXACT else 0.0}
            bins.append({**ends, "distance": middle, **_where(right, inside)})
    return bins


# Claims


def _text(found: Numbers, interval: bool = True) -> str:
    """A share as people read it."""
    if not found["n"]:
        return "none"
    ends = f", 95 % interval {100 * found['low']:.1f}–{100 * found['high']:.1f} %" if interval else ""
    return f"{found['hits']:,} of {found['n']:,} ({100 * found['share']:.1f} %{ends})"


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claim on its own kernel and in every family, then what we find about the distance from M_π."""
    base, families = numbers["base"], numbers["families"]
    follow = "do not all follow" if base["distance"] > _EXACT else "follow"
    checks = [
        Check(
            "the graph and kernel of the settings",
            f"{_CLAIM}; by default on the paper's 10-node graph with all p = 0.",
            f"{base['right']} of {base['columns']} heads are right; the parents of a node {follow} M_π (largest "
            "total "
            f"variation {base['distance']:.3f}).",
            base["right"] == base["columns"],
        )
    ]
    for family in families.values():
        graphs = family["graphs"]
        measured = f"Graphs with every head right: {_text(graphs)}; heads right: {_text(family['columns'], False)}."
        claim = f"{_CLAIM}: {family['label']}."
        checks.append(Check(family["label"], claim, measured, graphs["hits"] == graphs["n"]))
    others = [family for name, family in families.items() if name != _CONTROL]
    near, far = (_total([family[part] for family in others]) for part in ("near", "far"))
    backwards = [f["label"] for f in others if f["far"]["share"] > f["near"]["share"]]
    checks.append(
        Check(
            "the share right falls with distance",
            "Where the parents of the child do not follow M_π, the half of the heads with the larger distance is "
            "right "
            "less often: in no family more often, and over all families the 95 % intervals do not meet.",
            f"Nearer half: {_text(near)}; farther half: {_text(far)}."
            + (f" The other way: {', '.join(backwards)}." if backwards else ""),
            far["high"] < near["low"] and not backwards,
            "kgmi",
        )
    )
    return tuple(checks)


def _why(numbers: Numbers) -> str:
    families = numbers["families"]
    control = families[_CONTROL]["graphs"]
    others = [family for name, family in families.items() if name != _CONTROL]
    listed = "; ".join(f"{family['label']}: {_text(family['graphs'], interval=False)}" for family in others)
    near, far = (_total([family[part] for family in others]) for part in ("near", "far"))
    return (
        f"Every head chooses its parent in {control['hits']} of {control['n']} order-2 Markov chains, where the "
        "parents of "
        "every node follow M_π. On other graphs they need not, and there the conclusion can fail without any "
        "sampling "
        f"error. Graphs with every head right: {listed}. Where a child's parents are off M_π, "
        f"{100 * near['share']:.1f} % of "
        f"the heads are right in the half nearer to it and {100 * far['share']:.1f} % in the half further from it."
    )


# Tables


def _cell(found: Numbers) -> str:
    low, high = 100 * found["low"], 100 * found["high"]
    return f"{100 * found['share']:.1f} ({low:.1f}–{high:.1f}), {found['n']:,}"


def _overview(families: dict[str, Numbers]) -> Numbers:
    rows = [
        [
            family["label"],
            _cell(family["graphs"]),
            _cell(family["columns"]),
            f"{100 * family['edges']['share']:.1f} %",
            f"{family['distance']['median']:.3f} / {family['distance']['largest']:.3f}",
        ]
        for family in families.values()
    ]
    return table(
        "How often the conclusion of theorem 3 is true (KL, population)",
        ["family", "graphs all right", "heads right", "edges named", "distance: median / largest"],
        rows,
        "Share in %, 95 % Wilson interval, number counted. A head is right when its best candidate is p(i)^ℓ; an "
        "edge is "
        "named when any head of the child chooses it. Distance: total variation of the joint law of a child's "
        "parents "
        "from M_π.",
    )


def _by_distance(families: dict[str, Numbers]) -> Numbers:
    ends = sorted({(b["from"], b["to"]) for family in families.values() for b in family["bins"]})
    rows = []
    for family in families.values():
        found = {(b["from"], b["to"]): b for b in family["bins"]}
        rows.append([family["label"], *(_cell(found[end]) if end in found else "–" for end in ends)])
    heads = ["0" if high == 0 else f"{low:g}–{high:g}" for low, high in ends]
    return table(
        "Heads right, by distance of the child's parents from M_π",
        ["family", *heads],
        rows,
        "Share in %, 95 % Wilson interval, number of heads. The heads of one graph share its kernel and are not "
        "independent, "
        "so that the intervals are somewhat too narrow.",
    )


def _errors(families: dict[str, Numbers]) -> Numbers:
    def part(count: int, n: int) -> str:
        return f"{count:,} ({100 * count / n:.0f} %)" if n else "–"

    rows = []
    for family in families.values():
        kinds, children = family["kinds"], family["children"]
        wrong = sum(kinds[kind] for kind in _KINDS[1:])
        wrong_children = sum(children.values()) - children["right"]
        rows.append(
            [
                *(family["label"], f"{wrong:,}", *(part(kinds[kind], wrong) for kind in _KINDS[1:])),
                f"{wrong_children:,}",
                *(part(children[kind], wrong_children) for kind in list(_HEADS)[1:]),
                f"{family['excess']:.1e}" if wrong else "–",
            ]
        )
    columns = ["family", "heads wrong", "on the other parent", "on another ancestor", "on no ancestor"]
    columns += ["children wrong", "heads swapped", "heads collapsed", "one head on no parent", "median excess"]
    note = (
        "Swapped heads still name the right set of parents; collapsed heads name one parent twice. Excess: by how "
        "much the "
        "wrong candidate beats the parent, in nats."
    )
    return table("How the wrong ones are wrong", columns, rows, note)


def _by_divergence(numbers: Numbers) -> Numbers:
    rows = []
    for family in numbers["families"].values():
        found = [family["divergences"][name] for name in numbers["divergences"]]
        cells = [f"{100 * f['graphs']['share']:.1f} / {100 * f['columns']['share']:.1f}" for f in found]
        rows.append([family["label"], *cells])
    title = "The same by divergence: graphs all right / heads right, in %"
    note = "Theorem 3 is stated for KL; the matched form of Hellinger is ours."
    return table(title, ["family", *numbers["divergences"]], rows, note)


# Figures


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Share right against distance, graphs all right per family, and how the wrong children are wrong."""
    families = list(numbers["families"].values())
    return {"distance": _draw_distance(families), "families": _draw_families(families)}


def _draw_distance(families: list[Numbers]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    few = min(_FEW, families[0]["graphs"]["n"] // 2)
    for ax, part, x_label, y_label in (
        (panels[0], "bins", r"distance of the child's parents from $M_\pi$ (total variation)", "heads right, %"),
        (panels[1], "graph_bins", "largest such distance in the graph", "graphs with every head right, %"),
    ):
        for number, family in enumerate(families):
            _draw_series(ax, number, family["label"], [b for b in family[part] if b["n"] >= few])
        tidy(ax, x_label, y_label)
        ax.set_ylim(0, 103)
    panels[1].text(
        *(0.02, 0.02, f"Without points of fewer than {few} cases.\nVertical lines: 95 % intervals."),
        transform=panels[1].transAxes,
        fontsize=FONT,
        color=INK,
    )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=FONT)
    return figure


def _draw_series(ax: Axes, number: int, label: str, bins: list[Numbers]) -> None:
    shares = 100 * np.array([b["share"] for b in bins])
    low, high = (100 * np.array([b[end] for b in bins]) for end in ("low", "high"))
    look: dict[str, Any] = {**look_of(number), "linestyle": "-", "markersize": 5}
    if number == 0:  # the chains: one point at 0, around those of the others
        look |= {"markersize": 11, "markerfacecolor": "none"}
    spread = np.abs(np.array([shares - low, high - shares]))  # rounding may leave −0
    x = [b["distance"] for b in bins]
    ax.errorbar(x, shares, yerr=spread, linewidth=1, elinewidth=0.9, capsize=2, label=label, **look)


def _draw_families(families: list[Numbers]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 0.42 * len(families) + 1.7), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.1, 1))
    rows = np.arange(len(families))
    shares = 100 * np.array([family["graphs"]["share"] for family in families])
    ends = 100 * np.array([[family["graphs"][end] for family in families] for end in ("low", "high")])
    left.barh(rows, shares, color=[head_colour(0 if row else 2) for row in rows], height=0.6, alpha=0.85)
    left.errorbar(shares, rows, xerr=np.abs(ends - shares), fmt="none", ecolor=INK, elinewidth=1, capsize=3)
    for row, end, family in zip(rows, ends[1], families, strict=True):
        count = f"{family['graphs']['hits']} of {family['graphs']['n']}"
        left.text(end + 1.5, row, count, va="center", color=INK, fontsize=FONT)
    tidy(left, "graphs with every head right, %", "")
    left.set_xlim(0, 124)
    left.set_xticks(range(0, 101, 20))
    start = np.zeros(len(families))
    n = [sum(family["children"].values()) for family in families]
    for colour, kind in zip((4, 5, 1), list(_HEADS)[1:], strict=True):
        part = 100 * np.array([family["children"][kind] for family in families]) / n
        right.barh(rows, part, left=start, height=0.6, color=head_colour(colour), label=_HEADS[kind])
        start += part
    tidy(right, "children with a wrong head, % of all children", "")
    right.set_xlim(0, max(float(start.max()) * 1.08, 1.0))
    right.legend(loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False, fontsize=FONT, borderaxespad=0.2)
    left.set_yticks(rows, labels=[family["label"] for family in families], fontsize=FONT)
    left.set_ylim(len(families) - 0.45, -0.55)  # the chains at the top
    return figure


EXPERIMENT = Experiment(
    name="assumptions",
    title="How often the conclusion of theorem 3 is true",
    claim="Theorem 3: with KL, the best candidate of head ℓ at node i is its ℓ-th parent p(i)^ℓ.",
    settings=AssumptionSettings,
    quick={"graphs": 10},
    run=run,
    draw=draw,
)
