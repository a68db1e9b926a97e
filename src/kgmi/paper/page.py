"""The report as one HTML page that needs nothing else: figures inside, no script, no network."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from kgmi.paper.experiment import Check, Experiment
from kgmi.paper.results import Result

__all__ = ["MEASURED", "page"]

MEASURED = "measured: first claim that fails, or first"
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
    "holds": "holds",
    "holds in part": "part",
    "does not hold": "not",
    "not measured": "open",
    "failed": "not",
}


def page(
    title: str,
    introduction: str,
    titled: Sequence[tuple[str, Result]],
    failed: Sequence[tuple[Experiment, str]],
    folder: Path,
) -> str:
    """The whole page; ``folder`` holds the figures of each experiment in a folder of its name."""
    rows = "".join(
        f'<tr><td><a href="#{escape(result.name)}">{escape(name)}</a></td><td>{escape(result.claim)}</td>'
        f"<td>{escape(result.headline)}</td><td>{_verdict(result.verdict)}</td></tr>"
        for name, result in titled
    )
    rows += "".join(
        f"<tr><td>{escape(one.title)}</td><td>{escape(one.claim)}</td>"
        f"<td>{escape(f'{one.name}: {error}')}</td><td>{_verdict('failed')}</td></tr>"
        for one, error in failed
    )
    sections = "".join(_section(name, result, folder / result.name) for name, result in titled)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="kgmi reproduce">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>kgmi · {escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><header><h1>{escape(title)}</h1><p>{_inline(introduction)}</p></header>\n"
        '<main><div class="scroll"><table><thead><tr><th>experiment</th><th>the paper says</th>'
        f"<th>{MEASURED}</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table></div>\n{sections}</main></body></html>\n"
    )


def _section(title: str, result: Result, folder: Path) -> str:
    checks = "".join(map(_check, result.checks))
    figures = "".join(_figure(f"{title}: {name}", folder / name) for name in result.figures)
    tables = "".join(
        f"<h3>{escape(table['title'])}</h3>{_table(table['columns'], table['rows'])}"
        + (f'<p class="note">{_inline(table["note"])}</p>' if table.get("note") else "")
        for table in result.tables
    )
    return (
        f'<section id="{escape(result.name)}"><h2>{escape(title)}</h2><p class="claim">The paper: '
        f"{escape(result.claim)}</p><p>{_verdict(result.verdict)} {_inline(result.why)}</p>\n"
        '<div class="scroll"><table><thead><tr><th>whose</th><th>claim</th><th>measured</th><th>holds</th></tr>'
        f"</thead><tbody>{checks}</tbody></table></div>\n{figures}{tables}"
        f'<p class="circumstances">{_inline(result.circumstances)}</p></section>\n'
    )


def _check(check: Check) -> str:
    holds = f'<span class="{check.answer}">{check.answer}</span>'
    whose = "paper" if check.source == "paper" else "ours"
    return (
        f"<tr><td>{whose}</td><td>{escape(check.claim)}</td><td>{escape(check.measured)}</td><td>{holds}</td></tr>"
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


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns that hold numbers only, or nothing, are aligned to the right."""
    marks = ["" if any(map(_is_text, cells)) else ' class="number"' for cells in zip(*rows, strict=True)]
    head = "".join(f"<th{mark}>{escape(column)}</th>" for mark, column in zip(marks, columns, strict=True))
    lines = [
        "".join(f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row, strict=True)) for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _is_text(cell: str) -> bool:
    return not re.fullmatch(r"|[–—]|[−+-]?[\d.,]+( ?%)?( (±|…|–) [\d.,]+)?( of [\d,]+)?", cell)


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {_CLASSES[verdict]}">{escape(verdict)}</span>'


def _inline(text: str) -> str:
    """Escaped text with `code` and *emphasis*."""
    safe = escape(text, quote=False)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"\*([^*]+)\*(?!\w)", r"<em>\1</em>", safe)
