"""The sections of the report that tell how sure it is and what was found."""

from __future__ import annotations

from typing import Any

from kgmi.graph.naming import shown_list
from kgmi.learning.trust import TRUST_WORDS
from kgmi.report.picture import graph_picture
from kgmi.report.tables import points, safe, section, shortened, shown_number, table

__all__ = ["candidates", "graph", "heads", "parents", "trust"]

_SIGNS = {"high": "✓", "fair": "≈", "low": "!"}
_NO_SCRIPT = "<noscript><p>{}</p></noscript>"
_FEW = 3  # candidates of a head in the table; the panel of a node has more


def trust(view: dict[str, Any]) -> str:
    """How far to trust it, first of all and in large letters, with the reasons and how the run ended."""
    told = view["trust"]
    sentence = told["sentence"].removeprefix("How far to trust it: ")  # the heading says so
    reasons = "".join(
        f'<li class="{"for" if reason["supports"] else "against"}"><strong>'
        f"{'Speaks for it' if reason['supports'] else 'Speaks against it'}:</strong> {safe(reason['text'])}</li>"
        for reason in told["reasons"]
    )
    certificate = points(view["certificate"] or [])
    return section(
        "trust",
        "How far to trust it",
        f'<div class="verdict {told["level"]}"><p class="level">'
        f'<span aria-hidden="true">{_SIGNS[told["level"]]}</span> '
        f"Trust it {TRUST_WORDS[told['level']]}</p><p>{safe(sentence[:1].upper() + sentence[1:])}</p></div>",
        f'<ul class="reasons">{reasons}</ul>' if reasons else "",
        f"<h3>What is certified</h3>{certificate}" if certificate else "",
        "<h3>How the run ended</h3>",
        points(view["status"]),
    )


def graph(view: dict[str, Any]) -> str:
    """The graph: a still picture, in whose place the script puts one that can be used."""
    told = "An arrow leads from a parent to its child. Colour and dashes say which head names the parent"
    strengths = [edge["strength"] for edge in view["edges"]]
    if any(strengths):
        counts = [f"{strengths.count(word):,} {word}" for word in ("certain", "clear", "weak") if word in strengths]
        told += f"; thicker lines are surer ({', '.join(counts)})"
    return section(
        "graph",
        "Graph",
        f"<p>{told}. Roots have a thicker rim.</p>",
        f'<div id="graph-here" class="kgmi-view"><div id="still">{graph_picture(view)}</div></div>',
    )


def heads(view: dict[str, Any]) -> str:
    """The player of the heads' attention."""
    if not any(view["candidates"]):
        return section(
            "heads", "How the heads concentrated", "<p>No head had candidates: there was nothing to train.</p>"
        )
    return section(
        "heads",
        "How the heads concentrated",
        "<p>At first every head attends to all candidates alike; training moves its attention to the candidate "
        "with the best score. The stronger a cell is coloured, the more the head attends to this "
        "candidate (row) of a child (column).</p>",
        '<div id="player-here"></div>',
        _NO_SCRIPT.format("The moving picture needs JavaScript. The table below has the attention at the end."),
    )


def parents(view: dict[str, Any]) -> str:
    """The parents of every node, with attention, margin and strength."""
    by_child: dict[int, list[dict[str, Any]]] = {}
    for edge in view["edges"]:
        by_child.setdefault(edge["child"], []).append(edge)
    directed = any(edge["direction"] is not None for edge in view["edges"])
    rows = []
    for number, node in enumerate(view["nodes"]):
        edges = by_child.get(number, [])
        one_by_one = (
            [f"{edge['attention']:.2f}" for edge in edges],
            [_margin(edge["margin"]) for edge in edges],
            [edge["strength"] or "–" for edge in edges],
            *([[shown_number(edge["direction"]) for edge in edges]] if directed else []),
        )
        rows.append(
            [shortened(view["names"][number]), _parents(view, node), *("; ".join(each) for each in one_by_one)]
        )
    unit = f" ({view['unit']})" if view["unit"] else ""
    columns = [
        "node",
        "parents",
        "attention",
        f"margin{unit}",
        "how sure",
        *([f"direction{unit}"] if directed else []),
    ]
    return section(
        "parents",
        "Parents of every node",
        "<p>Attention, margin and how sure each edge is stand in the order of the parents.</p>",
        table(f"Parents of the {view['n_nodes']:,} nodes", columns, rows, right=2),
    )


def candidates(view: dict[str, Any]) -> str:
    """The best candidates of every head."""
    names = [shortened(name) for name in view["names"]]
    rows = []
    for number, found in enumerate(view["candidates"]):
        for head in found:
            best = "; ".join(
                f"{names[candidate]}: {shown_number(score)} (attention {attention:.2f})"
                for candidate, score, attention in head["list"][:_FEW]
            )
            rows.append([names[number], str(head["head"]), best, f"{head['of']:,}", _margin(head["margin"])])
    unit = f" ({view['unit']})" if view["unit"] else ""
    columns = ["node", "head", f"best candidates with score{unit}", "candidates", f"margin{unit}"]
    return section(
        "candidates",
        "Candidates",
        table("Best candidates of every head", columns, rows, right=3) or "<p>No head had candidates.</p>",
    )


def _margin(margin: float | None) -> str:
    return "only candidate" if margin is None else shown_number(margin)


def _parents(view: dict[str, Any], node: dict[str, Any]) -> str:
    if node["parents"]:
        return shown_list(shortened(view["names"][parent]) for parent in node["parents"])
    if node["kind"] == "undecided":
        return "(undecided)"
    others = shown_list(shortened(view["names"][other]) for other in node["with"])
    return f"(root, drawn with {others})" if others else "(root)"
