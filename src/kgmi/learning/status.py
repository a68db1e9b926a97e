"""The sentences of ``Learned.status``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from kgmi.attention import Ascent
from kgmi.divergence import DIVERGENCES, Divergence
from kgmi.graph.naming import quoted, shown_list
from kgmi.joint import PairJoint
from kgmi.kernel import AnyKernel, Kernel
from kgmi.theory import information_gaps
from kgmi.types import Bools, Ints, ScoreTable

__all__ = [
    "cautions",
    "closest_call",
    "describe",
    "describe_roots",
    "listed",
    "sentences",
    "shown_margin",
    "state_names",
    "thin_data",
]

_ROWS_PER_CELL = 5  # the usual rule of thumb for tests on counts


def describe(ascent: Ascent, wanted: Bools, tied: Bools, stop: float, names: Sequence[str]) -> str:
    """How the run ended.

    ``wanted`` and ``tied`` are [head, child]: the heads of the non-root nodes, and those whose best candidates
    have equal scores.
    """
    heads, nodes, ties = int(wanted.sum()), int(wanted.any(axis=0).sum()), wanted & tied
    settled = heads - int(ties.sum())
    all_of = {1: "the one head", 2: "both heads"}.get(heads, f"all {heads} heads")
    who = f"{settled} of {heads} heads" if ties.any() else all_of
    who += f" of the {nodes} non-root nodes" if nodes > 1 else " of the one non-root node"
    slow = wanted & ~tied & (ascent.stopped < 0)
    if not heads:
        return "All nodes are roots, so there was nothing to train."
    if ascent.trace is None:
        sentence = f"Limit point of the ascent: {who} {_s(settled, 'points', 'point')} at the best candidate."
    elif stop == 0:
        least = np.floor(ascent.attention.max(axis=-1)[wanted].min() * 1e3) / 1e3  # «or more» must stay true
        sentence = (
            f"Ran for {ascent.epochs:,} epochs, as stop = 0 calls no head done; every head has {least:.3g} "
            "or more of its attention on one candidate."
        )
    elif slow.any():
        count = int(slow.sum())
        sentence = (
            f"Not converged: after {ascent.epochs:,} epochs {count} of {heads} heads {_s(count, 'is', 'are')} "
            f"still spread out, the first being {_first(slow, names)}; use more epochs, a larger "
            "rate, or the solver 'limit'."
        )
    else:
        sentence = (
            f"{'Ended' if ties.any() else 'Converged'} after {ascent.epochs:,} "
            f"{_s(ascent.epochs, 'epoch', 'epochs')}: {who} "
            f"{_s(settled, 'has', 'have')} more than {1 - stop:.3g} of the attention on one candidate."
        )
    return " ".join([sentence, *_ties(ties, names)])


def describe_roots(names: Sequence[str], roots: Sequence[int], undecided: Sequence[int]) -> str:
    """Which nodes have no parents, and why."""
    true = [node for node in roots if node not in undecided]
    sentences = [f"{_s(len(true), 'Root', 'Roots')}: {listed(names, true)}."]
    if undecided:
        sentences.append(f"Undecided, though not independent of the earlier nodes: {listed(names, undecided)}.")
    return " ".join(sentences)


def closest_call(scores: ScoreTable, wanted: Bools, names: Sequence[str], unit: str = "") -> list[str]:
    """The head whose choice was the narrowest, so that the reader knows where to doubt first."""
    margins = np.where(wanted, information_gaps(scores), np.inf)
    if not np.isfinite(margins).any():
        return []
    head, child = divmod(int(np.nanargmin(margins)), margins.shape[1])
    second, first = np.argsort(np.nan_to_num(scores[head, child], nan=-np.inf))[-2:]
    child_name, best, next_best = (quoted(names[node]) for node in (child, first, second))
    return [
        f"Closest call: head {head + 1} of {child_name} prefers {best} to {next_best} "
        f"by {shown_margin(margins[head, child])}{unit}."
    ]


def sentences(status: str) -> list[str]:
    """A status as sentences, for a line or a point each."""
    return re.split(r"(?<=\.) (?=[A-Z])", status) if status else []


def shown_margin(margin: float) -> str:
    """A margin for people: large ones are log-likelihoods, of which whole nats are enough."""
    return f"{margin:,.0f}" if margin >= 10 else f"{margin:.2g}"


def cautions(kernel: AnyKernel | None, guide: str, divergence: Divergence, n_heads: int) -> list[str]:
    """What the reader has to know before trusting the graph."""
    found = []
    if guide == "plain" and n_heads > 1:
        found.append("Plain mutual information steers all heads alike, so they collapse onto one parent.")
    if guide == "plain" and kernel is None:
        found.append(
            "No kernel was given, so candidates were ranked by mutual information alone; "
            "an ancestor or sibling may stand in for a parent."
        )
    if guide != "plain" and isinstance(kernel, Kernel) and _has_equal_heads(kernel, guide):
        found.append(
            "Some marginal kernels are equal (Assumption 1 fails), so their heads see the same scores and collapse."
        )
    slope = round(divergence.slope_at_one, 6)  # a user's f has its slope from differences
    if guide in ("stationary", "uniform") and slope <= 0:
        away = "no guidance" if slope == 0 else "guidance away from their kernels"
        better = f"'{divergence.name}-matched'" if divergence.name in DIVERGENCES else "its matched()"
        found.append(
            f"The divergence '{divergence.name}' as written gives heads {away} (f'(1) = {slope:g}); use {better}."
        )
    return found


def _has_equal_heads(kernel: Kernel, guide: str) -> bool:
    """Whether two marginal kernels that the guide compares with are equal; only "stationary" needs M_π for them."""
    seen = kernel.marginal_kernels if guide == "stationary" else kernel.uniform_marginal_kernels
    return any(np.allclose(a, b, rtol=0, atol=1e-9) for a, b in combinations(seen, 2))


def _first(columns: Bools, names: Sequence[str]) -> str:
    head, child = np.argwhere(columns)[0]
    return f"head {head + 1} of {names[child]}"


def _ties(ties: Bools, names: Sequence[str]) -> list[str]:
    if not (count := int(ties.sum())):
        return []
    who = (
        f"One head ({_first(ties, names)}) is" if count == 1 else f"{count} heads (first {_first(ties, names)}) are"
    )
    return [f"{who} tied between candidates of equal score, which no training can tell apart."]


def state_names(kernel: AnyKernel | None, states: Sequence[str]) -> list[str]:
    """Which states the numbers of the kernel were taken to be, where they have other names."""
    if kernel is None or list(states) == [str(code) for code in range(len(states))]:
        return []
    return [f"The kernel's states 0..{len(states) - 1} are taken to be {shown_list(states[:8])}, in this order."]


def thin_data(joint: PairJoint, names: Sequence[str], states: Sequence[str]) -> list[str]:
    """Where counted data are thin: states that never occur, and too few rows for so many states."""
    if joint.n_rows is None:
        return []
    found = []
    seen = joint.marginal > 0
    if (never := ~seen.any(axis=0)).any():
        found.append(
            f"Never seen: {_s(int(never.sum()), 'state', 'states')} {listed(states, np.flatnonzero(never))}."
        )
    most = int(seen.sum(axis=1).argmax())
    count = int(seen[most].sum())
    if joint.n_rows < _ROWS_PER_CELL * count**2:
        found.append(
            f"{names[most]} takes {count} states, so two such columns have {count**2:,} pairs of states for "
            f"{joint.n_rows:,} rows: scores are rough."
        )
    return found


def listed(names: Sequence[str], nodes: Sequence[int] | Ints) -> str:
    """The first names, and how many more there are."""
    return shown_list(names[node] for node in nodes[:8]) + (f" and {len(nodes) - 8} more" if len(nodes) > 8 else "")


def _s(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
