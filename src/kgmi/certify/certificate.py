"""``Certificate``: what is certain about the parents of every node, and what is still missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from kgmi.certify.concentration import PaperCondition
from kgmi.errors import KernelError, RecordError
from kgmi.graph.naming import shown_list

__all__ = ["Certificate", "EdgeCertificate", "Method", "NodeCertificate"]

Method = Literal["known", "sequential", "split", "counted"]
"""Where the bet comes from: the known kernel, kernels learned from earlier rows, or from the first half; or, where
only counts of the rows are there, a kernel of its own for every set of parents."""


@dataclass(frozen=True)
class EdgeCertificate:
    """Evidence that a node is a parent.

    Attributes
    ----------
    parent
        Its name.
    certified
        Whether every explanation without it is refuted.
    log_e
        Logarithm of the e-value against the explanation without it that is hardest to refute, less log T′ for the
        number of nodes; certified from log(1/α) on. Infinite where no other explanation was open.
    """

    parent: str
    certified: bool
    log_e: float


@dataclass(frozen=True)
class NodeCertificate:
    """What is certain about one node.

    Attributes
    ----------
    name, parents
        The node and the parents that were found, by name.
    certified
        Whether the parents found are certain: all of them are parents. Where ``exact``, and no others are.
    exact
        Whether the certificate says that there are no other parents.
    certifiable
        Whether more rows can certify it; False where the hypotheses cannot be told apart by any number of rows.
    edges
        The evidence for every parent found.
    log_e, p_value
        Log e-value against the hardest alternative, corrected for the number of nodes; and min(1, 1/e), a p-value
        that holds at any time.
    hardest
        The alternative that is hardest to refute, by name; None where there is none.
    rows_missing
        About how many more rows would certify it; 0 where it is certified, None where the rate is not positive.
    n_left
        Sets of parents that are not refuted, the one found included; None where they were not all looked at.
    reason
        In words, why it is not certified; empty where it is.
    settled
        Whether one set of parents only was open, so that the rows had nothing to decide.
    """

    name: str
    parents: tuple[str, ...]
    certified: bool
    exact: bool
    certifiable: bool
    edges: tuple[EdgeCertificate, ...]
    log_e: float
    p_value: float
    hardest: tuple[str, ...] | None
    rows_missing: int | None
    n_left: int | None
    reason: str
    settled: bool


@dataclass(frozen=True)
class Certificate:
    """What holds with probability at least 1 − α, at any number of rows and whenever one stops.

    Attributes
    ----------
    alpha, method
        α, and where the bets came from.
    n_rows, n_left_out
        Complete rows that count, and rows with missing values, which do not.
    n_decided
        T′: nodes with more than one open set of parents.
    n_parents, degrees
        K, and the numbers of parents that a node may have: what is certified holds if none has another number.
    nodes
        Every node, in the order of the graph.
    condition
        The paper's ε < Δ/4; None without a known kernel.
    """

    alpha: float
    method: Method
    n_rows: int
    n_left_out: int
    n_decided: int
    n_parents: int
    degrees: tuple[int, ...]
    nodes: tuple[NodeCertificate, ...]
    condition: PaperCondition | None = None

    @property
    def certified(self) -> tuple[str, ...]:
        """Names of the nodes whose parents are certain."""
        return tuple(node.name for node in self.nodes if node.certified)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Edges (parent, child) that are certain."""
        return tuple((edge.parent, node.name) for node in self.nodes for edge in node.edges if edge.certified)

    @property
    def is_complete(self) -> bool:
        """Whether every node that can be certified is; not while some were not looked at."""
        return not self.unseen and all(node.certified or not node.certifiable for node in self.nodes)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of the nodes whose alternatives were not looked at, as that would have taken too long."""
        return tuple(node.name for node in self.nodes if node.n_left is None)

    def __getitem__(self, name: str) -> NodeCertificate:
        return next(node for node in self.nodes if node.name == name)

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """What is certain, in words."""
        open_to = [node for node in self.nodes if not node.certified and node.certifiable]
        never = [node for node in self.nodes if not node.certified and not node.certifiable]
        if self.n_decided == 0:
            return ["There is nothing to certify: one set of parents only is open for every node."]
        n_certified = sum(node.certified and not node.settled for node in self.nodes)
        told = [
            f"Certified: {n_certified} of {self.n_decided} node{'s' * (self.n_decided != 1)} with more than one "
            f"open set of parents. All that is certified is right with probability at least {1 - self.alpha:g}, if "
            f"the model holds and {self._degrees_told}."
        ]
        if told_of := [node.name for node in self.nodes if node.certified and node.settled]:
            told.append(f"For {_some(told_of)} no other parents than those found were open.")
        partly = [node.name for node in self.nodes if node.certified and not node.exact]
        if partly:
            told.append(
                f"Of {_some(partly)} it is certain that the parents found are parents; that there are no others "
                "can be certified only with a known kernel, or where there are as many as allowed."
            )
        if open_to:
            told.append(f"Not certified: {_some([node.name for node in open_to])}.")
        reasons: dict[str, list[str]] = {}
        for node in never:
            reasons.setdefault(node.reason, []).append(node.name)
        told += [f"{_some(names)}: {reason}." for reason, names in reasons.items()]
        if self.n_left_out:
            told.append(f"{self.n_left_out:,} rows have missing values and do not count.")
        if self.condition is not None:
            told.append(self.condition.sentence)
        return told

    @property
    def _degrees_told(self) -> str:
        if self.degrees == tuple(range(self.n_parents + 1)):
            return f"every node has at most {self.n_parents} parent{'s' * (self.n_parents != 1)}"
        return f"every node has {' or '.join(map(str, self.degrees))} parent{'s' * (self.degrees[-1] != 1)}"

    def with_condition(self, condition: Callable[[], PaperCondition]) -> Certificate:
        """The same with the paper's condition beside it, where the kernel has a stationary law."""
        try:
            return replace(self, condition=condition())
        except KernelError:
            return self

    def to_dict(self) -> dict[str, Any]:
        """Plain values; infinities are None."""
        content = asdict(self)
        for node in content["nodes"]:
            for one in (node, *node["edges"]):
                one["log_e"] = _plain(one["log_e"])
        if content["condition"] is not None:
            content["condition"] = {name: _plain(value) for name, value in content["condition"].items()}
        return content

    @classmethod
    def from_dict(cls, content: Any) -> Certificate:
        """A certificate from its plain values."""
        try:
            return _from_dict(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"the certificate is not what it should be: {error!s:.60}") from None


def _from_dict(content: Mapping[str, Any]) -> Certificate:
    nodes = []
    for node in content["nodes"]:
        edges = tuple(EdgeCertificate(**{**edge, "log_e": _infinite(edge["log_e"])}) for edge in node["edges"])
        hardest = None if node["hardest"] is None else tuple(node["hardest"])
        parts = {
            "edges": edges,
            "hardest": hardest,
            "parents": tuple(node["parents"]),
            "log_e": _infinite(node["log_e"]),
        }
        nodes.append(NodeCertificate(**{**node, **parts}))
    condition = content["condition"]
    if condition is not None:
        condition = PaperCondition(**{name: _infinite(value) for name, value in condition.items()})
    plain = {"nodes": tuple(nodes), "degrees": tuple(content["degrees"]), "condition": condition}
    return Certificate(**{**content, **plain})


def _plain(value: float) -> float | None:
    return None if value == float("inf") else value


def _infinite(value: Any) -> Any:
    return float("inf") if value is None else value


def _some(names: list[str], most: int = 8) -> str:
    shown = shown_list(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
