"""Appendix A: two heads on a graph with in-degrees 0, 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kgmi.attention import ascend, decode, limit
from kgmi.errors import KernelError, SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import is_kernel, random_tunables
from kgmi.metrics import compare
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run, table
from kgmi.paper.settings import Settings, setting
from kgmi.paper.shared import child_columns, one_head, paper_maps, population_scores
from kgmi.process import Process
from kgmi.types import Floats, Ints, ScoreTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "marginal_mismatch", "with_shared_marginal"]

_KEY = 6
_SPREAD = 0.5  # a head is diffuse while no candidate has more; this is also the threshold of the decoding
_NEVER = np.inf
_REPEATED = (2, 8)  # nodes 3 and 9: both heads on the one parent
_DIFFUSE = 6  # node 7: one head on its parent, the other diffuse
_RARE = 0.05  # share of kernels below which the pattern is called rare
_SAME = 1e-9  # total variation below which the kernel of one parent has the marginal law μ_π
_COUNTED = {
    "edges": "all edges are the best candidate of some head",
    "exact": "and no head ends elsewhere: the exact graph in the limit",
    "found": "every edge has a head with more than 1 − ε_attn within the epochs",
    "found_exact": "at that epoch no head with more than 0.5 is elsewhere: the exact graph",
    "both_3_9": "nodes 3 and 9: both heads end on the parent",
    "ever": "the paper's pattern at some epoch",
}
# Of 20,000 random p (uniform in ±0.3, probabilities ≥ 0.02, rounded to two digits; seed 78) 66 show the paper's
# pattern at some epoch up to 60,000, two of them with more than 0.9 for both heads of nodes 3 and 9. This is the
# one of the two that keeps it longer, from epoch 29,232 to 59,040.
_PATTERN = (-0.13, 0.21, 0.13, -0.01, 0.27, -0.1, 0.15, 0.23, 0.19)


@dataclass(frozen=True, kw_only=True)
class DegreeSettings(Settings):
    """Settings of the mixed in-degrees; the claims about nodes 3, 7 and 9 are about the paper's graph."""

    graph: str = setting("mixed", "Graph with nodes of several in-degrees; the claims are about the paper's.")
    pattern_p: tuple[float, ...] = setting(
        _PATTERN, "A p with the paper's pattern, found by a search of ours.", -1, 1
    )
    epochs: int = setting(100_000, "Most epochs.", 100, 10_000_000)
    kernels: int = setting(
        1_000, "Random p on which the pattern is counted, of each of the two kinds.", 1, 1_000_000
    )

    def validate(self) -> None:
        """Read graph and kernel; nodes 3, 7 and 9 must have one parent each."""
        super().validate()
        parents = self.process().dag.parents
        if len(parents) <= max(_REPEATED) or any(len(parents[node]) != 1 for node in (*_REPEATED, _DIFFUSE)):
            raise SettingError(
                f"the claims are about nodes 3, 7 and 9 with one parent each; {self.graph} has others"
            )


def run(settings: DegreeSettings, run: Run) -> Outcome:
    """Train at the p of the settings and at a p where the pattern shows; count over random p of two kinds."""
    shown = _shown(settings)
    kinds: dict[str, Callable[[np.random.Generator], list[float]]] = {
        "printed": random_tunables,
        "shared": with_shared_marginal,
    }
    counted: dict[str, Numbers] = {}
    for number, (kind, drawn) in enumerate(kinds.items()):
        rng, counts = run.rng(_KEY, number), dict.fromkeys(_COUNTED, 0)
        for done in range(settings.kernels):
            for name, seen in _seen(replace(settings, kernel="paper", p=tuple(drawn(rng)))).items():
                counts[name] += int(seen)
            if done % 20 == 0:
                run.tell((number + done / settings.kernels) / 2, "random kernels")
        counted[kind] = counts
    numbers: Numbers = {
        "shown": shown,
        "counts": counted,
        "kernels": settings.kernels,
        "parents": [list(parents) for parents in settings.process().dag.parents],
        "mismatch": marginal_mismatch(settings.one_kernel()),
        "pattern_mismatch": marginal_mismatch(replace(settings, kernel="paper", p=settings.pattern_p).one_kernel()),
    }
    return Outcome(numbers, checks_of(numbers), (_counts_table(numbers),))


# Conditions of the appendix


def marginal_mismatch(kernel: Kernel) -> float:
    """How far the kernel of one parent, π_1, moves μ_π: total variation of μ_π π_1 from μ_π."""
    mu = kernel.marginal
    return float(np.abs(mu @ kernel.marginalise(1).table - mu).sum() / 2)


def with_shared_marginal(rng: np.random.Generator) -> list[float]:
    """Random p for which both conditions of the appendix hold: π_1 is the marginal of π_2, and keeps μ_π."""
    from scipy.optimize import least_squares

    def off(p: Floats) -> Floats:
        kernel = Kernel.paper(p.tolist())
        return np.asarray(kernel.marginal @ kernel.marginalise(1).table - kernel.marginal)[:-1]

    while True:
        try:
            p = least_squares(off, random_tunables(rng), xtol=1e-15, ftol=1e-15, gtol=1e-15).x.tolist()
        except KernelError:  # a step left the kernels
            continue
        if is_kernel(p) and marginal_mismatch(Kernel.paper(p)) < _SAME:
            return [float(value) for value in p]


# Training


@dataclass(frozen=True, eq=False)
class Course:
    """When each head settles, and on which candidate.

    Attributes
    ----------
    dag
        The true graph.
    best
        [head, child]: the best candidate. A head that starts from zero attends to it at least as much as to any
        other at every epoch, so when more than half of the attention is on one candidate, it is this one.
    settled, half
        [head, child]: first epoch with more than 1 − ε_attn, and more than 0.5, of the attention on it; inf if
        never.
    """

    dag: Dag
    best: Ints
    settled: Floats
    half: Floats

    @property
    def found(self) -> float:
        """The epoch from which every true edge has a head that has settled on it."""
        return max(
            float(np.where(self.best[:, child] == parent, self.settled[:, child], _NEVER).min())
            for parent, child in self.dag.edges
        )

    def wrong(self, epoch: float = _NEVER) -> set[tuple[int, int]]:
        """Wrong edges that are read off at an epoch, by default in the limit."""
        heads = [
            (h, i) for h in range(2) for i, ps in enumerate(self.dag.parents) if ps and self.half[h, i] <= epoch
        ]
        return {(int(self.best[h, i]), i) for h, i in heads} - set(self.dag.edges)

    def repeats(self, child: int) -> bool:
        """Whether, in the limit, both heads of a child attend to its first parent."""
        return bool((self.best[:, child] == self.dag.parents[child][0]).all())

    def window(self, firm: bool = False) -> tuple[float, float]:
        """Epochs (from, until) in which the paper's pattern shows; empty where from ≥ until.

        All true edges are found; both heads of nodes 3 and 9 have more than half (1 − ε_attn if ``firm``) of their
        attention on the one parent; one head of node 7 is on its parent and the other is diffuse.
        """
        parent = self.dag.parents[_DIFFUSE][0]
        own = np.where(self.best[:, _DIFFUSE] == parent, self.settled[:, _DIFFUSE], _NEVER)
        other = 1 - int(own.argmin())
        there = self.settled if firm else self.half
        both = [float(there[:, child].max()) if self.repeats(child) else _NEVER for child in _REPEATED]
        return max(self.found, *both), float(self.half[other, _DIFFUSE])


def course_of(scored: ScoreTable, dag: Dag, settings: DegreeSettings) -> Course:
    """Train on a score table and note when each head has 0.5 and 1 − ε_attn of its attention on one candidate."""
    columns = child_columns(dag, len(scored))
    best = np.where(np.isnan(scored), -np.inf, scored).argmax(axis=-1)
    times = []
    for stop in (settings.eps_attn, 1 - _SPREAD):
        ascent = ascend(
            scored, rate=settings.eta, epochs=settings.epochs, stop=stop, wait_for=columns, record_at=()
        )
        times.append(np.where(ascent.stopped < 0, _NEVER, ascent.stopped))
    return Course(dag, best, *times)


def _seen(settings: DegreeSettings) -> dict[str, bool]:
    """Which parts of the pattern one kernel shows."""
    process = settings.process()
    course = course_of(population_scores(process), process.dag, settings)
    complete = all(parent in course.best[:, child] for parent, child in process.dag.edges)
    start, end = course.window()
    found = bool(np.isfinite(course.found))
    return {
        "edges": complete,
        "exact": complete and not course.wrong(),
        "found": found,
        "found_exact": found and not course.wrong(course.found),
        "both_3_9": all(course.repeats(child) for child in _REPEATED),
        "ever": start < end,
    }


def _shown(settings: DegreeSettings) -> dict[str, Numbers]:
    """The p of the settings when all edges are found and in the limit; the other p when the pattern first shows."""
    fit = replace(settings, kernel="paper", p=settings.pattern_p)
    base, other = settings.process(), fit.process()
    scored = {"base": population_scores(base), "fit": population_scores(other)}
    found = course_of(scored["base"], base.dag, settings).found
    start, end = course_of(scored["fit"], other.dag, settings).window(firm=True)
    early = int(found) if np.isfinite(found) else settings.epochs
    first = int(start) if np.isfinite(start) else settings.epochs
    shown = {
        "early": {"title": f"p of the settings, epoch {early:,}", **_state(base, scored["base"], early, settings)},
        "limit": {"title": "p of the settings, in the limit", **_state(base, scored["base"], None, settings)},
        "fit": {"title": f"p with the pattern, epoch {first:,}", **_state(other, scored["fit"], first, settings)},
    }
    shown["fit"]["until"] = int(end) if np.isfinite(end) else None
    return shown


def _state(process: Process, scored: ScoreTable, epoch: int | None, settings: DegreeSettings) -> Numbers:
    """Attention at an epoch (None: the limit), and what is read off it."""
    dag = process.dag
    if epoch is None:
        attention = limit(scored).attention
    else:
        ascent = ascend(scored, rate=settings.eta, epochs=epoch, stop=settings.eps_attn, record_at=())
        attention = ascent.attention
    recovered = decode(attention, rule="concentrated", threshold=_SPREAD, roots=dag.roots)
    parent = dag.parents[_DIFFUSE][0]
    on_parent = attention[:, _DIFFUSE, parent] > _SPREAD
    diffuse = attention[:, _DIFFUSE].max(axis=-1) <= _SPREAD
    return {
        "epoch": epoch,
        "attention": attention.tolist(),
        "repeated": all(bool((attention[:, i, dag.parents[i][0]] > _SPREAD).all()) for i in _REPEATED),
        "diffuse": bool(on_parent.sum() == 1 and diffuse.sum() == 1),
        **_against(recovered, dag),
    }


def _against(recovered: Dag, dag: Dag) -> Numbers:
    comparison = compare(recovered, dag)
    return {"found": comparison.n_true - len(comparison.missing), "wrong": [list(e) for e in comparison.extra]}


# Claims


def _edge_texts(edges: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{parent + 1}→{child + 1}" for parent, child in edges) or "none"


def _heads_of(shown: Numbers, node: int) -> str:
    """Where the two heads of a node attend, in words."""
    return f"node {node}: {_head(shown, node, 0)} and {_head(shown, node, 1)}"


def _head(shown: Numbers, node: int, head: int) -> str:
    column = np.array(shown["attention"][head][node - 1])
    best = int(column.argmax())
    what = f"{column[best]:.2f} on {best + 1}"
    return what if column[best] > _SPREAD else f"diffuse ({what} at most)"


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claims, and ours."""
    return (*_paper_checks(numbers), *_our_checks(numbers))


def _paper_checks(numbers: Numbers) -> tuple[Check, ...]:
    early, late, fit = (numbers["shown"][name] for name in ("early", "limit", "fit"))
    n_edges = sum(map(len, numbers["parents"]))
    until = "" if fit["until"] is None or not fit["diffuse"] else f"; it lasts until epoch {fit['until']:,}"
    return (
        Check(
            "true parents",
            "Every true parent is named by a head that concentrates on it.",
            f"{early['found']} of {n_edges} edges at epoch {early['epoch']:,}, {late['found']} in the limit",
            early["found"] == late["found"] == n_edges,
        ),
        Check(
            "nothing but parents",
            f"Heads with more than {_SPREAD:g} on a candidate name true parents only: the parent set is "
            "identifiable.",
            f"wrong edges: {_edge_texts(early['wrong'])} at epoch {early['epoch']:,}; {_edge_texts(late['wrong'])} "
            "in the limit",
            not early["wrong"] and not late["wrong"],
        ),
        Check(
            "nodes 3 and 9",
            "Both heads attend to the one parent: 1 of node 3, 8 of node 9.",
            f"epoch {early['epoch']:,}: {_heads_of(early, 3)}; {_heads_of(early, 9)}",
            early["repeated"],
        ),
        Check(
            "node 7",
            "One head attends to the parent 5, the other stays diffuse.",
            f"epoch {early['epoch']:,}: {_heads_of(early, 7)}; in the limit {_heads_of(late, 7)}",
            early["diffuse"],
        ),
        Check(
            "the conditions of the appendix",
            "The kernel of one parent is the marginal of π_2 and keeps μ_π.",
            f"total variation of μ_π π_1 from μ_π: {numbers['mismatch']:.4f}; at the p with the pattern "
            f"{numbers['pattern_mismatch']:.4f}",
            numbers["mismatch"] < _SAME,
        ),
        Check(
            "a kernel with the pattern",
            "The paper gives no p. There is one for which nodes 3, 7 and 9 are as in the paper and the graph is "
            "recovered (searched for among 20,000 random p).",
            f"epoch {fit['epoch']:,}: {_heads_of(fit, 3)}; {_heads_of(fit, 7)}; {_heads_of(fit, 9)}; "
            f"{fit['found']} of {n_edges} edges, {len(fit['wrong'])} wrong{until}",
            fit["repeated"] and fit["diffuse"] and fit["found"] == n_edges and not fit["wrong"],
        ),
    )


def _our_checks(numbers: Numbers) -> tuple[Check, ...]:
    n, counts, shared = numbers["kernels"], numbers["counts"]["printed"], numbers["counts"]["shared"]
    return (
        Check(
            "how often the pattern shows",
            f"The pattern is rare over random p: at any epoch at all, in less than {_RARE:.0%} of the kernels.",
            f"of {n:,} random p {counts['ever']} show it at some epoch; of {n:,} that meet both conditions of the "
            f"appendix {shared['ever']}",
            max(counts["ever"], shared["ever"]) < _RARE * n,
            "kgmi",
        ),
        Check(
            "surplus heads name wrong parents",
            "All edges are found in at least 90 % of the kernels, but the graph that is read off has wrong edges "
            "in more than half: with random p, and also where both conditions of the appendix hold.",
            "; ".join(
                f"{words}: all edges in {one['edges']} of {n:,}, the exact graph in {one['exact']} in the limit "
                f"and in {one['found_exact']} at the epoch at which all edges are found"
                for words, one in (("random p", counts), ("both conditions", shared))
            ),
            all(one["edges"] >= 0.9 * n and one["exact"] < 0.5 * n for one in (counts, shared)),
            "kgmi",
        ),
    )


# Tables and figures


def _counts_table(numbers: Numbers) -> Numbers:
    counts, n = numbers["counts"], numbers["kernels"]
    rows = [
        [text, f"{counts['printed'][name]:,}", f"{counts['shared'][name]:,}"] for name, text in _COUNTED.items()
    ]
    return table(
        "Over random p, population",
        ["what is seen", f"random p (of {n:,})", f"p that meet both conditions of the appendix (of {n:,})"],
        rows,
        "p uniform in ±0.3 with all probabilities at least 0.02; in the last column moved to the nearest p for "
        "which π_1 keeps μ_π. The paper's pattern: all edges have a head with more than 1 − ε_attn; both heads of "
        "nodes 3 and 9 have more than 0.5 on the parent; of node 7 one head has 1 − ε_attn on the parent and the "
        "other nowhere more than 0.5.",
    )


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Attention of each head in the paper's form, at both p."""
    dag, shown = Dag(numbers["parents"]), numbers["shown"]
    paper = [
        [
            ("DAG", None),
            *((f"KL (head {h + 1}), {words}", one_head(np.array(shown[key]["attention"]), h)) for h in range(2)),
        ]
        for key, words in (("early", "p of the settings"), ("fit", "p with the pattern"))
    ]
    return {"degrees": paper_maps(paper, dag)}


EXPERIMENT = Experiment(
    name="degrees",
    title="Non-uniform in-degrees (appendix A)",
    claim="Where a node has one parent, both heads share it (nodes 3 and 9) or one of them stays diffuse (node 7); "
    "the true parents are read off the heads that concentrate.",
    settings=DegreeSettings,
    quick={"kernels": 20},
    run=run,
    draw=draw,
)
