"""The report: claim, measurement and verdict side by side, as Markdown and as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgmi.files import atomic_write
from kgmi.outputs import Kind
from kgmi.paper.catalogue import EXPERIMENTS
from kgmi.paper.experiment import Experiment
from kgmi.paper.page import MEASURED, page
from kgmi.paper.results import Result

__all__ = ["REPORTS", "write_report"]

TITLE = "The paper's experiments, reproduced"
INTRODUCTION = (
    "Every figure and table of *Transformers Provably Learn Directed Acyclic Graphs via Kernel-Guided Mutual "
    "Information* (Cheng, Huang, Xiong, Liang, Tan), run again with kgmi. For each: what the paper says, what was "
    "measured, and a verdict. Checks marked «ours» are findings of kgmi and do not enter the verdict. The paper "
    "gives no values for the kernel's tunables p, so its figures can be reproduced in kind, not number for number."
)


REPORTS: dict[str, Kind] = {"report.md": "paper text", "report.html": "paper page"}
"""Files of the report, with their kinds."""


def write_report(
    out: Path, results: Sequence[Result], failed: Sequence[tuple[Experiment, str]] = (), *, force: bool = False
) -> list[Path]:
    """Write ``report.md`` and ``report.html`` into ``out``; figures are looked for in its folders.

    Experiments that ``failed`` are listed with their error.
    """
    titled = [(EXPERIMENTS[result.name].title + result.mode, result) for result in results]
    contents = {
        "report.md": _markdown(titled, failed),
        "report.html": page(TITLE, INTRODUCTION, titled, failed, out),
    }
    for name, text in contents.items():
        with atomic_write(out / name, REPORTS[name], force=force) as stream:
            stream.write(text.encode())
    return [out / name for name in contents]


def _markdown(titled: Sequence[tuple[str, Result]], failed: Sequence[tuple[Experiment, str]]) -> str:
    lines = ["<!-- kgmi reproduce -->", "", f"# {TITLE}", "", INTRODUCTION, ""]
    overview = [
        [f"[{title}](#{result.name})", result.claim, result.headline, f"**{result.verdict}**"]
        for title, result in titled
    ]
    overview += [[one.title, one.claim, f"{one.name}: {error}", "**failed**"] for one, error in failed]
    lines += _md_table(["experiment", "the paper says", MEASURED, "verdict"], overview)
    for title, result in titled:
        lines += ["", *_md_section(title, result)]
    return "\n".join(lines) + "\n"


def _md_section(title: str, result: Result) -> list[str]:
    lines = [
        f'<a id="{result.name}"></a>',
        "",
        f"## {title}",
        "",
        f"The paper: {result.claim}",
        "",
        f"**Verdict: {result.verdict}.** {result.why}",
        "",
    ]
    rows = [
        [
            "paper" if check.source == "paper" else "ours",
            check.claim,
            check.measured,
            check.answer if check.holds else f"**{check.answer}**",
        ]
        for check in result.checks
    ]
    lines += _md_table(["whose", "claim", "measured", "holds"], rows)
    for name in result.figures:
        lines += ["", f"![{title}: {name}]({result.name}/{name}.png)"]
    for table in result.tables:
        lines += ["", f"**{table['title']}**", "", *_md_table(table["columns"], table["rows"])]
        if table.get("note"):
            lines += ["", table["note"]]
    return [*lines, "", result.circumstances]


def _md_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(columns), "|" + "---|" * len(columns), *map(line, rows)]
