"""Pieces of HTML; every text from the data is escaped here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

__all__ = ["LONGEST_NAME", "MOST_PRINTED", "points", "safe", "section", "shortened", "shown_number", "table"]

MOST_PRINTED = 60
"""Rows of a table that are printed on paper; on the screen all of them are there."""


LONGEST_NAME = 80
"""Letters of a name that are shown in sentences and tables."""
_LONG = 25  # rows from which a table scrolls in a box of its own
# What would turn the text around it, or is no letter at all: control characters and marks of direction.
_UNSEEN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff]")


def safe(text: str) -> str:
    """Text from the data as HTML: nothing in it is a tag, and nothing turns what stands behind it."""
    return escape(_UNSEEN.sub("\ufffd", text))


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """A text that fits: a long one loses its middle. The values behind the page have it in full."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page with a heading that its landmark is called by."""
    heading = f'<h2 id="{name}-title">{safe(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{heading}{"".join(parts)}</section>\n'


def points(sentences: Sequence[str]) -> str:
    """A list of sentences."""
    return f"<ul>{''.join(f'<li>{safe(each)}</li>' for each in sentences)}</ul>" if sentences else ""


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: int = 1) -> str:
    """A table whose rows begin with what they are about; columns from number ``right`` on hold numbers."""
    if not rows:
        return ""
    marks = ["" if number < right else ' class="number"' for number in range(len(columns))]
    head = "".join(f'<th scope="col"{mark}>{safe(name)}</th>' for mark, name in zip(marks, columns, strict=True))
    lines = []
    for number, row in enumerate(rows):
        late = ' class="late"' if number >= MOST_PRINTED else ""
        cells = "".join(f"<td{mark}>{safe(cell)}</td>" for mark, cell in zip(marks[1:], row[1:], strict=True))
        lines.append(f'<tr{late}><th scope="row">{safe(row[0])}</th>{cells}</tr>')
    more = len(rows) - MOST_PRINTED
    rest = (
        f'<p class="on-paper">… and {more:,} rows more, which the page shows on a screen.</p>' if more > 0 else ""
    )
    long = " long" if len(rows) > _LONG else ""
    return (
        f'<div class="scroll{long}" role="region" tabindex="0" aria-label="{safe(caption)}"><table>'
        f"<caption>{safe(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>{rest}"
    )


def shown_number(value: float | None) -> str:
    """A score or margin: whole from ten on, else two digits that count."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"
