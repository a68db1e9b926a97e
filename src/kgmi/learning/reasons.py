"""What speaks for a result, and what against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgmi.certify import Certificate
from kgmi.graph.naming import shown_list
from kgmi.learning.settings import SEARCHING
from kgmi.learning.strength import Strength, required_edges

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = ["FEW_ROWS", "Reason", "objections", "open_directions", "reasons_for"]

FEW_ROWS = 100  # below which independent columns get edges by chance: docs/learning.md
_UNSURE = 3.0  # nats of a direction below which the reverse is no worse than one in twenty
_OBJECTIONS = {
    "kernels": "nodes that should follow one kernel do not",
    "parents": "some nodes depend on more than their parents",
    "rows": "rows depend on each other",
}


@dataclass(frozen=True)
class Reason:
    """Something that speaks for the result, or against it.

    Attributes
    ----------
    text
        A sentence.
    supports
        Whether it speaks for the result.
    of_edges, of_check
        Whether it is about the strength of the edges, or what a model check says.
    grave
        Whether it speaks against all of the result.
    """

    text: str
    supports: bool
    of_edges: bool = False
    of_check: bool = False
    grave: bool = False


def reasons_for(
    learned: Learned, edges: dict[tuple[str, str], Strength], certificate: Certificate | None
) -> list[Reason]:
    """All that is known about it, edges first."""
    checked = [
        Reason(f"{check.question} {check.sentence}", check.passed, of_check=True)
        for check in learned.checks
        if check.passed is not None
    ]
    return [*_of_edges(learned, edges, certificate), *_of_run(learned, edges), *checked, *_of_order(learned)]


def objections(learned: Learned) -> list[str]:
    """What the model checks have against the result, in a few words each."""
    return [_OBJECTIONS[check.name] for check in learned.checks if check.passed is False]


def open_directions(learned: Learned) -> list[tuple[str, str]]:
    """Edges whose reverse is nearly as good, where the order was learned."""
    return [edge for edge, nats in (learned.directions or {}).items() if nats < _UNSURE]


def _of_edges(
    learned: Learned, edges: dict[tuple[str, str], Strength], certificate: Certificate | None
) -> Iterable[Reason]:
    total = len(edges)
    certain, clear, weak = (
        [edge for edge, one in edges.items() if one == strength] for strength in ("certain", "clear", "weak")
    )
    if certain and certificate is not None:
        most = f"more than {certificate.n_parents} parent{'s' * (certificate.n_parents != 1)}"
        windows = (learned.configuration.get("candidates") or {}).get("only_children") is not None
        rows = "the sequence follows one law and has no" if windows else "rows are independent and no column has"
        yield Reason(
            f"{_of(len(certain), total)} certain: with probability {1 - certificate.alpha:g} all of these are "
            f"right, if {rows} {most}.",
            True,
            of_edges=True,
        )
    if clear and learned.configuration.get("n_rows") is None:
        yield Reason(f"{_of(len(clear), total)} clear in exact arithmetic.", True, of_edges=True)
    elif clear:
        yield Reason(
            f"{_of(len(clear), total)} clear, though without a guarantee: without the parent, or with another "
            "column in its place, the rows are explained far worse.",
            True,
            of_edges=True,
        )
    if weak:
        why = "tied" if learned.configuration.get("n_rows") is None else "and other rows may tell otherwise"
        yield Reason(f"{_of(len(weak), total)} weak, {why}: {_named(weak)}.", False, of_edges=True)


def _of_run(learned: Learned, edges: dict[tuple[str, str], Strength]) -> Iterable[Reason]:
    told = learned.configuration
    n_rows = told.get("n_rows")
    if asked := [edge for edge in required_edges(learned) if edge in edges]:
        yield Reason(f"{_of(len(asked), len(edges))} there because asked for: {_named(asked)}.", False)
    if learned.undecided:
        yield Reason(
            f"The parents of {_some(learned, learned.undecided)} are not told apart, so these have none here.",
            False,
        )
    elif not learned.converged:
        yield Reason("The training did not end: some heads still spread their attention.", False)
    if told.get("guide") == "plain" and learned.n_heads > 1:
        yield Reason("Plain mutual information steers all heads alike: they collapse onto one parent.", False)
    elif told.get("guide") not in SEARCHING and not _holds(learned):
        yield Reason(
            "This guide looks at one candidate at a time and what its theorems need does not all hold, so an "
            "ancestor or a sibling may stand in for a parent; guide='likelihood' weighs parents together.",
            False,
        )
    if misfits := _misfits(learned):
        grave = 2 * len(misfits) > learned.n_nodes
        yield Reason(
            f"The kernel that was given does not fit {_some(learned, misfits)}: learn it instead.",
            False,
            grave=grave,
        )
    if edges and n_rows is not None and n_rows < FEW_ROWS:
        yield Reason(f"{n_rows:,} rows are few: columns that have nothing to do with each other get edges.", False)
    if edges and n_rows is not None and learned.witness is None:
        yield Reason("The rows are not at hand any more, so that not every edge could be judged.", False)
    if edges and learned.witness is not None and learned.witness.data.only_counts:
        yield Reason(
            "Only counts of the rows were there: whether rows are independent, and whether more parents would tell "
            "more, was not looked at.",
            False,
        )
    if edges and told.get("cut"):
        yield Reason(
            "Measurements were cut into bins, which blurs them: an influence through another column can look "
            "direct.",
            False,
        )


def _of_order(learned: Learned) -> Iterable[Reason]:
    if unsure := open_directions(learned):
        yield Reason(f"{_of(len(unsure), learned.dag.n_edges)} of open direction: {_named(unsure)}.", False)
    elif learned.directions:
        yield Reason("The rows tell the direction of every edge.", True)


def _misfits(learned: Learned) -> list[int]:
    """Nodes whose law would be told better by parents with a kernel of their own, where the kernel is known."""
    found = None if learned.witness is None else learned.witness.found
    return [] if found is None else [node for node, _ in found.misfits]


def _holds(learned: Learned) -> bool:
    """Whether all that the paper's theorems need is known to hold."""
    return learned.assumptions is not None and all(one.holds for one in learned.assumptions.assumptions)


def _some(learned: Learned, nodes: Sequence[int], most: int = 4) -> str:
    rest = f" and {len(nodes) - most} more" if len(nodes) > most else ""
    return shown_list(learned.names[node] for node in nodes[:most]) + rest


def _named(edges: Sequence[tuple[str, str]], most: int = 4) -> str:
    rest = f" and {len(edges) - most:,} more" if len(edges) > most else ""
    return ", ".join(f"{parent} → {child}" for parent, child in edges[:most]) + rest


def _of(count: int, total: int) -> str:
    if count == total:
        return {1: "The one edge is", 2: "Both edges are"}.get(total, f"All {total:,} edges are")
    return f"{count:,} of {total:,} edges {'is' if count == 1 else 'are'}"
