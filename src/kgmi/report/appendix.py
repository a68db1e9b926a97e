"""The sections of the report that one looks things up in: kernels, checks, settings, words."""

from __future__ import annotations

import json
from typing import Any

from kgmi.graph.naming import shown_list
from kgmi.learning.origin import flat_settings
from kgmi.report.tables import points, safe, section, shortened, table

__all__ = ["again", "assumptions", "checks", "configuration", "glossary", "kernels"]

_WORDS = {
    "Attention": "How a head divides its trust among the candidates of a node: shares that sum to 1. In the end "
    "nearly all of it is on one candidate.",
    "Head": "One of several searchers that work side by side. Every head looks for one parent of each node.",
    "Margin": "By how much the best candidate of a head beats the second best. A small margin is a guess.",
    "Nat": "The unit of scores: a difference of 1 nat means that the rows are e = 2.7 times as likely, one of 3 "
    "nats 20 times, one of 10 nats 22,000 times.",
    "Root": "A node without parents: nothing that was looked at has an influence on it.",
}

_LONGEST = 2_000  # letters of a setting


def kernels(view: dict[str, Any]) -> str:
    """The learned (or known) kernels."""
    shown = view["kernels"]["tables"]
    if not shown:
        return ""
    parts = [
        "<p>A kernel says how likely each state of a node is, given the states of its parents. Behind ± is the "
        "standard error; cases are the rows behind a line, over all nodes that share the kernel.</p>"
    ]
    for one in shown:
        parts.append(_kernel(one, view["names"]))
    more = view["kernels"]["count"] - len(shown)
    if more > 0:
        parts.append(f"<p>{more:,} more kernels are in the record, and not shown here.</p>")
    return section("kernels", "Kernel" if view["kernels"]["count"] == 1 else "Kernels", *parts)


def _kernel(one: dict[str, Any], names: list[str]) -> str:
    rows = []
    for line in one["lines"]:
        errors = line["errors"] or [None] * len(line["law"])
        cells = [
            f"{p:.3f}" if e is None or one["known"] else f"{p:.3f} ± {e:.3f}"
            for p, e in zip(line["law"], errors, strict=True)
        ]
        cases = "–" if line["cases"] is None else f"{round(line['cases']):,}"
        rows.append([shown_list(line["given"]), *cells, cases])
    cut = one["of"] - len(one["lines"])
    notes = [f"{cut:,} more lines are not shown."] if cut > 0 else []
    if one["n_states"] > len(one["states"]):
        notes.append(f"{one['n_states'] - len(one['states']):,} more states are not shown.")
    if one["error"]:
        notes.append(f"Share of readings that are random: {one['error']:.3g}.")
    who = [shortened(names[child]) for child in one["children"][:40]]
    rest = f" and {len(one['children']) - 40:,} more" if len(one["children"]) > 40 else ""
    whose = f'<p class="note">Nodes: {safe(shown_list(who))}{rest}.</p>' if len(who) > 1 else ""
    heading = "parents" if one["parents"] > 1 else "parent"
    if one["given"] is not None:  # one set of parents for all
        heading += f": {shown_list(shortened(names[parent]) for parent in one['given'])}"
    columns = [heading, *one["states"], "cases"]
    return table(one["title"], columns, rows) + whose + "".join(f'<p class="note">{note}</p>' for note in notes)


def checks(view: dict[str, Any]) -> str:
    """Whether the model fits the rows."""
    if not view["checks"]:
        return ""
    answers = {True: "passed", False: "failed", None: "not tested"}
    rows = [[one["question"], answers[one["passed"]], one["sentence"]] for one in view["checks"]]
    return section(
        "checks", "Model check", table("Does the model fit the rows?", ["question", "answer", "in words"], rows, 9)
    )


def assumptions(view: dict[str, Any]) -> str:
    """The conditions of the paper."""
    if view["assumptions"] is None:
        text = (
            "These conditions are about a kernel that is known beforehand; here it was learned, so none is needed."
        )
        return section("assumptions", "Assumptions of the paper", f"<p>{text}</p>")
    rows = [[one["name"], "holds" if one["holds"] else "fails", one["sentence"]] for one in view["assumptions"]]
    columns = ["assumption", "answer", "in words"]
    return section("assumptions", "Assumptions of the paper", table("Which conditions hold", columns, rows, 9))


def configuration(view: dict[str, Any]) -> str:
    """All settings."""
    told = {key: value for key, value in flat_settings(view["configuration"]).items() if value is not None}
    notes = told.pop("prepared", [])
    prepared = f"<h3>How the table was prepared</h3>{points(notes)}" if notes else ""
    rows = [[key, shortened(_value(value), _LONGEST)] for key, value in told.items()]
    shown = table("Settings of the fit", ["setting", "value"], rows, 9)
    return section("configuration", "Configuration", prepared, shown)


def _value(value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return json.dumps(value, ensure_ascii=False)


def again(view: dict[str, Any]) -> str:
    """How to run it again."""
    told = view["again"]
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    return section(
        "again",
        "How to run it again",
        f"<h3>On the command line</h3>{_code(told['command'])}",
        f"<h3>In Python</h3>{_code(told['python'])}",
        points(told["notes"]),
        f'<p class="note">Fingerprint of the input: <code>{safe(told["input"])}</code>.<br>'
        f"This page was written with {safe(versions)}.</p>",
    )


def _code(text: str) -> str:
    lines = "\n".join(map(safe, text.split("\n")))
    return f"<pre><code>{lines}</code></pre>"


def glossary() -> str:
    """The words that the page uses."""
    items = "".join(f"<dt>{word}</dt><dd>{safe(meaning)}</dd>" for word, meaning in _WORDS.items())
    return section("words", "Words", f"<dl>{items}</dl>")
