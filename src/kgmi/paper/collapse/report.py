"""Head collapse in words: checks, a table, and the reason for the verdict."""

from __future__ import annotations

from kgmi.graph import Dag
from kgmi.paper.collapse.measure import DIVERGENCES, GUIDES, ROWS, STOP, span
from kgmi.paper.experiment import Check, Numbers

__all__ = ["checks_of", "table_of", "why_of"]

_SAME = 1e-9  # largest difference of attention at which two heads count as identical


def checks_of(population: Numbers, sampled: dict[str, list[Numbers]], dag: Dag) -> tuple[Check, ...]:
    """The paper's claims, and ours."""
    return (*_paper_checks(population, dag), *_our_checks(population, sampled, dag))


def _paper_checks(population: Numbers, dag: Dag) -> tuple[Check, ...]:
    n_children = dag.n_nodes - len(dag.roots)
    plain = {shown: population[f"plain {name}"] for name, shown in DIVERGENCES.items()}
    identical = [
        Check(
            f"{shown}-MI: heads identical",
            f"Both heads learn one and the same attention map from {shown}-MI.",
            f"largest difference of the two maps {found['difference']:.1g}; the heads agree on the best "
            f"candidate of {found['agree']} of {n_children} children",
            found["difference"] <= _SAME and found["agree"] == n_children,
        )
        for shown, found in plain.items()
    ]
    one_parent = Check(
        "one true parent each",
        "The candidate that both heads choose is one of the child's two parents: half of the edges are lost.",
        "; ".join(
            f"{shown}: a true parent for {found['true']} of {n_children} children, {found['edges']} of "
            f"{dag.n_edges} edges found, {found['besides']} besides"
            for shown, found in plain.items()
        ),
        all(found["true"] == found["edges"] == n_children for found in plain.values()),
    )
    return (*identical, one_parent)


def _our_checks(population: Numbers, sampled: dict[str, list[Numbers]], dag: Dag) -> tuple[Check, ...]:
    n_children = dag.n_nodes - len(dag.roots)
    plain = [found for name in DIVERGENCES for found in sampled[f"plain {name}"]]
    rows = Check(
        "from rows",
        f"The same from {ROWS:,} sampled rows.",
        f"{len(plain) // 2} data sets, KL and χ²: largest difference {max(f['difference'] for f in plain):.1g}; "
        f"the heads agree on {span([f['agree'] for f in plain])} of {n_children} children, and on a true parent "
        f"for {span([f['true'] for f in plain])}",
        all(f["difference"] <= _SAME and f["true"] == n_children for f in plain),
        "kgmi",
    )
    guided = {shown: population[f"stationary {name}"] for name, shown in DIVERGENCES.items()}
    contrast = Check(
        "KG-MI does not collapse",
        "With KG-MI in place of MI, all else equal, no child has both heads on one candidate.",
        "; ".join(
            f"{shown}: {found['agree']} of {n_children} children collapsed, largest difference "
            f"{found['difference']:.2f}, {found['edges']} of {dag.n_edges} edges"
            for shown, found in guided.items()
        ),
        all(found["agree"] == 0 and found["edges"] == dag.n_edges for found in guided.values()),
        "kgmi",
    )
    return rows, contrast


def table_of(population: Numbers, sampled: dict[str, list[Numbers]], dag: Dag) -> Numbers:
    """All measurements as a table for the report."""
    n_children = dag.n_nodes - len(dag.roots)
    rows = []
    for guide, what in GUIDES.items():
        for name, shown in DIVERGENCES.items():
            key = f"{guide} {name}"
            several = f"{len(sampled[key])} × {ROWS:,} rows"
            for data, found in (("population", [population[key]]), (several, sampled[key])):
                counts = [span([f[field] for f in found]) for field in ("agree", "true", "edges", "epochs")]
                rows.append([f"{shown}-{what}", data, f"{max(f['difference'] for f in found):.2g}", *counts])
    return {
        "title": "How alike the two heads end",
        "columns": [
            *("score", "data", "largest difference of the heads"),
            *(f"children with both heads on one candidate (of {n_children})", "of these on a true parent"),
            *(f"edges found (of {dag.n_edges})", "epochs"),
        ],
        "rows": rows,
        "note": f"Every head stops at attention {1 - STOP:g}, so heads on different candidates differ by about "
        f"{1 - STOP:g}, and by 1 in the limit. Where there are several data sets, their range is given.",
    }


def why_of(population: Numbers, dag: Dag) -> str:
    """The reason for the verdict."""
    apart = max(population[f"plain {name}"]["difference"] for name in DIVERGENCES)
    edges = " and ".join(str(population[f"plain {name}"]["edges"]) for name in DIVERGENCES)
    guided = " and ".join(str(population[f"stationary {name}"]["edges"]) for name in DIVERGENCES)
    return (
        "Plain mutual information does not know which head it scores, and both heads start from zero: the largest "
        f"difference of their attention is {apart:.1g}. KL-MI and χ²-MI find {edges} of the {dag.n_edges} edges, "
        f"KG-MI {guided}."
    )
