"""Is one kernel enough? Each node of a group against the others, or against the known kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgmi.checks.check import LEVEL, Check, Finding, holm, shown_p
from kgmi.checks.dependence import still_dependent
from kgmi.checks.strata import LEAST_EXPECTED, cross_statistic, fit_p_value, merge_rare, tail
from kgmi.checks.subject import Group, Subject
from kgmi.graph.naming import quoted
from kgmi.types import Floats

__all__ = ["check_kernels"]

_MOST_NAMED = 4
_MOST_REMOVED = 30  # nodes that are taken out one by one before the others are compared


def check_kernels(subject: Subject) -> Check:
    """Whether nodes follow the kernel that they are taken to share.

    Given the states of the parents, the states of a child should come from the same law as those of all other nodes
    of its group. The node that fits worst is taken out and the others are compared again, as long as it is worse
    than chance at :data:`LEVEL`: one odd node must not make the others look odd. A node that no shared kernel suits
    may have been left without some of its parents: it then depends on further candidates. As these are two tests,
    p-values are doubled.
    """
    shared = [group for group in subject.groups if group.table is not None or len(group.children) > 1]
    short = still_dependent(subject, subject.short, LEVEL / 2)
    if not shared and not short.findings:
        alone = "Every node has a kernel of its own" if subject.groups else "No kernel was learned, nor given"
        alone = alone if any(subject.parents) else "No node has parents"
        return Check("kernels", None, None, (), f"{alone}: there is nothing to compare.")
    n_tests = sum(len(group.children) for group in shared)
    findings: list[Finding] = []
    p_values = [2 * short.p_value]
    for group in shared:
        members = {child: _strata(subject, group, child) for child in group.children}
        odd, p_value = _known_odd(group, members, n_tests) if group.table is not None else _odd(members, n_tests)
        findings += [Finding(subject.names[child], None, nats, 2 * p) for child, p, nats in odd]
        p_values.append(2 * p_value)
    findings += [replace(one, p_value=2 * one.p_value) for one in short.findings]
    findings.sort(key=lambda one: (one.p_value, -(one.nats or 0.0)))
    least = min(1.0, *p_values)
    sentence = _sentence(shared, tuple(findings), n_tests, least)
    return Check("kernels", not findings, least, tuple(findings), sentence)


def _strata(subject: Subject, group: Group, child: int) -> Floats:
    """Counts [states of the parents, state of the child]; where parents have no order, by the states they have."""
    counts = subject.observed.family(child, subject.parents[child])
    flat = counts.reshape(-1, counts.shape[-1])
    if group.table is not None or not group.symmetric or counts.ndim < 3:
        return flat
    grid = np.sort(np.indices(counts.shape[:-1]).reshape(counts.ndim - 1, -1).T, axis=1)
    _, orbit = np.unique(grid, axis=0, return_inverse=True)
    merged = np.zeros((int(orbit.max()) + 1, counts.shape[-1]))
    np.add.at(merged, orbit.ravel(), flat)
    return merged


def _odd(members: dict[int, Floats], n_tests: int) -> tuple[list[tuple[int, float, float]], float]:
    """Nodes (with p-value and nats) that do not follow the law of the others, and the smallest p-value."""
    left = dict(members)
    out: list[tuple[int, float, float]] = []
    least = 1.0
    while len(left) > 1:
        children, counts = list(left), np.stack(list(left.values()))
        pooled = counts.sum(axis=0)
        tables = np.stack([counts, pooled - counts], axis=-2)
        cases = tables.sum(axis=-1)
        few = LEAST_EXPECTED * cases.sum(axis=-1) / np.maximum(cases.min(axis=-1), 1.0)
        p_values = holm(tail(*cross_statistic(merge_rare(tables, few))), n_tests - len(out))
        least = min(least, float(p_values.min()))
        # Of two nodes neither is odder than the other; the one with fewer cases is named.
        worst = min(range(len(children)), key=lambda place: (p_values[place], counts[place].sum()))
        chosen = [worst] if len(out) < _MOST_REMOVED else range(len(children))
        bad = [place for place in chosen if p_values[place] < LEVEL / 2]
        if not bad:
            break
        for place in bad:
            child = children[place]
            out.append((child, float(p_values[place]), _nats(counts[place], pooled)))
            del left[child]
    return out, least


def _known_odd(
    group: Group, members: dict[int, Floats], n_tests: int
) -> tuple[list[tuple[int, float, float]], float]:
    """Nodes that do not follow the known kernel, and the smallest p-value."""
    assert group.table is not None
    law = group.table.reshape(-1, group.table.shape[-1])
    p_values = holm(np.array([fit_p_value(counts, law) for counts in members.values()]), n_tests)
    odd = [
        (child, float(p), _nats(members[child], law))
        for child, p in zip(members, p_values, strict=True)
        if p < LEVEL / 2
    ]
    return odd, float(p_values.min())


def _nats(counts: Floats, other: Floats) -> float:
    """How much better its own law describes the cases of a node than another one does."""
    own = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    law = other / np.maximum(other.sum(axis=-1, keepdims=True), 1e-300)
    seen = counts > 0
    return float((counts[seen] * np.log(own[seen] / np.maximum(law[seen], 1e-300))).sum())


def _sentence(shared: list[Group], told: tuple[Finding, ...], n_nodes: int, least: float) -> str:
    known = any(group.table is not None for group in shared)
    if not told:
        if known:
            who = "node that has parents follows" if n_nodes == 1 else f"{n_nodes} nodes that have parents follow"
            return f"The {who} the known kernel ({shown_p(least)})."
        kernels = "a kernel" if len(shared) == 1 else f"one of {len(shared)} kernels"
        return f"The {n_nodes} nodes that share {kernels} look alike, given their parents ({shown_p(least)})."
    odd = [one for one in told if one.other is None]
    short = [one for one in told if one.other is not None]
    kernel = "the known kernel" if known else "the kernel of the others"
    parts = []
    if odd:
        verb = "does" if len(odd) == 1 else "do"
        parts.append(f"{len(odd)} of {n_nodes} nodes {verb} not follow {kernel}: {_listed(odd)}.")
    if short:
        why = "the known kernel does not explain" if known else "no shared kernel explains"
        parts.append(f"Nodes with fewer parents still depend on others, which {why}: {_listed(short)}.")
    advice = "Learn the kernel." if known else "Try share='classes', or share='node'."
    return " ".join([*parts, "In brackets: what a law of its own would explain better.", advice])


def _listed(findings: list[Finding]) -> str:
    named = ", ".join(
        f"{quoted(one.node)}{f' on {quoted(one.other)}' if one.other else ''} ({one.nats:,.1f} nats, "
        f"{shown_p(one.p_value)})"
        for one in findings[:_MOST_NAMED]
    )
    return named + (f" and {len(findings) - _MOST_NAMED} more" if len(findings) > _MOST_NAMED else "")
