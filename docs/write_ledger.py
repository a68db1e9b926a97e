"""Write docs/ledger.md from kgmi.theory.LEDGER."""

from __future__ import annotations

from pathlib import Path

from kgmi.paper.report import markdown_table
from kgmi.theory import LEDGER, Statement, count_verdicts

PAGE = Path(__file__).parent / "ledger.md"


def page() -> str:
    """The whole page."""
    counts, defined = count_verdicts(), sum(not one.is_claim for one in LEDGER)
    lines = [
        "# The ledger: every statement of the paper",
        "",
        "Every numbered or named statement of *Transformers Provably Learn Directed Acyclic Graphs via "
        "Kernel-Guided Mutual",
        "Information*, by its own numbering: what it says, what computes it, what tries it, and a verdict. Made "
        "from",
        "`kgmi.theory.LEDGER` by `python docs/write_ledger.py`; the counter-examples are in "
        "`kgmi.theory.examples`, and a test",
        "recomputes each. `kgmi reproduce theorems` tries all of it ([report](paper/report.md#theorems)).",
        "",
        f"Of {len(LEDGER)} statements **{counts['holds']} hold** ({defined} of them definitions and descriptions,",
        f"which cannot fail), **{counts['holds where']} hold where** a condition is met that the paper does not",
        f"state, **{counts['fails']} fail** as printed, and {counts['cannot be tested']} cannot be tested.",
        "",
        *markdown_table(
            ["number", "statement", "verdict"],
            [[f"[{one.number}](#{one.key})", one.title, one.verdict] for one in LEDGER],
        ),
    ]
    for one in LEDGER:
        lines += ["", *_section(one)]
    return "\n".join(lines) + "\n"


def _section(one: Statement) -> list[str]:
    verdict = f"**{one.verdict}** {one.where}" if one.where else f"**{one.verdict}**"
    lines = [
        f'<a id="{one.key}"></a>',
        "",
        f"## {one.number}: {one.title}",
        "",
        one.says,
        "",
        f"- Verdict: {verdict}",
    ]
    lines += [f"- {word}: {text}" for word, text in (("Proof", one.proof), ("Instead", one.repair)) if text]
    for e in one.examples:
        figures = f": **{e.measured:.4g}**, should be at most {e.bound:.4g}" if e.shown else ""
        lines.append(f"- Counter-example: {e.text[0].upper()}{e.text[1:]}{figures}")
    lines.append("- Code: " + ", ".join(f"`{name}`" for name in one.code))
    return [*lines, "- Tried by: " + ", ".join(f"`{trial}`" for trial in one.tried)]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
