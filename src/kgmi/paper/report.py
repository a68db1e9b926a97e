"""The report: claim, measurement and verdict side by side, as Markdown and as one self-contained HTML page."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from kgmi.files import atomic_write
from kgmi.outputs import Kind
from kgmi.paper.experiment import Experiment
from kgmi.paper.results import Result

__all__ = ["REPORTS", "markdown_table", "write_report"]

TITLE = "The paper's experiments, reproduced"
INTRODUCTION = (
    "Every figure and table of *Transformers Provably Learn Directed Acyclic Graphs via Kernel-Guided Mutual "
    "Information* (Cheng, Huang, Xiong, Liang, Tan), run again with kgmi, and every statement of the paper. For "
    "each: what the paper says, what was measured, and a verdict. Checks marked «ours» are findings of kgmi and "
    "do not enter the verdict. The paper gives no values for the tunables p of its kernel, so its figures can be "
    "reproduced in kind, not number for number."
)
LAB_TITLE = "The attention laboratory"
LAB_INTRODUCTION = (
    "Attention models that are trained by gradient descent on sequences of known graphs, beside exact laws and the "
    "predictors that know the graph. For each experiment: what its source says, what was measured, and a verdict. "
    "Checks marked «ours» are questions of kgmi and do not enter the verdict."
)
REPORTS: dict[str, Kind] = {"report.md": "paper text", "report.html": "paper page"}
"""Files of the report, with their kinds."""

_OVERVIEW = ("experiment", "claim", "measured: first claim that fails, or first", "verdict")
_CHECKS = ("whose", "claim", "measured", "holds")
_COLOURS = 128
_PIXELS_PER_POINT = 1.5  # figures are written finer than they are shown
_STYLE = """
:root { --ink: #1d2129; --faint: #5c6470; --line: #d9dde3; --wash: #f6f7f9; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2rem 1.25rem 4rem; color: var(--ink);
       font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { line-height: 1.2; margin: 0 0 .75rem; } h2 { margin: 3rem 0 .5rem; line-height: 1.25; }
h3 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
a { color: #0b5394; } code { background: var(--wash); padding: .1em .3em; border-radius: 3px; font-size: .9em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
th { background: var(--wash); }
.number { text-align: right; } td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.verdict { display: inline-block; white-space: nowrap; font-weight: 600; font-size: .85rem; padding: .1rem .55rem;
           border-radius: 1rem; border: 1px solid currentColor; }
.holds { color: #00694b; background: #e8f5f0; } .part { color: #8a5300; background: #fdf3e1; }
.open { color: var(--faint); background: var(--wash); } .not { color: #a3320b; background: #fcece6; }
.yes { color: #00694b; font-weight: 600; } .no { color: #a3320b; font-weight: 600; }
.note, .circumstances { color: var(--faint); font-size: .85rem; } .claim { color: var(--faint); }
figure { margin: 1.25rem 0; } figure img { max-width: 100%; height: auto; }
@media (max-width: 700px) { th, .verdict { white-space: normal; } body { padding: 1rem .75rem; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } h2, figure, tr { break-inside: avoid; } }
"""
_CLASSES = {
    **{"holds": "holds", "holds in part": "part", "does not hold": "not"},
    **{"not measured": "open", "failed": "not", "yes": "yes", "no": "no"},
}


def write_report(
    out: Path, results: Sequence[Result], failed: Sequence[tuple[Experiment, str]] = (), *, force: bool = False
) -> list[Path]:
    """Write ``report.md`` and ``report.html`` into ``out``; figures are looked for in its folders.

    Experiments that ``failed`` are listed with their error.
    """
    contents = {"report.md": _markdown(results, failed), "report.html": _page(results, failed, out)}
    for name, text in contents.items():
        with atomic_write(out / name, REPORTS[name], force=force) as stream:
            stream.write(text.encode())
    return [out / name for name in contents]


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(columns), "|" + "---|" * len(columns), *map(line, rows)]


def _markdown(results: Sequence[Result], failed: Sequence[tuple[Experiment, str]]) -> str:
    title, introduction = _titles(results)
    lines = ["<!-- kgmi reproduce -->", "", f"# {title}", "", introduction, ""]
    rows = [[f"[{one.heading}](#{one.name})", one.claim, one.headline, f"**{one.verdict}**"] for one in results]
    rows += [[one.title, one.claim, f"{one.name}: {error}", "**failed**"] for one, error in failed]
    lines += markdown_table(_OVERVIEW, rows)
    for result in results:
        lines += [
            "",
            f'<a id="{result.name}"></a>',
            "",
            f"## {result.heading}",
            "",
            f"{result.source}: {result.claim}",
        ]
        lines += ["", f"**Verdict: {result.verdict}.** {result.why}", ""]
        answers = [one.answer if one.holds else f"**{one.answer}**" for one in result.checks]
        checks = [
            [one.whose, one.claim, one.measured, answer] for one, answer in zip(result.checks, answers, strict=True)
        ]
        lines += markdown_table(_CHECKS, checks)
        for name in result.figures:
            lines += ["", f"![{result.heading}: {name}]({result.name}/{name}.png)"]
        for table in result.tables:
            lines += ["", f"**{table['title']}**", "", *markdown_table(table["columns"], table["rows"])]
            lines += ["", table["note"]] if table["note"] else []
        lines += ["", result.circumstances]
    return "\n".join(lines) + "\n"


def _page(results: Sequence[Result], failed: Sequence[tuple[Experiment, str]], folder: Path) -> str:
    """The page; it needs nothing else: figures inside, no script, no network."""
    rows = [
        [_link(one), escape(one.claim), escape(one.headline), _mark(one.verdict, "verdict ")] for one in results
    ]
    rows += [
        [escape(one.title), escape(one.claim), escape(f"{one.name}: {error}"), _mark("failed", "verdict ")]
        for one, error in failed
    ]
    title, introduction = _titles(results)
    sections = "".join(_section(result, folder / result.name) for result in results)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="kgmi reproduce">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>kgmi · "
        f"{escape(title)}</title><style>{_STYLE}</style></head>\n<body><header><h1>{escape(title)}</h1>"
        f"<p>{_inline(introduction)}</p></header>\n"
        f"<main>{_html_table(_OVERVIEW, rows)}\n{sections}</main></body></html>\n"
    )


def _titles(results: Sequence[Result]) -> tuple[str, str]:
    """Title and introduction: of the laboratory where all results are its own."""
    lab = bool(results) and all(one.name.startswith("lab-") for one in results)
    return (LAB_TITLE, LAB_INTRODUCTION) if lab else (TITLE, INTRODUCTION)


def _link(result: Result) -> str:
    return f'<a href="#{escape(result.name)}">{escape(result.heading)}</a>'


def _section(result: Result, folder: Path) -> str:
    checks = [[one.whose, escape(one.claim), escape(one.measured), _mark(one.answer)] for one in result.checks]
    figures = "".join(_figure(f"{result.heading}: {name}", folder / name) for name in result.figures)
    tables = "".join(
        f"<h3>{escape(table['title'])}</h3>{_text_table(table['columns'], table['rows'])}"
        + (f'<p class="note">{_inline(table["note"])}</p>' if table["note"] else "")
        for table in result.tables
    )
    return (
        f'<section id="{escape(result.name)}"><h2>{escape(result.heading)}</h2><p class="claim">'
        f"{escape(result.source)}: {escape(result.claim)}</p><p>{_mark(result.verdict, 'verdict ')} "
        f"{_inline(result.why)}</p>\n{_html_table(_CHECKS, checks)}\n{figures}{tables}"
        f'<p class="circumstances">{_inline(result.circumstances)}</p></section>\n'
    )


def _figure(caption: str, path: Path) -> str:
    """The figure with few colours, which is a third of its size and looks the same; the files beside are whole."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(path.with_name(path.name + ".png")) as picture:
        width, height = (round(side / _PIXELS_PER_POINT) for side in picture.size)
        few = picture.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(small, "PNG", optimize=True)
    source = f"data:image/png;base64,{b64encode(small.getvalue()).decode()}"
    return f'<figure><img alt="{escape(caption)}" width="{width}" height="{height}" src="{source}"></figure>\n'


def _text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts; columns that hold numbers only, or nothing, are aligned to the right."""
    marks = ["" if any(map(_is_text, cells)) else ' class="number"' for cells in zip(*rows, strict=True)]
    return _html_table(columns, [[escape(cell) for cell in row] for row in rows], marks)


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]], marks: Sequence[str] = ()) -> str:
    """A table whose cells are HTML already."""
    marks = marks or [""] * len(columns)
    head = "".join(f"<th{mark}>{escape(column)}</th>" for mark, column in zip(marks, columns, strict=True))
    lines = ["".join(f"<td{mark}>{cell}</td>" for mark, cell in zip(marks, row, strict=True)) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _is_text(cell: str) -> bool:
    return not re.fullmatch(r"|[–—]|[−+-]?[\d.,]+( ?%)?( (±|…|–) [\d.,]+)?( of [\d,]+)?", cell)


def _mark(answer: str, kind: str = "") -> str:
    return f'<span class="{kind}{_CLASSES[answer]}">{escape(answer)}</span>'


def _inline(text: str) -> str:
    """Escaped text with `code` and *emphasis*."""
    safe = escape(text, quote=False)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"\*([^*]+)\*(?!\w)", r"<em>\1</em>", safe)
