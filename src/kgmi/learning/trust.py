"""``Trust``: how far a result may be trusted, in one sentence, with the reasons and edge by edge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from kgmi.certify import Certificate
from kgmi.errors import KgmiError, RecordError
from kgmi.graph.naming import shown_list
from kgmi.learning.settings import SEARCHING
from kgmi.learning.strength import Strength, edge_strengths

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = ["Level", "Reason", "Trust", "trust_of"]

Level = Literal["high", "fair", "low"]
"""In one word; see docs/trouble.md for what each means."""

_MOST_NODES, _MOST_CELLS = 40, 2_000_000  # up to which a certificate takes about a second
_PATIENCE = 2.0
_FEW_ROWS = 100  # below which independent columns get edges by chance: docs/learning.md
_OBJECTIONS = {
    "kernels": "nodes that should follow one kernel do not",
    "parents": "some nodes depend on more than their parents",
    "rows": "rows depend on the rows before them",
}
_UNSURE = 3.0  # nats of a direction below which the reverse is no worse than one in twenty


@dataclass(frozen=True)
class Reason:
    """Something that speaks for the result, or against it.

    Attributes
    ----------
    text
        A sentence.
    supports
        Whether it speaks for the result.
    """

    text: str
    supports: bool


@dataclass(frozen=True)
class Trust:
    """How far a result may be trusted.

    Attributes
    ----------
    level
        ``high``: nothing speaks against it and nearly all edges are certain or clear. ``low``: half of the edges
        are weak, or something that the method rests on fails. ``fair``: in between.
    sentence
        For people, with what it rests on.
    reasons
        What speaks for it and against it.
    edges
        Of every edge (parent, child), by name: ``certain`` (certified: with probability 0.95 all of these are
        right, if the model holds), ``clear`` (by far better than the next candidate) or ``weak``.
    """

    level: Level
    sentence: str
    reasons: tuple[Reason, ...]
    edges: dict[tuple[str, str], Strength]

    def __str__(self) -> str:
        return self.sentence

    def count(self, strength: Strength) -> int:
        """How many edges are that strong."""
        return sum(one == strength for one in self.edges.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        content = asdict(self)
        content["reasons"] = list(content["reasons"])
        return content | {"edges": [[*edge, strength] for edge, strength in self.edges.items()]}

    @classmethod
    def from_dict(cls, content: Any) -> Trust:
        """Trust from its plain values."""
        try:
            edges = {(str(parent), str(child)): strength for parent, child, strength in content["edges"]}
            reasons = tuple(Reason(str(one["text"]), bool(one["supports"])) for one in content["reasons"])
            level, sentence = content["level"], str(content["sentence"])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"what is said about trust is not what it should be: {error!s:.60}") from None
        if level not in get_args(Level) or not {*edges.values()} <= {*get_args(Strength)}:
            raise RecordError("what is said about trust uses words that this version does not know")
        return cls(level, sentence, reasons, edges)


def trust_of(learned: Learned) -> Trust:
    """Look at certificate, margins, model checks, directions and rows, and say what they come to."""
    certificate = _certificate(learned)
    edges = edge_strengths(learned, certificate)
    reasons = [*_of_edges(edges, certificate), *_of_run(learned), *_of_checks(learned), *_of_order(learned)]
    level = _level(edges, reasons, learned)
    return Trust(level, _sentence(level, learned, edges, reasons), tuple(reasons), edges)


def _certificate(learned: Learned) -> Certificate | None:
    """The certificate that the result has, or one that is quickly made; None where there is none."""
    if "certificate" in vars(learned):
        return learned.certificate
    n_rows = learned.configuration.get("n_rows") or 0
    if learned.witness is None or learned.n_nodes > _MOST_NODES or n_rows * learned.n_nodes > _MOST_CELLS:
        return None
    try:
        return learned.certify(patience=_PATIENCE)
    except KgmiError:  # the order is learned, the guide names parents one by one, there are no rows
        return None


def _of_edges(edges: dict[tuple[str, str], Strength], certificate: Certificate | None) -> Iterable[Reason]:
    total = len(edges)
    certain, clear, weak = (
        [edge for edge, one in edges.items() if one == strength] for strength in ("certain", "clear", "weak")
    )
    if certain and certificate is not None:
        yield Reason(
            f"{_of(len(certain), total)} certain: with probability {1 - certificate.alpha:g} all of these are "
            "right, if the model holds.",
            True,
        )
    if clear:
        yield Reason(
            f"{_of(len(clear), total)} clear, without a guarantee: the next candidate explains the rows far worse.",
            True,
        )
    if weak:
        named = [f"{parent} → {child}" for parent, child in weak[:4]]
        rest = f" and {len(weak) - 4} more" if len(weak) > 4 else ""
        yield Reason(
            f"{_of(len(weak), total)} weak, and other rows may tell otherwise: {', '.join(named)}{rest}.", False
        )


def _of_run(learned: Learned) -> Iterable[Reason]:
    n_rows = learned.configuration.get("n_rows")
    if learned.undecided:
        named = shown_list(learned.names[node] for node in learned.undecided[:4])
        yield Reason(f"The parents of {named} are not told apart, so these have none here.", False)
    if not learned.converged and not learned.undecided:
        yield Reason("The training did not end: some heads still spread their attention.", False)
    if learned.configuration.get("guide") == "plain" and learned.n_heads > 1:
        yield Reason("Plain mutual information steers all heads alike: they collapse onto one parent.", False)
    elif learned.configuration.get("guide") not in SEARCHING and not _holds(learned):
        yield Reason(
            "This guide looks at one candidate at a time and what its theorems need does not all hold, so an "
            "ancestor or a sibling may stand in for a parent; guide='likelihood' weighs parents together.",
            False,
        )
    if misfits := _misfits(learned):
        named = shown_list(learned.names[node] for node in misfits[:4])
        rest = f" and {len(misfits) - 4} more" if len(misfits) > 4 else ""
        yield Reason(f"The kernel that was given does not fit {named}{rest}: learn it instead.", False)
    if n_rows is not None and n_rows < _FEW_ROWS:
        yield Reason(f"{n_rows:,} rows are few: columns that have nothing to do with each other get edges.", False)


def _misfits(learned: Learned) -> list[int]:
    """Nodes whose law would be told better by parents with a kernel of their own, where the kernel is known."""
    found = None if learned.witness is None else learned.witness.found
    return [] if found is None else [node for node, _ in found.misfits]


def _holds(learned: Learned) -> bool:
    """Whether all that the paper's theorems need is known to hold."""
    return learned.assumptions is not None and all(one.holds for one in learned.assumptions.assumptions)


def _of_checks(learned: Learned) -> list[Reason]:
    """What the model checks say that came to an answer."""
    return [
        Reason(f"{check.question} {check.sentence}", check.passed)
        for check in learned.checks
        if check.passed is not None
    ]


def _of_order(learned: Learned) -> Iterable[Reason]:
    if learned.directions is None:
        return
    unsure = [edge for edge, nats in learned.directions.items() if nats < _UNSURE]
    if unsure:
        named = ", ".join(f"{parent} → {child}" for parent, child in unsure[:4])
        rest = f" and {len(unsure) - 4} more" if len(unsure) > 4 else ""
        yield Reason(f"{_of(len(unsure), learned.dag.n_edges)} of open direction: {named}{rest}.", False)
    elif learned.directions:
        yield Reason("The rows tell the direction of every edge.", True)


def _level(edges: dict[tuple[str, str], Strength], reasons: list[Reason], learned: Learned) -> Level:
    """High without an objection, low where half of the edges or something that all rests on is in doubt."""
    n_rows = learned.configuration.get("n_rows")
    weak = sum(one == "weak" for one in edges.values())
    open_direction = sum(nats < _UNSURE for nats in (learned.directions or {}).values())
    collapsed = learned.configuration.get("guide") == "plain" and learned.n_heads > 1
    few = n_rows is not None and n_rows < _FEW_ROWS
    failed = {check.name for check in learned.checks if check.passed is False}
    if 2 * len(_misfits(learned)) > learned.n_nodes:
        return "low"
    if "kernels" in failed and learned.configuration.get("kernel_source") == "known":
        return "low"  # children do not follow the given kernel from these parents
    if 2 * max(weak, open_direction) > len(edges) or collapsed or (few and weak) or not learned.converged:
        return "low"
    against = [one for one in reasons if not one.supports]
    slight = 20 * weak <= len(edges) and len(against) == 1 and weak > 0  # a single weak edge among twenty
    return "high" if edges and (not against or slight) else "fair"


def _sentence(level: Level, learned: Learned, edges: dict[tuple[str, str], Strength], reasons: list[Reason]) -> str:
    word = {"high": "far", "fair": "in part", "low": "little"}[level]
    if not edges:
        told = "No edge was found; that does not prove that there is none, only that these rows show none."
    else:
        told = " ".join(one.text for one in reasons if one.supports and _is_of_edges(one))
    objections = [_OBJECTIONS[check.name] for check in learned.checks if check.passed is False]
    against = " ".join(one.text for one in reasons if not one.supports and one not in _of_checks(learned))
    if objections:
        against = f"{against} The model check objects: {'; '.join(objections)}.".lstrip()
    faint = "An edge that is missing may be too faint for these rows." if edges else ""
    parts = (f"How far to trust it: {word}.", told, against, faint, _rests_on(learned))
    return " ".join(part for part in parts if part)


def _is_of_edges(reason: Reason) -> bool:
    return "certain" in reason.text or "clear" in reason.text


def _rests_on(learned: Learned) -> str:
    """What nothing in the rows can check."""
    order = learned.configuration.get("order")
    if learned.directions is not None or order == "learn":
        return "An edge says what helps to predict a column, with the direction that suits the rows best."
    if learned.configuration.get("windows"):
        return "Only the lags that were looked at can be found."
    return "All of it rests on the order: a parent stands before its child; where that is wrong, so is the graph."


def _of(count: int, total: int) -> str:
    if count == total:
        return {1: "The one edge is", 2: "Both edges are"}.get(total, f"All {total} edges are")
    return f"{count} of {total} edges {'is' if count == 1 else 'are'}"
