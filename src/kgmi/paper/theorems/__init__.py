"""The paper's theorems and lemmas, each measured against its bound on a grid of cases."""

from __future__ import annotations

from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.setting import RATE, paper_process
from kgmi.paper.theorems.cases import Case, Points, training_cases
from kgmi.paper.theorems.claims import CLAIMS
from kgmi.paper.theorems.draw import draw
from kgmi.paper.theorems.heads import head_points
from kgmi.paper.theorems.mixing import copies_points, mixing_points, mixing_processes
from kgmi.paper.theorems.report import checks_of, summary_of, tables_of, why_of
from kgmi.paper.theorems.roots import ROOT_EPS, ROOT_SHARES, root_cases, root_points
from kgmi.paper.theorems.training import NOISES, train

__all__ = ["EXPERIMENT"]

_KEY = 8  # of this experiment's random generators
_EPS = (0.3, 0.1, 0.01, 0.001)  # ε_attn
_COPIES = (1, 10, 100, 1_000)
_MOST = {True: 5_000, False: 100_000}  # epochs of a run, quick and full
_GRAPHS = {True: 3, False: 20}  # per family of theorem 3


def run(run: Run) -> Outcome:
    """Measure every statement on its grid."""
    cases = training_cases(run.rng(_KEY, 0), run.quick)
    points = _trained(run, cases)
    run.tell(0.8, "theorem 2, roots")
    rng = run.rng(_KEY, 2)
    points["theorem 2, roots"] = [
        found
        for case in root_cases(run.quick)
        for eps_attn in ROOT_EPS
        for share in ROOT_SHARES
        for found in root_points(case, eps_attn, share, rng, _MOST[run.quick])
    ]
    run.tell(0.9, "theorem 3")
    points["theorem 3"] = head_points(run, _GRAPHS[run.quick])
    run.tell(0.95, "lemmas")
    for name, process in mixing_processes(run.rng(_KEY, 3), run.quick):
        _add(points, mixing_points(name, process))
    more, copies = copies_points(paper_process(), _COPIES)
    _add(points, {"concentration": more[1:]})  # one copy is among the processes above
    summaries = [summary_of(claim, points[claim.part]) for claim in CLAIMS]
    tables = tables_of(summaries, cases, points, copies, _MOST[run.quick])
    numbers: Numbers = {"points": points, "summaries": summaries, "copies": copies, "tables": tables}
    return Outcome(_configuration(run, cases), numbers, checks_of(summaries), why_of(summaries))


def _trained(run: Run, cases: list[Case]) -> dict[str, Points]:
    points: dict[str, Points] = {}
    rng = run.rng(_KEY, 1)
    for number, case in enumerate(cases):
        run.tell(0.8 * number / len(cases), f"theorems 1 and 2, {case.name}")
        for eps_attn in _EPS:
            for noise in NOISES:
                _add(points, train(case, eps_attn, noise, rng, _MOST[run.quick]))
    return points


def _add(points: dict[str, Points], found: dict[str, Points]) -> None:
    for part, some in found.items():
        points.setdefault(part, []).extend(some)


def _configuration(run: Run, cases: list[Case]) -> Numbers:
    return {
        "rate": f"{RATE:g}, or larger where a run would take over {_MOST[run.quick]:,} epochs",
        "processes": [case.name for case in cases],
        "eps_attn": list(_EPS),
        "estimation errors": [str(noise) for noise in NOISES],
        "roots: eps_attn": list(ROOT_EPS),
        "roots: errors in Δ": list(ROOT_SHARES),
        "graphs per family of theorem 3": _GRAPHS[run.quick],
        "copies": list(_COPIES),
    }


EXPERIMENT = Experiment(
    "theorems",
    "The theorems against their bounds",
    "Theorem 1 bounds the suboptimality after τ* epochs, theorem 2 how attention concentrates on the best "
    "candidate and stays uniform at roots, theorem 3 says that the best candidate is the parent; a spectral lemma "
    "bounds how correlation decays along the graph and the effective length, and with it how the state frequencies "
    "of one sequence concentrate.",
    run,
    draw,
)
