"""``Trust``: how far a result may be trusted, in one sentence, with the reasons and edge by edge."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from kgmi.certify import Certificate
from kgmi.errors import KgmiError, RecordError
from kgmi.learning.reasons import FEW_ROWS, Reason, objections, open_directions, reasons_for
from kgmi.learning.strength import Strength, edge_strengths, surely_dependent

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = ["TRUST_WORDS", "Level", "Reason", "Trust", "trust_of"]

Level = Literal["high", "fair", "low"]
"""In one word; see docs/trouble.md for what each means."""

TRUST_WORDS: dict[str, str] = {"high": "far", "fair": "in part", "low": "little"}
"""The levels as people read them: trust it far, in part, little."""

_MOST_NODES, _MOST_CELLS = 40, 2_000_000  # up to which a certificate takes about a second
_PATIENCE = 2.0


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
        right, if rows are independent and no node has more than K parents), ``clear`` (by far better than the next
        candidate, and than none) or ``weak``.
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
            flags = ("supports", "of_edges", "of_check", "grave")
            reasons = tuple(
                Reason(str(one["text"]), *(bool(one[flag]) for flag in flags)) for one in content["reasons"]
            )
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
    reasons = reasons_for(learned, edges, certificate)
    level = _level(edges, reasons, learned)
    return Trust(level, _sentence(level, learned, edges, reasons), tuple(reasons), edges)


def _certificate(learned: Learned) -> Certificate | None:
    """The certificate that the result has, or one that is quickly made; None where it would say too much.

    It holds if rows are independent and no node has more than K parents: not where a model check says otherwise,
    and not of columns that were cut, where an indirect influence shows through the bins.
    """
    failed = {check.name for check in learned.checks if check.passed is False}
    if learned.configuration.get("kernel_source") == "learned":
        failed -= {"kernels"}  # no certificate rests on nodes sharing it
    if failed or learned.configuration.get("cut"):
        return None
    if "certificate" in vars(learned):
        return learned.certificate
    witness, n_rows = learned.witness, learned.configuration.get("n_rows") or 0
    if witness is None or learned.n_nodes > _MOST_NODES or witness.data.only_counts:
        return None  # of counts alone nobody knows whether rows are independent
    if witness.data.counts is None and n_rows * learned.n_nodes > _MOST_CELLS:
        return None
    try:
        return learned.certify(patience=_PATIENCE)
    except KgmiError:  # the order is learned, the guide names parents one by one, there are no rows
        return None


def _level(edges: dict[tuple[str, str], Strength], reasons: list[Reason], learned: Learned) -> Level:
    """High without an objection, low where half of the edges or something that all rests on is in doubt."""
    told = learned.configuration
    weak = sum(one == "weak" for one in edges.values())
    few = told.get("n_rows") is not None and told["n_rows"] < FEW_ROWS
    collapsed = told.get("guide") == "plain" and learned.n_heads > 1
    if 2 * max(weak, len(open_directions(learned))) > len(edges) or collapsed or (few and weak):
        return "low"
    failed = {check.name for check in learned.checks if check.passed is False}
    if surely_dependent(learned) or ("kernels" in failed and told.get("kernel_source") == "known"):
        return "low"  # nothing that was counted can be relied on; or children do not follow the kernel
    if not learned.converged or any(one.grave for one in reasons):
        return "low"
    against = [one for one in reasons if not one.supports]
    slight = 20 * weak <= len(edges) and len(against) == 1 and weak > 0  # a single weak edge among twenty
    return "high" if edges and (not against or slight) else "fair"


def _sentence(level: Level, learned: Learned, edges: dict[tuple[str, str], Strength], reasons: list[Reason]) -> str:
    word = TRUST_WORDS[level]
    if level != "low" and edges and _is_ordered(learned):
        word += ", if the columns stand in order"
    told = [one.text for one in reasons if one.of_edges and one.supports]
    if not edges:
        told = ["No edge was found, which does not prove that there is none."]
    against = [one.text for one in reasons if not one.supports and not one.of_check]
    if objected := objections(learned):
        against.append(f"The model check objects: {'; '.join(objected)}.")
    return " ".join([f"How far to trust it: {word}.", *told, *against, *_rests_on(learned, edges)])


def _is_ordered(learned: Learned) -> bool:
    """Whether it was believed that the columns of a table stand in order."""
    limits = learned.configuration.get("candidates") or {}
    return learned.directions is None and limits.get("only_children") is None


def _rests_on(learned: Learned, edges: dict[tuple[str, str], Strength]) -> list[str]:
    """What nothing in the rows can check."""
    told = []
    limits = learned.configuration.get("candidates") or {}
    if edges and learned.configuration.get("n_rows") is not None:
        told.append("An edge that is missing may be too faint for these rows.")
    if limits.get("forbidden") or limits.get("max_lag") is not None:
        told.append("Edges that were ruled out beforehand were not looked at.")
    if limits.get("only_children") is not None:
        return [*told, "Only the lags that were looked at can be found."]
    if not edges:
        return told
    hidden = "nothing outside the table moves several columns at once"
    if not _is_ordered(learned):
        return [*told, f"Nothing here can show that {hidden}."]
    return [*told, f"Nothing here can show that parents stand before their children, or that {hidden}."]
