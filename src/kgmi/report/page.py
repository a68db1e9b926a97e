"""``report.html``: one page that needs nothing else, neither a network nor, to be read, a script."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from kgmi.files import atomic_write
from kgmi.learning import Learned
from kgmi.report import appendix, sections
from kgmi.report.shipped import asset
from kgmi.report.tables import safe
from kgmi.report.view import view_of
from kgmi.types import PathLike

__all__ = ["page_of", "report_html", "write_report"]


def write_report(
    learned: Learned,
    path: PathLike,
    *,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    force: bool = False,
) -> Path:
    """Write the report of a result to ``path`` and return it; see :func:`view_of` for the other arguments.

    A file that is there and is no report of kgmi is replaced with ``force`` only.
    """
    path = Path(path)
    with atomic_write(path, "report", force=force) as stream:
        stream.write(report_html(learned, title=title, source=source, command=command).encode("utf-8", "replace"))
    return path


def report_html(
    learned: Learned, *, title: str | None = None, source: str | None = None, command: str | None = None
) -> str:
    """The report of a result as one HTML page."""
    return page_of(view_of(learned, title=title, source=source, command=command))


def page_of(view: dict[str, Any]) -> str:
    """The page of what :func:`view_of` gives."""
    parts = [
        sections.trust(view),
        sections.graph(view),
        sections.heads(view),
        sections.parents(view),
        sections.candidates(view),
        appendix.kernels(view),
        appendix.checks(view),
        appendix.assumptions(view),
        appendix.configuration(view),
        appendix.again(view),
        appendix.glossary(),
    ]
    body = "".join(parts)
    links = re.findall(r'<h2 id="(\w+)-title">([^<]*)</h2>', body)
    menu = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in links)
    title, summary = safe(view["title"]), safe(view["summary"])
    under = f"<p>{summary}</p>" if summary != title else ""
    script, style = asset("view.js") + asset("report.js"), asset("view.css") + asset("report.css")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="generator" content="kgmi report">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title} · kgmi</title>\n<link rel="icon" href="data:,">\n<style>{style}</style></head>\n'
        '<body><a class="skip" href="#main">To the content</a>\n'
        f'<header><p class="brand">kgmi report</p><h1>{title}</h1>{under}</header>\n'
        f'<nav aria-label="Sections"><ul>{menu}</ul></nav>\n<main id="main" tabindex="-1">\n{body}</main>\n'
        f"<footer><p>Written by kgmi {safe(view['again']['versions']['kgmi'])}. This file is complete: it loads "
        "nothing from anywhere.</p></footer>\n"
        f'<script type="application/json" id="view">{_data(view)}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def _policy(script: str, style: str) -> str:
    """What the page may do: run its own script, use its own style, and nothing else."""
    return (
        f"default-src 'none'; script-src {_mark(script)}; style-src {_mark(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _mark(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(view: dict[str, Any]) -> str:
    """The values as JSON that cannot end the element it stands in, whatever the names are."""
    text = json.dumps(view, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
