"""Sentences on a search: how it ended, what it says of kernels and roots, and what to beware of in the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from kgmi.graph import Dag
from kgmi.graph.naming import quoted, shown_list
from kgmi.guides.stationary import dependent_pairs, find_roots
from kgmi.learning.inputs import Input
from kgmi.learning.kernels import KernelEstimate
from kgmi.learning.searched import Searched
from kgmi.learning.settings import Settings
from kgmi.learning.sharing import tell_classes, tell_sharing
from kgmi.learning.status import listed
from kgmi.search import Solution
from kgmi.table import duplicate_columns
from kgmi.types import Names

__all__ = ["tell_data", "tell_search"]

_STAND_INS = ("-1", "-9", ".", "-")  # texts that stand for a missing value in many tables
_GROUPS = 4  # of identical columns, and edges from them, that are named


def tell_search(
    data: Input, settings: Settings, searched: Searched, estimates: tuple[KernelEstimate, ...]
) -> list[str]:
    """How the search ended and what it found."""
    found, dag = searched.found, searched.dag
    if not isinstance(found, Solution):
        how = "" if settings.search != "heads" else f" in {found.rounds} rounds"
        ended = "until no head moved" if found.settled else "but heads still moved; use more rounds"
        return [f"Heads were re-guided with each other's parents{how}, {ended}.", _degrees(data, dag)]
    sentences = [
        _rounds(found, settings),
        _degrees(data, dag),
        *_blocks(data, dag),
        *_kernels(data, estimates, found, settings),
        *tell_sharing(found),
    ]
    sentences += _impossible(found)
    sentences += _misfits(data, found)
    if searched.apart:
        sentences.append(
            f"Taken one by one, heads of {listed(data.names, searched.apart)} prefer other candidates than those "
            "that fit best together, which were taken."
        )
    sentences += _pairwise(data, settings, dag, found)
    return sentences


def _rounds(found: Solution, settings: Settings) -> str:
    state = found.state
    if found.share == "node":
        return "Parents were chosen for each node by itself."
    if found.margin is not None:
        return (
            "Clear at the first look: every node with parents prefers them to all others that were looked at by at "
            f"least {found.margin:.3g} nats, and one kernel explains them all."
        )
    if state.rounds == 0:
        return "No graph was better than the one without edges."
    rounds = f"{state.rounds} {'round' if state.rounds == 1 else 'rounds'}"
    starts = f" (the best of {found.n_starts} starts)" if found.n_starts > 1 else ""
    if found.share == "classes":
        ended = "until nothing changed" if state.settled else "and were still changing"
        return f"Classes, kernels and parents were chosen in turn for {rounds}, {ended}."
    if state.settled:
        return f"Re-guided for {rounds}{starts}, until the graph stopped changing."
    return f"Re-guided for {rounds}{starts}; the graph was still changing: use more rounds."


def _degrees(data: Input, dag: Dag) -> str:
    """How many parents the nodes have; for windows, which lags matter."""
    if data.candidates.is_sequence:
        lags = [data.names[parent] for parent in sorted(dag.parents[-1], reverse=True)]
        return f"The newest position depends on {shown_list(lags)}." if lags else "No lag matters."
    by_degree = Counter(map(len, dag.parents))
    many = [
        f"{count} with {degree or 'no'} parent{'s' * (degree != 1)}" for degree, count in sorted(by_degree.items())
    ]
    named = f"{'root' if len(dag.roots) == 1 else 'roots'}: {listed(data.names, dag.roots)}"
    return f"Nodes by number of parents: {', '.join(many)} ({named})."


def _blocks(data: Input, dag: Dag) -> list[str]:
    blocks = [block for block in dag.root_blocks if len(block) > 1]
    if not blocks:
        return []
    shown = "; ".join(shown_list((data.names[node] for node in block), " and ") for block in blocks[:4])
    more = f"; and {len(blocks) - 4} more" if len(blocks) > 4 else ""
    return [
        f"Drawn together: {shown}{more}. The stationary law of the kernel explains these roots better than drawing "
        "each by itself; an edge between them may explain the same."
    ]


def _kernels(data: Input, estimates: tuple[KernelEstimate, ...], found: Solution, settings: Settings) -> list[str]:
    classes = tell_classes(data.names, estimates, given=settings.classes is not None)
    if classes or found.share == "node":
        error = max((one.error for one in estimates), default=0.0)
        return [*classes, *([f"A share {error:.3g} of readings is taken to be random."] if error > 0 else [])]
    sentences = []
    for one in estimates:
        what = "implied" if one.implied else settings.kernel_source
        order = ", whose parents have no order" if one.symmetric and one.n_parents > 1 else ""
        nodes = "one node" if len(one.children) == 1 else f"{len(one.children)} nodes"
        plural = "s" if one.n_parents > 1 else ""
        sentence = f"One {what} kernel for the {nodes} with {one.n_parents} parent{plural}{order}"
        cases, total = one.cases, float(one.counts.sum())
        if one.implied:
            sentence += f", which is that of {found.problem.n_heads} parents with the missing ones averaged out"
        elif not one.known and not found.problem.is_exact:
            worst = one.standard_errors[np.isfinite(one.standard_errors)].max(initial=0.0)
            sentence += f" (from {round(total):,} cases; largest standard error {worst:.2g}"
            never = int((cases == 0).sum())
            sentence += f"; {never} of {cases.size} joint states of the parents never seen)" if never else ")"
        if one.error > 0:
            sentence += f", with a share {one.error:.3g} of random readings in a family"
        sentences.append(sentence + ".")
    return sentences


def _pairwise(data: Input, settings: Settings, dag: Dag, found: Solution) -> list[str]:
    """Whether pairs of columns show anything at all; kernels like XOR do not."""
    if data.never_together:
        return []
    joint, level = data.pair_joint(0.0), settings.root_level
    doubt = (
        " A kernel like XOR shows in whole tuples of parents only, and not all of these were looked at: the roots "
        "are not certain. Use search='exhaustive'."
    )
    if not dag.n_edges:
        if len(find_roots(joint, level, data.candidates.allowed)) < data.n_nodes:
            return []
        told = "Pairwise scores are uninformative: no column depends on any single earlier one."
        several = (
            f" Tuples of up to {settings.n_heads} parents show nothing either, so the columns look independent."
        )
        nothing = several if settings.n_heads > 1 else " The columns look independent."
        return [told + (nothing if found.problem.is_exhaustive else doubt)]
    parents, children = np.array(dag.edges).T
    seen = set(children[dependent_pairs(joint, children, parents, level)].tolist())
    with_several = {child for child, parents in enumerate(dag.parents) if len(parents) > 1}
    hidden = len(with_several - seen)
    if 2 * hidden <= len(with_several):
        return []
    told = (
        f"Pairwise scores are uninformative for {hidden} of the {len(with_several)} nodes with several parents (as "
        "with XOR): their parents show together only, and none of them by itself."
    )
    return [told + ("" if found.problem.is_exhaustive else doubt)]


def _impossible(found: Solution) -> list[str]:
    """What a known kernel with zeros and no errors makes of misread values."""
    known = [group for group in found.state.kernels if group.known and group.error == 0]
    if not any((table == 0).any() for table in found.problem.known.values()):
        return []
    broken = sum(float(group.counts[group.table == 0].sum()) for group in known)
    if found.problem.error != 0 or (broken == 0 and any(found.parents)):
        return []
    what = f"{broken:,.0f} cases are" if broken else "Every set of parents is"
    return [f"{what} impossible under the known kernel. Where values may be misread, use error='estimate'."]


def _misfits(data: Input, found: Solution) -> list[str]:
    """Nodes that do not follow a known kernel."""
    if not found.misfits:
        return []
    nodes, nats = zip(*found.misfits, strict=True)
    mixed = len(found.problem.known) == found.problem.n_heads
    fewer = "" if mixed else ", or, where parents may not be in the table, allow fewer of them (in_degree='mixed')"
    return [
        f"The known kernel does not fit {listed(data.names, nodes)}: parents with a kernel of their own would "
        f"describe {'it' if len(nodes) == 1 else 'them'} better, by {sum(nats):,.1f} nats. Learn the kernel{fewer}."
    ]


def tell_data(data: Input, dag: Dag) -> list[str]:
    """Restrictions, gaps, what may be gaps, and equal columns."""
    sentences = [text] if (text := data.candidates.describe()) else []
    if data.n_sampled is not None:
        longest = max(len(data.candidates.of(node)) for node in range(data.n_nodes))
        sentences.append(
            f"There are too many columns to count all sets of them: {data.n_sampled:,} rows chose up to {longest} "
            "candidates for each, and all rows decided among these."
        )
    if data.counts is not None and data.is_limited:
        sentences.append(
            f"No more than one parent of a node was looked for, as these counts are of sets of "
            f"{data.counts.tally.width} columns; for two, count again with n_parents=2."
        )
    if not data.has_families or data.weights is not None:
        return sentences
    missing = data.missing_by_column
    if missing.any():
        worst = int(np.argmax(missing))
        sentences.append(
            f"Missing: {missing.sum():,} of {(data.n_rows or 0) * data.n_nodes:,} values (most in "
            f"{data.names[worst]}: {missing[worst]:,}); a row drops out of the counts that need them."
        )
    sentences += _stand_ins(data)
    if data.table is not None and not data.candidates.is_sequence:
        sentences += _duplicates(data, dag, duplicate_columns(data.table.codes))
    return sentences


def _stand_ins(data: Input) -> list[str]:
    """States that may be gaps, with what makes them gaps."""
    present = [text for text in _STAND_INS if text in data.states]
    if not present:
        return []
    counted = zip(data.alphabets, data.as_read.marginals, strict=True)
    seen = [{states[code] for code in np.flatnonzero(counts)} for states, counts in counted]
    sentences = []
    for text in present:
        if nodes := _stand_in_columns(text, data.states, seen):
            shown = text if text[1:] else repr(text)
            kinds = ", in files and data frames," if text == "-1" else ""  # in arrays, -1 is a gap then
            sentences.append(
                f"{shown} is taken for a state in {listed(data.names, nodes)}. If it means that the value is "
                f"missing, use missing='pairwise' and{kinds} leave these cells empty (None or NaN)."
            )
    return sentences


def _duplicates(data: Input, dag: Dag, groups: list[tuple[int, ...]]) -> list[str]:
    """Which columns are identical, and which edges might as well come from another of them."""
    if not groups:
        return []
    names = data.names
    shown = "; ".join(shown_list(names[node] for node in group) for group in groups[:_GROUPS])
    more = f"; and {len(groups) - _GROUPS} more" if len(groups) > _GROUPS else ""
    alike = {node: group for group in groups for node in group}
    edges = [
        f"{quoted(names[parent])} → {quoted(names[child])}"
        for parent, child in dag.edges
        if parent not in data.candidates.required[child]
        and any(twin != parent and data.candidates.allowed[child, twin] for twin in alike.get(parent, ()))
    ]
    chosen = f": the parent in {_some(edges)} is an arbitrary choice" if edges else ""
    return [
        f"Identical columns: {shown}{more}. Rows cannot tell them apart as parents{chosen}; leave the copies out."
    ]


def _some(edges: list[str]) -> str:
    more = f" and {len(edges) - _GROUPS} more edges" if len(edges) > _GROUPS else ""
    return ", ".join(edges[:_GROUPS]) + more


def _stand_in_columns(text: str, states: Names, occurring: Sequence[Collection[str]]) -> list[int]:
    """Columns in which one of ``_STAND_INS`` is a state and may be a gap, as all else in them looks different.

    Parameters
    ----------
    text
        The text that may stand for a missing value.
    states
        All states of the table. Where there are other numbers below 0, -1 and -9 are two of them, and no gaps.
    occurring
        For each column, the states that occur in it.
    """
    is_number = text[1:].isdecimal()
    if text not in states or (is_number and any(_is_below_zero(state) for state in states if state != text)):
        return []
    found = []
    for column, seen in enumerate(occurring):
        others = {*seen} - {text, "missing"}
        if text in seen and others and all(_looks_different(text, state) for state in others):
            found.append(column)
    return found


def _looks_different(text: str, state: str) -> bool:
    """-1 may be a code among words, but hardly among codes that begin at 0; signs are states among other signs."""
    return state.isdecimal() if text == "-1" else any(letter.isalnum() for letter in state)


def _is_below_zero(state: str) -> bool:
    return state.startswith("-") and state[1:].isdecimal()
