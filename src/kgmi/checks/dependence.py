"""Whether any further candidate tells something about a node, given those that its law depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.checks.check import LEVEL, Finding, holm
from kgmi.checks.strata import LEAST_EXPECTED, cross_statistic, merge_rare, tail
from kgmi.checks.subject import Subject
from kgmi.counts.bits import RowCounts
from kgmi.graph.ordering import topological_order
from kgmi.memory import at_most
from kgmi.progress import tick
from kgmi.types import Bools, Codes, Floats, Ints, Parents

__all__ = ["Dependence", "still_dependent"]

_MOST_WORK = 20_000_000  # cases counted, some tenths of a second
_FEWEST_ROWS = 500  # that are looked at before nodes are left out
_MOST_CELLS = 4_000_000  # of the tables of one node that are held at a time
_CASE_BYTES = 40  # of a row and a candidate, while they are counted


@dataclass(frozen=True)
class Dependence:
    """What further candidates tell.

    Attributes
    ----------
    n_nodes
        How many nodes were looked at; those without further candidates are not.
    p_value
        The smallest p-value, corrected for all nodes and candidates; 1 where there is none.
    findings
        Nodes and candidates that depend on each other, the worst first.
    limits
        What was left out because it would have taken too long, in words; mostly nothing.
    """

    n_nodes: int
    p_value: float
    findings: tuple[Finding, ...]
    limits: str


def still_dependent(subject: Subject, nodes: Sequence[int], level: float = LEVEL) -> Dependence:
    """Whether these nodes are independent of all other candidates given those that their law depends on.

    The statistic is Pearson's within every joint state of the latter; under the hypothesis the child may be
    shuffled within each of them. The best candidate of each node is corrected for all candidates of all nodes.
    """
    after = _followers(subject.given)
    open_to = {child: _others(subject, child, after[child]) for child in nodes}
    some = [child for child in nodes if len(open_to[child])]
    if not some:
        return Dependence(0, 1.0, (), "")
    observed, chosen = _bounded(subject, some, open_to)
    best = []
    for child in chosen:
        best.append(_best(observed, subject.given[child], child, open_to[child]))
        tick("report", "nodes")
    n_tests = sum(len(open_to[child]) for child in chosen)
    p_values = holm(np.array([p for p, _, _ in best]), n_tests)
    found = [
        Finding(subject.names[child], subject.names[other], nats, float(p))
        for child, (_, other, nats), p in zip(chosen, best, p_values, strict=True)
        if p < level
    ]
    found.sort(key=lambda one: (one.p_value, -(one.nats or 0.0)))
    left = len(some) - len(chosen)
    limits = f", {left} other nodes were not looked at" if left else ""
    limits += "" if observed is subject.observed else f", from the first {len(observed.codes):,} rows"
    return Dependence(len(chosen), float(p_values.min()), tuple(found), limits)


def _followers(given: Parents) -> Bools:
    """[node, other]: whether the other depends on the node, directly or through others."""
    after = np.zeros((len(given), len(given)), dtype=np.bool_)
    for node in reversed(topological_order(given)):
        after[list(given[node]), node] = True
        after[list(given[node])] |= after[node]
    return after


def _others(subject: Subject, child: int, after: Bools) -> Ints:
    """Candidates that its law does not depend on, nor they on the child.

    Roots may be drawn together, and few rows do not show it: that two of them depend on each other says nothing.
    """
    allowed = subject.candidates.of(child)
    kept = ~after[allowed] & ~np.isin(allowed, subject.given[child])
    if not subject.parents[child]:
        kept &= np.array([bool(subject.parents[other]) for other in allowed], dtype=bool)
    return allowed[kept]


def _bounded(subject: Subject, nodes: list[int], open_to: dict[int, Ints]) -> tuple[RowCounts, list[int]]:
    """The rows and nodes that there is time for: fewer rows first, then fewer nodes, spread over all."""
    observed = subject.sample or subject.observed
    assert isinstance(observed, RowCounts)
    n_pairs = sum(len(open_to[child]) for child in nodes)
    n_rows = len(observed.codes)
    if n_pairs * n_rows <= _MOST_WORK:
        return observed, nodes
    keep = min(n_rows, max(_FEWEST_ROWS, _MOST_WORK // n_pairs))
    if keep < n_rows and observed.weights is None:  # equal rows that were put together stand in no random order
        observed = RowCounts(observed.codes[:keep], observed.sizes, None, observed.alphabets)
    n_nodes = max(1, len(nodes) * _MOST_WORK // (n_pairs * len(observed.codes)))
    places = np.linspace(0, len(nodes) - 1, min(n_nodes, len(nodes))).astype(int)
    return observed, [nodes[place] for place in dict.fromkeys(places.tolist())]


def _best(observed: RowCounts, given: tuple[int, ...], child: int, others: Ints) -> tuple[float, int, float]:
    """The candidate with the smallest p-value, that value, and the nats that it would add."""
    index = observed.configuration(given)
    rows = (index >= 0) & (observed.columns[child] >= 0)
    _, strata = np.unique(index[rows], return_inverse=True)
    n_strata, size = int(strata.max(initial=0)) + 1, observed.sizes[child]
    base = strata * size + observed.columns[child][rows]
    weights = None if observed.weights is None else observed.weights[rows]
    most = max(observed.sizes[other] for other in others)
    width = max(1, min(_MOST_CELLS // (n_strata * size * most), at_most(len(others), _CASE_BYTES * len(base))))
    found: tuple[float, int, float] = (2.0, -1, 0.0)
    for start in range(0, len(others), width):
        part = others[start : start + width]
        tables = _tables(observed.columns[part][:, rows], base, weights, n_strata * size, most)
        tables = tables.reshape(len(part), n_strata, size, most)
        least = np.sqrt(LEAST_EXPECTED * tables.sum(axis=(-2, -1)))
        merged = merge_rare(merge_rare(tables, least).swapaxes(-2, -1), least)
        p_values = tail(*cross_statistic(merged))
        place = int(p_values.argmin())
        if p_values[place] < found[0]:
            found = (float(p_values[place]), int(part[place]), _nats(tables[place]))
    return found


def _tables(columns: Codes, base: Ints, weights: Floats | None, n_rows: int, n_columns: int) -> Floats:
    """Counts [candidate, state of parents and child, state of the candidate], over rows that have its value."""
    n_cells = n_rows * n_columns
    index = base * n_columns + columns + np.arange(len(columns))[:, None] * n_cells
    index[columns < 0] = len(columns) * n_cells
    spread = None if weights is None else np.broadcast_to(weights, index.shape).ravel()
    counts = np.bincount(index.ravel(), weights=spread, minlength=len(columns) * n_cells + 1)[:-1]
    return counts.reshape(len(columns), n_rows, n_columns).astype(np.float64)


def _nats(tables: Floats) -> float:
    """Gain of the log-likelihood of the child [stratum, child, candidate] when the candidate is told."""

    def fit(counts: Floats) -> float:
        totals = counts.sum(axis=1, keepdims=True)
        share = np.divide(counts, totals, out=np.ones(counts.shape), where=counts > 0)
        return float((counts * np.log(share)).sum())

    return fit(tables) - fit(tables.sum(axis=-1, keepdims=True))
