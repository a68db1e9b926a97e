"""Tables, checks and the verdict of the experiment on the theorems."""

from __future__ import annotations

import numpy as np

from kgmi.paper.experiment import Check, Numbers
from kgmi.paper.setting import RATE
from kgmi.paper.theorems.cases import Case, Points
from kgmi.paper.theorems.claims import CLAIMS, Claim

__all__ = ["checks_of", "summary_of", "tables_of", "why_of"]


def summary_of(claim: Claim, points: Points) -> Numbers:
    """Cases, how many are within the bound, and how measured compares with bound (where the bound is positive)."""
    mine = [p for p in points if p["group"] == claim.group]
    ratios = [(p["measured"] / p["bound"], p["case"]) for p in mine if p["bound"] > 0]
    within = sum(p["within"] for p in mine)
    found: Numbers = {"name": claim.name, "part": claim.part, "cases": len(mine), "within": within}
    if ratios and claim.part != "theorem 3":  # scores may be negative, and then a ratio has no meaning
        largest, where = max(ratios)
        found |= {"median": float(np.median([r for r, _ in ratios])), "largest": largest, "where": where}
    return found


def checks_of(summaries: list[Numbers]) -> tuple[Check, ...]:
    """One check per claim: all cases within the bound."""
    checks = []
    for claim, found in zip(CLAIMS, summaries, strict=True):
        measured = f"Within the bound: {found['within']:,} of {found['cases']:,} cases."
        if "median" in found:
            median, largest = (_plain(found[key]) for key in ("median", "largest"))
            measured += f" Measured/bound: median {median}, largest {largest} ({found['where']})."
        holds = found["within"] == found["cases"] > 0
        checks.append(Check(claim.name, claim.claim, measured, holds, claim.source))
    return tuple(checks)


def why_of(summaries: list[Numbers]) -> str:
    """What holds in every case and what does not, by name."""
    paper = [(claim, found) for claim, found in zip(CLAIMS, summaries, strict=True) if claim.source == "paper"]
    held = [claim.name for claim, found in paper if found["within"] == found["cases"] > 0]
    missed = [_missed(claim, found) for claim, found in paper if claim.name not in held]
    count = f"{len(held)} of the paper's {len(paper)} statements"
    text = f"{count} are within their bounds in every case: {'; '.join(held)}."
    if missed:
        text += f" The others, as printed, are not: {'; '.join(missed)}."
    return text


def _missed(claim: Claim, found: Numbers) -> str:
    if not found["cases"]:
        return f"{claim.name}, not measured"
    count = f"{claim.name}, missed in {found['cases'] - found['within']:,} of {found['cases']:,} cases"
    far = f", measured up to {_plain(found['largest'])} times the bound" if "largest" in found else ""
    return f"{count}{far} ({claim.reason or 'we do not know why'})"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def tables_of(
    summaries: list[Numbers], cases: list[Case], points: dict[str, Points], copies: list[Numbers], most: int
) -> Points:
    """Tables for the report; ``most`` is the number of epochs from which the rate was raised."""
    return [_overview(summaries, most), _by_case(cases, points), _frequencies(copies)]


def _overview(summaries: list[Numbers], most: int) -> Numbers:
    rows = []
    for claim, found in zip(CLAIMS, summaries, strict=True):
        ratios = [_plain(found[key]) if key in found else "–" for key in ("median", "largest")]
        whose = "paper" if claim.source == "paper" else "ours"
        rows.append([claim.name, whose, f"{found['within']:,} of {found['cases']:,}", *ratios])
        rows[-1].append(found.get("where", "–"))
    return {
        "title": "Every statement against its bound",
        "columns": [
            "statement",
            "whose",
            "within the bound",
            "median ratio",
            "largest ratio",
            "where largest",
        ],
        "rows": rows,
        "note": "Ratio: measured over bound, at most 1 where the statement holds; cases with a bound of 0 have "
        "none. Theorem 3 compares two scores, which may be negative. Theorems 1 and 2 were trained at η = "
        f"{RATE:g}, or at a larger η where that would have taken over {most:,} epochs: the theorems' epochs "
        "are in proportion to 1/η.",
    }


def _by_case(cases: list[Case], points: dict[str, Points]) -> Numbers:
    rows = []
    for case in cases:
        sizes = [str(case.n_nodes), str(case.n_heads), f"{case.top:.3g}", f"{case.gap:.3g}"]
        worst = []
        for part in ("theorem 1", "theorem 1, longer", "theorem 2"):
            mine = [p for p in points[part] if p["case"].startswith(f"{case.name}, ε_attn")]
            worst.append(f"{max(p['measured'] / p['bound'] for p in mine):.3g}")
        rows.append([case.name, *sizes, f"{case.tau(0.1):,.0f}", *worst])
    columns = ["process", "T", "K", "I_max", "Δ", "τ* at η = 10, ε_attn = 0.1"]
    return {
        "title": "Theorems 1 and 2 by process: largest measured/bound over ε_attn and ε",
        "columns": [*columns, "theorem 1", "theorem 1, longer", "theorem 2"],
        "rows": rows,
        "note": "«Longer»: the epochs of theorem 2 at the last node. Heads are trained on disturbed scores and "
        "judged by the true ones.",
    }


def _frequencies(copies: list[Numbers]) -> Numbers:
    rows = [
        [
            f"{row['n_nodes']:,}",
            f"{row['length']:,.1f}",
            *(f"{row[key]:.3g}" for key in ("measured", "bias", "bound")),
            f"{row['measured'] / row['bound']:.2f}",
        ]
        for row in copies
    ]
    return {
        "title": "State frequencies of one sequence: copies of the paper's graph, paper's kernel",
        "columns": ["T", "T_eff", "E (μ̂ − μ)²", "of it bias²", "μ / T_eff", "ratio"],
        "rows": rows,
        "note": "The state with the largest ratio. Nodes off μ_π leave a bias that more copies do not remove: the "
        "frequencies settle at the graph's own average, not at μ_π.",
    }
