"""Head collapse: with plain mutual information both heads learn one and the same parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgmi.attention import ascend
from kgmi.counts.bits import count_pairs
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.paper.experiment import Check, Experiment, Numbers, Outcome, Run
from kgmi.paper.settings import Settings, divergences_of, setting
from kgmi.paper.shared import edges_found, one_head, paper_maps, population_scores
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.types import Attention, ScoreTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_KEY = 1  # of the random numbers of this experiment
_SAME = 1e-9  # largest difference of attention at which two heads count as identical
_GUIDES = {"plain": "MI", "stationary": "KG-MI"}
_SHOWN = {"kl": "KL", "pearson": "χ²"}


@dataclass(frozen=True, kw_only=True)
class CollapseSettings(Settings):
    """Settings of the head collapse."""

    divergences: tuple[str, ...] = setting(("kl", "pearson"), "Divergences f.")
    epochs: int = setting(50_000, "Most epochs.", 1, 10_000_000)
    rows: int = setting(10_000, "Rows of a data set.", 10, 10_000_000)
    data_sets: int = setting(20, "Data sets.", 1, 10_000)

    def validate(self) -> None:
        """Read graph, kernel and divergences."""
        super().validate()
        divergences_of(self.divergences)


def run(settings: CollapseSettings, run: Run) -> Outcome:
    """Train on plain mutual information and on KG-MI, from the population and from rows."""
    process = settings.process()
    population: Numbers = {}
    maps: Numbers = {}
    for key, scored in _tables(process, settings).items():
        population[key], attention = measure(scored, process.dag, settings)
        maps[key] = attention.tolist()
    run.tell(0.2, "population")
    sampled: dict[str, list[Numbers]] = {key: [] for key in population}
    for number in range(settings.data_sets):
        for key, scored in _tables(process, settings, run.rng(_KEY, number)).items():
            sampled[key].append(measure(scored, process.dag, settings)[0])
        run.tell(0.2 + 0.8 * (number + 1) / settings.data_sets, "rows")
    labels = {text: _SHOWN.get(text, text) for text in settings.divergences}
    numbers: Numbers = {"population": population, "rows": sampled, "labels": labels, "n_rows": settings.rows}
    numbers |= {"parents": [list(parents) for parents in process.dag.parents]}
    numbers["maps"] = {key: maps[key] for key in maps if key.startswith("plain")}
    remark = "Plain mutual information is the same for both heads, and both start from zero."
    return Outcome(numbers, checks_of(numbers), remark=remark)


def _tables(
    process: Process, settings: CollapseSettings, rng: np.random.Generator | None = None
) -> dict[str, ScoreTable]:
    """Score tables by ``"guide divergence"``: of the population, or of rows that are drawn with ``rng``."""
    wanted = [(guide, text, f) for guide in _GUIDES for text, f in divergences_of(settings.divergences).items()]
    if rng is None:
        return {f"{guide} {text}": population_scores(process, f, guide) for guide, text, f in wanted}
    counts = count_pairs(sample(process, settings.rows, rng=rng), process.n_states)
    heads = process.kernel.n_parents
    return {f"{guide} {text}": scores(counts, process.kernel, f, guide, n_heads=heads) for guide, text, f in wanted}


def measure(scored: ScoreTable, dag: Dag, settings: CollapseSettings) -> tuple[Numbers, Attention]:
    """Train the heads on a score table and measure how alike the first two end.

    Returns the largest difference of their attention over all cells, the number of children whose two heads have
    the same best candidate (``agree``), how many of these candidates are a true parent (``true``), the edges named
    that are true and that are not, and the epochs; and the attention itself.
    """
    ascent = ascend(scored, rate=settings.eta, epochs=settings.epochs, stop=settings.eps_attn)
    best = ascent.attention.argmax(axis=-1)
    agree = [i for i, parents in enumerate(dag.parents) if parents and best[0, i] == best[-1, i]]
    found, wrong = edges_found(ascent.attention, dag)
    numbers = {
        "difference": float(np.abs(ascent.attention[0] - ascent.attention[-1]).max()),
        "agree": len(agree),
        "true": sum(int(best[0, i]) in dag.parents[i] for i in agree),
        "edges": found,
        "wrong": wrong,
        "epochs": ascent.epochs,
    }
    return numbers, ascent.attention


def checks_of(numbers: Numbers) -> tuple[Check, ...]:
    """The paper's claims, and ours."""
    population, sampled, labels = numbers["population"], numbers["rows"], numbers["labels"]
    dag = Dag(numbers["parents"])
    n_children = dag.n_nodes - len(dag.roots)
    plain = {shown: population[f"plain {name}"] for name, shown in labels.items()}
    guided = {shown: population[f"stationary {name}"] for name, shown in labels.items()}
    drawn = [found for name in labels for found in sampled[f"plain {name}"]]
    identical = [
        Check(
            f"{shown}-MI: heads identical",
            f"Both heads learn one and the same attention map from {shown}-MI.",
            f"largest difference of the two maps {found['difference']:.1g}; the heads agree on the best candidate "
            f"of {found['agree']} of {n_children} children",
            found["difference"] <= _SAME and found["agree"] == n_children,
        )
        for shown, found in plain.items()
    ]
    return (
        *identical,
        Check(
            "one true parent each",
            "Both heads recover one and the same parent of a child, so that the other parent is lost.",
            "; ".join(
                f"{shown}: a true parent for {found['true']} of {n_children} children, {found['edges']} of "
                f"{dag.n_edges} edges found, {found['wrong']} wrong"
                for shown, found in plain.items()
            ),
            all(found["true"] == found["edges"] == n_children for found in plain.values()),
        ),
        Check(
            "from rows",
            f"The same from {numbers['n_rows']:,} sampled rows.",
            f"{len(drawn) // len(labels)} data sets: largest difference {max(f['difference'] for f in drawn):.1g}; "
            f"the heads agree on {_span([f['agree'] for f in drawn])} of {n_children} children, and on a true "
            f"parent for {_span([f['true'] for f in drawn])}",
            all(f["difference"] <= _SAME and f["true"] == n_children for f in drawn),
            "kgmi",
        ),
        Check(
            "KG-MI does not collapse",
            "With KG-MI in place of MI, all else equal, no child has both heads on one candidate.",
            "; ".join(
                f"{shown}: {found['agree']} of {n_children} children collapsed, largest difference "
                f"{found['difference']:.2f}, {found['edges']} of {dag.n_edges} edges"
                for shown, found in guided.items()
            ),
            all(found["agree"] == 0 and found["edges"] == dag.n_edges for found in guided.values()),
            "kgmi",
        ),
    )


def _span(values: Sequence[int]) -> str:
    """The range of several counts in words; one number where they are all the same."""
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def draw(numbers: Numbers) -> dict[str, Figure]:
    """Heat maps of both heads for each divergence, in the paper's form."""
    dag, labels = Dag(numbers["parents"]), numbers["labels"]
    heads = {name: np.array(numbers["maps"][f"plain {name}"]) for name in labels}
    paper = [
        [("DAG", None), *((f"{shown} (head {head + 1})", one_head(heads[name], head)) for head in range(2))]
        for name, shown in labels.items()
    ]
    return {"collapse": paper_maps(paper, dag)}


EXPERIMENT = Experiment(
    name="collapse",
    title="Head collapse with plain mutual information",
    claim="Trained on KL-MI or χ²-MI in place of KG-MI, both heads learn one and the same parent of every child.",
    settings=CollapseSettings,
    quick={"data_sets": 2},
    run=run,
    draw=draw,
)
