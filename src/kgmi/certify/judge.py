"""From the evidence on every node to what is certain about the graph."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, comb, exp, inf, log

from kgmi.certify.certificate import EdgeCertificate, NodeCertificate
from kgmi.certify.judged import Judged, Verdicts

__all__ = ["judge"]

_DRAWN = "it may be a root that is drawn together with it"
_NO_ROOT = "that a node has no parents can be refuted, not certified, without a known kernel"
_NO_MODEL = "every set of parents is refuted: the model does not hold for this node"
_REFUTED = "the parents found are refuted, others are not"
_NOT_ALLOWED = "the parents found are not among those allowed"


def judge(verdicts: Verdicts) -> tuple[NodeCertificate, ...]:
    """Every node, in the order of the columns, as what is certain of earlier ones helps with later ones.

    A root may be drawn together with earlier roots, but not with one that is certainly no root, nor with one that
    an earlier node certainly has for a parent: what is drawn together is drawn first. Such nodes are *closed*.
    Inside a tier nobody is earlier. And the first of those that are drawn together depends on nobody.
    """
    no_roots: set[int] = set()
    followed: dict[int, int] = {}  # nodes that certainly have children, with the first stage of these
    dependent: set[int] = set()
    made: dict[int, NodeCertificate] = {}
    for child in verdicts.order:
        open_to, stage = verdicts.open_to[child], verdicts.stages[child]
        closed = no_roots | {node for node, first in followed.items() if first < stage}
        if not open_to.has_alternative:
            made[child] = _settled(verdicts, child)
        elif child not in verdicts.looks:
            made[child] = _unseen(verdicts, child)
        else:
            judged = Judged(verdicts, child, verdicts.looks[child], frozenset(closed), frozenset(dependent))
            made[child] = _weighed(judged, made)
            if judged.is_no_root:
                no_roots.add(child)
            if judged.refutes(judged.look.own_fit):
                dependent.add(child)
        sure = {edge.parent for edge in made[child].edges if edge.certified}
        if sure:
            no_roots.add(child)
        for node in verdicts.parents[child]:
            if verdicts.names[node] in sure:
                followed.setdefault(node, stage)
    return tuple(made[node] for node in range(len(made)))


def _weighed(judged: Judged, earlier: Mapping[int, NodeCertificate]) -> NodeCertificate:
    """A node whose hypotheses were all looked at."""
    verdicts, parents, names = judged.verdicts, judged.parents, judged.verdicts.names
    believed = not judged.refutes(judged.fit_of(parents))
    corrected = judged.look.log_bet - log(verdicts.n_decided)
    against = {parent: judged.hardest(parent) for parent in parents}
    told = {parent: parent in judged.open_to.required for parent in parents}
    sure = [parent for parent in parents if told[parent] or (believed and judged.refutes(against[parent][0]))]
    edges = tuple(
        EdgeCertificate(names[p], p in sure, inf if told[p] else float(corrected - against[p][0])) for p in parents
    )
    if verdicts.known or not parents:
        fit, hardest = judged.hardest(None)
        proven = verdicts.known and believed and judged.refutes(fit)
    else:
        fit, hardest = max(against[parent] for parent in parents if not told[parent] or len(sure) == len(told))
        proven = len(sure) == len(parents)
    full = len(parents) == min(judged.open_to.degrees[-1], len(judged.open_to.candidates))
    reason, certifiable = ("", True) if proven else _doubt(judged, believed, hardest, earlier)
    log_e = float(corrected - fit)
    return NodeCertificate(
        name=names[judged.child],
        parents=tuple(names[parent] for parent in parents),
        certified=proven,
        exact=proven and (verdicts.known or full),
        certifiable=certifiable,
        edges=edges,
        log_e=log_e,
        p_value=exp(-max(log_e, 0.0)),
        hardest=None if hardest is None else tuple(names[node] for node in hardest),
        rows_missing=0 if proven else _missing(judged, fit) if certifiable and believed else None,
        n_left=judged.n_left,
        reason=reason,
        settled=False,
    )


def _settled(verdicts: Verdicts, child: int) -> NodeCertificate:
    """A node for which one set of parents only is open: certain if it is the one that was found."""
    found, only = verdicts.parents[child], verdicts.open_to[child].only
    names = verdicts.names
    edges = tuple(EdgeCertificate(names[p], p in only, inf if p in only else 0.0) for p in found)
    right = {*found} == {*only}
    return NodeCertificate(
        name=names[child],
        parents=tuple(names[parent] for parent in found),
        certified=right,
        exact=right,
        certifiable=right,
        edges=edges,
        log_e=inf if right else 0.0,
        p_value=0.0 if right else 1.0,
        hardest=None if right else tuple(names[parent] for parent in only),
        rows_missing=0 if right else None,
        n_left=1,
        reason="" if right else _NOT_ALLOWED,
        settled=True,
    )


def _unseen(verdicts: Verdicts, child: int) -> NodeCertificate:
    """A node with too many hypotheses; what was required is certain even so."""
    names, open_to = verdicts.names, verdicts.open_to[child]
    told = {parent: parent in open_to.required for parent in verdicts.parents[child]}
    edges = tuple(EdgeCertificate(names[p], sure, inf if sure else 0.0) for p, sure in told.items())
    n_sets = sum(comb(len(family.nodes), family.size) for family in open_to.families)
    reason = (
        f"its {n_sets:,} alternatives were not looked at, which would take too long; allow more time (patience), "
        "fewer parents, or fewer candidates (tiers, max_lag)"
    )
    shown = tuple(names[parent] for parent in told)
    return NodeCertificate(
        names[child], shown, False, False, False, edges, 0.0, 1.0, None, None, None, reason, settled=False
    )


def _doubt(
    judged: Judged, believed: bool, hardest: tuple[int, ...] | None, earlier: Mapping[int, NodeCertificate]
) -> tuple[str, bool]:
    """Why a node is not certified, and whether more rows may help."""
    names, parents = judged.verdicts.names, judged.parents
    if judged.fit_of(parents) == -inf:
        return _NOT_ALLOWED, True
    if not believed:
        return (_REFUTED, True) if judged.n_left else (_NO_MODEL, False)
    if not parents and not judged.verdicts.known:
        return _NO_ROOT, False
    depends = hardest == () and judged.refutes(judged.look.own_fit)
    if depends and not judged.verdicts.known and len(parents) < judged.open_to.most:
        helped = any(_may_close(judged, parent, earlier) for parent in parents)
        shown = " and ".join(names[parent] for parent in parents)
        return f"it depends on {shown}, but {_DRAWN}; say who is a root", helped
    alone = "being a root that is drawn together with others" if depends else "having no parents"
    other = alone if not hardest else " and ".join(names[node] for node in hardest)
    return f"{other} may explain it as well", True


def _may_close(judged: Judged, parent: int, earlier: Mapping[int, NodeCertificate]) -> bool:
    """Whether more rows may show that nobody is drawn together with this parent."""
    parents, stages = judged.verdicts.parents, judged.verdicts.stages
    others = [node for node in earlier if stages[node] < stages[judged.child] and parent in parents[node]]
    return any(not earlier[node].certified and earlier[node].certifiable for node in (parent, *others))


def _missing(judged: Judged, fit: float) -> int | None:
    """Rows until the hardest alternative is refuted, at the rate at which it falls behind."""
    rate = (judged.fit_of(judged.parents) - fit) / max(judged.verdicts.n_rows, 1)
    lacking = judged.verdicts.needed - (judged.look.log_bet - fit)
    return max(1, ceil(lacking / rate)) if rate > 0 and lacking / rate < 1e12 else None
