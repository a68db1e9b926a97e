"""Theorem 3 in exact arithmetic: how often its conclusion is true where its condition does not hold."""

from __future__ import annotations

from kgmi.paper.assumptions.draw import draw
from kgmi.paper.assumptions.families import FAMILIES, LEAST_ENTRY, TUNABLE
from kgmi.paper.assumptions.measure import DIVERGENCES, measure
from kgmi.paper.assumptions.report import checks_of, tables_of, why_of
from kgmi.paper.assumptions.summary import family_numbers
from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.setting import paper_process

__all__ = ["EXPERIMENT"]

_KEY = 7  # of this experiment's random generators
_QUICK = 10  # graphs per family


def run(run: Run) -> Outcome:
    """Draw every family, and count which heads choose their parents."""
    sizes = {family.name: _QUICK if run.quick else family.n_graphs for family in FAMILIES}
    done, families = 0, []
    for number, family in enumerate(FAMILIES):
        rng = run.rng(_KEY, number)
        seen = []
        for _ in range(sizes[family.name]):
            seen.append(measure(family.draw(rng)))
            done += 1
            if done % 20 == 0:
                run.tell(done / sum(sizes.values()), family.label)
        families.append(family_numbers(family, seen))
    base = _base()
    configuration: Numbers = {
        "graphs": sizes,
        "divergences": list(DIVERGENCES),
        "p": f"uniform in ±{TUNABLE}, drawn again until every kernel entry is at least {LEAST_ENTRY}",
        "random kernels": "rows from a flat Dirichlet law",
        "random graphs": "two roots; every other node draws 2 parents uniformly from the earlier nodes",
    }
    numbers: Numbers = {"base": base, "families": families, "tables": tables_of(families)}
    return Outcome(configuration, numbers, checks_of(base, families), why_of(base, families))


def _base() -> Numbers:
    """The paper's own graph and kernel, p = 0."""
    seen = measure(paper_process())
    return {"right": seen.columns_right["kl"], "columns": len(seen.columns), "distance": seen.distance}


EXPERIMENT = Experiment(
    "assumptions",
    "How often theorem 3 is true beyond its condition",
    "Theorem 3: with KL, the best candidate of head ℓ at node i is its ℓ-th parent p(i)^ℓ. Its proof needs the "
    "parents of every node to be jointly distributed as M_π, which is so for an order-K Markov chain but not for "
    "a general graph. We count, with exact population scores, how often the conclusion is still true.",
    run,
    draw,
)
