"""``kgmi compare``: two results, or a result and a graph, edge by edge."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from kgmi.cli import output
from kgmi.cli.helping import offers
from kgmi.cli.options import JsonOption
from kgmi.cli.sides import (
    Edge,
    Side,
    compared,
    kernel_difference,
    opinion,
    read_sides,
    settings_apart,
)
from kgmi.cli.terminal import say
from kgmi.graph.naming import quoted, shown_list
from kgmi.learning.status import shown_margin
from kgmi.learning.trust import TRUST_WORDS
from kgmi.specs import GRAPH_HELP, GRAPHS

__all__ = ["compare"]

_MOST_EDGES = 100  # that are shown; all are in the JSON
_SAME = 1e-9  # difference of probabilities that is rounding
_SIDE_HELP = f"Folder of a result, or a graph: {GRAPH_HELP[:-1]}, or a .bif file."


def compare(
    a: Annotated[str, typer.Argument(help=_SIDE_HELP, metavar="A", autocompletion=offers(*GRAPHS))],
    b: Annotated[
        str, typer.Argument(help="The reference, in the same way.", metavar="B", autocompletion=offers(*GRAPHS))
    ],
    json: JsonOption = False,
) -> None:
    """Compare two results, or a result and a graph: which edges differ, how sure they are, and which settings.

    Example: kgmi compare result other-result

    Example: kgmi compare result paper

    Nodes are matched by name, whatever their order. A is taken as found and B as the reference: recall is the share
    of B's edges that A has, precision the share of A's that B has, and SHD the edges to add, remove or turn.
    """
    first, second = read_sides(a, b)
    content = _content(first, second)
    if json:
        output.print_json(content)
    else:
        _print(first, second, content)


def _content(a: Side, b: Side) -> dict[str, Any]:
    """Everything that is told, for machines."""
    both = {*a.names} & {*b.names}
    left, right = a.only(both).edges, b.only(both).edges
    turned = sorted((p, c) for p, c in left - right if (c, p) in right)
    back = {(c, p) for p, c in turned}
    result = compared(a, b)
    difference = kernel_difference(a, b)
    differing = {
        "only_in_a": [edge for edge in _in_order(a, left - right) if edge not in turned],
        "only_in_b": [edge for edge in _in_order(b, right - left) if edge not in back],
        "turned": turned,
    }
    return {
        "a": _described(a),
        "b": _described(b),
        "nodes_only_in_a": [name for name in a.names if name not in both],
        "nodes_only_in_b": [name for name in b.names if name not in both],
        "f1": result.f1,
        "precision": result.precision,
        "recall": result.recall,
        "shd": result.shd,
        "n_common_nodes": len(both),
        "common": _in_order(b, left & right),
        "between_joint_roots_of_b": len(result.apart),
        **{
            kind: [_told(edge, a, b, turned=kind == "turned") for edge in edges]
            for kind, edges in differing.items()
        },
        "kernels": None if difference is None else {"largest_difference": difference[0], "node": difference[1]},
        "same_rows": _same_rows(a, b),
        "settings": {name: {"a": one, "b": other} for name, (one, other) in settings_apart(a, b).items()},
    }


def _described(side: Side) -> dict[str, Any]:
    learned = side.learned
    return {
        "what": side.spec,
        "n_nodes": side.dag.n_nodes,
        "n_edges": side.dag.n_edges,
        "n_rows": None if learned is None else learned.configuration.get("n_rows"),
        "trust": None if learned is None else {"level": learned.trust.level, "sentence": learned.trust.sentence},
    }


def _in_order(side: Side, edges: set[Edge]) -> list[Edge]:
    """Edges by child and parent, as the side has its nodes."""
    place = {name: number for number, name in enumerate(side.names)}
    return sorted(edges, key=lambda edge: (place[edge[1]], place[edge[0]]))


def _told(edge: Edge, a: Side, b: Side, *, turned: bool) -> dict[str, Any]:
    """An edge as A has it, or would, and what both sides say of it; B of the reverse where that is what it has."""
    other = edge[::-1] if turned else edge
    return {"parent": edge[0], "child": edge[1], "a": opinion(a, edge), "b": opinion(b, other)}


def _same_rows(a: Side, b: Side) -> bool | None:
    if a.learned is None or b.learned is None:
        return None
    one, other = a.learned.fingerprint, b.learned.fingerprint
    return one == other if one.partition(":")[0] == other.partition(":")[0] else None  # one of rows, one of counts


def _print(a: Side, b: Side, content: dict[str, Any]) -> None:
    output.print_table(["", "graph", "nodes", "edges", "rows", "trust"], [_line("A", content), _line("B", content)])
    for letter, other in (("a", "B"), ("b", "A")):
        if missing := content[f"nodes_only_in_{letter}"]:
            nodes = "these nodes" if len(missing) > 1 else "the node"
            output.print_wrapped(
                f"Only {letter.upper()} has {nodes} {shown_list(missing)}: left out of what follows, edges and "
                f"all, as {other} says nothing of that."
            )
    output.print_wrapped(_verdict(content), hang="")
    kinds = {"only in A": "only_in_a", "only in B": "only_in_b", "turned": "turned"}
    rows = [_edge_line(kind, one, a, b) for kind, key in kinds.items() for one in content[key]]
    if rows:
        said = [f"{letter} says" for letter, side in (("A", a), ("B", b)) if side.learned is not None]
        output.print_table(["edge", "where", *said], rows[:_MOST_EDGES], right=4)
        if len(rows) > _MOST_EDGES:
            say(f"  … and {len(rows) - _MOST_EDGES} more edges (all of them with --json)")
    _print_rest(content)


def _print_rest(content: dict[str, Any]) -> None:
    if content["kernels"] is not None:
        output.print_wrapped(f"Kernels of nodes with the same parents: {_kernels(content['kernels'])}.")
    if content["same_rows"] is not None:
        say(f"Learned from {'the same' if content['same_rows'] else 'different'} rows.")
    if content["settings"]:
        shown = [[name, _short(one["a"]), _short(one["b"])] for name, one in content["settings"].items()]
        output.print_table(["setting", "A", "B"], shown, right=3)
    elif content["same_rows"] is not None:
        say("All settings are the same.")


def _kernels(difference: dict[str, Any]) -> str:
    largest = difference["largest_difference"]
    if largest < _SAME:
        return "the same in both"
    shown = f"{largest:.3f}" if largest >= 0.001 else "0.001"
    return f"no probability differs by more than {shown} (node {quoted(difference['node'])})"


def _line(letter: str, content: dict[str, Any]) -> list[str]:
    one = content[letter.lower()]
    rows = "" if one["n_rows"] is None else f"{one['n_rows']:,}"
    trust = "" if one["trust"] is None else TRUST_WORDS[one["trust"]["level"]]
    return [letter, one["what"], f"{one['n_nodes']:,}", f"{one['n_edges']:,}", rows, trust]


def _verdict(content: dict[str, Any]) -> str:
    if content["n_common_nodes"] < 2:
        return "Nothing to compare: an edge needs two nodes, and only one has the same name in both."
    if content["shd"] == 0:
        return f"The same graph: {_edges(len(content['common']))} in both (F1 1.000, SHD 0 edges).{_apart(content)}"
    parts = [f"{_edges(len(content['common']))} in both"]
    parts += [f"{len(content[key])} {text}" for key, text in _KINDS.items() if content[key]]
    shares = ", ".join(f"{name} {content[name.lower()]:.3f}" for name in ("F1", "precision", "recall"))
    return (
        f"{', '.join(parts)}. With A as found and B as the reference: {shares}, SHD {_edges(content['shd'])}."
        f"{_apart(content)}"
    )


_KINDS = {"only_in_a": "only in A", "only_in_b": "only in B", "turned": "the other way round"}


def _apart(content: dict[str, Any]) -> str:
    number = content["between_joint_roots_of_b"]
    return f" {_edges(number)} of A between roots that B draws together not counted." if number else ""


def _edges(number: int) -> str:
    return "1 edge" if number == 1 else f"{number:,} edges"


def _edge_line(kind: str, one: dict[str, Any], a: Side, b: Side) -> list[str]:
    arrow = f"{quoted(one['parent'])} → {quoted(one['child'])}"
    where = "in A; turned in B" if kind == "turned" else kind
    said = [(side.learned, one[key]) for key, side in (("a", a), ("b", b)) if side.learned is not None]
    return [arrow, where, *(_evidence(opinion, learned.fit is not None) for learned, opinion in said)]


def _evidence(said: dict[str, Any] | None, in_nats: bool) -> str:
    """What a result says of an edge, in a few words."""
    if said is None:
        return ""
    word = said["strength"] or ("edge" if said["there"] else "no edge")
    if not said["there"] and math.isnan(said["margin"]):
        return f"{word} (not looked at)"
    nats = " nats" if in_nats else ""
    lead = "only candidate"
    if math.isfinite(said["margin"]):
        lead = f"{'ahead' if said['margin'] >= 0 else 'behind'} by {shown_margin(abs(said['margin']))}{nats}"
    return f"{word} (attention {said['attention']:.2f}, {lead})"


def _short(value: Any, most: int = 40) -> str:
    text = "not set" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
