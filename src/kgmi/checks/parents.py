"""Is K enough? Whether any further candidate tells something about a node that has K parents already."""

from __future__ import annotations

from kgmi.checks.check import Check, shown_p
from kgmi.checks.dependence import Dependence, still_dependent
from kgmi.checks.subject import Subject
from kgmi.graph.naming import quoted

__all__ = ["check_parents"]

_MOST_NAMED = 4


def check_parents(subject: Subject) -> Check:
    """Whether nodes with K parents are independent of all other candidates given these."""
    k = subject.n_heads
    full = [child for child, chosen in enumerate(subject.parents) if len(chosen) == k]
    found = still_dependent(subject, full)
    if not found.n_nodes:
        parents = f"{k} parent{'s' * (k > 1)}"
        what = f"No node with {parents} has a further candidate" if full else f"No node has {parents}"
        why = "" if full else ", so none was stopped by that number"
        return Check("parents", None, None, (), f"{what}{why}.")
    return Check("parents", not found.findings, found.p_value, found.findings, _sentence(found, k, subject.fixed))


def _sentence(found: Dependence, k: int, fixed: bool) -> str:
    parents = f"{k} parent{'s' * (k > 1)}"
    nodes = "the node that has" if found.n_nodes == 1 else f"the {found.n_nodes} nodes that have"
    told, limits = found.findings, found.limits
    if not told:
        nothing = "no further candidate tells anything"
        return f"Given the {parents} of {nodes} so many, {nothing} ({shown_p(found.p_value)}{limits})."
    named = "; ".join(
        f"{quoted(one.node)} wants {quoted(one.other or '')} ({one.nats:,.1f} nats, {shown_p(one.p_value)})"
        for one in told[:_MOST_NAMED]
    )
    more = f"; and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    depend = "depends" if len(told) == 1 else "depend"
    advice = f"Allow n_parents = {k + 1}."
    if fixed:
        advice = "The parents found, or the kernel, are not right: learn the kernel (guide='likelihood')."
    which = f"{len(told)} of {nodes}" if found.n_nodes > 1 else "The one node that has"
    return f"{which} {parents} {depend} on a further candidate{limits}: {named}{more}. {advice}"
